"""
BEIR folders: a corpus, its queries, and judgements of whole queries.

    corpus.jsonl      {"_id", "text", "title" (may be left out or empty)}
    queries.jsonl     {"_id", "text"}
    qrels/SPLIT.tsv   a header `query-id corpus-id score`, then a judgement a line, tab separated; score is an integer

Other fields, such as `metadata`, are not read. Thakur et al., BEIR: A Heterogeneous Benchmark for Zero-shot
Evaluation of Information Retrieval Models, 2021.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from typing import Annotated

from pydantic import BeforeValidator, Field

from longform.errors import InputError, UsageError
from longform.formats.fields import Entry, Id, Int32, Record, Source, Text, describe
from longform.formats.files import Found, Named, last_part, only_folder
from longform.formats.json_files import LINE, Faults, Lines, json_lines, text_lines
from longform.formats.rows import HaystackRows
from longform.records import Document, Qrel, Query

_LOG = logging.getLogger(__name__)
_REQUIRED = ("corpus.jsonl", "queries.jsonl")
_HEADER = ("query-id", "corpus-id", "score")
_HEADER_SHOWN = "query-id, corpus-id, score, tab separated"
_WHOLE_NUMBER = re.compile(r"-?\d{1,10}", re.ASCII)


def _whole_number(cell: str) -> int | str:
    """Return the cell as JSON would have it, so that the error is the same as for a field."""
    return int(cell) if _WHOLE_NUMBER.fullmatch(cell) else cell


class _BeirQuery(Entry):
    query_id: Id = Field(alias="_id")
    text: Source


class _BeirDocument(Entry):
    doc_id: Id = Field(alias="_id")
    title: Text | None = None
    text: Text


class _BeirQrel(Entry):
    query_id: Id = Field(alias="query-id")
    doc_id: Id = Field(alias="corpus-id")
    score: Annotated[Int32, BeforeValidator(_whole_number)]


def beir_files(named: Named, *, skip_unreadable: bool = False) -> Found:
    """
    Return the haystack of the one folder that is named.

    Raises:
        UsageError: Several folders are named, or a file is missing.
        InputError: Rows are not as above, and not to be left out; all of them are named.
    """
    url, files = only_folder(named, "beir")
    by_name = {path.removesuffix(".gz"): file for path, file in files.items()}
    for required in _REQUIRED:
        if required not in by_name:
            layout = "corpus.jsonl, queries.jsonl, qrels/*.tsv"
            raise UsageError(f"{url}: expected {required} (BEIR: {layout}), found {list(files)[:5]}")
    qrels = {
        path: file.lines() for path, file in by_name.items() if path.startswith("qrels/") and path.endswith(".tsv")
    }
    if not qrels:
        raise UsageError(f"{url}: expected qrels/*.tsv, found {list(files)[:5]}")
    corpus, queries = (by_name[name].lines() for name in _REQUIRED)
    haystacks = read_beir(url, corpus, queries, qrels, Faults(skip=skip_unreadable))
    return Found(list(files.values()), haystacks)


def read_beir(
    url: str, corpus_lines: Lines, queries_lines: Lines, qrels: Mapping[str, Lines], faults: Faults
) -> Iterator[HaystackRows]:
    """
    Yield the folder as one haystack, `beir:<folder name>`; queries that no qrel names are left out and counted.

    Queries and qrels are read first; `documents` is a one-time iterator over the corpus of which only the ids stay
    in memory. What only the whole corpus can tell (a qrel names a document that is not there) is raised at its end.

    Raises:
        InputError: A file has no header or judgement.
    """
    folder_name = last_part(url)
    haystack_id = f"beir:{folder_name}"
    queries = _queries(
        json_lines(queries_lines, f"{folder_name}/queries.jsonl", faults), haystack_id, folder_name, faults
    )
    judgements = _judgements(folder_name, qrels, queries, faults)
    asked = {qrel.query_id for qrel, _ in judgements}
    if n_dropped := len(queries) - len(asked):
        _LOG.warning("%s: %d queries without a judgement are left out", url, n_dropped)
    yield HaystackRows(
        haystack_id,
        documents=_documents(
            json_lines(corpus_lines, f"{folder_name}/corpus.jsonl", faults), haystack_id, judgements, faults
        ),
        queries=[query for query_id, query in queries.items() if query_id in asked],
        qrels=(qrel for qrel, _ in judgements),  # read behind the documents, and shorter by then
    )


_Judgement = tuple[Qrel, Record]
"""A line of a qrels file and its place, for the error that only the end of the corpus can tell."""


def _queries(records: Iterator[Record], haystack_id: str, dataset: str, faults: Faults) -> dict[str, Query]:
    found: dict[str, Query] = {}
    for record in records:
        with faults.caught():
            line = record.read(_BeirQuery)
            if line.query_id in found:
                raise record.error("_id", expected="an id that no line above has")
            found[line.query_id] = Query(line.query_id, haystack_id, line.text, dataset=dataset)
    return found


def _documents(
    records: Iterator[Record], haystack_id: str, judgements: list[_Judgement], faults: Faults
) -> Iterator[Document]:
    """Yield the corpus; at its end the judgements of documents that it lacks are faults, and go."""
    seen: set[str] = set()
    known = faults.n
    for record in records:
        found: Document | None = None
        with faults.caught():
            line = record.read(_BeirDocument)
            if line.doc_id in seen:
                raise record.error("_id", expected="an id that no line above has")
            # BEIR writes no title as ""
            found = Document(line.doc_id, haystack_id, len(seen), line.title or None, line.text)
            seen.add(line.doc_id)
        if found is not None:
            yield found
    faults.blind = faults.n > known
    for qrel, place in judgements:
        if qrel.doc_id not in seen:
            expected = "an _id of corpus.jsonl"
            faults.add(place.dangling("corpus-id", expected=expected, found=describe(qrel.doc_id)))
    judgements[:] = [one for one in judgements if one[0].doc_id in seen]
    faults.settle()


def _judgements(
    folder_name: str, qrels: Mapping[str, Lines], queries: Mapping[str, Query], faults: Faults
) -> list[_Judgement]:
    judgements: list[_Judgement] = []
    judged: set[tuple[str, str]] = set()
    faults.blind = faults.n > 0
    for name, lines in qrels.items():
        for record in _qrels_lines(lines, f"{folder_name}/{name}", faults):
            with faults.caught():
                line = record.read(_BeirQrel)
                qrel = Qrel(line.query_id, None, line.doc_id, line.score)
                if qrel.query_id not in queries:
                    raise record.dangling("query-id", expected="an _id of queries.jsonl")
                if (qrel.query_id, qrel.doc_id) in judged:
                    expected = "a document that is not judged for this query in a line above"
                    raise record.error("corpus-id", expected=expected)
                judged.add((qrel.query_id, qrel.doc_id))
                judgements.append((qrel, record._replace(content={})))
    if not judgements:
        faults.settle()
        raise InputError(
            file=f"{folder_name}/qrels",
            record="(all splits)",
            field=LINE,
            expected="at least one judgement, since queries without one are dropped",
            found=f"none in {', '.join(qrels) or 'no file'}",
        )
    return judgements


def _qrels_lines(lines: Lines, file: str, faults: Faults) -> Iterator[Record]:
    rows = ((f"line {number}", text.rstrip("\r\n")) for number, text in text_lines(lines, file, faults))
    label, header = next(rows, ("line 1", None))
    if header is None or tuple(header.split("\t")) != _HEADER:
        found = "an empty file" if header is None else describe(header)
        raise Record({}, file, label).error(LINE, expected=f"the header {_HEADER_SHOWN}", found=found)
    for label, line in rows:
        cells = line.split("\t")
        record = Record(dict(zip(_HEADER, cells, strict=False)), file, label)
        if line and len(cells) != len(_HEADER):
            expected = f"3 cells: {_HEADER_SHOWN}"
            faults.add(record.error(LINE, expected=expected, found=f"{len(cells)} cells: {describe(line)}"))
        elif line:
            yield record
