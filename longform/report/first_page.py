"""The figure and the table of a report's first page: systems of the leading judge, the best first."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from longform.metrics.statistics import LEVEL
from longform.report.forms import Band, Mark, band_plot, name_of
from longform.report.measures import capitalized, head_of, main_measure
from longform.report.parts import Judged, by_judge, main_cells
from longform.report.plots import BLUE, Plot
from longform.report.scores import estimate
from longform.report.shown_names import short_systems
from longform.report.tables import IN_SAMPLE, oracle_told
from longform.results.cells import CellRow, compared_families, pairs_of
from longform.results.columns import number_in, text_in
from longform.results.pairs import NOT_DISTINGUISHABLE, TOO_FEW
from longform.results.results import Results
from longform.tables.table import Column, Table, Value


class _Leading(NamedTuple):
    """
    The systems of the leading judge on the first data set.

    Attributes:
        judged: The judge and the data set.
        head: The measure that ranks them.
        title: The measure's title.
        cells: All of them, twins among them.
        ranked: Those with a score, the best first, without twins.
    """

    judged: Judged
    head: Column
    title: str
    cells: Sequence[CellRow]
    ranked: Sequence[CellRow]


def _leading(results: Results) -> _Leading | None:
    """Return the systems to show; None if no score is known."""
    judged, cells = next(iter(by_judge(main_cells(results))), (None, []))
    if judged is None:
        return None
    head = head_of(results, main_measure(cells[0]))
    known = [cell for cell in cells if not cell.get("twin_of") and number_in(cell, head.name) is not None]
    known.sort(key=lambda cell: (number_in(cell, head.name) or 0.0) * (1 if head.better == "lower" else -1))
    title = "joint score" if head.name == "joint" else head.head
    return _Leading(judged, head, title, cells, known) if known else None


def _key(row: Mapping[str, object]) -> tuple[str, str]:
    return str(row["summarizer"]), str(row["setting"])


# ---------------------------------------------------------------- the figure

_MOST_LINES = 16
"""Systems of a figure that one screen holds, a twin as two thirds of one."""
_TWIN_LINE = 0.6


class Forest(NamedTuple):
    """
    The figure, and what it leaves out.

    Attributes:
        plot: The figure of the first judge and data set.
        caption: Says what is shown.
        n_more: Systems that have no line.
    """

    plot: Plot
    caption: str
    n_more: int


def forest(results: Results) -> Forest | None:
    """Return the figure of the first judge and data set of the main measure; None if no score is known."""
    if (leading := _leading(results)) is None:
        return None
    judged, head, title, cells, known = leading
    twins = {(cell.get("twin_of"), cell["setting"]): cell for cell in cells if cell.get("twin_of")}
    alike, names = _alike(results, known), short_systems(results)
    bands: list[Band] = []
    drawn: list[CellRow] = []
    lines = 0.0
    for cell in known:
        twin = twins.get(_key(cell))
        lines += 1 + (_TWIN_LINE if twin else 0)
        if drawn and lines > _MOST_LINES:
            break
        bands.append(_band(cell, head, names, colour=BLUE if _key(cell) in alike else ""))
        bands += [_band(twin, head, names, twin=True)] if twin else []
        drawn += [cell, *([twin] if twin else [])]
    n_shown = sum(not cell.get("twin_of") for cell in drawn)
    words = f"{capitalized(title)} of {n_shown} systems, the best first: "
    plot = band_plot(bands, x_label=f"{title}, of 100", head=words, name="forest")
    if plot is None:
        return None
    of = [f"judge {judged.judge}"] if judged.judge else []
    of += [f"data set {judged.dataset}"] if judged.dataset else []
    legend = _legend(bands, drawn, tested=bool(alike))
    caption = f"{capitalized(', '.join([title, *of]))}; lines are {100 * LEVEL:.0f} % intervals. {legend}".strip()
    return Forest(plot, caption, len(known) - n_shown)


def _band(cell: CellRow, head: Column, names: Mapping[str, str], *, colour: str = "", twin: bool = False) -> Band:
    system = f"{cell['summarizer']}, {cell['setting']}"
    label = name_of(names.get(system, system), IN_SAMPLE if cell.get("in_sample") else "")
    return Band(label, {head.name: Mark(estimate(cell, head.name), colour=colour, twin=twin)})


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


# ---------------------------------------------------------------- the table

_MOST = 10
_UNKNOWN_PLACE = "the tests of pairs tell nothing of it"
Places = Mapping[tuple[str, str], tuple[int, int]]
"""Summarizer and setting -> the first and the last place that it may have."""


def leaderboard(results: Results, names: Mapping[str, str]) -> Table | None:
    """
    Return the systems of the leading judge on the first data set, the best first; None if fewer than two have a score.

    Args:
        results: The results whose cells are ranked.
        names: System in words -> its name among the others; one that is missing keeps its words.
    """
    leading = _leading(results)
    if leading is None or len(leading.ranked) < 2:
        return None
    (judge, dataset), head, cells = leading.judged, leading.head, leading.ranked
    places = _places(results, cells, head.name)
    of = [f"judge {judge}" if judge else "without a judge", *([f"data set {dataset}"] if dataset else [])]
    first = f" The first {_MOST} of {len(cells):,} systems." if len(cells) > _MOST else ""
    columns = [
        Column("place", told="the places that the tests of all pairs leave open", unknown=_UNKNOWN_PLACE),
        Column("system"),
        Column("score", head.unit, leading.title),
        Column("summaries", "count"),
        *([Column("cost", "usd", told="of a summary, mean")] if any("usd_a_summary" in cell for cell in cells) else []),
    ]
    rows = [_row(cell, head, names, places.get(_key(cell))) for cell in cells[:_MOST]]
    return Table("leaderboard", columns, rows, "Leaderboard", f"{capitalized(', '.join(of))}.{first}", ["system"])


def _row(cell: CellRow, head: Column, names: Mapping[str, str], place: tuple[int, int] | None) -> Mapping[str, Value]:
    system = f"{cell['summarizer']}, {cell['setting']}"
    return {
        "place": place and (str(place[0]) if place[0] == place[1] else f"{place[0]} to {place[1]}"),
        "system": names.get(system, system),
        "score": estimate(cell, head.name),
        "summaries": cell["n_summaries"],
        "cost": number_in(cell, "usd_a_summary"),
    }


def _places(results: Results, cells: Sequence[CellRow], measure: str) -> Places:
    """Return the places of systems: behind those that are shown to be better, before those shown to be worse."""
    judge, dataset = (text_in(cells[0], name) for name in ("judge", "dataset"))
    keys = {f"{cell['summarizer']}, {cell['setting']}": _key(cell) for cell in cells}
    return {
        keys[name]: (row["first_place"], row["last_place"])
        for row in pairs_of(results, measure, judge, dataset)
        for name in (row["system"], *row["same"])
        if name in keys and row.get("first_place") is not None
    }
