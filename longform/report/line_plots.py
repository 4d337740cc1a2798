"""Figures of lines and points: a score by place or number of documents, and two scores of each system."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from textwrap import wrap
from typing import TYPE_CHECKING, NamedTuple

from longform.metrics.statistics import EstimateColumns
from longform.report.plots import INK, Plot, or_gap, render, render_panels, series_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_HEIGHT_IN = 2.6
_PANEL_IN = 2.1  # of one of several
_TITLE_CHARACTERS = 34
_APART = 0.06  # of the distance of two points: intervals of several lines stand side by side
_CLOSER = 6  # lines, of which more stand closer


class Line(NamedTuple):
    """
    Points with their estimates (`value`, `low`, `high`); one without a value is a gap.

    Attributes:
        label: In the legend.
        points: The first number of each, and its estimate.
        parts: A text a point: the line joins only points of the same text; empty: all of them.
    """

    label: str
    points: Sequence[tuple[float, EstimateColumns]]
    parts: Sequence[str] = ()


class Panel(NamedTuple):
    """Lines that share axes, and the name of what they are of; empty: the figure has no other."""

    title: str
    lines: Sequence[Line]


def panel_plot(
    panels: Sequence[Panel],
    *,
    x_label: str,
    y_label: str,
    name: str,
    joined: bool = True,
    of_100: bool = True,
    ticks: Sequence[str] = (),
) -> Plot | None:
    """
    Small multiples of lines, told apart by marker, fill and colour, each point with its interval.

    Lines of one label look alike in all panels, and the values of all panels have one scale.

    Args:
        panels: Side by side; one without a value is left out.
        x_label: Names the first numbers of the points, which are whole.
        y_label: Names the values.
        name: Makes the SVG's ids unique on a page.
        joined: False if the points have no order: then no line joins them.
        of_100: False if the name says the unit of the values by itself.
        ticks: Names of the first numbers from 1; empty: they stand for themselves.

    Returns:
        None if no point has a value.
    """
    known = [Panel(one.title, lines) for one in panels if (lines := [line for line in one.lines if _has_value(line)])]
    if not known:
        return None
    places = {label: place for place, label in enumerate(dict.fromkeys(x.label for one in known for x in one.lines))}

    def draw(axes: Axes, panel: Panel, first: bool) -> None:
        from matplotlib.ticker import MaxNLocator  # slow to import

        for line in panel.lines:
            place = places[line.label]
            shift = _APART * (place - (len(places) - 1) / 2) / max(1, len(places) / _CLOSER)
            _draw_line(axes, line, place, joined=joined, shift=shift)
        if ticks:
            axes.set_xticks(range(1, len(ticks) + 1), ticks, color=INK)
        else:
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel(x_label)
        if first:
            axes.set_ylabel(f"{y_label}, of 100" if of_100 else y_label)
        if panel.title:
            axes.set_title("\n".join(wrap(panel.title, _TITLE_CHARACTERS, max_lines=2, placeholder="…")), fontsize=9)
        axes.grid(axis="y")

    draws = [partial(draw, panel=panel, first=place % 2 == 0) for place, panel in enumerate(known)]
    svg = render_panels(draws, height=_HEIGHT_IN if len(known) == 1 else _PANEL_IN, name=name)
    return Plot(svg, f"{y_label} by {x_label}. {' '.join(_told_panel(panel, ticks) for panel in known)}")


def _has_value(line: Line) -> bool:
    return any(estimate["value"] is not None for _, estimate in line.points)


def _told_panel(panel: Panel, ticks: Sequence[str]) -> str:
    told = " ".join(_told(line, ticks) for line in panel.lines)
    return f"{panel.title}. {told}" if panel.title else told


def _draw_line(axes: Axes, line: Line, place: int, *, joined: bool, shift: float) -> None:
    style = series_style(place)
    if not joined:
        style["linestyle"] = "none"
    xs, parts = [x + shift for x, _ in line.points], line.parts or [""] * len(line.points)
    for part in dict.fromkeys(parts):
        own = [spot for spot, name in enumerate(parts) if name == part]
        values = [or_gap(line.points[spot][1]["value"]) for spot in own]
        axes.plot([xs[spot] for spot in own], values, label=line.label, **style)
    for x, (_, estimate) in zip(xs, line.points, strict=True):
        if (low := estimate["low"]) is not None:
            axes.plot([x, x], [low, or_gap(estimate["high"])], color=style["color"], linewidth=0.8)


def _told(line: Line, ticks: Sequence[str]) -> str:
    values = [(x, "none" if e["value"] is None else f"{e['value']:.1f}") for x, e in line.points]
    told = [f"{ticks[int(x) - 1]} {value}" for x, value in values] if ticks else [value for _, value in values]
    return f"{line.label}: {', '.join(told)}."


_HEIGHT_IN = 2.8
_MOST_LABELLED = 12


class Point(NamedTuple):
    """A system: its words, its two scores, the interval of the second one, and both in words."""

    label: str
    x: float
    y: float
    low: float | None = None
    high: float | None = None
    told: str = ""


class Points(NamedTuple):
    """The systems of one series, which steps may join; if many are shown, only these bear words."""

    label: str
    points: Sequence[Point]
    joined: bool = False


def scatter_plot(series: Sequence[Points], *, x_label: str, y_label: str, name: str) -> Plot | None:
    """
    Points of several series, told apart by marker, fill and colour, each with its words beside it.

    Args:
        series: In the order of the legend.
        x_label: Of the first scores.
        y_label: Of the second ones.
        name: Makes the SVG's ids unique on a page.

    Returns:
        None if fewer than two points are known.
    """
    known = [one for one in series if one.points]
    n_points = sum(len(one.points) for one in known)
    if n_points < 2:
        return None
    few = n_points <= _MOST_LABELLED or not any(one.joined for one in known)

    def draw(axes: Axes) -> None:
        for place, one in enumerate(known):
            style = series_style(place) | {"linestyle": "none"}
            axes.plot([point.x for point in one.points], [point.y for point in one.points], label=one.label, **style)
            if one.joined:
                steps = sorted((point.x, point.y) for point in one.points)
                axes.step(*zip(*steps, strict=True), where="post", color=style["color"], linewidth=1.0)
            for point in one.points:
                if point.low is not None and point.high is not None:
                    axes.plot([point.x] * 2, [point.low, point.high], color=style["color"], linewidth=0.8)
            for point in one.points if few or one.joined else ():
                axes.annotate(point.label, (point.x, point.y), xytext=(4, 3), textcoords="offset points", fontsize=7)
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        axes.margins(0.12)
        axes.grid()

    told = "; ".join(
        f"{one.label}, {point.label} {point.told or f'{point.x:.1f} and {point.y:.1f}'}"
        for one in known
        for point in one.points
    )
    return Plot(render(draw, height=_HEIGHT_IN, name=name), f"{y_label} by {x_label}. {told}.")
