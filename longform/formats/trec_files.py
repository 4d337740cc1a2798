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
from collections.abc import Iterator, Mapping, Sequence
from html import unescape

from longform.errors import InputError, UsageError
from longform.formats.asked import questions
from longform.formats.fields import Record
from longform.formats.files import Found, Named, SourceFile
from longform.formats.json_files import LINE, text_lines
from longform.formats.jsonl import DEFAULT_HAYSTACK
from longform.formats.own_tables import document_columns, texts_of
from longform.formats.rows import HaystackRows, ShippedRanking
from longform.formats.table_rows import records
from longform.formats.texts import FileText, NoTextError, decoded, ending_of
from longform.records import Document, Qrel, Query

_LOG = logging.getLogger(__name__)
_DOC = re.compile(r"<DOC>(.*?)</DOC>", re.DOTALL | re.IGNORECASE)
_DOCNO = re.compile(r"<DOCNO>\s*(.*?)\s*</DOCNO>", re.DOTALL | re.IGNORECASE)
_TEXT = re.compile(r"<TEXT>(.*?)</TEXT>", re.DOTALL | re.IGNORECASE)
_TITLE = re.compile(r"<(TITLE|HEADLINE|HEAD|TTL)>(.*?)</\1>", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"</?\w[^>]*>")


def trec_files(
    named: Named,
    *,
    queries: Sequence[SourceFile] = (),
    qrels: Sequence[SourceFile] = (),
    run: Sequence[SourceFile] = (),
) -> Found:
    """
    Return the documents that are named as one haystack, with topics, judgements and rankings.

    Raises:
        UsageError: There are no topics or documents.
        InputError: A file is not as above, or names a topic or document that is not there.
    """
    if not queries:
        raise UsageError("ingest trec: expected --queries TOPICS, --qrels and --run if there are any")
    files = [file for found in named.values() for file in found.values()]
    texts = texts_of((record for file in files for record in _documents(file)), document_columns("", "", ""))
    asked = {one.query_id: one.text for one in questions(queries)}
    judged = list(_qrels(qrels, asked, texts))
    rankings = list(_rankings(run, asked, texts))
    return Found([*files, *queries, *qrels, *run], [_haystack(texts, asked, judged, rankings)])


def _haystack(
    texts: Mapping[str, FileText], asked: Mapping[str, str], qrels: list[Qrel], rankings: list[ShippedRanking]
) -> HaystackRows:
    documents = [
        Document(doc_id, DEFAULT_HAYSTACK, index, found.title, found.text)
        for index, (doc_id, found) in enumerate(texts.items())
    ]
    queries = [Query(query_id, DEFAULT_HAYSTACK, text) for query_id, text in asked.items()]
    return HaystackRows(DEFAULT_HAYSTACK, documents, queries, qrels=qrels, rankings=rankings)


def _documents(file: SourceFile) -> Iterator[Record]:
    if ending_of(file.path) in {".jsonl", ".ndjson", ".csv", ".tsv"}:
        yield from records(file)
        return
    try:
        text = decoded(file.read())
    except NoTextError as error:
        raise InputError(file=file.path, record="(root)", field="(file)", expected="UTF-8", found=str(error)) from error
    for place, match in enumerate(_DOC.finditer(text), 1):
        number, title = _DOCNO.search(match[1]), _TITLE.search(match[1])
        record = Record({}, file.path, f"document {place}")
        if number is None:
            raise record.error("DOCNO", expected="<DOCNO> in every <DOC>")
        bodies = _TEXT.findall(match[1]) or [_DOCNO.sub("", match[1])]
        body = "\n".join(_words(body) for body in bodies)
        yield record._replace(content={"id": number[1], "text": body, "title": _words(title[2]) if title else None})


def _words(tagged: str) -> str:
    return unescape(_TAG.sub(" ", tagged)).strip()


def _cells(files: Sequence[SourceFile], n: int, shown: str) -> Iterator[tuple[Record, list[str]]]:
    for file in files:
        for number, text in text_lines(file.lines(), file.path):
            cells = text.split()
            record = Record({}, file.path, f"line {number}")
            if cells and len(cells) != n:
                raise record.error(LINE, expected=f"{n} cells: {shown}", found=repr(text.strip())[:80])
            if cells:
                yield record, cells


def _qrels(files: Sequence[SourceFile], asked: Mapping[str, str], texts: Mapping[str, FileText]) -> Iterator[Qrel]:
    seen: set[tuple[str, str]] = set()
    n_elsewhere = 0
    for record, (query_id, _, doc_id, relevance) in _cells(files, 4, "query 0 document relevance"):
        if (query_id, doc_id) in seen:
            raise record.error("document", expected="a document judged once for a query", found=doc_id)
        seen.add((query_id, doc_id))
        try:
            value = int(relevance)
        except ValueError:
            raise record.error("relevance", expected="a whole number", found=relevance) from None
        if query_id not in asked or doc_id not in texts:
            n_elsewhere += 1
        else:
            yield Qrel(query_id, None, doc_id, value)
    if n_elsewhere:
        _LOG.warning("%d judgements of topics or documents that are not here are left out", n_elsewhere)


def _rankings(
    files: Sequence[SourceFile], asked: Mapping[str, str], texts: Mapping[str, FileText]
) -> Iterator[ShippedRanking]:
    """Yield runs in the order of their scores, ties by rank."""
    lists: dict[tuple[str, str], list[tuple[float, int, str]]] = {}
    seen: set[tuple[str, str, str]] = set()
    for record, (query_id, _, doc_id, rank, score, tag) in _cells(files, 6, "query Q0 document rank score tag"):
        try:
            row = (-float(score), int(rank), doc_id)
        except ValueError:
            raise record.error("score", expected="numbers as rank and score", found=f"{rank} {score}") from None
        if query_id not in asked:
            raise record.error("query", expected="a topic's number", found=query_id)
        if doc_id not in texts:
            raise record.error("document", expected="a document of the collection", found=doc_id)
        if (tag, query_id, doc_id) in seen:
            raise record.error("document", expected="each document once for a topic and tag", found=doc_id)
        seen.add((tag, query_id, doc_id))
        lists.setdefault((tag, query_id), []).append(row)
    for (tag, query_id), listed in lists.items():
        for place, (negated, _, doc_id) in enumerate(sorted(listed)):
            yield {
                "query_id": query_id, "haystack_id": DEFAULT_HAYSTACK, "system": tag, "doc_id": doc_id,
                "rank": place, "score": round(-negated, 6),
            }  # fmt: skip
