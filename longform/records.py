"""The things a benchmark holds, as typed rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Document(NamedTuple):
    """A source; `doc_index` is its place in the haystack, from 0."""

    doc_id: str
    haystack_id: str
    doc_index: int
    title: str | None
    text: str

    @property
    def number(self) -> int:
        """What a summary cites it by."""
        return self.doc_index + 1


class Query(NamedTuple):
    query_id: str
    haystack_id: str
    domain: str | None
    topic: str | None
    subtopic_name: str | None
    subtopic: str | None
    participants: list[str] | None
    text: str


class Target(NamedTuple):
    """What a summary is compared with: an insight, a key point, a reference."""

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

    Where targets are judged, a document's relevance is the number of the query's targets it states (SummHay's
    oracle score); where the query as a whole is judged, it is the judgement.
    """
    found: dict[str, dict[str, int]] = {}
    for qrel in qrels:
        if qrel.relevance > 0:
            documents = found.setdefault(qrel.query_id, {})
            documents[qrel.doc_id] = documents.get(qrel.doc_id, 0) + (1 if qrel.target_id else qrel.relevance)
    return found


def retrieval_text(query: Query, *, query_text: str) -> str:
    """The text a retriever searches with: the query, or query and subtopic (SummHay's released code; SH-24)."""
    if query_text == "query_subtopic" and query.subtopic:
        return f"{query.text} {query.subtopic}"
    return query.text
