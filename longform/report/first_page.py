"""The figure and the table of a report's first page: systems of the leading judge, the best first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from longform.metrics.statistics import LEVEL
from longform.report.forms import Mark, band_plot, name_of
from longform.report.measures import MAIN, capitalized, head_of, main_measure
from longform.report.parts import Judged, by_judge, main_cells
from longform.report.plots import BLUE, Plot
from longform.report.scores import estimate
from longform.report.shown_names import short_systems
from longform.report.tables import IN_SAMPLE, oracle_told, system_of
from longform.results.cells import CellRow, compared_families, pairs_of
from longform.results.columns import number_in, text_in
from longform.results.pairs import NOT_DISTINGUISHABLE, TOO_FEW
from longform.results.results import Results
from longform.settings.system_names import SystemName
from longform.tables.table import Column, Table, Value


def _leading(results: Results) -> tuple[Judged, Column, Sequence[CellRow], Sequence[CellRow]] | None:
    """
    Return the leading judge and first data set, the measure that ranks systems, and its cells: all, and the ranked.

    Those that are ranked have a score and are no twins, the best first. None if no score is known.
    """
    judged, cells = next(iter(by_judge(main_cells(results))), (None, []))
    if judged is None:
        return None
    head = head_of(results, main_measure(cells[0]))
    head = head._replace(title="joint score" if head.name == MAIN else head.head)
    known = [cell for cell in cells if not cell.get("twin_of") and number_in(cell, head.name) is not None]
    known.sort(key=lambda cell: (number_in(cell, head.name) or 0.0) * (1 if head.better == "lower" else -1))
    return (judged, head, cells, known) if known else None


# ---------------------------------------------------------------- the figure

_MOST_LINES = 16
"""Systems of a figure that one screen holds, a twin as two thirds of one."""
_TWIN_LINE = 0.6


def forest(results: Results) -> tuple[Plot, int] | None:
    """
    Return the figure of the first judge and data set of the main measure, and how many systems have no line in it.

    None if no score is known.
    """
    if (leading := _leading(results)) is None:
        return None
    judged, head, cells, known = leading
    twins = {(cell.get("twin_of"), cell["setting"]): cell for cell in cells if cell.get("twin_of")}
    alike, names = _alike(results, known), short_systems(results)
    marks: list[Mark] = []
    drawn: list[CellRow] = []
    lines = 0.0
    for cell in known:
        twin = twins.get(system_of(cell))
        lines += 1 + (_TWIN_LINE if twin else 0)
        if drawn and lines > _MOST_LINES:
            break
        colour = BLUE if system_of(cell) in alike else ""
        for row in [cell, *([twin] if twin else [])]:
            label = names.get(str(system_of(row)), str(system_of(row)))
            band = name_of(label, IN_SAMPLE if row.get("in_sample") else "")
            own = "" if row is twin else colour
            marks.append(Mark(band, head.name, estimate(row, head.name), None, own, twin=row is twin))
            drawn.append(row)
    n_shown = sum(not cell.get("twin_of") for cell in drawn)
    words = f"{capitalized(head.head)} of {n_shown} systems, the best first: "
    plot = band_plot(marks, x_label=f"{head.head}, of 100", head=words, name="forest")
    if plot is None:
        return None
    of = [f"judge {judged.judge}"] if judged.judge else []
    of += [f"data set {judged.dataset}"] if judged.dataset else []
    legend = _legend(sum(bool(mark.colour) for mark in marks), drawn)
    caption = f"{capitalized(', '.join([head.head, *of]))}; lines are {100 * LEVEL:.0f} % intervals. {legend}".strip()
    return plot._replace(caption=caption), len(known) - n_shown


def _alike(results: Results, known: Sequence[CellRow]) -> set[SystemName]:
    """Return the best system and those that cannot be told from it; none if this was not tested."""
    judge, dataset = known[0]["judge"], known[0].get("dataset")
    for family in compared_families(results):
        reference = family.get("reference_system")
        if (family["judge"], family.get("dataset")) == (judge, dataset) and reference and family["chosen"] == "best":
            if any(row["finding"].startswith(TOO_FEW) for row in family["rows"]):
                return set()
            rows = [row for row in family["rows"] if row["finding"] == NOT_DISTINGUISHABLE]
            same = {*family["reference_same"], *(name for row in rows for name in row["same"])}
            shown = {system_of(cell) for cell in known if str(system_of(cell)) in same}
            return {system_of(reference), *map(system_of, rows), *shown}
    return set()


def _legend(n_alike: int, drawn: Sequence[CellRow]) -> str:
    told, twins = [], [cell for cell in drawn if cell.get("twin_of")]
    if n_alike:
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


def leaderboard(results: Results, names: Mapping[str, str]) -> Table | None:
    """
    Return the systems of the leading judge on the first data set, the best first; None if fewer than two have a score.

    One that *names* do not rename keeps its words.
    """
    leading = _leading(results)
    if leading is None or len(leading[-1]) < 2:
        return None
    (judge, dataset), head, _, cells = leading
    places = _places(results, cells, head.name)
    of = [f"judge {judge}" if judge else "without a judge", *([f"data set {dataset}"] if dataset else [])]
    first = f" The first {_MOST} of {len(cells):,} systems." if len(cells) > _MOST else ""
    columns = [
        Column("place", told="the places that the tests of all pairs leave open", unknown=_UNKNOWN_PLACE),
        Column("system"),
        Column("score", head.unit, head.title),
        Column("summaries", "count"),
        *([Column("cost", "usd", told="of a summary, mean")] if any("usd_a_summary" in cell for cell in cells) else []),
    ]
    rows = [_row(cell, head, names, places.get(str(system_of(cell)))) for cell in cells[:_MOST]]
    return Table("leaderboard", columns, rows, "Leaderboard", f"{capitalized(', '.join(of))}.{first}", ["system"])


def _row(cell: CellRow, head: Column, names: Mapping[str, str], place: str | None) -> Mapping[str, Value]:
    return {
        "place": place,
        "system": names.get(str(system_of(cell)), str(system_of(cell))),
        "score": estimate(cell, head.name),
        "summaries": cell["n_summaries"],
        "cost": number_in(cell, "usd_a_summary"),
    }


def _places(results: Results, cells: Sequence[CellRow], measure: str) -> Mapping[str, str]:
    """Return the places of systems: behind those that are shown to be better, before those shown to be worse."""
    judge, dataset = (text_in(cells[0], name) for name in ("judge", "dataset"))
    return {
        name: str(first) if first == last else f"{first} to {last}"
        for row in pairs_of(results, measure, judge, dataset)
        for first, last in [(row.get("first_place"), row.get("last_place"))]
        for name in (row["system"], *row["same"])
        if first is not None
    }
