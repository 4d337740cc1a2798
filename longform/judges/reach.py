"""A measured figure of a fitted component, on data that it was not fitted on."""

from __future__ import annotations

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
    """Return an estimate as a figure; it must have a value."""
    assert estimate.value is not None, f"{measure} is undefined on {scored_on}"
    return Reach(measure, estimate.value, estimate.low, estimate.high, estimate.n, fitted_on, scored_on)
