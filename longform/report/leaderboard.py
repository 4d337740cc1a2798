"""The one table of a report's first page: systems with their places, scores, numbers of summaries and costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from longform.metrics.statistics import Estimate
from longform.report.measures import capitalized, head_of, main_measure
from longform.report.parts import by_judge, main_cells
from longform.results.cells import CellRow
from longform.results.columns import interval_in, number_in, text_in
from longform.results.compared import pairs_of
from longform.results.results import Results
from longform.tables.table import Column, Table, Value, stated_unit

_MOST = 10
_UNKNOWN_PLACE = "the tests of pairs tell nothing of it"
Places = Mapping[tuple[str, str], tuple[int, int]]
"""Summarizer and setting -> the first and the last place that it may have."""


def leaderboard(results: Results, names: Mapping[str, str]) -> Table | None:
    """
    Return the systems of the leading judge on the first data set, the best first; None if no score is known.

    Args:
        results: The results whose cells are ranked.
        names: System in words -> its name among the others; one that is missing keeps its words.
    """
    judged = next(iter(by_judge(main_cells(results))), None)
    if judged is None:
        return None
    measure = main_measure(judged[1][0])
    head = head_of(results, measure)
    cells = [cell for cell in judged[1] if not cell.get("twin_of") and number_in(cell, measure) is not None]
    cells.sort(key=lambda cell: (number_in(cell, measure) or 0.0) * (1 if head.better == "lower" else -1))
    if len(cells) < 2:
        return None
    places = _places(results, cells, measure)
    unit = stated_unit({"unit": head.unit}, Column("score", "stated"))
    judge, dataset = judged[0]
    of = [f"judge {judge}" if judge else "without a judge", *([f"data set {dataset}"] if dataset else [])]
    first = f" The first {_MOST} of {len(cells):,} systems." if len(cells) > _MOST else ""
    told = f"{capitalized(', '.join(of))}.{first}"
    columns = [
        Column("place", told="the places that the tests of all pairs leave open", unknown=_UNKNOWN_PLACE),
        Column("system"),
        Column("score", unit, "joint score" if measure == "joint" else head.title),
        Column("summaries", "count"),
        *([Column("cost", "usd", told="of a summary, mean")] if any("usd_a_summary" in cell for cell in cells) else []),
    ]
    rows = [_row(cell, measure, names, places.get(_key(cell))) for cell in cells[:_MOST]]
    return Table("leaderboard", columns, rows, "Leaderboard", told, ["system"])


def _row(cell: CellRow, measure: str, names: Mapping[str, str], place: tuple[int, int] | None) -> Mapping[str, Value]:
    low, high = interval_in(cell, measure) or (None, None)
    system = f"{cell['summarizer']}, {cell['setting']}"
    return {
        "place": place and (str(place[0]) if place[0] == place[1] else f"{place[0]} to {place[1]}"),
        "system": names.get(system, system),
        "score": Estimate(number_in(cell, measure), low, high, cell["n_summaries"]),
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


def _key(row: Mapping[str, object]) -> tuple[str, str]:
    return str(row["summarizer"]), str(row["setting"])
