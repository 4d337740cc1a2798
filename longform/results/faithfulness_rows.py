"""Rows of the tables of faithfulness: by system, by place, by order and by length."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from longform.metrics.order_sensitivity import SensitivityColumns
from longform.metrics.statistics import EstimateColumns
from longform.results.columns import AxesColumns, OfJudge
from longform.settings.experiment import SupportMode


class NamedRow(OfJudge):
    summarizer: str
    setting: str
    axes: AxesColumns


class FaithfulCell(NamedRow):
    """A system."""

    method: str
    order: str | None  # null: unknown
    n_documents: int | None
    length_tokens: int | None
    faithfulness: EstimateColumns  # mean probability of support
    supported: NotRequired[EstimateColumns]  # share of sentences, by the judge's answers; older results lack it
    n_summaries: int
    n_repeats: int
    n_failed: int
    failures: dict[str, int]  # by reason
    n_without_score: int
    unjudged_share: float | None
    elsewhere: bool  # whether it was written elsewhere, in a run that writes too


class IndexColumns(TypedDict):
    """A BiasIndex in points, with the p-value of its family."""

    spread: float
    lead: float
    ends: float
    p: float
    p_lead: float
    p_ends: float
    shape: str
    p_holm: NotRequired[float]


class Curve(TypedDict):
    """A measure by place."""

    curve: list[EstimateColumns] | None
    index: IndexColumns | None
    reason: NotRequired[str]  # why there is no curve


class Curves(TypedDict):
    bins: int
    degenerate: dict[str, int]
    faithfulness: Curve
    coverage: Curve


class PlacesRow(NamedRow, Curves):
    """Curves of a system by place."""


class OrdersRow(NamedRow, SensitivityColumns):
    """A system without its order; a column for each order that was run has its estimate."""


class LengthColumns(TypedDict):
    """A length in both units."""

    n_documents: float  # the mean over prompts
    fewest: int
    most: int
    length_tokens: int | None  # null: the unit is documents


class LengthPoint(LengthColumns):
    faithfulness: EstimateColumns
    curve: list[EstimateColumns] | None  # null: no place is known


class LengthsRow(NamedRow):
    """A system without its length."""

    unit: str  # documents, tokens
    lengths: list[LengthPoint]


class DrawnOrders(TypedDict):
    """The score over drawn orders."""

    calibrated: EstimateColumns
    n_orders: int
    lowest: float | None
    highest: float | None
    narrow: bool | None  # whether the interval is as narrow as asked for; null: no width was asked for


class DrawnRow(NamedRow, DrawnOrders):
    pass


class Faithfulness(TypedDict):
    """The parts of the study in the form before 0.7 that others read; the whole stands in its tables."""

    mode: SupportMode
    cells: list[FaithfulCell]
