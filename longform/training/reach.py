"""Reach of a fitted component on data it was not fitted on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from longform.metrics.statistics import Estimate


class Reach(NamedTuple):
    """One measured figure, with the data behind it on both sides."""

    measure: str
    value: float
    low: float | None  # of a 95 % interval; null: none is known
    high: float | None
    n: int
    fitted_on: str
    scored_on: str


def reach_of(measure: str, estimate: Estimate, *, fitted_on: str, scored_on: str) -> Reach:
    """An estimate as a figure; it must have a value."""
    assert estimate.value is not None, f"{measure} is undefined on {scored_on}"
    return Reach(measure, estimate.value, estimate.low, estimate.high, estimate.n, fitted_on, scored_on)


INTERVALS = {"seed": 1, "resamples": 2000}
"""The seed and the resamples of every interval of a reach table."""


def reach_table(rows: Sequence[Reach]) -> str:
    """The rows as a Markdown table."""
    lines = [f"| {row.measure} | {_interval(row)} | {row.n:,} | {row.fitted_on} | {row.scored_on} |" for row in rows]
    header = ["| measure | value [95 %] | n | fitted on | measured on |", "| --- | --- | --- | --- | --- |"]
    return "\n".join([*header, *lines])


def _interval(row: Reach) -> str:
    digits = 1 if max(abs(row.value), abs(row.high or 0)) > _SHARE_AT_MOST else 3
    value = f"{row.value:.{digits}f}"
    return value if row.low is None or row.high is None else f"{value} [{row.low:.{digits}f}, {row.high:.{digits}f}]"


_SHARE_AT_MOST = 2.0
"""Larger values are percent or points, and have one decimal."""
