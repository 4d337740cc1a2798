"""Rows of one haystack, table by table, as readers hand them over."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, NotRequired, TypedDict

from longform.records import Document, Qrel, Query, Target
from longform.rows import FacetRow, RankedRow, ReleasedScoreRow


class ShippedRanking(RankedRow):
    """A row of the table rankings that a release ships; columns left out are null."""

    work_id: NotRequired[str]


class ShippedSummary(TypedDict):
    """A row of the table summaries that a release ships; columns left out are null."""

    work_id: NotRequired[str]
    summary_id: str
    query_id: str
    haystack_id: str
    summarizer: str
    setting: str
    retriever: NotRequired[str]
    order: NotRequired[str | None]
    method: NotRequired[str]
    parents: NotRequired[list[str]]
    n_requested: NotRequired[int]
    elapsed_minutes: NotRequired[float | None]
    text: str | None
    context_id: NotRequired[str | None]
    failure: NotRequired[str | None]
    repeat: NotRequired[int | None]
    budget_tokens: NotRequired[int | None]
    model: NotRequired[str | None]
    input_tokens: NotRequired[int | None]
    output_tokens: NotRequired[int | None]
    cost_usd: NotRequired[float | None]
    seconds: NotRequired[float | None]


class ShippedContext(TypedDict):
    """A row of the table contexts of a benchmark: the documents that a writer saw; columns left out are null."""

    context_id: str
    query_id: str
    haystack_id: str
    system: str  # the setting in words
    budget_tokens: int | None
    doc_ids: list[str]  # in prompt order


class ShippedLabel(TypedDict):
    """A row of the table labels that a release ships; columns left out are null."""

    annotator: str
    summary_id: str
    unit_index: NotRequired[int | None]
    target_kind: str
    target_id: str
    mode: str
    repeat: int
    answer: str | None
    probability: NotRequired[float | None]
    linked_unit: NotRequired[int | None]
    failure: NotRequired[str | None]


class HaystackRows(NamedTuple):
    """
    The tables of a benchmark for one haystack.

    `documents` may be a one-time iterator that reads as it goes, and may raise as it goes: take the rows once, and
    let nothing count as written before the last of them. The dicts have the columns of their tables' schemas (those
    left out are null).
    """

    haystack_id: str
    documents: Iterable[Document]
    queries: Iterable[Query]
    targets: Iterable[Target] = ()
    qrels: Iterable[Qrel] = ()
    rankings: Iterable[ShippedRanking] = ()
    summaries: Iterable[ShippedSummary] = ()
    labels: Iterable[ShippedLabel] = ()
    released_scores: Iterable[ReleasedScoreRow] = ()


def facet_rows(facets: Mapping[str, str]) -> list[FacetRow]:
    """Return the facets of a query as rows, by name."""
    return [{"name": name, "value": facets[name]} for name in sorted(facets)]


def insight_label(
    annotator: str, summary_id: str, target_id: str, answer: str, linked_unit: int | None, *, kind: str = "insight"
) -> ShippedLabel:
    """Return the label of a whole summary by a target of its query."""
    return {
        "annotator": annotator,
        "summary_id": summary_id,
        "target_kind": kind,
        "target_id": target_id,
        "mode": "full",
        "repeat": 0,
        "answer": answer,
        "linked_unit": linked_unit,
    }
