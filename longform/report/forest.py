"""Values with their intervals, one below the other; on a report's first page systems, the best first."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from textwrap import shorten
from typing import TYPE_CHECKING, NamedTuple

from longform.metrics.statistics import LEVEL, Estimate
from longform.report.measures import all_heads, capitalized, main_measure
from longform.report.parts import by_judge, main_cells
from longform.report.plots import INK, Plot, render
from longform.report.shown_names import short_systems
from longform.report.tables import IN_SAMPLE
from longform.results.cells import CellRow
from longform.results.columns import interval_in, number_in
from longform.results.compared import compared_families
from longform.results.pairs import NOT_DISTINGUISHABLE, TOO_FEW
from longform.results.results import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_LINES = 16
"""Lines of a figure that one screen holds, a twin's line among them."""
_TWIN_LINE = 0.6
"""Height of a line; a twin stands close below its original."""
_LABEL_CHARACTERS = 40
_LINE_IN = 0.25
_FILLED, _HOLLOW = "#0072b2", "#767676"
_TWIN_ALPHA = 0.55


class Forest(NamedTuple):
    """
    The figure, and what it leaves out.

    Attributes:
        plot: Of the first judge and data set.
        caption: Says what is shown.
        n_more: Systems that have no line.
    """

    plot: Plot
    caption: str
    n_more: int


class Line(NamedTuple):
    """
    A line of a forest.

    Attributes:
        label: Stands before it.
        value: The point, with the ends of the line.
        filled: Whether the point is, in colour.
        twin: Whether it belongs to the line above, pale and close to it.
    """

    label: str
    value: Estimate
    filled: bool = False
    twin: bool = False


def forest_plot(lines: Sequence[Line], alt: str, *, x_label: str, name: str, zero: bool = False) -> Plot:
    """
    Return values with their intervals, one below the other.

    Args:
        lines: From the top down.
        alt: The figure in words.
        x_label: What the values are.
        name: Makes the SVG's ids unique on a page.
        zero: Whether a line marks 0, which is else the left end.
    """

    def draw(axes: Axes) -> None:
        y, ticks = -1.0, dict[float, str]()
        for line in lines:
            y += _height(line)
            if not line.twin:
                ticks[y] = line.label
            _draw_line(axes, line, y)
        axes.set_ylim(y + 0.6, -0.6)
        axes.set_yticks([*ticks], [*ticks.values()], color=INK)
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel(x_label)
        if zero:
            axes.axvline(0, color=INK, alpha=0.4, linewidth=0.8)
        else:
            axes.set_xlim(left=0)
        axes.grid(axis="x")

    return Plot(render(draw, height=0.55 + _LINE_IN * sum(map(_height, lines)), name=name), alt)


def _height(line: Line) -> float:
    return _TWIN_LINE if line.twin else 1.0


def _draw_line(axes: Axes, line: Line, y: float) -> None:
    value, low, high, _ = line.value
    colour = _FILLED if line.filled else _HOLLOW
    alpha, width, style = (_TWIN_ALPHA, 0.8, (0, (3, 2))) if line.twin else (1.0, 1.6, "solid")
    if low is not None and high is not None:
        axes.plot([low, high], [y, y], color=colour, linewidth=width, linestyle=style, alpha=alpha)
    face, size, marker = colour if line.filled else "none", 4.0 if line.twin else 5.5, "D" if line.twin else "o"
    if value is not None:
        axes.plot([value], [y], color=colour, marker=marker, markerfacecolor=face, markersize=size, alpha=alpha)


def label_of(system: str, mark: str = "") -> str:
    """Return the name of a system as it fits before a line, with a mark behind it."""
    marked = f" ({mark})" if mark else ""
    return shorten(system, _LABEL_CHARACTERS - len(marked), placeholder="…") + marked


# ---------------------------------------------------------------- the first page


def forest(results: Results) -> Forest | None:
    """Return the figure of the first judge and data set of the main measure; None if no score is known."""
    judged = next(iter(by_judge(main_cells(results))), None)
    if judged is None:
        return None
    cells = judged[1]
    measure = main_measure(cells[0])
    head = next((head for head in all_heads(results) if head.name == measure), None)
    lower = head is not None and head.better == "lower"
    known = [cell for cell in cells if not cell.get("twin_of") and number_in(cell, measure) is not None]
    known.sort(key=lambda cell: (number_in(cell, measure) or 0.0) * (1 if lower else -1))
    if not known:
        return None
    twins = {(cell.get("twin_of"), cell["setting"]): cell for cell in cells if cell.get("twin_of")}
    alike, names = _alike(results, known), short_systems(results)
    shown: list[Line] = []
    drawn: list[CellRow] = []
    for cell in known:
        twin = twins.get((cell["summarizer"], cell["setting"]))
        own = [_line(cell, measure, names, filled=_key(cell) in alike)]
        own += [] if twin is None else [_line(twin, measure, names, twin=True)]
        if shown and sum(map(_height, [*shown, *own])) > _MOST_LINES:
            break
        shown += own
        drawn += [cell] if twin is None else [cell, twin]
    title = "joint score" if measure == "joint" else head.title if head else measure
    systems = [line for line in shown if not line.twin]
    told = "; ".join(f"{line.label} {line.value.value:.1f}" for line in systems)
    alt = f"{capitalized(title)} of {len(systems)} systems, the best first: {told}."
    judge = f", judge {cells[0]['judge']}" if cells[0]["judge"] else ""
    dataset = f", data set {judged[0].dataset}" if judged[0].dataset else ""
    legend = _legend(shown, [cell for cell in drawn if cell.get("twin_of")], tested=bool(alike))
    caption = f"{capitalized(title)}{judge}{dataset}; lines are {100 * LEVEL:.0f} % intervals. {legend}".strip()
    plot = forest_plot(shown, alt, x_label=f"{title}, of 100", name="forest")
    return Forest(plot, caption, len(known) - len(systems))


def _line(cell: CellRow, measure: str, names: Mapping[str, str], *, filled: bool = False, twin: bool = False) -> Line:
    low, high = interval_in(cell, measure) or (None, None)
    system = f"{cell['summarizer']}, {cell['setting']}"
    label = label_of(names.get(system, system), IN_SAMPLE if cell.get("in_sample") else "")
    return Line(label, Estimate(number_in(cell, measure), low, high, cell["n_summaries"]), filled, twin)


def _alike(results: Results, known: Sequence[CellRow]) -> Collection[tuple[str, str]]:
    """Return the best system and those that cannot be told from it; none if this was not tested."""
    judge, dataset = known[0]["judge"], known[0].get("dataset")
    for family in compared_families(results):
        reference = family.get("reference_system")
        if (family["judge"], family.get("dataset")) == (judge, dataset) and reference and family["chosen"] == "best":
            if any(row["finding"].startswith(TOO_FEW) for row in family["rows"]):
                return ()
            rows = [row for row in family["rows"] if row["finding"] == NOT_DISTINGUISHABLE]
            same = {*family["reference_same"], *(name for row in rows for name in row["same"])}
            shown = {_key(cell) for cell in known if f"{cell['summarizer']}, {cell['setting']}" in same}
            return {_key(reference), *map(_key, rows), *shown}
    return ()


def _key(row: Mapping[str, object]) -> tuple[str, str]:
    return str(row["summarizer"]), str(row["setting"])


def _legend(lines: Sequence[Line], twins: Sequence[CellRow], *, tested: bool) -> str:
    told = []
    if tested and (n_alike := sum(line.filled for line in lines)):
        others = ", and systems that cannot be told from it" if n_alike > 1 else ""
        told.append(f"Blue, filled: the best{others}. Grey, hollow: others.")
    if twins:
        marked = f" ({IN_SAMPLE})" if any(twin.get("in_sample") for twin in twins) else ""
        told.append(
            f"Pale diamond, dashed: its repaired twin{marked}, the same summaries with supporting documents found. "
            "Nobody runs it, and it is ranked nowhere."
        )
    return " ".join(told)
