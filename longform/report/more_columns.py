"""Columns behind the scores of the main table: cost, groups, the place on the frontier, the spread between repeats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from longform.report.cost import cost_cells, cost_columns
from longform.report.groups_column import HEAD, groups_column
from longform.report.tables import Column, Table, marked_settings, settings_of, summarizers_by_joint
from longform.results.cells import CellRow
from longform.results.columns import Columns, number_in, text_in, within
from longform.results.results import Results
from longform.results.spent import TOLD
from longform.tables.cells import Cell

System = tuple[str, str]
"""Summarizer and setting."""

_SPREAD = (
    "Spread between repeats: standard deviation of the system's mean over repeats of its summaries, and over repeats "
    "of the judge's answers."
)


class MoreColumns(NamedTuple):
    """
    Columns with a cell for each row.

    Attributes:
        columns: Their heads.
        cells: System -> its cells.
        told: Sentences of the caption.
    """

    columns: list[Column]
    cells: dict[System, list[Cell]]
    told: list[str]


def more_columns(results: Results, cells: Sequence[CellRow], measure: str) -> MoreColumns:
    """Return the columns that *cells*, of one judge and data set, have something for; spread is that of *measure*."""
    columns, told = cost_columns(cells), [TOLD] if cost_columns(cells) else []
    found = {(cell["summarizer"], cell["setting"]): cost_cells(cell, cells) for cell in cells}
    if groups := groups_column(results, cells, measure):
        columns.append(Column(HEAD, numeric=False))
        told.append(groups.told)
        for system, row in found.items():
            row.append(groups.cells[system])
    if placed := _places(results, cells):
        columns.append(Column("frontier", numeric=False))
        told.append("Frontier: no system is better and cheaper (see “Quality beside cost”).")
        for system, row in found.items():
            row.append(placed.get(system, Cell(None, reason="no place by cost")))
    if _has_spread(cells):
        columns.append(Column("spread", numeric=False))
        told.append(_SPREAD)
        for cell in cells:
            found[cell["summarizer"], cell["setting"]].append(_spread_cell(cell, measure))
    return MoreColumns(columns, found, told)


def _places(results: Results, cells: Sequence[CellRow]) -> dict[System, Cell]:
    cost = results.get("cost")
    own = {(text_in(cell, "judge"), text_in(cell, "dataset")) for cell in cells}
    return {
        (point["summarizer"], point["setting"]): Cell("yes" if point["on_frontier"] else "no")
        for frontier in (cost["frontiers"] if cost else ())
        if (frontier["judge"], frontier["dataset"]) in own
        for point in frontier["points"]
    }


def with_more(table: Table, more: MoreColumns, rows: Sequence[CellRow]) -> Table:
    """Return *table*, whose rows are those of *rows*, with more columns."""
    body = [
        [*shown, *more.cells[row["summarizer"], row["setting"]]] for shown, row in zip(table.rows, rows, strict=True)
    ]
    return table._replace(columns=[*table.columns, *more.columns], rows=body)


def beside_grid(table: Table, more: MoreColumns, cells: Sequence[CellRow], *, caption: str) -> Table | None:
    """
    Return a grid of what is known besides, under a grid of scores, which would be too wide with it; None: nothing is.

    Args:
        table: The scores, summarizers by settings.
        more: Columns; those that nothing is known of are left out.
        cells: Of the scores.
        caption: Of the grid that is made.
    """
    settings, marked = settings_of(cells), marked_settings(cells)
    unknown = [Cell(None, reason="not run with this setting")] * len(more.columns)
    known = [
        place for place in range(len(more.columns)) if any(row[place].text is not None for row in more.cells.values())
    ]
    heads = [
        Column(marked[setting], numeric=more.columns[place].numeric, group=more.columns[place].name)
        for place in known
        for setting in settings
    ]
    body = [
        [shown[0], *(more.cells.get((name, setting), unknown)[place] for place in known for setting in settings)]
        for shown, name in zip(table.rows, summarizers_by_joint(cells), strict=True)
    ]
    return Table(caption, [table.columns[0], *heads], body, " ".join(more.told)) if known else None


def _has_spread(rows: Sequence[Columns]) -> bool:
    """Return whether anything was repeated."""
    return any(row.get("spread") for row in rows)


def _spread_cell(row: Columns, measure: str) -> Cell:
    """The spread of a cell by its main measure."""
    found = within(within(row, "spread"), measure)
    parts = [
        f"{name} {value:.1f}"
        for name, column in (("summaries", "summaries"), ("judge", "judge"))
        if (value := number_in(found, column)) is not None
    ]
    return Cell(", ".join(parts)) if parts else Cell(None, reason="not repeated")
