"""The column of groups beside scores: which systems cannot be told apart, and which may be the best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from longform.metrics.paired_differences import ALPHA
from longform.report.measures import head_of
from longform.results.cells import CellRow
from longform.results.columns import text_in
from longform.results.compared import Row, pairs_of
from longform.results.results import Results
from longform.settings.system_names import SystemName
from longform.tables.cells import Cell

HEAD = "group"
_BEST, _PERHAPS = "best", "perhaps best"
_LEVEL = f"{100 * ALPHA:.0f} %"


class GroupsColumn(NamedTuple):
    """
    Cells of the column.

    Attributes:
        cells: (summarizer, setting) -> its cell.
        told: How to read them, in a sentence.
    """

    cells: dict[tuple[str, str], Cell]
    told: str


def groups_column(results: Results, cells: Sequence[CellRow], measure: str) -> GroupsColumn | None:
    """Return the column of *cells*, of one judge and data set, by a measure; None: nothing could be told apart."""
    judge, dataset = (text_in(cells[0], name) for name in ("judge", "dataset"))
    systems = pairs_of(results, measure, judge, dataset)
    lettered = any(one["letters"] is not None for one in systems)
    stands = any(one["standing"] is not None for one in systems)
    if not lettered and not stands:
        return None
    by_name = {name: one for one in systems for name in (one["system"], *one["same"])}
    found = {}
    for cell in cells:
        one = by_name.get(str(SystemName(cell["summarizer"], cell["setting"])))
        found[cell["summarizer"], cell["setting"]] = Cell(None, reason="not compared") if one is None else _cell(one)
    title = head_of(results, measure).title
    parts = [f"systems that share a letter cannot be told apart by {title} (all pairs together, {_LEVEL})"]
    told = f"{_BEST}: better than each other system; {_PERHAPS}: no other is better"
    parts = [*(parts if lettered else []), f"{told}; {'both by these tests' if lettered else 'no: some other is'}"]
    return GroupsColumn(found, f"Group: {'; '.join(parts if stands else parts[:1])}.")


def _cell(one: Row) -> Cell:
    if one["letters"] is not None:
        return Cell(one["letters"], detail=one["standing"] if one["standing"] in (_BEST, _PERHAPS) else None)
    return Cell(one["standing"], reason="documents ordered on purpose: not sought among these")
