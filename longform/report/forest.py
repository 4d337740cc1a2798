"""The one figure of a report's first page: systems with their intervals, the best first."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from textwrap import shorten
from typing import TYPE_CHECKING, NamedTuple

from longform.metrics.statistics import LEVEL
from longform.report.measures import all_heads, capitalized, main_measure
from longform.report.parts import by_judge, main_cells
from longform.report.plots import INK, Plot, or_gap, render
from longform.report.shown_names import short_systems
from longform.report.tables import IN_SAMPLE
from longform.results.cells import CellRow
from longform.results.columns import interval_in, number_in
from longform.results.comparisons import NOT_DISTINGUISHABLE, TOO_FEW
from longform.results.results import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_LINES = 16
"""Lines of a figure that one screen holds, a twin's line among them."""
_TWIN_LINE = 0.6
"""Height of a line; a twin stands close below its original."""
_LABEL_CHARACTERS = 40
_LINE_IN = 0.25
_ALIKE, _APART, _TWIN = "#0072b2", "#767676", "#767676"
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


class _Line(NamedTuple):
    label: str
    cell: CellRow
    twin: CellRow | None
    alike: bool  # cannot be told from the best, as far as a test says


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
    alike = _alike(results, known)
    names = short_systems(results)
    lines = [
        _Line(_label(cell, names), cell, twins.get((cell["summarizer"], cell["setting"])), _key(cell) in alike)
        for cell in known
    ]
    shown = _fitting(lines)
    title = "joint score" if measure == "joint" else head.title if head else measure
    legend = _legend(shown, bool(alike))
    plot = Plot(
        render(lambda axes: _draw(axes, shown, measure, title), height=0.55 + _LINE_IN * _height(shown), name="forest"),
        f"{capitalized(title)} of {len(shown)} systems, the best first: {_told(shown, measure)}.",
    )
    judge = f", judge {cells[0]['judge']}" if cells[0]["judge"] else ""
    dataset = f", data set {judged[0].dataset}" if judged[0].dataset else ""
    caption = f"{capitalized(title)}{judge}{dataset}; lines are {100 * LEVEL:.0f} % intervals. {legend}".strip()
    return Forest(plot, caption, len(lines) - len(shown))


def _fitting(lines: Sequence[_Line]) -> list[_Line]:
    shown: list[_Line] = []
    for line in lines:
        if shown and _height([*shown, line]) > _MOST_LINES:
            break
        shown.append(line)
    return shown


def _height(lines: Sequence[_Line]) -> float:
    return sum(1 + _TWIN_LINE * (line.twin is not None) for line in lines)


def _alike(results: Results, known: Sequence[CellRow]) -> Collection[tuple[str, str]]:
    """Return the best system and those that cannot be told from it; none if this was not tested."""
    judge, dataset = known[0]["judge"], known[0].get("dataset")
    for family in results.get("comparisons") or []:
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


def _label(cell: CellRow, names: Mapping[str, str]) -> str:
    mark = f" ({IN_SAMPLE})" if cell.get("in_sample") else ""
    system = f"{cell['summarizer']}, {cell['setting']}"
    return shorten(names.get(system, system), _LABEL_CHARACTERS - len(mark), placeholder="…") + mark


def _legend(lines: Sequence[_Line], tested: bool) -> str:
    told = []
    if tested and (n_alike := sum(line.alike for line in lines)):
        others = ", and systems that cannot be told from it" if n_alike > 1 else ""
        told.append(f"Blue, filled: the best{others}. Grey, hollow: others.")
    twins = [line.twin for line in lines if line.twin is not None]
    if twins:
        marked = f" ({IN_SAMPLE})" if any(twin.get("in_sample") for twin in twins) else ""
        told.append(
            f"Pale diamond, dashed: its repaired twin{marked}, the same summaries with supporting documents found. "
            "Nobody runs it, and it is ranked nowhere."
        )
    return " ".join(told)


def _told(lines: Sequence[_Line], measure: str) -> str:
    return "; ".join(f"{line.label} {number_in(line.cell, measure):.1f}" for line in lines)


def _draw(axes: Axes, lines: Sequence[_Line], measure: str, title: str) -> None:
    y, ticks = 0.0, dict[float, str]()
    for line in lines:
        ticks[y] = line.label
        colour = _ALIKE if line.alike else _APART
        _point(axes, line.cell, measure, y, colour, marker="o", filled=line.alike)
        if line.twin is not None and number_in(line.twin, measure) is not None:
            y += _TWIN_LINE
            _point(axes, line.twin, measure, y, _TWIN, marker="D", filled=False, pale=True)
        elif line.twin is not None:
            y += _TWIN_LINE
        y += 1.0
    axes.set_ylim(y - 0.4, -0.6)
    axes.set_yticks([*ticks], [*ticks.values()], color=INK)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(f"{title}, of 100")
    axes.set_xlim(left=0)
    axes.grid(axis="x")


def _point(
    axes: Axes, cell: CellRow, measure: str, y: float, colour: str, *, marker: str, filled: bool, pale: bool = False
) -> None:
    interval = interval_in(cell, measure)
    alpha, width, style = (_TWIN_ALPHA, 0.8, (0, (3, 2))) if pale else (1.0, 1.6, "solid")
    if interval is not None and None not in interval:
        ends = [or_gap(bound) for bound in interval]
        axes.plot(ends, [y, y], color=colour, linewidth=width, linestyle=style, alpha=alpha)
    face, size = colour if filled else "none", 4.0 if pale else 5.5
    value = or_gap(number_in(cell, measure))
    axes.plot([value], [y], color=colour, marker=marker, markerfacecolor=face, markersize=size, alpha=alpha)
