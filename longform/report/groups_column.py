"""The column of groups beside scores: which systems cannot be told apart, and which may be the best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from longform.results.cells import CellRow
from longform.results.columns import text_in
from longform.results.pairwise import BestColumns, PairedSystem, PairwiseFamily
from longform.results.results import Results
from longform.settings.system_names import SystemName
from longform.tables.cells import Cell

HEAD = "group"
_BEST, _PERHAPS, _BEATEN = "best", "perhaps best", "no"


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
    family = _family(results, cells, measure)
    if family is None or (_best(family) is None and all(one["letters"] is None for one in family["systems"])):
        return None
    by_name = {name: one for one in family["systems"] for name in (one["system"], *one["same"])}
    found = {}
    for cell in cells:
        one = by_name.get(str(SystemName(cell["summarizer"], cell["setting"])))
        found[cell["summarizer"], cell["setting"]] = (
            Cell(None, reason="not compared") if one is None else _cell(one, family)
        )
    return GroupsColumn(found, _told(family))


def _family(results: Results, cells: Sequence[CellRow], measure: str) -> PairwiseFamily | None:
    own = {(text_in(cell, "judge"), text_in(cell, "dataset")) for cell in cells}
    families = [one for one in results.get("pairwise") or [] if one["measure"] == measure]
    return next((one for one in families if (one["judge"], one["dataset"]) in own), None)


def _best(family: PairwiseFamily) -> BestColumns | None:
    """Return the best of a family; None: nothing could be shown, or an older version chose it by other tests."""
    return None if any("p_best" in one for one in family["systems"]) else family.get("best")


def _cell(one: PairedSystem, family: PairwiseFamily) -> Cell:
    best = _best(family)
    named = best is not None and best["named"] and best["leader"] == one["system"]
    standing = None if best is None or one["with_best"] is None else _PERHAPS if one["with_best"] else _BEATEN
    shown = _BEST if named else standing
    if one["letters"] is not None:
        return Cell(one["letters"], detail=shown if one["with_best"] else None)
    return Cell(shown, reason="documents ordered on purpose: not sought among these")


def _told(family: PairwiseFamily) -> str:
    """Say how the column is read."""
    parts = []
    title, level = family["title"], f"{100 * family['level']:.0f} %"
    if any(one["letters"] is not None for one in family["systems"]):
        parts.append(f"systems that share a letter cannot be told apart by {title} (all pairs together, {level})")
    if _best(family) is not None:
        told = f"{_BEST}: better than each other system; {_PERHAPS}: no other is better"
        lettered = any(one["letters"] is not None for one in family["systems"])
        parts.append(f"{told}; both by these tests" if lettered else f"{told}; {_BEATEN}: some other is")
    return f"Group: {'; '.join(parts)}."
