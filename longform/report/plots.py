"""
The figures of a report as SVG text: text stays text, axes take the page's colour, the same numbers give the same bytes.

Series differ by marker and by fill as well as by colour, so that they read in grey. The colours are four of Okabe
and Ito's colour-blind-safe palette that keep a contrast of 3:1 on a white and on a dark page.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from textwrap import wrap
from typing import TYPE_CHECKING, Literal, NamedTuple, TypedDict

from longform.report.tables import figure_labels
from longform.results.cells import CellRow
from longform.results.columns import interval_in, number_in

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#767676", "#c4699b")
_MARKERS = ("osD^v", "PX*<>")
INK = "#010203"  # stands for the page's text colour until the SVG is written
_WIDTH_IN = 5.0
_PANELS_IN_A_ROW = 2
_LINE_IN = 0.17
_LABEL_CHARACTERS, _LABEL_LINES = 20, 3
_LEGEND_CHARACTERS, _LEGEND_LINES = 32, 6  # of the legend's size in half the width
_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "longform",
    "text.parse_math": False,
    "font.size": 9,
    "legend.fontsize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    **{f"{part}.color": INK for part in ("text", "xtick", "ytick")},
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "grid.color": INK,
    "grid.alpha": 0.15,
    "grid.linewidth": 0.6,
}


class Plot(NamedTuple):
    svg: str
    alt: str  # what the figure shows, in words


class Captioned(NamedTuple):
    plot: Plot
    caption: str


By = Literal["summarizer", "setting"]


def score_plot(
    cells: Sequence[CellRow], measure: str, *, by: By, rows: Sequence[str], series: Sequence[str], name: str
) -> Plot | None:
    """
    Scores of one measure with their intervals: a band for each of *rows*, in it a line for each of *series*.

    Args:
        cells: Of one judge; a cell whose score is None is left out.
        measure: In 0 to 100.
        by: What *rows* are values of, `summarizer` or `setting`; *series* are values of the other.
        rows: From the top down.
        series: In the order of the legend.
        name: Makes the SVG's ids unique on a page.

    Returns:
        None if no score is known.
    """
    known = [cell for cell in cells if number_in(cell, measure) is not None]
    if not known:
        return None
    within: By = "setting" if by == "summarizer" else "summarizer"
    by_key = {(cell[by], cell[within]): cell for cell in known}

    labels, entries = figure_labels(known, by, below=True), figure_labels(known, within, below=False)
    bands = {row: labels.get(row, row) for row in rows}
    legend = {entry: entries.get(entry, entry) for entry in series}

    def draw(axes: Axes) -> None:
        _score_bands(axes, by_key, measure, bands, legend)
        axes.set_xlim(0, _upper(_ends(known, measure)))
        axes.set_xlabel(f"{measure}, of 100")

    lines = sum(_band_lines(label, len(series)) for label in bands.values())
    svg = render(draw, height=0.55 + lines * _LINE_IN, name=name)
    ranked = [cell for cell in known if not cell.get("twin_of")] or known
    best = max(ranked, key=lambda cell: _known(cell, measure))
    worst = min(ranked, key=lambda cell: _known(cell, measure))
    alt = (
        f"{measure} of {len(ranked)} systems. Highest: {_told(best, measure)}. Lowest: {_told(worst, measure)}. "
        "The numbers stand in the tables."
    )
    return Plot(svg, alt)


def change_plot(
    bands: Mapping[str, Mapping[str, tuple[float, float]]], *, ends: tuple[str, str], unit: str, name: str
) -> Plot | None:
    """
    Numbers before and after a change: a band for each system, in it a line for each series, hollow to filled.

    Args:
        bands: From the top down: band -> series -> both numbers.
        ends: The names of before and after.
        unit: Stands behind them at the axis.
        name: Makes the SVG's ids unique on a page.

    Returns:
        None if no change is known.
    """
    known = {band: changes for band, changes in bands.items() if changes}
    if not known:
        return None
    series = list(dict.fromkeys(one for changes in known.values() for one in changes))

    def draw(axes: Axes) -> None:
        _change_bands(axes, known, series, ends)
        highest = max(value for changes in known.values() for both in changes.values() for value in both)
        axes.set_xlim(0, 102 if unit == ", of 100" else 1.05 * highest)
        axes.set_xlabel(f"{' to '.join(ends)}{unit}")

    height = 0.55 + _LINE_IN * sum(_band_lines(band, len(series)) for band in known)
    svg = render(draw, height=height, name=name)
    told = "; ".join(
        f"{band}: " + ", ".join(f"{one} {before:.1f} to {after:.1f}" for one, (before, after) in changes.items())
        for band, changes in known.items()
    )
    return Plot(svg, f"{' to '.join(ends).capitalize()}. {told}.")


def _score_bands(
    axes: Axes,
    by_key: Mapping[tuple[str, str], CellRow],
    measure: str,
    rows: Mapping[str, str],
    series: Mapping[str, str],
) -> None:
    """One band a row, one line in it a series, from the top down; both are names and their labels."""
    top, ticks = 0.0, []
    for row, label in rows.items():
        height = _band_lines(label, len(series))
        ticks.append(top + height / 2)
        for place, entry in enumerate(series):
            if (row, entry) in by_key:
                line = top + height / 2 + place - (len(series) - 1) / 2
                _point(axes, by_key[row, entry], measure, line, place)
        top += height
        axes.axhline(top, color=INK, alpha=0.15, linewidth=0.6)
    for place, label in enumerate(series.values()):
        style: SeriesStyle = {**series_style(place), "linestyle": "none"}
        axes.plot([], [], label=label, **style)
    axes.set_ylim(top, 0)
    axes.set_yticks(ticks, ["\n".join(_label_lines(label)) for label in rows.values()], color=INK)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")


def _change_bands(
    axes: Axes,
    bands: Mapping[str, Mapping[str, tuple[float, float]]],
    series: Sequence[str],
    ends: tuple[str, str],
) -> None:
    """One band a system, one line in it a series, from the top down."""
    top, ticks = 0.0, []
    for band, changes in bands.items():
        height = _band_lines(band, len(series))
        ticks.append(top + height / 2)
        for place, one in enumerate(series):
            if one in changes:
                line = top + height / 2 + place - (len(series) - 1) / 2
                _dumbbell(axes, changes[one], line, series_style(place))
        top += height
        axes.axhline(top, color=INK, alpha=0.15, linewidth=0.6)
    for place, one in enumerate(series):
        for side, end in enumerate(ends):
            style: SeriesStyle = {**series_style(place), "linestyle": "none"}
            style["markerfacecolor"] = "none" if side == 0 else style["markerfacecolor"]
            axes.plot([], [], label=f"{one} {end}", **style)
    axes.set_ylim(top, 0)
    axes.set_yticks(ticks, ["\n".join(_label_lines(band)) for band in bands], color=INK)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")


def _dumbbell(axes: Axes, change: tuple[float, float], y: float, style: SeriesStyle) -> None:
    before, after = change
    hollow: SeriesStyle = {**style, "markerfacecolor": "none"}
    axes.plot([before, after], [y, y], color=style["color"], linewidth=1.2)
    axes.plot([before], [y], **hollow)
    axes.plot([after], [y], **style)


def _point(axes: Axes, cell: CellRow, measure: str, y: float, place: int) -> None:
    style = series_style(place)
    interval = interval_in(cell, measure)
    if interval is not None and None not in interval:
        axes.plot([or_gap(bound) for bound in interval], [y, y], color=style["color"], linewidth=1.2)
    axes.plot([_known(cell, measure)], [y], **style)


class SeriesStyle(TypedDict):
    color: str
    marker: str
    markersize: int
    markerfacecolor: str
    linewidth: float
    linestyle: str


def series_style(place: int) -> SeriesStyle:
    """Marker, colour and fill of a series: 20 that differ without colour."""
    fives = place // 5
    colour = _COLOURS[(place + fives) % len(_COLOURS)]
    return {
        "color": colour,
        "marker": _MARKERS[fives // 2 % 2][place % 5],
        "markersize": 5,
        "markerfacecolor": colour if fives % 2 == 0 else "none",
        "linewidth": 1.2,
        "linestyle": "-",
    }


def _ends(known: Sequence[CellRow], measure: str) -> list[float]:
    """Scores and the upper ends of their intervals."""
    intervals = [interval_in(cell, measure) for cell in known]
    highs = [interval[1] for interval in intervals if interval and interval[1] is not None]
    return [float(value) for value in (*highs, *(_known(cell, measure) for cell in known))]


def _upper(values: Sequence[float]) -> float:
    """The end of an axis: the next ten above every value, at most 100 and a marker's width."""
    return min(102.0, 10.0 * (max(values) // 10 + 1))


def or_gap(value: float | None) -> float:
    """NaN for an unknown: matplotlib breaks the line there."""
    return float("nan") if value is None else value


def _known(cell: CellRow, measure: str) -> float:
    """Return a score; 0 never stands for an unknown, as cells without a score are left out before."""
    value = number_in(cell, measure)
    assert value is not None
    return value


def _told(cell: CellRow, measure: str) -> str:
    return f"{cell['summarizer']} with {cell['setting']} {_known(cell, measure):.1f}"


def _label_lines(label: str) -> list[str]:
    return wrap(label, _LABEL_CHARACTERS, break_on_hyphens=False, max_lines=_LABEL_LINES, placeholder="…") or [""]


def _band_lines(label: str, n_series: int) -> float:
    return max(n_series, len(_label_lines(label))) + 0.8


def render(draw: Callable[[Axes], None], *, height: float, name: str) -> str:
    """Return the figure that *draw* makes of one pair of axes; see `render_panels`."""
    return render_panels([draw], height=height, name=name)


def render_panels(draws: Sequence[Callable[[Axes], None]], *, height: float, name: str) -> str:
    """
    Return the figure that *draws* make, a pair of axes each, without any of matplotlib's global state left changed.

    Several stand two in a row, on one scale of values, each as high as *height*. Two or more labels are a legend above
    all: in two columns if all of them fit half the width, else in one, wrapped.
    """
    import matplotlib as mpl  # slow to import
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        # A reader's browser has glyphs that matplotlib's font lacks.
        warnings.filterwarnings("ignore", message="Glyph")
        n_columns = min(_PANELS_IN_A_ROW, len(draws))
        n_rows = -(-len(draws) // n_columns)
        figure = Figure(figsize=(_WIDTH_IN, n_rows * height), layout="constrained")
        FigureCanvasSVG(figure)
        figure.patch.set_alpha(0)
        panels = list(figure.subplots(n_rows, n_columns, sharey=True, squeeze=False).flat)
        for axes in panels[len(draws) :]:
            axes.remove()
        for axes, draw in zip(panels, draws, strict=False):
            axes.patch.set_alpha(0)
            draw(axes)
        _legend(figure, panels[: len(draws)], n_rows * height)
        return _svg(figure, name)


def _legend(figure: Figure, panels: Sequence[Axes], height: float) -> None:
    """Make one legend of all panels; a label of several of them stands once."""
    entries = {
        label: handle for axes in panels for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    if len(entries) < 2:
        return
    ncols = 2 if max(map(len, entries)) <= _LEGEND_CHARACTERS else 1
    wrapped = [
        "\n".join(wrap(label, 2 * _LEGEND_CHARACTERS, max_lines=_LEGEND_LINES, placeholder="…")) for label in entries
    ]
    lines = sum(label.count("\n") + 1 for label in wrapped)
    figure.set_size_inches(_WIDTH_IN, height + -(-lines // ncols) * _LINE_IN)
    figure.legend(
        list(entries.values()), wrapped, loc="outside upper left", ncols=ncols, frameon=False, handletextpad=0.3
    )


def _svg(figure: Figure, name: str) -> str:
    """The bare `<svg>` element, ids made unique by *name*, ink in the page's own colour."""
    stream = StringIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    figure.savefig(stream, format="svg", metadata=nothing)
    text = stream.getvalue()
    text = text[text.index("<svg") :].replace(INK, "currentColor")
    return re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", text)
