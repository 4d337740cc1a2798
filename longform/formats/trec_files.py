"""
Test collections as TREC lays them out: documents, topics, judgements and runs.

    documents   TRECTEXT (<DOC> with <DOCNO>, and <TEXT> or whole), or .jsonl of an id, a title and a text
    queries     topics (`longform.formats.asked`)
    qrels       query 0 document relevance, white space between
    runs        query Q0 document rank score tag; they become shipped rankings, named by their tags
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import unescape
from itertools import pairwise
from math import isfinite
from typing import TypeVar

from longform.errors import UsageError
from longform.formats.asked import questions
from longform.formats.fields import Record
from longform.formats.files import Found, Named, SourceFile
from longform.formats.json_files import LINE, Faults, text_lines
from longform.formats.jsonl import DEFAULT_HAYSTACK
from longform.formats.own_files import document_columns, documents_of, texts_of
from longform.formats.rows import HaystackRows, ShippedRow, ranking_rows
from longform.formats.table_rows import records
from longform.formats.texts import FileText, ending_of, file_text
from longform.records import Qrel, Query

_LOG = logging.getLogger(__name__)
_DOC = re.compile(r"<DOC>(.*?)</DOC>", re.DOTALL | re.IGNORECASE)
_DOCNO = re.compile(r"<DOCNO>\s*(.*?)\s*</DOCNO>", re.DOTALL | re.IGNORECASE)
_TEXT = re.compile(r"<TEXT>(.*?)</TEXT>", re.DOTALL | re.IGNORECASE)
_TITLE = re.compile(r"<(TITLE|HEADLINE|HEAD|TTL)>(.*?)</\1>", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"</?\w[^>]*>")
_INT32 = 2**31

Number = TypeVar("Number", int, float)


def trec_files(
    named: Named,
    *,
    queries: Sequence[SourceFile],
    qrels: Sequence[SourceFile] = (),
    run: Sequence[SourceFile] = (),
    skip_unreadable: bool = False,
) -> Found:
    """
    Return the documents that are named as one haystack, with topics, judgements and rankings.

    Judgements and ranks of topics or documents that are not here are left out and counted.

    Raises:
        UsageError: There are no topics or documents.
        InputError: Rows are not as above, and not to be left out; all of them are named.
    """
    files = [file for found in named.values() for file in found.values()]
    faults = Faults(skip=skip_unreadable)
    rows = (record for file in files for record in _documents(file, faults))
    texts = texts_of(rows, document_columns({}), faults)
    asked = {one.query_id: one for one in questions(queries, faults)}
    judged = _qrels(qrels, asked, texts, faults)
    rankings = list(_rankings(run, asked, texts, faults))
    faults.settle()
    if not texts:
        raise UsageError("expected at least one document, found none that can be read")
    documents, topics = documents_of(texts), [*asked.values()]
    haystack = HaystackRows(DEFAULT_HAYSTACK, documents, topics, qrels=judged, rankings=rankings)
    return Found([*files, *queries, *qrels, *run], [haystack])


def _documents(file: SourceFile, faults: Faults) -> Iterator[Record]:
    if ending_of(file.path) in {".jsonl", ".ndjson", ".csv", ".tsv"}:
        yield from records(file, faults)
        return
    for place, match in enumerate(_DOC.finditer(file_text(file.read(), file.path)), 1):
        number, title = _DOCNO.search(match[1]), _TITLE.search(match[1])
        record = Record({}, file.path, f"document {place}")
        if number is None:
            faults.add(record.error("DOCNO", expected="<DOCNO> in every <DOC>"))
            continue
        bodies = _TEXT.findall(match[1]) or [_DOCNO.sub("", match[1])]
        body = "\n".join(_words(body) for body in bodies)
        yield record._replace(content={"id": number[1], "text": body, "title": _words(title[2]) if title else None})


def _words(tagged: str) -> str:
    return unescape(_TAG.sub(" ", tagged)).strip()


def _cells(files: Sequence[SourceFile], n: int, shown: str, faults: Faults) -> Iterator[tuple[Record, list[str]]]:
    for file in files:
        for number, text in text_lines(file.lines(), file.path, faults):
            cells = text.split()
            record = Record({}, file.path, f"line {number}")
            if cells and len(cells) != n:
                faults.add(record.error(LINE, expected=f"{n} cells: {shown}", found=repr(text.strip())[:80]))
            elif cells:
                yield record, cells


def _number(kind: Callable[[str], Number], cell: str, record: Record, field: str, expected: str) -> Number:
    """Return a cell as a number; Python's own ways of writing one, such as 1_000, are none of a file's."""
    try:
        found = kind("?" if "_" in cell else cell)
    except ValueError:
        found = None
    if found is None or not isfinite(found) or (isinstance(found, int) and not -_INT32 <= found < _INT32):
        raise record.error(field, expected=expected, found=repr(cell)[:80])
    return found


def _told_elsewhere(what: str, n_elsewhere: int, n: int) -> None:
    """Say how many lines name topics or documents that are not here."""
    if n_elsewhere:
        all_of_them = ": are these the ids of this collection?" if n_elsewhere == n else ""
        told = "%s of %s %s name topics or documents that are not here, and are left out%s"
        _LOG.warning(told, f"{n_elsewhere:,}", f"{n:,}", what, all_of_them)


def _qrels(
    files: Sequence[SourceFile], asked: Mapping[str, Query], texts: Mapping[str, FileText], faults: Faults
) -> list[Qrel]:
    seen: set[tuple[str, str]] = set()
    found: list[Qrel] = []
    for record, (query_id, _, doc_id, relevance) in _cells(files, 4, "query 0 document relevance", faults):
        with faults.caught():
            if (query_id, doc_id) in seen:
                raise record.error("document", expected="a document judged once for a query", found=doc_id)
            value = _number(int, relevance, record, "relevance", "a whole number of 32 bits")
            seen.add((query_id, doc_id))
            if query_id in asked and doc_id in texts:
                found.append(Qrel(query_id, None, doc_id, value))
    _told_elsewhere("judgements", len(seen) - len(found), len(seen))
    return found


def _rankings(
    files: Sequence[SourceFile], asked: Mapping[str, Query], texts: Mapping[str, FileText], faults: Faults
) -> Iterator[ShippedRow]:
    """Yield runs in the order of their scores, ties by rank."""
    lists: dict[tuple[str, str], list[tuple[float, int, str]]] = {}
    seen: set[tuple[str, str, str]] = set()
    n_elsewhere = 0
    for record, (query_id, _, doc_id, rank, score, tag) in _cells(files, 6, "query Q0 document rank score tag", faults):
        with faults.caught():
            expected = "a finite number with a decimal point"
            row = (
                -_number(float, score, record, "score", expected),
                _number(int, rank, record, "rank", "a whole number of 32 bits"),
                doc_id,
            )
            if (tag, query_id, doc_id) in seen:
                raise record.error("document", expected="each document once for a topic and tag", found=doc_id)
            seen.add((tag, query_id, doc_id))
            if query_id in asked and doc_id in texts:
                lists.setdefault((tag, query_id), []).append(row)
            else:
                n_elsewhere += 1
    _told_elsewhere("lines of runs", n_elsewhere, len(seen))
    n_by_score = 0
    for (tag, query_id), listed in lists.items():
        ordered = sorted(listed)
        n_by_score += any(one[1] > other[1] for one, other in pairwise(ordered))
        scored = ((doc_id, 0.0 - negated) for negated, _, doc_id in ordered)
        yield from ranking_rows(query_id, DEFAULT_HAYSTACK, tag, scored)
    if n_by_score:
        told = "%d rankings have ranks in another order than their scores; scores decide, as in trec_eval"
        _LOG.warning(told, n_by_score)
