"""
The plain JSON Lines layout for a corpus of one's own: a folder of two to six files, described in docs/formats.md.

Documents and queries are required; insights, qrels, summaries and labels are there if they are known. Every reference
from one file to another is checked, and a field that the layout does not have is refused.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any, Literal, TypeVar

from pydantic import ConfigDict

from longform.errors import InputError
from longform.formats.fields import ROOT, Entry, Filled, FromOne, Id, Int32, NotNegative, Record, Source, Text, describe
from longform.formats.files import Found, Named, only_folder
from longform.formats.json_files import FILE, Faults, Lines, json_lines
from longform.formats.rows import HaystackRows, ShippedRow, facet_rows, insight_label
from longform.records import Document, Qrel, Query, Target, TargetKind
from longform.settings.systems import Order
from longform.text.citations import bullets

DEFAULT_HAYSTACK = "corpus"
UNKNOWN_SETTING = "unknown"  # in words, since reports name a system by its setting
Domain = Literal["conversation", "news"]
Coverage = Literal["full", "partial", "none"]

_REQUIRED_FILES = ("documents.jsonl", "queries.jsonl")

_Known = TypeVar("_Known")


class _Line(Entry):
    model_config = ConfigDict(extra="forbid")


class _DocumentLine(_Line):
    doc_id: Id
    text: Source
    title: Text | None = None
    haystack: Id | None = None


class _QueryLine(_Line):
    query_id: Id
    text: Source
    haystack: Id | None = None
    topic: Text | None = None
    subtopic: Text | None = None
    subtopic_name: Text | None = None
    domain: Domain | None = None
    participants: list[Text] | None = None
    dataset: Text | None = None
    facets: dict[Filled, Filled] | None = None


class _InsightLine(_Line):
    insight_id: Id
    query_id: Id
    text: Source
    name: Text | None = None
    kind: TargetKind | None = None
    doc_ids: list[Id] | None = None


class _QrelLine(_Line):
    query_id: Id
    doc_id: Id
    relevance: Int32


class _SummaryLine(_Line):
    summary_id: Id
    query_id: Id
    summarizer: Filled
    setting: Filled | None = None
    order: Order | None = None
    text: Text | None = None
    lines: list[Text] | None = None
    elapsed_minutes: NotNegative | None = None


class _LabelLine(_Line):
    summary_id: Id
    insight_id: Id
    annotator: Filled
    coverage: Coverage
    bullet: FromOne | None = None


def jsonl_files(named: Named, *, skip_unreadable: bool = False) -> Found:
    """
    Return the haystacks of the one folder that is named.

    Raises:
        UsageError: Several folders are named.
        InputError: A file is missing or none of the layout's, or lines are not as it says, and not to be left out.
    """
    _, files = only_folder(named, "jsonl")
    by_name = {path.removesuffix(".gz"): file for path, file in files.items()}
    lines = {name: file.lines() for name, file in by_name.items() if name.endswith(".jsonl")}
    return Found(list(files.values()), read_jsonl(lines, Faults(skip=skip_unreadable)))


def read_jsonl(files: Mapping[str, Lines], faults: Faults) -> Iterator[HaystackRows]:
    """
    Yield the haystacks of a folder, in the order of their first documents.

    Everything is read and checked before the first; each document is held once.

    Raises:
        InputError: A file is missing or is none of the layout's, or lines are not what docs/formats.md says.
    """
    _check_names(files)
    folder = _Folder()
    for name, read_row in _READERS.items():
        faults.blind = faults.n > 0 or not folder.rows
        for record in json_lines(files.get(name, ()), name, faults):
            with faults.caught():
                read_row(folder, record)
    faults.settle()
    for held, name, what in ((folder.rows, "documents", "document"), (folder.query, "queries", "query")):
        if not held:
            file, expected = f"{name}.jsonl", f"at least one {what}"
            raise InputError(file=file, record=ROOT, field=FILE, expected=expected, found="none")
    yield from map(folder.haystack_rows, folder.rows)


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
        self.rows: dict[str, defaultdict[str, list[Any]]] = {}  # haystack -> table -> rows
        self.haystack_of: dict[str, str] = {}  # of a document
        self.query: dict[str, Query] = {}
        self.target: dict[str, Target] = {}
        self.summary: dict[str, ShippedRow] = {}
        self.n_targets: defaultdict[str, int] = defaultdict(int)  # of a query
        self.judged: set[tuple[str, str]] = set()  # (query, document)
        self.labelled: set[tuple[str, str, str]] = set()  # (annotator, summary, target)

    def haystack_rows(self, haystack_id: str) -> HaystackRows:
        rows = self.rows[haystack_id]
        return HaystackRows(haystack_id, rows.pop("documents"), rows.pop("queries", ()), **rows)

    def read_document(self, record: Record) -> None:
        line = record.read(_DocumentLine)
        _refuse_known(record, "doc_id", line.doc_id, self.haystack_of)
        haystack_id = self.haystack_of[line.doc_id] = line.haystack or DEFAULT_HAYSTACK
        members = self.rows.setdefault(haystack_id, defaultdict(list))["documents"]
        members.append(Document(line.doc_id, haystack_id, len(members), line.title, line.text))

    def read_query(self, record: Record) -> None:
        line = record.read(_QueryLine)
        haystack_id = line.haystack or DEFAULT_HAYSTACK
        if haystack_id not in self.rows:
            expected = "a haystack that a line of documents.jsonl names"
            raise record.dangling("haystack", expected=expected, found=describe(haystack_id))
        _refuse_known(record, "query_id", line.query_id, self.query)
        facets = None if line.facets is None else facet_rows(line.facets)
        query = Query(haystack_id=haystack_id, facets=facets, **line.model_dump(exclude={"haystack", "facets"}))
        self.query[query.query_id] = query
        self.rows[haystack_id]["queries"].append(query)

    def read_insight(self, record: Record) -> None:
        line = record.read(_InsightLine)
        query = _known(record, "query_id", line.query_id, self.query, "queries.jsonl")
        _refuse_known(record, "insight_id", line.insight_id, self.target)
        self._check_gold(record, line, query.haystack_id)
        target = Target(
            target_id=line.insight_id,
            kind=line.kind or "insight",
            query_id=query.query_id,
            haystack_id=query.haystack_id,
            target_index=self.n_targets[query.query_id],
            name=line.name,
            text=line.text,
        )
        self.n_targets[query.query_id] += 1
        self.target[target.target_id] = target
        self.rows[query.haystack_id]["targets"].append(target)
        gold = [Qrel(query.query_id, target.target_id, doc_id, 1) for doc_id in line.doc_ids or ()]
        self.rows[query.haystack_id]["qrels"] += gold

    def _check_gold(self, record: Record, line: _InsightLine, haystack_id: str) -> None:
        doc_ids = line.doc_ids or []
        if line.kind in {None, "insight"} and not doc_ids:
            expected = "the documents that state the insight (what no document is known to state is a 'key_point')"
            raise record.error("doc_ids", expected=expected)
        for index, doc_id in enumerate(doc_ids):
            item = f"doc_ids[{index}]"
            self._check_document(record, item, doc_id, haystack_id)
            if doc_id in doc_ids[:index]:
                raise record.error(item, expected="each document once", found=f"{describe(doc_id)} again")

    def read_qrel(self, record: Record) -> None:
        line = record.read(_QrelLine)
        query = _known(record, "query_id", line.query_id, self.query, "queries.jsonl")
        self._check_document(record, "doc_id", line.doc_id, query.haystack_id)
        if (query.query_id, line.doc_id) in self.judged:
            raise record.error("doc_id", expected="a document that no line above judges for this query")
        self.judged.add((query.query_id, line.doc_id))
        self.rows[query.haystack_id]["qrels"].append(Qrel(query.query_id, None, line.doc_id, line.relevance))

    def _check_document(self, record: Record, field: str, doc_id: str, haystack_id: str) -> None:
        found = self.haystack_of.get(doc_id)
        if found is None:
            raise record.dangling(field, expected="a doc_id of documents.jsonl", found=describe(doc_id))
        if found != haystack_id:
            expected = f"a document of the query's haystack {haystack_id!r}"
            raise record.error(field, expected=expected, found=f"{describe(doc_id)} of haystack {found!r}")

    def read_summary(self, record: Record) -> None:
        line = record.read(_SummaryLine)
        query = _known(record, "query_id", line.query_id, self.query, "queries.jsonl")
        _refuse_known(record, "summary_id", line.summary_id, self.summary)
        summary: ShippedRow = {
            "summary_id": line.summary_id,
            "query_id": query.query_id,
            "haystack_id": query.haystack_id,
            "summarizer": line.summarizer,
            "setting": line.setting or UNKNOWN_SETTING,
            "order": line.order,
            "elapsed_minutes": line.elapsed_minutes,
            "text": _summary_text(record, line),
        }
        self.summary[line.summary_id] = summary
        self.rows[query.haystack_id]["summaries"].append(summary)

    def read_label(self, record: Record) -> None:
        line = record.read(_LabelLine)
        summary = _known(record, "summary_id", line.summary_id, self.summary, "summaries.jsonl")
        target = _known(record, "insight_id", line.insight_id, self.target, "insights.jsonl")
        if target.query_id != summary["query_id"]:
            expected = f"an insight of the summary's query {summary['query_id']!r}"
            found = f"{describe(target.target_id)} of query {target.query_id!r}"
            raise record.error("insight_id", expected=expected, found=found)
        linked = _linked_unit(record, line, summary["text"] or "")
        key = (line.annotator, line.summary_id, line.insight_id)
        if key in self.labelled:
            raise record.error("insight_id", expected="an insight that this annotator has not labelled above")
        self.labelled.add(key)
        self.rows[target.haystack_id]["labels"].append(insight_label(*key, line.coverage, linked, kind=target.kind))


_READERS: Mapping[str, Callable[[_Folder, Record], None]] = {
    "documents.jsonl": _Folder.read_document,
    "queries.jsonl": _Folder.read_query,
    "insights.jsonl": _Folder.read_insight,
    "qrels.jsonl": _Folder.read_qrel,
    "summaries.jsonl": _Folder.read_summary,
    "labels.jsonl": _Folder.read_label,
}
"""In an order in which a file refers only to those before it."""


def _refuse_known(record: Record, field: str, value: str, known: Container[str]) -> None:
    if value in known:
        found = describe(record.content[field])
        read_as = "" if record.content[field] == value else f", which is read as {value!r}"
        raise record.error(field, expected="an id that no line above has", found=found + read_as)


def _known(record: Record, field: str, value: str, known: Mapping[str, _Known], file: str) -> _Known:
    if value not in known:
        raise record.dangling(field, expected=f"the {field} of a line in {file}")
    return known[value]


def _summary_text(record: Record, line: _SummaryLine) -> str:
    if line.text is not None and line.lines is None:
        return line.text
    if line.text is None and line.lines is not None:
        return "\n".join(line.lines)
    found = None if line.text is None else "both"
    raise record.error("text", expected="the summary, as either text or lines", found=found)


def _linked_unit(record: Record, line: _LabelLine, summary: str) -> int | None:
    """Return the bullet from 0; null is an answer (no bullet covers the insight) and has to be written."""
    if "bullet" not in line.model_fields_set:
        raise record.error("bullet", expected="a bullet's number from 1, or null where there is none")
    if line.bullet is None:
        return None
    n_bullets = len(bullets(summary))
    if line.bullet > n_bullets:
        expected = f"a number up to {n_bullets}, the summary's non-empty lines, or null"
        raise record.error("bullet", expected=expected)
    return line.bullet - 1
