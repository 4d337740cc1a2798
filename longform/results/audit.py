"""The audit of a benchmark, and the account of its synthesis, as far as a report reads them."""

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


class ReadAgain(TypedDict):
    """Pairs that the verifier read twice."""

    differing_share: float | None
    differing_low: NotRequired[float | None]
    differing_high: NotRequired[float | None]


class MadeHaystack(TypedDict):
    haystack_id: str
    documents: int
    documents_not_written: int
    mean_words: float | None
    insights: int
    insights_below_least_documents: list[str]
    known_without_documents: list[str] | None
    assigned_but_not_stated: int
    stated_but_not_assigned: int
    unchecked_cells: int
    read_again: ReadAgain


class Check(TypedDict):
    check: str
    accepted_if: str
    attempts: int
    accepted: int
    rejected: int
    exhausted: int


class GivenUp(TypedDict):
    haystack_id: str
    check: str
    subject: str
    attempt: int
    reason: str | None


class Synthesis(TypedDict):
    models: dict[str, str]  # by role
    haystacks: list[MadeHaystack]
    checks: list[Check]
    exhausted: NotRequired[list[GivenUp]]
