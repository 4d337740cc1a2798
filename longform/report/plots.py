"""
Figures of a report as SVG text: text stays text, axes take the ink of the page, equal numbers give equal bytes.

Series differ by marker and by fill as well as by colour, so that they read in grey. The colours are four of Okabe
and Ito's colour-blind-safe palette that keep a contrast of 3:1 on a white and on a dark page.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Sequence
from io import StringIO
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

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
    figure.set_size_inches(_WIDTH_IN, height + -(-lines // ncols) * LINE_IN)
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
