"""
The plain JSON Lines layout for a corpus of one's own: a folder of two to six files, described in docs/formats.md.

Documents and queries are required; insights, qrels, summaries and labels are there if they are known. Every reference
from one file to another is checked, and a field that the layout does not have is refused.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Mapping
from itertools import chain
from typing import Any, TypeVar, get_args

from longform.errors import InputError, UsageError
from longform.formats.fields import FILE, ROOT, Lines, Record, describe, json_lines
from longform.formats.files import Found, Named, only_folder
from longform.formats.rows import HaystackRows
from longform.records import TARGET_KINDS, Document, Qrel, Query, Target
from longform.settings.systems import Order
from longform.text.citations import bullets

DEFAULT_HAYSTACK = "corpus"
UNKNOWN_SETTING = "unknown"  # in words, since reports name a system by its setting
DOMAINS = ("conversation", "news")
COVERAGE = ("full", "partial", "none")

_DOCUMENT_FIELDS = "doc_id text title haystack".split()
_QUERY_FIELDS = "query_id text haystack topic subtopic subtopic_name domain participants dataset".split()
_INSIGHT_FIELDS = "insight_id query_id text name kind doc_ids".split()
_QREL_FIELDS = "query_id doc_id relevance".split()
_SUMMARY_FIELDS = "summary_id query_id summarizer setting order text lines elapsed_minutes".split()
_LABEL_FIELDS = "summary_id insight_id annotator coverage bullet".split()

_REQUIRED_FILES = ("documents.jsonl", "queries.jsonl")

_Known = TypeVar("_Known")


def jsonl_files(named: Named) -> Found:
    """
    Return the haystacks of the one folder that is named.

    Raises:
        UsageError: Several folders are named, or one has a `.jsonl` file that the layout does not.
        InputError: A file is missing, or a line is not what docs/formats.md says.
    """
    url, files = only_folder(named, "jsonl")
    by_name = {path.removesuffix(".gz"): file for path, file in files.items()}
    if unknown := [name for name in by_name if name.endswith(".jsonl") and name not in _READERS]:
        raise UsageError(f"{url}: expected {sorted(_READERS)}, found {unknown}")
    lines = {name: file.lines() for name, file in by_name.items() if name in _READERS}
    return Found(list(files.values()), chain.from_iterable(map(read_jsonl, [lines])))  # nothing is read yet


def read_jsonl(files: Mapping[str, Lines]) -> Iterator[HaystackRows]:
    """
    The haystacks of a folder, in the order of their first documents.

    Everything is read and checked before this returns; each document is held once.

    Args:
        files: The lines of each file in the folder, by its name.

    Raises:
        InputError: A file is missing or is none of the layout's, or a line is not what docs/formats.md says.
    """
    _check_names(files)
    folder = _Folder()
    for name, read_row in _READERS.items():
        for record in json_lines(files.get(name, ()), name):
            read_row(folder, record)
    if not folder.query:
        raise InputError(file="queries.jsonl", record=ROOT, field=FILE, expected="at least one query", found="none")
    return map(folder.haystack_rows, folder.documents)


def _check_names(files: Mapping[str, Lines]) -> None:
    for name in files:
        if name not in _READERS:
            expected = f"only the files {', '.join(_READERS)}"
            raise InputError(file=name, record=ROOT, field=FILE, expected=expected, found="a file of this name")
    for name in _REQUIRED_FILES:
        if name not in files:
            found = f"only {', '.join(files)}" if files else "no file"
            raise InputError(file=name, record=ROOT, field=FILE, expected="this file in the folder", found=found)


class _Folder:
    """Rows by haystack, and what later files refer to by id."""

    def __init__(self) -> None:
        self.documents: defaultdict[str, list[Document]] = defaultdict(list)
        self.queries: defaultdict[str, list[Query]] = defaultdict(list)
        self.targets: defaultdict[str, list[Target]] = defaultdict(list)
        self.qrels: defaultdict[str, list[Qrel]] = defaultdict(list)
        self.summaries: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        self.labels: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
        self.haystack_of: dict[str, str] = {}  # of a document
        self.query: dict[str, Query] = {}
        self.target: dict[str, Target] = {}
        self.summary: dict[str, dict[str, Any]] = {}
        self.n_targets: defaultdict[str, int] = defaultdict(int)  # of a query
        self.judged: set[tuple[str, str]] = set()  # (query, document)
        self.labelled: set[tuple[str, str, str]] = set()  # (annotator, summary, target)

    def haystack_rows(self, haystack_id: str) -> HaystackRows:
        return HaystackRows(
            haystack_id,
            documents=self.documents[haystack_id],
            queries=self.queries[haystack_id],
            targets=self.targets[haystack_id],
            qrels=self.qrels[haystack_id],
            rankings=(),
            summaries=self.summaries[haystack_id],
            labels=self.labels[haystack_id],
        )

    def read_document(self, record: Record) -> None:
        record.only(_DOCUMENT_FIELDS)
        doc_id = _new_id(record, "doc_id", self.haystack_of)
        haystack_id = _haystack(record)
        self.haystack_of[doc_id] = haystack_id
        members = self.documents[haystack_id]
        title = record.optional_string("title")
        members.append(Document(doc_id, haystack_id, len(members), title, record.filled("text")))

    def read_query(self, record: Record) -> None:
        record.only(_QUERY_FIELDS)
        haystack_id = _haystack(record)
        if haystack_id not in self.documents:
            found = describe(haystack_id)
            raise record.error(
                field="haystack", expected="a haystack that a line of documents.jsonl names", found=found
            )
        query = Query(
            query_id=_new_id(record, "query_id", self.query),
            haystack_id=haystack_id,
            domain=record.choice("domain", DOMAINS) if record.has("domain") else None,
            topic=record.optional_string("topic"),
            subtopic_name=record.optional_string("subtopic_name"),
            subtopic=record.optional_string("subtopic"),
            participants=record.strings("participants") if record.has("participants") else None,
            text=record.filled("text"),
            dataset=record.optional_string("dataset"),
        )
        self.query[query.query_id] = query
        self.queries[haystack_id].append(query)

    def read_insight(self, record: Record) -> None:
        record.only(_INSIGHT_FIELDS)
        query = _known(record, "query_id", self.query, "queries.jsonl")
        target = Target(
            target_id=_new_id(record, "insight_id", self.target),
            kind=record.choice("kind", TARGET_KINDS) if record.has("kind") else "insight",
            query_id=query.query_id,
            haystack_id=query.haystack_id,
            target_index=self.n_targets[query.query_id],
            name=record.optional_string("name"),
            text=record.filled("text"),
        )
        self.n_targets[query.query_id] += 1
        self.target[target.target_id] = target
        self.targets[query.haystack_id].append(target)
        gold = self._gold_documents(record, target)
        self.qrels[query.haystack_id] += [Qrel(query.query_id, target.target_id, doc_id, 1) for doc_id in gold]

    def _gold_documents(self, record: Record, target: Target) -> list[str]:
        doc_ids = record.strings("doc_ids") if record.has("doc_ids") else []
        if target.kind == "insight" and not doc_ids:
            expected = "the documents that state the insight (what no document is known to state is a 'key_point')"
            raise record.error(field="doc_ids", expected=expected)
        for index, doc_id in enumerate(doc_ids):
            item = f"doc_ids[{index}]"
            self._check_document(record, item, doc_id, target.haystack_id)
            if doc_id in doc_ids[:index]:
                raise record.error(field=item, expected="each document once", found=f"{describe(doc_id)} again")
        return doc_ids

    def read_qrel(self, record: Record) -> None:
        record.only(_QREL_FIELDS)
        query = _known(record, "query_id", self.query, "queries.jsonl")
        doc_id = record.filled("doc_id")
        self._check_document(record, "doc_id", doc_id, query.haystack_id)
        if (query.query_id, doc_id) in self.judged:
            raise record.error(field="doc_id", expected="a document that no line above judges for this query")
        self.judged.add((query.query_id, doc_id))
        self.qrels[query.haystack_id].append(Qrel(query.query_id, None, doc_id, record.integer("relevance")))

    def _check_document(self, record: Record, field: str, doc_id: str, haystack_id: str) -> None:
        found = self.haystack_of.get(doc_id)
        if found is None:
            raise record.error(field, expected="a doc_id of documents.jsonl", found=describe(doc_id))
        if found != haystack_id:
            expected = f"a document of the query's haystack {haystack_id!r}"
            raise record.error(field, expected=expected, found=f"{describe(doc_id)} of haystack {found!r}")

    def read_summary(self, record: Record) -> None:
        record.only(_SUMMARY_FIELDS)
        query = _known(record, "query_id", self.query, "queries.jsonl")
        summary: dict[str, Any] = {
            "summary_id": _new_id(record, "summary_id", self.summary),
            "query_id": query.query_id,
            "haystack_id": query.haystack_id,
            "summarizer": record.filled("summarizer"),
            "setting": record.filled("setting") if record.has("setting") else UNKNOWN_SETTING,
            "order": record.choice("order", get_args(Order)) if record.has("order") else None,
            "elapsed_minutes": record.number("elapsed_minutes", minimum=0) if record.has("elapsed_minutes") else None,
            "text": _summary_text(record),
        }
        self.summary[summary["summary_id"]] = summary
        self.summaries[query.haystack_id].append(summary)

    def read_label(self, record: Record) -> None:
        record.only(_LABEL_FIELDS)
        summary = _known(record, "summary_id", self.summary, "summaries.jsonl")
        target = _known(record, "insight_id", self.target, "insights.jsonl")
        if target.query_id != summary["query_id"]:
            expected = f"an insight of the summary's query {summary['query_id']!r}"
            found = f"{describe(target.target_id)} of query {target.query_id!r}"
            raise record.error(field="insight_id", expected=expected, found=found)
        label: dict[str, Any] = {
            "annotator": record.filled("annotator"),
            "summary_id": summary["summary_id"],
            "target_kind": target.kind,
            "target_id": target.target_id,
            "mode": "full",
            "repeat": 0,
            "answer": record.choice("coverage", COVERAGE),
            "linked_unit": _linked_unit(record, summary["text"]),
        }
        key = (label["annotator"], summary["summary_id"], target.target_id)
        if key in self.labelled:
            raise record.error(field="insight_id", expected="an insight that this annotator has not labelled above")
        self.labelled.add(key)
        self.labels[target.haystack_id].append(label)


_READERS: Mapping[str, Callable[[_Folder, Record], None]] = {
    "documents.jsonl": _Folder.read_document,
    "queries.jsonl": _Folder.read_query,
    "insights.jsonl": _Folder.read_insight,
    "qrels.jsonl": _Folder.read_qrel,
    "summaries.jsonl": _Folder.read_summary,
    "labels.jsonl": _Folder.read_label,
}
"""In an order in which a file refers only to those before it."""


def _haystack(record: Record) -> str:
    return record.filled("haystack") if record.has("haystack") else DEFAULT_HAYSTACK


def _new_id(record: Record, field: str, known: Container[str]) -> str:
    value = record.filled(field)
    if value in known:
        raise record.error(field, expected="an id that no line above has")
    return value


def _known(record: Record, field: str, known: Mapping[str, _Known], file: str) -> _Known:
    value = record.filled(field)
    if value not in known:
        raise record.error(field, expected=f"the {field} of a line in {file}")
    return known[value]


def _summary_text(record: Record) -> str:
    if record.has("text") == record.has("lines"):
        found = "both" if record.has("text") else None
        raise record.error(field="text", expected="the summary, as either text or lines", found=found)
    return record.string("text") if record.has("text") else "\n".join(record.strings("lines"))


def _linked_unit(record: Record, summary: str) -> int | None:
    """The bullet from 0; null is an answer (no bullet covers the insight) and has to be written."""
    if "bullet" not in record.content:
        raise record.error(field="bullet", expected="a bullet's number from 1, or null where there is none")
    if not record.has("bullet"):
        return None
    bullet = record.integer("bullet", minimum=1)
    n_bullets = len(bullets(summary))
    if bullet > n_bullets:
        expected = f"a number up to {n_bullets}, the summary's non-empty lines, or null"
        raise record.error(field="bullet", expected=expected)
    return bullet - 1
