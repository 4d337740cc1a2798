"""The things a benchmark holds, as typed rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple, get_args

from longform.rows import FacetRow

TargetKind = Literal["insight", "key_point", "reference"]
TARGET_KINDS: tuple[TargetKind, ...] = get_args(TargetKind)


class Document(NamedTuple):
    """A source; `doc_index` is its place in the haystack, from 0."""

    doc_id: str
    haystack_id: str
    doc_index: int
    title: str | None
    text: str

    @property
    def number(self) -> int:
        """Return the number that a summary cites it by."""
        return self.doc_index + 1


class Query(NamedTuple):
    query_id: str
    haystack_id: str
    text: str
    domain: str | None = None
    topic: str | None = None
    subtopic_name: str | None = None
    subtopic: str | None = None
    participants: list[str] | None = None
    dataset: str | None = None
    facets: list[FacetRow] | None = None


class Target(NamedTuple):
    """A thing that a summary is compared with: an insight, a key point, a reference."""

    target_id: str
    kind: str
    query_id: str
    haystack_id: str
    target_index: int
    name: str | None
    text: str


class Qrel(NamedTuple):
    query_id: str
    target_id: str | None
    doc_id: str
    relevance: int


def gold_documents(qrels: Iterable[Qrel]) -> dict[str, frozenset[str]]:
    """Target id -> the documents that state it."""
    found: dict[str, set[str]] = {}
    for qrel in qrels:
        if qrel.target_id is not None and qrel.relevance > 0:
            found.setdefault(qrel.target_id, set()).add(qrel.doc_id)
    return {target_id: frozenset(doc_ids) for target_id, doc_ids in found.items()}


def relevance_by_query(qrels: Iterable[Qrel]) -> dict[str, dict[str, int]]:
    """
    Query id -> document id -> relevance.

    If a query's targets are judged, a document's relevance is the number of them it states (SummHay's oracle score),
    whatever else is judged; if only the query as a whole is, it is that judgement.
    """
    of_targets: dict[str, dict[str, int]] = {}
    of_queries: dict[str, dict[str, int]] = {}
    for qrel in qrels:
        if qrel.relevance > 0:
            found = (of_queries if qrel.target_id is None else of_targets).setdefault(qrel.query_id, {})
            found[qrel.doc_id] = found.get(qrel.doc_id, 0) + (qrel.relevance if qrel.target_id is None else 1)
    return of_queries | of_targets


def shown_query(query: Query, *, query_text: str) -> Query:
    """Show a query as a retriever may see it: its text is what is searched with, and a hidden subtopic is left out."""
    text = retrieval_text(query, query_text=query_text)
    if query_text == "query":
        return query._replace(text=text, subtopic=None, subtopic_name=None)
    return query._replace(text=text)


def retrieval_text(query: Query, *, query_text: str) -> str:
    """Return the text a retriever searches with: the query, or query and subtopic (SummHay's released code)."""
    if query_text == "query_subtopic" and query.subtopic:
        return f"{query.text} {query.subtopic}"
    return query.text
