"""
A haystack in the layout of SummHay's published files, as `longform.formats.summhay` reads it.

Laban et al., Summary of a Haystack. A document's title, for which the layout has no field, is its text's first line.
Rankings, summaries and labels are those of a run (`longform.formats.summhay_run`); without one their objects are empty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from longform.errors import LongformError
from longform.records import Document, Qrel, Query, Target


class OfRun(NamedTuple):
    """The additions of a run to a haystack."""

    metadata: Mapping[str, Any]
    # query id -> its subtopic's content of `retriever`, `summaries` and `eval_summaries`
    parts: Mapping[str, Mapping[str, Any]]


def topic_file(
    documents: Sequence[Document],
    queries: Sequence[Query],
    targets: Sequence[Target],
    qrels: Sequence[Qrel],
    *,
    settings: Mapping[str, Any] | None,
    of_run: OfRun | None = None,
) -> dict[str, Any]:
    """
    Return the content of `topic_<haystack_id>.json`, the file of one haystack; *documents* are in its order.

    *qrels* of queries as a whole have no place in the layout. *settings*, by which the haystack was made, are kept as
    metadata; None: not known.

    Raises:
        LongformError: A query lacks a topic or a subtopic, which the layout demands.
    """
    included: dict[str, list[str]] = {document.doc_id: [] for document in documents}
    for qrel in qrels:
        if qrel.target_id is not None and qrel.relevance > 0:
            included[qrel.doc_id].append(qrel.target_id)
    first = queries[0]
    metadata: dict[str, Any] = {} if settings is None else {"settings": dict(settings)}
    if first.participants:
        metadata["participants"] = first.participants
    if of_run is not None:
        metadata |= of_run.metadata
    return {
        "topic_id": first.haystack_id,
        "topic": _needed(first, "topic"),
        "topic_metadata": metadata,
        "subtopics": [
            {
                **_subtopic(query, [target for target in targets if target.query_id == query.query_id]),
                **(of_run.parts.get(query.query_id, {}) if of_run is not None else {}),
            }
            for query in queries
        ],
        "documents": [
            {
                "document_id": document.doc_id,
                "document_text": f"{document.title}\n\n{document.text}" if document.title else document.text,
                "document_metadata": {},
                "insights_included": included[document.doc_id],
                "idx": document.doc_index,
            }
            for document in documents
        ],
    }


def _subtopic(query: Query, targets: Sequence[Target]) -> dict[str, Any]:
    insights = [{"insight_id": t.target_id, "insight_name": t.name, "insight": t.text} for t in targets]
    return {
        "subtopic_id": query.query_id,
        "subtopic_name": _needed(query, "subtopic_name"),
        "subtopic": _needed(query, "subtopic"),
        "query": query.text,
        "insights": insights,
        "retriever": {},
        "summaries": {},
        "eval_summaries": {},
    }


def _needed(query: Query, field: str) -> str:
    value = getattr(query, field)
    if value is None:
        msg = f"query {query.query_id!r}: field {field!r}: expected text, which SummHay's layout demands, found none"
        raise LongformError(msg)
    return str(value)
