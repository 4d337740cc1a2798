"""Figures with a panel a data set: one scale, one legend, gaps, and words for those who do not see them."""

from __future__ import annotations

from typing import Any

from longform.metrics.statistics import Estimate
from longform.report.plots import SeriesPoint, point_plot


def line(label: str, *values: float | None) -> list[SeriesPoint]:
    known = [(value, None, None) if value is None else (value, value - 5, value + 5) for value in values]
    return [
        SeriesPoint("", label, place, Estimate(*own, 9), "none" if own[0] is None else f"{own[0]:.1f}")
        for place, own in enumerate(known, start=1)
    ]


def plotted(**panels: list[list[SeriesPoint]]) -> Any:
    points = [point._replace(panel=title) for title, lines in panels.items() for own in lines for point in own]
    return point_plot(points, x_label="place", y_label="faithfulness", name="n", joined=True)


def test_panels_share_a_legend_and_say_their_values_by_data_set() -> None:
    plot = plotted(news=[line("a", 90, 80, 70), line("b", 50, None, 40)], mail=[line("b", 60, 50, 40)])
    assert plot.alt == (
        "faithfulness by place. news. a: 90.0, 80.0, 70.0. b: 50.0, none, 40.0. mail. b: 60.0, 50.0, 40.0."
    )
    texts = [part.split("<")[0] for part in plot.svg.split(">") if part.split("<")[0].strip()]
    assert [texts.count(name) for name in ("news", "mail", "a", "b")] == [1, 1, 1, 1]


def test_a_line_looks_alike_in_every_panel() -> None:
    """The second label is orange, in a panel that it has for itself too."""
    both = plotted(x=[line("a", 90, 80), line("b", 50, 40)], y=[line("b", 60, 50)])
    assert both.svg.count("stroke: #d55e00; stroke-width: 1.2") == 3  # two lines and the legend's


def test_panels_without_a_value_are_left_out_and_a_figure_of_none_is_none() -> None:
    assert plotted(x=[line("a", None)]) is None
    assert "y" not in plotted(x=[line("a", 1.0)], y=[line("a", None)]).alt.split()


def test_odd_panels_leave_no_empty_axes() -> None:
    plot = plotted(one=[line("a", 90, 80)], two=[line("a", 90, 80)], three=[line("a", 90, 80)])
    assert plot.svg.count('id="n-axes_') == 3
