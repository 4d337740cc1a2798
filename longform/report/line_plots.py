"""Figures of lines with intervals: a score by place in the prompt, or by the number of documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from longform.metrics.statistics import EstimateColumns
from longform.report.plots import Plot, or_gap, render, series_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_HEIGHT_IN = 2.6
_APART = 0.06  # of the distance of two points: intervals of several lines stand side by side


class Line(NamedTuple):
    """Points with their estimates (`value`, `low`, `high`); one without a value is a gap."""

    label: str
    points: Sequence[tuple[float, EstimateColumns]]


def line_plot(lines: Sequence[Line], *, x_label: str, y_label: str, name: str, joined: bool = True) -> Plot | None:
    """
    Lines over one axis, told apart by marker, fill and colour, each point with its interval.

    Args:
        lines: In the order of the legend.
        x_label: Of the points' first numbers, which are whole.
        y_label: Of the values, of 100.
        name: Makes the SVG's ids unique on a page.
        joined: False if the points have no order: then no line joins them.

    Returns:
        None if no point has a value.
    """
    known = [line for line in lines if any(estimate["value"] is not None for _, estimate in line.points)]
    if not known:
        return None

    def draw(axes: Axes) -> None:
        from matplotlib.ticker import MaxNLocator  # slow to import

        for place, line in enumerate(known):
            _draw_line(axes, line, place, joined=joined, shift=_APART * (place - (len(known) - 1) / 2))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel(x_label)
        axes.set_ylabel(f"{y_label}, of 100")
        axes.grid(axis="y")

    svg = render(draw, height=_HEIGHT_IN, name=name)
    return Plot(svg, f"{y_label} by {x_label}. {' '.join(_told(line) for line in known)}")


def _draw_line(axes: Axes, line: Line, place: int, *, joined: bool, shift: float) -> None:
    style = series_style(place)
    if not joined:
        style["linestyle"] = "none"
    xs = [x + shift for x, _ in line.points]
    axes.plot(xs, [or_gap(estimate["value"]) for _, estimate in line.points], label=line.label, **style)
    for x, (_, estimate) in zip(xs, line.points, strict=True):
        if (low := estimate["low"]) is not None:
            axes.plot([x, x], [low, or_gap(estimate["high"])], color=style["color"], linewidth=0.8)


def _told(line: Line) -> str:
    values = ["none" if e["value"] is None else f"{e['value']:.1f}" for _, e in line.points]
    return f"{line.label}: {', '.join(values)}."
