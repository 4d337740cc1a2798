"""
Questions, and what their answers ought to say, in files as people keep them.

Queries: .txt, one a line; .jsonl, .csv and .tsv with a column `query`, `question` or `text`, and an id if there is one;
TREC topics (.xml, .trec, .topics), and .tsv without a header, an id and a text a line. Insights: .jsonl, .csv, .tsv.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from html import unescape

from longform.errors import InputError, UsageError
from longform.formats.fields import Record, describe, read_as_text
from longform.formats.files import SourceFile, refused
from longform.formats.json_files import LINE, Faults, numbered
from longform.formats.jsonl import DEFAULT_HAYSTACK
from longform.formats.table_rows import QUERY_ID_NAMES, QUERY_NAMES, Columns, listed, records
from longform.formats.texts import ending_of, file_text
from longform.records import Qrel, Query, Target

_ENDINGS = ".txt, .jsonl, .csv, .tsv, .xml, .trec or .topics"
_TOPIC = re.compile(r"<top(?:ic)?\b([^>]*)>(.*?)</top(?:ic)?>", re.DOTALL | re.IGNORECASE)
_NUMBER = re.compile(r"<num(?:ber)?>\s*(?:Number:)?\s*([^\s<]+)", re.IGNORECASE)
_IN_TAG = re.compile(r"\b(?:number|id)\s*=\s*[\"']([^\"']+)")
_ASKED = ("query", "question", "title", "desc", "description")


def questions(files: Sequence[SourceFile], faults: Faults) -> list[Query]:
    """
    Return the questions of files; those without an id are q1, q2 and so on by their place.

    A row without a question, or with an id that stands above, is a fault.

    Raises:
        InputError: A file is not as above, or there is no question since all are faulty.
        UsageError: The ending of a file is another, or there is no question.
    """
    found: dict[str, Query] = {}
    place = 0
    for file in files:
        for at, query_id, text, record in _read(file, place, faults):
            place = at
            with faults.caught():
                if query_id in found:
                    raise record.error("id", expected="an id that no query above has", found=query_id)
                if not text.strip():
                    raise record.error("query", expected="the words of a question", found=describe(text))
                found[query_id] = Query(query_id, DEFAULT_HAYSTACK, " ".join(text.split()))
    if not found:
        faults.settle()
        names = ", ".join(file.path for file in files) or "no file"
        raise UsageError(f"{names}: expected at least one question, found none")
    return [*found.values()]


def _read(file: SourceFile, before: int, faults: Faults) -> Iterator[tuple[int, str, str, Record]]:
    """Yield the place of each question, counted on from *before*, its id, its text, and its record for errors."""
    ending = ending_of(file.path)
    if ending in {".jsonl", ".ndjson", ".csv"} or (ending == ".tsv" and not _headless(file)):
        columns = Columns({}, {"query": QUERY_NAMES, "id": QUERY_ID_NAMES})
        for place, record in numbered(records(file, faults), faults, before):
            try:
                query_id, text = columns.id(record, f"q{place}"), columns.text(record, "query")
            except InputError as error:
                faults.add(error)
            else:
                yield place, query_id, text, record
    elif ending in {".txt", ".tsv"}:
        every = enumerate(file_text(file.read(), file.path).split("\n"), 1)
        lines = [(number, line) for number, line in every if line.strip()]
        for place, (number, line) in enumerate(lines, before + 1):
            query_id, _, text = line.rpartition("\t") if ending == ".tsv" else ("", "", line)
            yield place, query_id.strip() or f"q{place}", text, Record({}, file.path, f"line {number}")
    elif ending in {".xml", ".trec", ".topics"}:
        topics = _topics(file_text(file.read(), file.path), file.path)
        for place, (query_id, text, label) in enumerate(topics, before + 1):
            yield place, query_id, text, Record({}, file.path, label)
    else:
        raise UsageError(f"{file.path}: expected questions in {_ENDINGS}, found {ending or 'no ending'}")


def _headless(file: SourceFile) -> bool:
    """Return whether a table begins with a question, since its first line names no known column."""
    first = file_text(file.read(), file.path).split("\n", 1)[0].strip().lower().split("\t")
    return not {*first} & {*QUERY_NAMES}


def _topics(text: str, file: str) -> Iterator[tuple[str, str, str]]:
    """Yield the topics of TREC, tags closed or not: the number, and the query, question, title or description."""
    found = [*_TOPIC.finditer(text)]
    if not found:
        raise refused(file, "<top> or <topic>", "no such tag")
    for place, match in enumerate(found, 1):
        number = _NUMBER.search(match[2]) or _IN_TAG.search(match[1])
        asked = next((words for tag in _ASKED if (words := _tagged(match[2], tag))), None)
        if number is None or asked is None:
            expected = "a number, and a title, query, question or description"
            raise InputError(file=file, record=f"topic {place}", field=LINE, expected=expected, found="none")
        yield number[1], asked, f"topic {place}"


def _tagged(text: str, tag: str) -> str:
    match = re.search(rf"<{tag}>\s*(?:Topic:|Description:)?(.*?)(?=<|\Z)", text, re.DOTALL | re.IGNORECASE)
    return unescape(match[1]).strip() if match else ""


def wanted_of(
    files: Iterable[SourceFile], queries: Mapping[str, Query], doc_ids: Collection[str], faults: Faults
) -> tuple[list[Target], list[Qrel]]:
    """
    Return what answers ought to say, and the documents that state it.

    Columns are `query_id`, `text`, and if known `insight_id`, `name`, `doc_ids`: a list, or ids in a cell
    (`longform.formats.table_rows.listed`). An insight that no document is known to state is a key point. A row that
    lacks a field, or names a query or a document that is not there, is a fault.
    """
    found: dict[str, Target] = {}
    qrels: list[Qrel] = []
    n_of: Counter[str] = Counter()  # targets of a query
    columns = Columns(
        {},
        {
            "query_id": ("query_id", "qid"),
            "text": ("text", "insight", "nugget"),
            "id": ("insight_id", "id"),
            "name": ("name",),
        },
    )
    rows = (record for file in files for record in records(file, faults))
    for place, record in numbered(rows, faults):
        with faults.caught():
            query = queries.get(columns.text(record, "query_id"))
            if query is None:
                raise record.error("query_id", expected=f"a query of {_some(queries)}")
            target_id = columns.id(record, f"{query.query_id}-{place}")
            if target_id in found:
                raise record.error("insight_id", expected="an id that no row above has", found=target_id)
            stated = _doc_ids(record, doc_ids)
            kind, index = "insight" if stated else "key_point", n_of[query.query_id]
            text, name = columns.text(record, "text"), columns.known(record, "name") or None
            found[target_id] = Target(target_id, kind, query.query_id, query.haystack_id, index, name, text)
            n_of[query.query_id] += 1
            qrels += [Qrel(query.query_id, target_id, doc_id, 1) for doc_id in stated]
    return [*found.values()], qrels


def _doc_ids(record: Record, known: Collection[str]) -> list[str]:
    value = read_as_text(record.content.get("doc_ids") or record.content.get("documents"))
    if isinstance(value, str):
        value = listed(value, known.__contains__)
    if value is not None and not isinstance(value, list):
        raise record.error("doc_ids", expected="a list of ids", found=describe(value))
    found: dict[str, None] = {}
    for doc_id in map(read_as_text, value or []):
        if not isinstance(doc_id, str) or doc_id not in known:
            expected = f"ids of documents, as {_some(known)} (in a cell with ; between)"
            raise record.error("doc_ids", expected=expected, found=describe(doc_id))
        found[doc_id] = None
    return [*found]


def _some(ids: Iterable[str]) -> str:
    first = sorted(ids)[:4]
    return ", ".join(first[:3]) + (", ..." if len(first) > 3 else "")
