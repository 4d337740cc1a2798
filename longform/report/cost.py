"""Columns of cost beside the scores and the faithfulness of systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from longform.report.tables import Column, reason
from longform.results.columns import Columns, number_in
from longform.tables.cells import Cell, number

_COLUMNS: Mapping[str, tuple[str, int]] = {
    "usd_a_summary": ("dollars a summary", 5),
    "tokens_in": ("tokens in, a summary", 0),
    "tokens_out": ("tokens out, a summary", 0),
    "seconds": ("seconds a summary", 1),
}
"""Column of cells -> its head and decimals."""


def cost_columns(cells: Sequence[Columns]) -> list[Column]:
    """Return the columns of cost of *cells*; none if they have none."""
    return [Column(_COLUMNS[name][0]) for name in _shown(cells)]


def _shown(cells: Sequence[Columns]) -> list[str]:
    return [name for name in _COLUMNS if any(name in cell for cell in cells)]


def cost_cells(cell: Columns, cells: Sequence[Columns]) -> list[Cell]:
    """Return the cost of one of *cells*."""
    return [_amount_cell(number_in(cell, name), _COLUMNS[name][1], reason(cell, name)) for name in _shown(cells)]


def _amount_cell(value: float | None, digits: int, reason: str) -> Cell:
    """Show an amount; nothing is 0 and not a small number."""
    return number(value, digits=digits if value else 0, reason=reason)
