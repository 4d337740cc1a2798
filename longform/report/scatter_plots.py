"""Figures of two scores of each system: one point a system."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from longform.report.plots import Plot, render, series_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
