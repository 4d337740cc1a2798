"""
The figure, the table and the quotes of a report's first page.

Systems are those of the leading judge, the best first. Three summaries are quoted: the best, the worst, and the one
that judges differ about most.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from textwrap import shorten
from urllib.parse import quote

from longform.metrics.statistics import LEVEL
from longform.report.parts import by_judge, judged_words, main_cells
from longform.report.plots import BLUE, BandMark, Plot, band_plot
from longform.report.scores import estimate
from longform.report.shown_names import short_systems
from longform.report.tables import IN_SAMPLE, oracle_told, system_of
from longform.results.cells import (
    MAIN,
    CellRow,
    capitalized,
    compared_families,
    factor_of,
    head_of,
    main_measure,
    number_in,
    pairs_of,
    text_in,
)
from longform.results.differences import NOT_DISTINGUISHABLE, TOO_FEW
from longform.results.evidence import Unfolded
from longform.results.results import Results
from longform.settings.systems import SystemName
from longform.tables.table import Column, Table


def _leading(results: Results) -> tuple[str, Column, Sequence[CellRow], Sequence[CellRow]] | None:
    """
    Return the leading judge and data set in words, the measure that ranks systems, its cells, and the ranked of these.

    Those that are ranked have a score and are no twins, the best first. None if no score is known.
    """
    judge, dataset, cells = next(iter(by_judge(main_cells(results))), (None, None, []))
    if not cells:
        return None
    head = head_of(results, main_measure(cells[0]))
    head = head._replace(title="joint score" if head.name == MAIN else head.head)
    known = [cell for cell in cells if not cell.get("twin_of") and number_in(cell, head.name) is not None]
    known.sort(key=lambda cell: (number_in(cell, head.name) or 0.0) * (1 if head.better == "lower" else -1))
    return (judged_words(judge, dataset), head, cells, known) if known else None


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
    marks: list[BandMark] = []
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
            band = f"{label} ({IN_SAMPLE})" if row.get("in_sample") else label
            own = "" if row is twin else colour
            marks.append(BandMark(band, head.name, estimate(row, head.name), None, own, twin=row is twin))
            drawn.append(row)
    n_shown = sum(not cell.get("twin_of") for cell in drawn)
    words = f"{capitalized(head.head)} of {n_shown} systems, the best first: "
    plot = band_plot(marks, x_label=f"{head.head}, of 100", head=words, name="forest")
    if plot is None:
        return None
    legend = _legend(sum(bool(mark.colour) for mark in marks), drawn)
    caption = f"{capitalized(head.head)}, {judged}; lines are {100 * LEVEL:.0f} % intervals. {legend}".strip()
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


def leaderboard(results: Results) -> Table | None:
    """Return the systems of the leading judge on the first data set, best first; None if fewer than two are scored."""
    leading = _leading(results)
    if leading is None or len(leading[-1]) < 2:
        return None
    judged, head, _, cells = leading
    places = _places(results, cells, head.name)
    first = f" The first {_MOST} of {len(cells):,} systems." if len(cells) > _MOST else ""
    columns = [
        Column("place", told="the places that the tests of all pairs leave open", unknown=_UNKNOWN_PLACE),
        Column("system"),
        Column("score", head.unit, head.title),
        Column("summaries", "count"),
        *([Column("cost", "usd", told="of a summary, mean")] if any("usd_a_summary" in cell for cell in cells) else []),
    ]
    names = short_systems(results)
    rows = [
        {
            "place": places.get(system),
            "system": names.get(system, system),
            "score": estimate(cell, head.name),
            "summaries": cell["n_summaries"],
            "cost": number_in(cell, "usd_a_summary"),
        }
        for cell in cells[:_MOST]
        for system in [str(system_of(cell))]
    ]
    told = f"{capitalized(judged)}.{first}"
    reasons = [{"cost": why} if (why := cell["reasons"].get("usd_a_summary")) else {} for cell in cells[:_MOST]]
    return Table("leaderboard", columns, rows, "Leaderboard", told, ["system"], reasons)


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


# ---------------------------------------------------------------- quoted summaries

_QUERY_CHARACTERS, _TEXT_CHARACTERS = 200, 360
_MARK = re.compile(r"^\s*[-*•]\s+")  # of a line in a list
_LEAST_SUMMARIES = 3  # of which the best and the worst are two


Quote = Mapping[str, str | None]
"""
A summary in a few lines: `head` says why it is shown, with its scores; `system` wrote it; `query` and `text` are
shortened; `address` is the place of the whole summary, None if no page holds it.
"""


class Quotes:
    """The summaries to quote, found while all summaries of the results pass."""

    def __init__(self, results: Results) -> None:
        cells = [cell for cell in main_cells(results) if not cell.get("twin_of")]
        self._measure = main_measure(cells[0]) if cells else ""
        self._head = head_of(results, self._measure)
        self._judges = list(dict.fromkeys(cell["judge"] or "" for cell in cells if self._measure in cell))
        self._systems = {(cell["summarizer"], cell["setting"]) for cell in cells}
        self._names = short_systems(results)
        self._n = 0
        self._chosen: dict[str, tuple[float, Unfolded]] = {}

    def add(self, one: Unfolded) -> None:
        """Keep a summary if it is the best, the worst or the most disputed so far."""
        own = (one.summary["summarizer"], one.summary["setting"]) in self._systems and one.summary["bullets"]
        if not own or not (scores := self._scores(one)):
            return
        self._n += 1
        sign = -1 if self._head.better == "lower" else 1
        apart = max(scores.values()) - min(scores.values())
        if (first := scores.get(self._judges[0])) is not None:
            self._choose("Best", sign * first, one)
            self._choose("Worst", -sign * first, one)
        if apart > 0:
            self._choose("Most disputed", apart, one)

    def _choose(self, why: str, value: float, one: Unfolded) -> None:
        if why not in self._chosen or value > self._chosen[why][0]:
            self._chosen[why] = value, one

    def _scores(self, one: Unfolded) -> dict[str, float]:
        found = {judge: one.summary["scores"].get(judge, {}).get(self._measure) for judge in self._judges}
        return {judge: value for judge, value in found.items() if value is not None}

    def quotes(self, file_of: Mapping[str, str]) -> list[Quote]:
        """Return the best, the worst and the most disputed summary, as far as there are some; each once."""
        few = self._n < _LEAST_SUMMARIES
        shown: dict[str, Quote] = {}
        for why in ("Most disputed",) if few else ("Best", "Worst", "Most disputed"):
            if why in self._chosen:
                one = self._chosen[why][1]
                shown.setdefault(one.summary["summary_id"], self._quote(why, one, file_of))
        return list(shown.values())

    def _quote(self, why: str, one: Unfolded, file_of: Mapping[str, str]) -> Quote:
        summary_id, factor = one.summary["summary_id"], factor_of(self._head)
        scores = self._scores(one)
        several = len(scores) > 1
        told = [f"{factor * value:.0f}{f' by {judge}' if several and judge else ''}" for judge, value in scores.items()]
        system = str(system_of(one.summary))
        text = " ".join(_MARK.sub("", bullet["text"]) for bullet in one.summary["bullets"])
        file = file_of.get(summary_id)
        return {
            "head": f"{why}: {', '.join(told)}",
            "system": self._names.get(system, system),
            "query": shorten(one.query["text"], _QUERY_CHARACTERS, placeholder=" …"),
            "text": shorten(text, _TEXT_CHARACTERS, placeholder=" …"),
            "address": None if file is None else f"{quote(file)}#summary={quote(summary_id, safe='')}",
        }
