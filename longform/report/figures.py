"""Which figures stand in which section of a report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from longform.report.faithfulness import LENGTHS, PLACES, length_figures, place_figures
from longform.report.parts import Judged, Results, by_judge, judge_line, main_cells
from longform.report.plots import Plot, change_plot, curve_plot, position_plot, score_plot
from longform.report.tables import (
    MEASURES,
    Row,
    beside_originals,
    best_first,
    distinct,
    is_position_row,
    is_wide,
    settings_of,
    summarizers_by_joint,
)


class Figure(NamedTuple):
    plot: Plot
    caption: str


def figures(anchor: str, results: Results) -> list[Figure]:
    """The figures of the section *anchor*; ids are numbered, as names of judges and systems are anyone's text."""
    draw = {
        "scores": _score_figures,
        "position": _position_figures,
        "repair": _repair_figures,
        "minutes": _curve_figures,
        PLACES: place_figures,
        LENGTHS: length_figures,
    }.get(anchor)
    return [Figure(plot, caption) for plot, caption in (draw(results) if draw else ()) if plot is not None]


def _score_figures(results: Results) -> Iterator[tuple[Plot | None, str]]:
    for place, (judge, own) in enumerate(by_judge(main_cells(results))):
        by, rows, series = "setting", distinct(best_first(own), "setting"), summarizers_by_joint(own)
        if is_wide(own):
            by, rows, series = "summarizer", series, settings_of(own)
        for measure in reversed(MEASURES):
            plot = score_plot(own, measure, by=by, rows=rows, series=series, name=f"{measure}{place}")
            yield plot, f"{measure.capitalize()}. {judge_line(results, judge)}"


def _position_figures(results: Results) -> Iterator[tuple[Plot | None, str]]:
    rows = results.get("position")
    if not rows:
        return
    measures = distinct(rows, "measure")
    measure = "joint" if "joint" in measures else measures[0]
    for place, (judge, found) in enumerate(by_judge(rows)):
        own = beside_originals(found, "system", "measure")
        yield (
            position_plot(own, measure, name=f"position{place}"),
            f"{measure.capitalize()}. {judge_line(results, judge)}",
        )


def _repair_figures(results: Results) -> Iterator[tuple[Plot | None, str]]:
    """A figure for each setting, or for each summarizer where these are fewer."""
    rows = [row for row in results["repair"]["rows"] if not is_position_row(row)]
    for judge_place, (judge, own) in enumerate(by_judge(rows)):
        panel, line = ("setting", "summarizer") if is_wide(own) else ("summarizer", "setting")
        for place, name in enumerate(distinct(own, panel)):
            shown = [row for row in own if row[panel] == name]
            plot = change_plot(shown, ("citation", "joint"), by=line, name=f"repair{judge_place}-{place}")
            yield plot, f"{name}: from what is cited to what supports. {judge_line(results, judge)}"


def _curve_figures(results: Results) -> Iterator[tuple[Plot | None, str]]:
    groups: dict[tuple[str, str, Judged], list[Row]] = {}
    for judge, rows in by_judge(results["curve"]):
        for row in rows:
            groups.setdefault((row["summarizer"], row["setting"], judge), []).append(row)
    for place, ((summarizer, setting, judge), rows) in enumerate(groups.items()):
        yield curve_plot(rows, name=f"minutes{place}"), f"{summarizer}, {setting}. {judge_line(results, judge)}"
