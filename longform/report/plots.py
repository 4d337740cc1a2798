"""
Figures of a report as SVG text: text stays text, axes take the ink of the page, equal numbers give equal bytes.

Series differ by marker and by fill as well as by colour, so that they read in grey. The colours are four of Okabe
and Ito's colour-blind-safe palette that keep a contrast of 3:1 on a white and on a dark page.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from io import StringIO
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple
from unicodedata import east_asian_width

from longform.keys import in_groups
from longform.metrics.statistics import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#767676"
_COLOURS = (BLUE, ORANGE, "#009e73", GREY, "#c4699b")
_MARKERS = ("osD^v", "PX*<>")
INK = "#010203"  # stands for the page's text colour until the SVG is written
_WIDTH_IN = 5.0
_PANELS_IN_A_ROW = 2
LINE_IN = 0.17
"""Height of a line of text."""
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
    caption: str = ""


def series_style(place: int) -> dict[str, Any]:
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


def render(draws: Sequence[Callable[[Axes], None]], *, height: float, name: str) -> str:
    """
    Return the figure that *draws* make, a pair of axes each, without any of matplotlib's global state left changed.

    Several stand two in a row, on one scale of values, each as high as *height*. Two or more labels are a legend above
    all: in two columns if all of them fit half the width, else in one, wrapped.
    """
    import matplotlib as mpl  # slow to import
    from matplotlib.figure import Figure

    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        # A reader's browser has glyphs that matplotlib's font lacks.
        warnings.filterwarnings("ignore", message="Glyph")
        n_columns = min(_PANELS_IN_A_ROW, len(draws))
        n_rows = -(-len(draws) // n_columns)
        figure = Figure(figsize=(_WIDTH_IN, n_rows * height), layout="constrained")
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
    figure.set_size_inches(_WIDTH_IN, height + -(-lines // ncols) * LINE_IN)
    figure.legend(
        list(entries.values()), wrapped, loc="outside upper left", ncols=ncols, frameon=False, handletextpad=0.3
    )


def _svg(figure: Figure, name: str) -> str:
    """The bare `<svg>` element, ids made unique by *name*, ink in the page's own colour."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    stream = StringIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    FigureCanvasSVG(figure).print_svg(stream, metadata=nothing)  # `savefig` draws all twice
    text = stream.getvalue()
    text = text[text.index("<svg") :].replace(INK, "currentColor")
    return re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", text)


# ---------------------------------------------------------------- bands

_LINE_CHARACTERS = 40
"""Characters of a name on one line; one that is wide counts twice."""
_LABEL_CHARACTERS, _LABEL_LINES = 20, 3
_ROW, _TWIN_ROW = 1.45, 0.9
"""Lines of text that a band of one value is high; a twin's stands close below its original."""
_TWIN_ALPHA = 0.55
_MOST_TOLD = 24
"""Values that the words of a figure list."""


class BandMark(NamedTuple):
    """A value on a line of a band."""

    band: str
    series: str  # the line of the band, a series in all of them
    value: Estimate
    start: float | None = None  # the number that it comes from, a hollow point
    colour: str | None = None  # fills the point in place of its series' style; empty: it is grey and hollow
    twin: bool = False  # pale, dashed and a diamond


def band_plot(
    marks: Sequence[BandMark],
    *,
    x_label: str,
    head: str,
    name: str,
    ends: tuple[str, str] | None = None,
    zero: bool = False,
    shape: str = ".1f",
) -> Plot | None:
    """
    Return bands of values, in order of appearance; None if no value is known.

    Marks of a band stand from the top down. *head* begins the words of the figure, in which values have the format
    *shape*; *name* makes the SVG's ids unique on a page. The legend names hollow and filled points by *ends*. A line
    marks 0 if *zero*; else 0 is the left end.
    """
    series = list(dict.fromkeys(mark.series for mark in marks))
    bands = in_groups((mark.band, mark) for mark in marks)
    told = [words for band in bands.values() if (words := _told(band, shape, alone=len(series) == 1))]
    if not told:
        return None

    def draw(axes: Axes) -> None:
        _draw_bands(axes, bands, series)
        for place, label in enumerate(series if len(series) > 1 or ends else ()):
            for side, end in enumerate(ends or ("",)):
                own = _style(place, hollow=bool(ends) and side == 0)
                axes.plot([], [], label=f"{label} {end}".strip(), **own)
        axes.set_xlabel(x_label)
        if zero:
            axes.axvline(0, color=INK, alpha=0.4, linewidth=0.8)
        else:
            axes.set_xlim(left=0)

    height = 0.55 + LINE_IN * sum(_height(band, len(series)) for band in bands.values())
    words = "; ".join(told) if len(told) <= _MOST_TOLD else f"{told[0]}; the others stand in the tables"
    return Plot(render([draw], height=height, name=name), f"{head}{words}.")


def _told(band: Sequence[BandMark], shape: str, *, alone: bool) -> str:
    """Return the known values of a band in words."""
    values = [
        f"{'' if alone else f'{mark.series} '}{'' if mark.start is None else f'{mark.start:{shape}} to '}"
        f"{mark.value.value:{shape}}"
        for mark in band
        if mark.value.value is not None and not mark.twin
    ]
    return f"{band[0].band}{'' if alone else ':'} {', '.join(values)}" if values else ""


def _height(band: Sequence[BandMark], n_series: int) -> float:
    """Return the lines of text that a band is high."""
    if n_series == 1:
        return _TWIN_ROW if band[0].twin else _ROW
    return max(n_series, len(_wrapped(band[0].band))) + 0.8


def _wrapped(label: str) -> list[str]:
    return wrap(label, _LABEL_CHARACTERS, break_on_hyphens=False, max_lines=_LABEL_LINES, placeholder="…") or [""]


def _draw_bands(axes: Axes, bands: Mapping[str, Sequence[BandMark]], series: Sequence[str]) -> None:
    """Draw one band below the other, one line in it a series."""
    top, ticks, alone = 0.0, dict[float, str](), len(series) == 1
    for label, band in bands.items():
        height = _height(band, len(series))
        middle = top + height / 2
        if not band[0].twin:
            ticks[middle] = _name(label) if alone else "\n".join(_wrapped(label))
        for mark in band:
            if mark.value.value is not None:
                place = series.index(mark.series)
                _draw_mark(axes, mark, middle + place - (len(series) - 1) / 2, place)
        top += height
        if not alone:
            axes.axhline(top, color=INK, alpha=0.15, linewidth=0.6)
    axes.set_ylim(top, 0)
    axes.set_yticks([*ticks], [*ticks.values()], color=INK)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x")


def _name(system: str) -> str:
    """Return the name of a system as it fits before a line: long ones keep their ends, which tell them apart."""
    name = " ".join(system.split())
    halves = range(_LINE_CHARACTERS // 2, 0, -1)
    shorter = (f"{name[:half].rstrip()}…{name[-half:].lstrip()}" for half in halves if 2 * half < len(name))
    return next((shown for shown in (name, *shorter) if _fits(shown)), "…")


def _fits(text: str) -> bool:
    return len(text) + sum(letter in "MW@" or east_asian_width(letter) in "FW" for letter in text) <= _LINE_CHARACTERS


def _style(place: int, *, hollow: bool) -> dict[str, Any]:
    return series_style(place) | {"linestyle": "none"} | ({"markerfacecolor": "none"} if hollow else {})


def _draw_mark(axes: Axes, mark: BandMark, y: float, place: int) -> None:
    """Draw a value with its interval, or with the line from where it comes."""
    value, low, high, _ = mark.value
    style, alpha = _style(place, hollow=mark.colour == ""), _TWIN_ALPHA if mark.twin else 1.0
    if mark.colour is not None:
        style["color"] = mark.colour or GREY
        style["markerfacecolor"] = mark.colour or "none"
    if mark.twin:
        style["marker"], style["markersize"] = "D", 4
    ends = (low, high) if mark.start is None else (mark.start, value)
    if None not in ends:
        dashes = (0, (3, 2)) if mark.twin else "solid"
        axes.plot(
            [or_gap(end) for end in ends], [y, y], color=style["color"], linewidth=1.4, linestyle=dashes, alpha=alpha
        )
    if mark.start is not None:
        axes.plot([mark.start], [y], **style | {"markerfacecolor": "none"})
    axes.plot([or_gap(value)], [y], alpha=alpha, **style)


def or_gap(value: float | None) -> float:
    """NaN for an unknown: matplotlib breaks the line there."""
    return float("nan") if value is None else value


# ---------------------------------------------------------------- points

_HEIGHT_IN = 2.7
_PANEL_IN = 2.1  # of one of several
_TITLE_CHARACTERS = 34
_APART = 0.06  # of the distance of two points: intervals of several lines stand side by side
_CLOSER = 6  # lines, of which more stand closer
_MOST_LABELLED = 12


class SeriesPoint(NamedTuple):
    """A point of a series; one without a value is a gap."""

    panel: str  # the title of its axes; empty: there is one pair
    series: str  # in the legend; its points look alike in all panels
    x: float
    y: Estimate
    told: str  # for those who do not see it
    label: str = ""  # stands beside it if points are few
    part: str = ""  # a line joins only points of the same part


def point_plot(
    points: Sequence[SeriesPoint],
    *,
    x_label: str,
    y_label: str,
    name: str,
    ticks: Sequence[str] = (),
    free: bool = False,
    joined: bool = False,
    steps: str | None = None,
) -> Plot | None:
    """
    Small multiples of series, told apart by marker, fill and colour, each point with its interval; None: no value.

    The values of all panels have one scale; panels stand side by side, and one without a value is left out. *name*
    makes the SVG's ids unique on a page. Places from 1 are named by *ticks*; without any they are numbers. If they are
    values, too, they are *free*: then no series is moved aside. Steps join the points of the series *steps*, which
    alone bear their labels if points are many.
    """
    panels: dict[str, dict[str, list[SeriesPoint]]] = {}
    known = {(point.panel, point.series) for point in points if point.y.value is not None}
    for point in points:
        if (point.panel, point.series) in known:
            panels.setdefault(point.panel, {}).setdefault(point.series, []).append(point)
    if not panels:
        return None
    series = list(dict.fromkeys(label for own in panels.values() for label in own))
    few = len(points) <= _MOST_LABELLED or steps not in series

    def draw(axes: Axes, title: str, first: bool) -> None:
        for label, own in panels[title].items():
            place = series.index(label)
            shift = 0 if free else _APART * (place - (len(series) - 1) / 2) / max(1, len(series) / _CLOSER)
            style = series_style(place) if joined else _style(place, hollow=False)
            _draw_series(axes, own, style, shift=shift, labelled=few or label == steps)
            if label == steps:
                corners = sorted((point.x, or_gap(point.y.value)) for point in own)
                axes.step(*zip(*corners, strict=True), where="post", color=style["color"], linewidth=1.0)
        _set_ticks(axes, [point for own in panels[title].values() for point in own], ticks)
        axes.set_xlabel(x_label)
        if first:
            axes.set_ylabel(y_label)
        if title:
            axes.set_title("\n".join(wrap(title, _TITLE_CHARACTERS, max_lines=2, placeholder="…")), fontsize=9)
        if free:
            axes.margins(0.12)
        axes.grid(axis="both" if free else "y")

    draws: list[Callable[[Axes], None]] = [
        partial(draw, title=title, first=place % 2 == 0) for place, title in enumerate(panels)
    ]
    svg = render(draws, height=_HEIGHT_IN if len(panels) == 1 else _PANEL_IN, name=name)
    return Plot(svg, f"{y_label} by {x_label}. {' '.join(_said(panels))}")


def _said(panels: Mapping[str, Mapping[str, Sequence[SeriesPoint]]]) -> Iterator[str]:
    for title, own in panels.items():
        yield from [f"{title}."] if title else []
        yield from (f"{label}: {', '.join(point.told for point in some)}." for label, some in own.items())


def _set_ticks(axes: Axes, points: Sequence[SeriesPoint], ticks: Sequence[str]) -> None:
    from matplotlib.ticker import MaxNLocator  # slow to import

    if ticks:
        axes.set_xticks(range(1, len(ticks) + 1), ticks, color=INK)
    elif all(point.x == int(point.x) for point in points):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def _draw_series(
    axes: Axes, series: Sequence[SeriesPoint], style: Mapping[str, Any], *, shift: float, labelled: bool
) -> None:
    for part in dict.fromkeys(point.part for point in series):
        own = [point for point in series if point.part == part]
        xs, ys = [point.x + shift for point in own], [or_gap(point.y.value) for point in own]
        axes.plot(xs, ys, label=series[0].series, **style)
    for point in series:
        if point.y.low is not None and point.y.high is not None:
            ends = [point.y.low, point.y.high]
            axes.plot([point.x + shift] * 2, ends, color=style["color"], linewidth=0.8)
        if point.label and labelled and point.y.value is not None:
            at = point.x, point.y.value
            axes.annotate(point.label, at, xytext=(4, 3), textcoords="offset points", fontsize=7)
