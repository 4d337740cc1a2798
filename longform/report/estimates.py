"""Cells of the study of faithfulness, and why they may be empty."""

from __future__ import annotations

from longform.metrics.statistics import EstimateColumns
from longform.tables.cells import Cell, number

NO_SCORE = "no sentence could be scored"
NOTHING_THERE = "no sentence is attributed to this place"


def estimate_cell(estimate: EstimateColumns | None, *, reason: str = NO_SCORE, factor: float = 1) -> Cell:
    """Show an estimate with its interval; one that was not run has that reason."""
    if estimate is None:
        return Cell(None, reason="not run")
    return number(estimate["value"], factor=factor, interval=(estimate["low"], estimate["high"]), reason=reason)
