"""Figures of two scores of each system: one point a system."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from longform.report.plots import Plot, render, series_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_HEIGHT_IN = 2.8


class Point(NamedTuple):
    """A system: its words, and its two scores."""

    label: str
    x: float
    y: float


class Points(NamedTuple):
    """The systems of one series."""

    label: str
    points: Sequence[Point]


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
    if sum(len(one.points) for one in known) < 2:
        return None

    def draw(axes: Axes) -> None:
        for place, one in enumerate(known):
            style = series_style(place) | {"linestyle": "none"}
            axes.plot([point.x for point in one.points], [point.y for point in one.points], label=one.label, **style)
            for point in one.points:
                axes.annotate(point.label, (point.x, point.y), xytext=(4, 3), textcoords="offset points", fontsize=7)
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        axes.margins(0.12)
        axes.grid()

    told = "; ".join(
        f"{one.label}, {point.label} {point.x:.1f} and {point.y:.1f}" for one in known for point in one.points
    )
    return Plot(render(draw, height=_HEIGHT_IN, name=name), f"{y_label} by {x_label}. {told}.")
