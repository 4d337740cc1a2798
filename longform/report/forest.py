"""The figure of a report's first page: systems one below the other, the best first."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from longform.metrics.statistics import LEVEL, Estimate
from longform.report.forms import Band, Mark, band_plot, name_of
from longform.report.measures import capitalized, head_of, main_measure
from longform.report.parts import by_judge, main_cells
from longform.report.plots import BLUE, Plot
from longform.report.shown_names import short_systems
from longform.report.tables import IN_SAMPLE, oracle_told
from longform.results.cells import CellRow
from longform.results.columns import interval_in, number_in
from longform.results.compared import compared_families
from longform.results.pairs import NOT_DISTINGUISHABLE, TOO_FEW
from longform.results.results import Results

_MOST_LINES = 16
"""Systems of a figure that one screen holds, a twin as two thirds of one."""
_TWIN_LINE = 0.6


class Forest(NamedTuple):
    """
    The figure, and what it leaves out.

    Attributes:
        plot: Of the first judge and data set.
        caption: Says what is shown.
        n_more: Systems that have no line.
    """

    plot: Plot
    caption: str
    n_more: int


def forest(results: Results) -> Forest | None:
    """Return the figure of the first judge and data set of the main measure; None if no score is known."""
    judged = next(iter(by_judge(main_cells(results))), None)
    if judged is None:
        return None
    cells = judged[1]
    measure = main_measure(cells[0])
    head = head_of(results, measure)
    known = [cell for cell in cells if not cell.get("twin_of") and number_in(cell, measure) is not None]
    known.sort(key=lambda cell: (number_in(cell, measure) or 0.0) * (1 if head.better == "lower" else -1))
    twins = {(cell.get("twin_of"), cell["setting"]): cell for cell in cells if cell.get("twin_of")}
    alike, names = _alike(results, known) if known else (), short_systems(results)
    bands: list[Band] = []
    drawn: list[CellRow] = []
    lines = 0.0
    for cell in known:
        twin = twins.get(_key(cell))
        lines += 1 + (_TWIN_LINE if twin else 0)
        if drawn and lines > _MOST_LINES:
            break
        bands.append(_band(cell, measure, names, colour=BLUE if _key(cell) in alike else ""))
        bands += [_band(twin, measure, names, twin=True)] if twin else []
        drawn += [cell, *([twin] if twin else [])]
    title = "joint score" if measure == "joint" else head.title
    n_shown = sum(not cell.get("twin_of") for cell in drawn)
    words = f"{capitalized(title)} of {n_shown} systems, the best first: "
    plot = band_plot(bands, x_label=f"{title}, of 100", head=words, name="forest")
    if plot is None:
        return None
    judge = f", judge {cells[0]['judge']}" if cells[0]["judge"] else ""
    dataset = f", data set {judged[0].dataset}" if judged[0].dataset else ""
    legend = _legend(bands, drawn, tested=bool(alike))
    caption = f"{capitalized(title)}{judge}{dataset}; lines are {100 * LEVEL:.0f} % intervals. {legend}".strip()
    return Forest(plot, caption, len(known) - n_shown)


def _band(cell: CellRow, measure: str, names: Mapping[str, str], *, colour: str = "", twin: bool = False) -> Band:
    low, high = interval_in(cell, measure) or (None, None)
    system = f"{cell['summarizer']}, {cell['setting']}"
    label = name_of(names.get(system, system), IN_SAMPLE if cell.get("in_sample") else "")
    value = Estimate(number_in(cell, measure), low, high, cell["n_summaries"])
    return Band(label, {measure: Mark(value, colour=colour, twin=twin)})


def _alike(results: Results, known: Sequence[CellRow]) -> Collection[tuple[str, str]]:
    """Return the best system and those that cannot be told from it; none if this was not tested."""
    judge, dataset = known[0]["judge"], known[0].get("dataset")
    for family in compared_families(results):
        reference = family.get("reference_system")
        if (family["judge"], family.get("dataset")) == (judge, dataset) and reference and family["chosen"] == "best":
            if any(row["finding"].startswith(TOO_FEW) for row in family["rows"]):
                return ()
            rows = [row for row in family["rows"] if row["finding"] == NOT_DISTINGUISHABLE]
            same = {*family["reference_same"], *(name for row in rows for name in row["same"])}
            shown = {_key(cell) for cell in known if f"{cell['summarizer']}, {cell['setting']}" in same}
            return {_key(reference), *map(_key, rows), *shown}
    return ()


def _key(row: Mapping[str, object]) -> tuple[str, str]:
    return str(row["summarizer"]), str(row["setting"])


def _legend(bands: Sequence[Band], drawn: Sequence[CellRow], *, tested: bool) -> str:
    told, twins = [], [cell for cell in drawn if cell.get("twin_of")]
    if tested and (n_alike := sum(bool(mark.colour) for band in bands for mark in band.marks.values())):
        others = ", and systems that cannot be told from it" if n_alike > 1 else ""
        told.append(f"Blue, filled: the best{others}. Grey, hollow: others.")
    if twins:
        marked = f" ({IN_SAMPLE})" if any(twin.get("in_sample") for twin in twins) else ""
        told.append(
            f"Pale diamond, dashed: its repaired twin{marked}, the same summaries with supporting documents found. "
            "Nobody runs it, and it is ranked nowhere."
        )
    return " ".join([*told, *oracle_told(drawn)])
