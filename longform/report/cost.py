"""Quality beside cost: columns of the main table, the frontier in words, in a table and in a figure, judges apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from longform.report.elsewhere import elsewhere_words, written_elsewhere
from longform.report.measures import Head, capitalized, head_of
from longform.report.parts import INTERVAL, Section, by_judge, judge_line
from longform.report.plots import Plot, render, series_style
from longform.report.tables import ELSEWHERE, Column, Table, reason
from longform.results.columns import Columns, number_in, text_in
from longform.results.cost import Cost, CostPoint, Currency, Frontier
from longform.results.results import Results
from longform.tables.cells import Cell, count, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLUMNS: Mapping[str, tuple[str, int]] = {
    "usd_a_summary": ("dollars a summary", 5),
    "tokens_in": ("tokens in, a summary", 0),
    "tokens_out": ("tokens out, a summary", 0),
    "seconds": ("seconds a summary", 1),
}
"""Column of cells -> its head and decimals."""
TOLD = (
    "Cost is the mean of a summary over the calls that wrote it, judges apart, and $0 only if no model is asked or its "
    "price is 0."
)
_SYSTEM = ("dataset", "summarizer", "setting")
_HEIGHT_IN = 3.0
_MOST_LABELLED = 12
_NO_PRICE, _NOT_SAID = "price or usage not known", "the provider did not say"


class _Unit(NamedTuple):
    """Words for a currency."""

    title: str
    cheaper: str
    amount: str
    digits: int


_UNITS: Mapping[Currency, _Unit] = {
    "usd_a_summary": _Unit("dollars a summary", "cheaper", "${}", 5),
    "tokens": _Unit("tokens a summary, in and out", "takes fewer tokens", "{} tokens", 0),
    "seconds": _Unit("seconds a summary", "faster", "{} s", 1),
}


def cost_columns(cells: Sequence[Columns]) -> list[Column]:
    """Return the columns of cost of *cells*; none if they have none."""
    return [Column(_COLUMNS[name][0]) for name in _shown(cells)]


def _shown(cells: Sequence[Columns]) -> list[str]:
    return [name for name in _COLUMNS if any(name in cell for cell in cells)]


def cost_cells(cell: Columns, cells: Sequence[Columns]) -> list[Cell]:
    """Return the cost of one of *cells*."""
    return [_amount_cell(number_in(cell, name), _COLUMNS[name][1], reason(cell, name)) for name in _shown(cells)]


def _amount_cell(value: float | None, digits: int, reason: str) -> Cell:
    """Show an amount; nothing is 0 and not a small number."""
    return number(value, digits=digits if value else 0, reason=reason)


def system_costs(results: Results, rows: Sequence[Columns]) -> list[Columns]:
    """Return the cost of the system of each of *rows*; nothing known of one that has none."""
    cost = results.get("cost")
    systems = cost.get("systems", []) if cost else []
    known: dict[tuple[str | None, ...], Columns] = {
        (one["dataset"], one["summarizer"], one["setting"]): one for one in systems
    }
    nothing: Columns = {}
    return [known.get(tuple(text_in(row, name) for name in _SYSTEM), nothing) for row in rows]


def cost_sections(results: Results) -> Iterator[Section]:
    """One section if the run knows of costs."""
    found = results.get("cost")
    if not found:
        return
    named = [(judged.dataset, one) for judged, own in by_judge(found["frontiers"]) for one in own]
    paragraphs = [_words(results, dataset, one) for dataset, one in named]
    tables = [_table(results, dataset, one) for dataset, one in named]
    yield Section("cost", "Quality beside cost", paragraphs, [*tables, *_judges(found)])


def _words(results: Results, dataset: str | None, found: Frontier) -> str:
    """Name the frontier in one paragraph."""
    members, unit = [point for point in found["points"] if point["on_frontier"]], _UNITS[found["currency"]]
    names = "; ".join(f"{_name(point)} ({_amount(found, point)}, {_quality(point)})" for point in members)
    by = f"{_where(dataset, found)}By {head_of(results, found['measure']).title}, in {unit.title}"
    alike = [
        f"{_name(point)} is not distinguishable from what costs less: {'; '.join(cheaper)}."
        for point in members
        if (cheaper := point["not_distinguishable_from"])
    ]
    left = "; ".join(f"{one['system']} ({one['reason']})" for one in found["left_out"])
    without = [f"Without a place: {left}."] if left else []
    elsewhere = elsewhere_words(results, [*map(_name, found["points"]), *(one["system"] for one in found["left_out"])])
    return " ".join([f"{by}: no system is better and {unit.cheaper} than: {names}.", *alike, *without, *elsewhere])


def _where(dataset: str | None, found: Frontier) -> str:
    parts = [f"Data set {dataset}" if dataset else "", f"judge {found['judge']}" if found["judge"] else ""]
    return f"{capitalized(told)}. " if (told := ", ".join(part for part in parts if part)) else ""


def _name(point: CostPoint) -> str:
    return f"{point['summarizer']}, {point['setting']}"


def _amount(found: Frontier, point: CostPoint) -> str:
    unit = _UNITS[found["currency"]]
    return unit.amount.format(f"{point['cost']:,.{unit.digits}f}")


def _quality(point: CostPoint) -> str:
    value = point["quality"]["value"]
    return "unknown" if value is None else f"{value:.1f}"


def _table(results: Results, dataset: str | None, found: Frontier) -> Table:
    head, unit = head_of(results, found["measure"]), _UNITS[found["currency"]]
    columns = [Column("summarizer", numeric=False), Column("setting", numeric=False)]
    columns += [Column(unit.title), Column(head.title), Column("frontier", numeric=False)]
    columns.append(Column("not distinguishable from cheaper", numeric=False))
    elsewhere = written_elsewhere(results)
    body = [
        [
            Cell(point["summarizer"], detail=f"({ELSEWHERE})" if _name(point) in elsewhere else None),
            Cell(point["setting"]),
            number(point["cost"], digits=unit.digits),
            _quality_cell(point, head),
            Cell("yes" if point["on_frontier"] else f"no: {point['beaten_by']} is as good for no more"),
            Cell("; ".join(point["not_distinguishable_from"]) or "none"),
        ]
        for point in found["points"]
    ]
    (judged, _), *_ = by_judge([found])
    caption = f"{judge_line(results, judged._replace(dataset=dataset))}. Cheapest first. {INTERVAL}"
    how = (
        "Frontier: no other system is at least as good and at least as cheap, and better in one of both; by means. "
        "The tests of all pairs of systems say which of its members are not distinguishable from a cheaper one."
    )
    return Table(caption, columns, body, how)


def _quality_cell(point: CostPoint, head: Head) -> Cell:
    quality = point["quality"]
    return number(quality["value"], digits=head.digits, interval=(quality["low"], quality["high"]))


def _judges(found: Cost) -> Iterator[Table]:
    rows = found["judges"]
    if rows:
        columns = [Column("judge", numeric=False)]
        columns += map(Column, ("dollars", "dollars a summary", "tokens in", "tokens out", "calls", "reused"))
        body = [
            [
                Cell(row["judge"]),
                number(row["usd"], digits=4, reason=_NO_PRICE),
                number(_each(row["usd"], row["n_summaries"]), digits=5, reason=_NO_PRICE),
                number(row["tokens_in"], digits=0, reason=_NOT_SAID),
                number(row["tokens_out"], digits=0, reason=_NOT_SAID),
                count(row["calls"]),
                count(row["reused"]),
            ]
            for row in rows
        ]
        caption = "The cost of judging, apart from writing, over all data sets of the run."
        how = (
            "Sums over the calls of this run's commands. Reused: answers that earlier commands had paid for, which are "
            "not in the sums."
        )
        yield Table(caption, columns, body, how)


def _each(total: float | None, n: int) -> float | None:
    return None if total is None or not n else total / n


def cost_figures(results: Results) -> Iterator[tuple[Plot | None, str]]:
    """One figure a judge and data set: cost, quality with its interval, and the frontier as steps."""
    found = results.get("cost")
    frontiers = found["frontiers"] if found else []
    named = [(judged.dataset, one) for judged, own in by_judge(frontiers) for one in own]
    for place, (dataset, one) in enumerate(named):
        title = head_of(results, one["measure"]).title
        caption = (
            f"{_where(dataset, one)}{capitalized(title)} beside cost, with its interval. The line joins the systems "
            "that none beats in both."
        )
        yield _plot(one, title, f"cost{place}"), caption


def _plot(found: Frontier, title: str, name: str) -> Plot:
    points, unit = found["points"], _UNITS[found["currency"]]
    members = [point for point in points if point["on_frontier"]]
    others = [point for point in points if not point["on_frontier"]]

    def draw(axes: Axes) -> None:
        for place, (label, of) in enumerate((("frontier", members), ("others", others))):
            _draw_points(axes, of, label, place)
        costs, values = [one["cost"] for one in members], [one["quality"]["value"] or 0.0 for one in members]
        axes.step(costs, values, where="post", color=series_style(0)["color"], linewidth=1.0)
        for point in members if len(points) > _MOST_LABELLED else points:
            at = (point["cost"], point["quality"]["value"] or 0.0)
            axes.annotate(_name(point), at, xytext=(4, 3), textcoords="offset points", fontsize=7)
        axes.set_xlabel(unit.title)
        axes.set_ylabel(title)
        axes.margins(0.15)
        axes.grid()

    told = "; ".join(
        f"{_name(point)} {_amount(found, point)}, {_quality(point)}{', frontier' if point['on_frontier'] else ''}"
        for point in points
    )
    return Plot(render(draw, height=_HEIGHT_IN, name=name), f"{capitalized(title)} by cost. {told}.")


def _draw_points(axes: Axes, points: Sequence[CostPoint], label: str, place: int) -> None:
    style = series_style(place) | {"linestyle": "none"}
    if points:
        values = [one["quality"]["value"] or 0.0 for one in points]
        axes.plot([one["cost"] for one in points], values, label=label, **style)
    for point in points:
        low, high = point["quality"]["low"], point["quality"]["high"]
        if low is not None and high is not None:
            axes.plot([point["cost"]] * 2, [low, high], color=style["color"], linewidth=0.8)
