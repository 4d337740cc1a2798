"""Figures of tables that describe themselves, each of the form and of the columns that a table names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from longform.metrics.statistics import Estimate, EstimateColumns
from longform.report import line_plots
from longform.report.forest import Line, forest_plot, label_of
from longform.report.line_plots import Panel, Point, Points, panel_plot, scatter_plot
from longform.report.measures import capitalized, head_of
from longform.report.parts import NO_DATASET
from longform.report.plots import Plot, change_plot
from longform.report.result_tables import anchor_of, line_of, of_report, tables_of, titled, told_above
from longform.report.shown_names import short_systems
from longform.report.tables import IN_SAMPLE
from longform.results.results import Results
from longform.tables.cells import row_cell
from longform.tables.layout import below_originals, distinct_values, laid_out
from longform.tables.table import Axes, Column, Table, Value, series_columns, stated_unit

_UNITS: Mapping[str, str] = {"points": "of 100", "share": "per cent", "usd": "US dollars", "seconds": "seconds"}
_MOST_LINES = 20  # that differ without colour
_MOST_BESIDE = 3  # series beside one that they are compared with
_TICKS_CHARACTERS = 64  # below a figure of one panel


def table_figures(anchor: str, results: Results) -> Iterator[tuple[Plot | None, str]]:
    """Yield the figures of the tables whose section is *anchor*."""
    for number, table in enumerate(one for one in tables_of(results) if one.plot is not None and one.shown):
        if anchor == anchor_of(table.section or table.name):
            yield from figures_of(results, table, name=f"{anchor}{number}-")


def figures_of(results: Results, table: Table, *, name: str) -> Iterator[tuple[Plot | None, str]]:
    """Yield the figures of a table with their captions, one for each of its parts; *name* begins the ids of all."""
    if (plot := table.plot) is None:
        return
    apart = table.apart if plot.apart is None else plot.apart
    for place, part in enumerate(laid_out(of_report(table)._replace(across="", under=(), apart=apart))):
        line = " ".join([*line_of(results, table, part), *([] if told_above(table) else [table.told])]).strip()
        for drawn, told in _drawn(results, _to_draw(part.table, plot), plot, name=f"{name}{place}"):
            yield drawn, f"{line}{told}" if line else table.title


def _to_draw(table: Table, plot: Axes) -> Table:
    """Return the rows that a figure draws, shares as per cent."""
    left = [row for row in table.rows if not plot.but or row.get(plot.but) is None]
    rows = [row for row in left if all(row.get(name) == left[0].get(name) for name in plot.first or ())]
    shown = []
    for row in rows:
        shares = [
            name for name in {plot.x, plot.y, plot.to or plot.x} if stated_unit(row, table.column(name)) == "share"
        ]
        shown.append({**row, **{name: _in_percent(row.get(name)) for name in shares}})
    return table._replace(rows=shown, reasons=())


def _in_percent(value: Value) -> Value:
    if isinstance(value, Estimate):
        return value.scaled(100)
    return 100 * value if isinstance(value, int | float) else value


def _drawn(results: Results, table: Table, plot: Axes, *, name: str) -> Iterator[tuple[Plot | None, str]]:
    """Yield the figures of a part, of so many series each, and what its first numbers stand for if they are none."""
    columns = {column.name: column for column in table.columns}
    if plot.form == "change":
        yield _change(results, table, plot, name=name)
        return
    if plot.form == "forest":
        yield from _forests(results, table, plot, name=name)
        return
    places = _places(table, plot)
    by = series_columns(plot)
    series: dict[str, list[Mapping[str, Value]]] = {}
    for row in below_originals(table.rows, *(one for one in table.key if one != "summarizer")):
        if _at(row, plot.x, places) is not None:
            label = ", ".join(_label(results, one, row.get(one)) for one in by) if by else columns[plot.y].head
            series.setdefault(f"{label}{_series_mark(row, by)}", []).append(row)
    labels = tuple(_labelled(results, table, columns[one]) for one in (plot.x, plot.y))
    if plot.form == "scatter":
        yield _scattered(table, plot, series, labels, name=name)
    else:
        yield from _lined(table, plot, series, labels, places, name=name)


def _scattered(
    table: Table, plot: Axes, series: Mapping[str, Sequence[Mapping[str, Value]]], labels: Sequence[str], *, name: str
) -> tuple[Plot | None, str]:
    """Return a scatter of series, one of which a line of steps may join."""
    x_label, y_label = labels
    points = [
        Points(label, list(_points(rows, plot, table)), joined=label == plot.joined) for label, rows in series.items()
    ]
    told = f" The line joins: {plot.joined}." if plot.joined else f" {capitalized(y_label)} by {x_label}."
    return scatter_plot(points, x_label=x_label, y_label=y_label, name=name), told


def _lined(
    table: Table,
    plot: Axes,
    series: Mapping[str, list[Mapping[str, Value]]],
    labels: Sequence[str],
    places: Mapping[Value, float],
    *,
    name: str,
) -> Iterator[tuple[Plot | None, str]]:
    """Yield figures of lines, of so many series each, with a panel for each value of a column."""
    titles = distinct_values(table.rows, plot.panels) if plot.panels else [""]
    ticks = [str(value) for value in places]
    ticks = ticks if sum(len(tick) + 2 for tick in ticks) <= _TICKS_CHARACTERS / min(2, len(titles)) else []
    told = f" {', '.join(f'{place:.0f}: {value}' for value, place in places.items())}." if places and not ticks else ""
    told = f" A panel a {table.column(plot.panels).head}.{told}" if plot.panels and len(titles) > 1 else told
    for number, shown in enumerate(_figures_of(series, plot)):
        panels = [
            Panel("" if len(titles) == 1 else str(title or NO_DATASET), list(_lines(shown, plot, places, title)))
            for title in titles
        ]
        drawn = panel_plot(
            panels,
            x_label=labels[0],
            y_label=labels[1],
            name=f"{name}-{number}" if number else name,
            of_100=False,
            joined=plot.form == "line",
            ticks=ticks,
        )
        yield drawn, told


_Series = tuple[str, list[Mapping[str, Value]]]


def _figures_of(series: Mapping[str, list[Mapping[str, Value]]], plot: Axes) -> Iterator[list[_Series]]:
    """Yield the series of each figure: those that stand beside none, then a few others beside each that they name."""
    named: dict[str, list[_Series]] = {}
    alone: list[_Series] = []
    for label, rows in series.items():
        beside = rows[0].get(plot.beside) if plot.beside else None
        (alone if beside is None else named.setdefault(str(beside), [])).append((label, rows))
    for start in range(0, len(alone), _MOST_LINES):
        yield alone[start : start + _MOST_LINES]
    for beside, others in named.items():
        first = [(label, rows) for label, rows in alone if label in (beside, f"{beside} ({IN_SAMPLE})")]
        for start in range(0, len(others), _MOST_BESIDE):
            yield [*first, *others[start : start + _MOST_BESIDE]]


def _lines(
    series: Iterable[tuple[str, Sequence[Mapping[str, Value]]]],
    plot: Axes,
    places: Mapping[Value, float],
    title: Value,
) -> Iterator[line_plots.Line]:
    """Yield the lines of a panel."""
    for label, rows in series:
        found = [
            (x, row)
            for row in rows
            if (x := _at(row, plot.x, places)) is not None and (not plot.panels or row.get(plot.panels) == title)
        ]
        found.sort(key=lambda point: point[0])
        points = [(x, _columns(row.get(plot.y))) for x, row in found]
        yield line_plots.Line(label, points, [str(row.get(plot.within)) for _, row in found] if plot.within else ())


def _change(results: Results, table: Table, plot: Axes, *, name: str) -> tuple[Plot | None, str]:
    """Return the figure of changes, and what they go from and to."""
    before, after = table.column(plot.x), table.column(plot.to or plot.x)
    bands: dict[str, dict[str, tuple[float, float]]] = {}
    for row in table.rows:
        ends = _number(row.get(before.name)), _number(row.get(after.name))
        label = ", ".join(_label(results, one, row.get(one)) for one in series_columns(plot)) or after.head
        if ends[0] is not None and ends[1] is not None:
            bands.setdefault(str(row.get(plot.y)), {})[label] = (ends[0], ends[1])
    unit = f", {_UNITS[after.unit]}" if after.unit in _UNITS else ""
    told = f" From {before.told} to {after.told}." if before.told and after.told else ""
    return change_plot(bands, ends=(before.head, after.head), unit=unit, name=name), told


def _forests(results: Results, table: Table, plot: Axes, *, name: str) -> Iterator[tuple[Plot | None, str]]:
    """Yield figures of estimates, of so many lines each; a difference of which 0 is no likely value is filled."""
    column, names = table.column(plot.x), short_systems(results)
    signed = column.unit == "difference"
    lines = [
        Line(
            f"{label_of(names.get(label, label))}{_series_mark(row, [plot.y])}", value, signed and _excludes_zero(value)
        )
        for row in table.rows
        for label, value in [(str(row.get(plot.y)), row.get(plot.x))]
        if isinstance(value, Estimate) and value.value is not None
    ]
    told = " Blue, filled: the interval excludes 0." if any(line.filled for line in lines) else ""
    x_label, digits = (
        (f"{column.head}, in points", "+.1f")
        if signed
        else (_labelled(results, table, column), f".{column.digits or 1}f")
    )
    for start in range(0, len(lines), _MOST_LINES):
        shown = lines[start : start + _MOST_LINES]
        alt = "; ".join(f"{line.label} {line.value.value:{digits}}" for line in shown)
        own = f"{name}-{start}" if start else name
        zero = signed or any(_below_zero(line.value) for line in shown)
        yield forest_plot(shown, f"{capitalized(column.head)}: {alt}.", x_label=x_label, name=own, zero=zero), told


def _below_zero(value: Estimate) -> bool:
    return min(bound for bound in value[:3] if bound is not None) < 0


def _excludes_zero(value: Estimate) -> bool:
    return value.low is not None and value.high is not None and (value.low > 0 or value.high < 0)


def _label(results: Results, name: str, value: Value) -> str:
    return head_of(results, str(value)).title if name == "measure" else str(value)


def _series_mark(row: Mapping[str, Value], by: Sequence[str]) -> str:
    """Mark a series that a model made which was fitted on these data."""
    marked = row.get("in_sample")
    return f" ({IN_SAMPLE})" if isinstance(marked, list) and {*marked} & {*by} else ""


def _places(table: Table, plot: Axes) -> Mapping[Value, float]:
    """Return the values of a column of texts that have a number by their places from 1; none if it has numbers."""
    if table.column(plot.x).unit != "text":
        return {}
    known = [row for row in table.rows if _number(row.get(plot.y)) is not None]
    return {value: float(place) for place, value in enumerate(distinct_values(known, plot.x), start=1)}


def _at(row: Mapping[str, Value], x: str, places: Mapping[Value, float]) -> float | None:
    value = row.get(x)
    return places.get(value) if places else _number(value)


def _labelled(results: Results, table: Table, column: Column) -> str:
    unit = stated_unit(table.rows[0], column) if table.rows else column.unit
    measures = {row.get("measure") for row in table.rows} if column.unit == "stated" and not column.headed else set()
    known = len(measures) == 1 and None not in measures
    head = _label(results, "measure", measures.pop()) if known else titled(results, table, column, table.rows)
    return f"{head}, {_UNITS[unit]}" if unit in _UNITS else head


def _points(rows: Sequence[Mapping[str, Value]], plot: Axes, table: Table) -> Iterator[Point]:
    columns = [table.column(one) for one in (plot.x, plot.y)]
    for row in rows:
        x, y = _number(row.get(plot.x)), _number(row.get(plot.y))
        label = str(row.get(plot.label)) if plot.label else ", ".join(str(row.get(name)) for name in table.key)
        if x is not None and y is not None:
            told = " and ".join(_point_words(row, column) for column in columns)
            y_columns = _columns(row.get(plot.y))
            yield Point(label, x, y, y_columns["low"], y_columns["high"], told)


def _point_words(row: Mapping[str, Value], column: Column) -> str:
    """Say a number of a point; a share is per cent already."""
    if stated_unit(row, column) == "share":
        return f"{_number(row.get(column.name)):.1f} %"
    return str(row_cell(row, column).text)


def _columns(value: Value) -> EstimateColumns:
    if isinstance(value, Estimate):
        return value.as_json()
    return {"value": _number(value), "low": None, "high": None, "n": 1}


def _number(value: Any) -> float | None:
    if isinstance(value, Estimate):
        return value.value
    return float(value) if isinstance(value, int | float) else None
