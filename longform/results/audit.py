"""The audit of a benchmark, as far as a report reads it."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from longform.metrics.statistics import EstimateColumns


class CellCounts(TypedDict):
    """Pairs of document and insight."""

    listed: int
    left_out: int


class Judged(TypedDict):
    """Pairs on which the judge differs from the gold map."""

    listed_rejected: int
    left_out_accepted: int


class Spread(TypedDict):
    least: int
    mean: float
    most: int


class ExactSearch(TypedDict):
    """Statements that stand word for word in a document."""

    planted: int
    found: int
    elsewhere: int


class Prose(TypedDict):
    """Documents and passages by their writer."""

    model: str
    by_model: int
    in_part: int
    by_template: int
    kept: int
    fallen_back: int
    replies: int
    rejected: dict[str, int]  # by reason


class AuditedHaystack(TypedDict):
    haystack_id: str
    documents: int
    insights: int
    documents_per_insight: Spread
    planted: dict[str, int] | None  # by kind; null: not known
    exact_search: ExactSearch | None
    near_duplicates: list[list[int]]
    located_by: str
    tenths: list[int]
    reasons: dict[str, str]
    prose: NotRequired[Prose | None]


class Audit(TypedDict):
    judge: str
    cells: CellCounts
    judged: Judged
    false_positives: EstimateColumns
    missed: EstimateColumns
    joint_ceiling: EstimateColumns
    haystacks: list[AuditedHaystack]
