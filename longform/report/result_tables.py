"""Tables that describe themselves as sections of a report, with their figures: nothing here knows a study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from longform.metrics.statistics import Estimate, EstimateColumns
from longform.report.line_plots import Line, line_plot
from longform.report.parts import INTERVAL, Section
from longform.report.plots import Plot
from longform.report.scatter_plots import Point, Points, scatter_plot
from longform.report.tables import Column as Head
from longform.report.tables import Table as ShownTable
from longform.results.results import Results
from longform.tables.cells import cell_rows
from longform.tables.table import Axes, Column, Table, Unit, Value, table_of

_ANCHOR = "own-"
_UNITS: Mapping[Unit, str] = {"points": "of 100", "share": "0 to 1", "usd": "US dollars", "seconds": "seconds"}


def tables_of(results: Results) -> Iterator[Table]:
    """Yield the tables of studies that users brought; those of older results know no units."""
    told = results.get("tables") or {}
    for name, content in told.items():
        yield Table.from_json(name, content)
    for name, study in (results.get("own_studies") or {}).items():
        if name not in told:
            rows = [{key: _estimate(value) for key, value in row.items()} for row in study["rows"]]
            yield table_of(name, rows, title=study["title"], told=study["told"])


def _estimate(value: Any) -> Value:
    return Estimate(**value) if isinstance(value, Mapping) else value


def table_sections(results: Results) -> Iterator[Section]:
    """Yield one section for each table that has rows."""
    for table in tables_of(results):
        if table.rows:
            yield Section(f"{_ANCHOR}{table.name}", table.title or table.name, [], [shown(table)])


def shown(table: Table) -> ShownTable:
    """Return a table as heads and cells, with what its columns say of themselves behind it."""
    has_interval = any(isinstance(value, Estimate) for row in table.rows for value in row.values())
    caption = " ".join([*([table.told] if table.told else []), *([INTERVAL] if has_interval else [])])
    heads = [Head(column.head, numeric=column.unit != "text") for column in table.columns]
    how = " ".join(_told(column) for column in table.columns if column.told or column.better)
    return ShownTable(caption, heads, cell_rows(table), how)


def _told(column: Column) -> str:
    told = f"{column.head}: {column.told.rstrip('.')}." if column.told else f"{column.head}:"
    return f"{told} {column.better.capitalize()} is better." if column.better else told


def table_figures(anchor: str, results: Results) -> Iterator[tuple[Plot | None, str]]:
    """Yield the figure of the table whose section is *anchor*, if it names one."""
    for table in tables_of(results):
        if anchor == f"{_ANCHOR}{table.name}" and table.plot is not None:
            yield _drawn(table, table.plot, name=anchor), table.told or table.title


def _drawn(table: Table, plot: Axes, *, name: str) -> Plot | None:
    columns = {column.name: column for column in table.columns}
    series: dict[str, list[Mapping[str, Value]]] = {}
    for row in table.rows:
        if _number(row.get(plot.x)) is not None:
            series.setdefault(str(row.get(plot.by)) if plot.by else columns[plot.y].head, []).append(row)
    x_label, y_label = (_labelled(columns[one]) for one in (plot.x, plot.y))
    if plot.form == "line":
        lines = [Line(label, _line(rows, plot)) for label, rows in series.items()]
        return line_plot(lines, x_label=x_label, y_label=y_label, name=name, of_100=False)
    points = [Points(label, list(_points(rows, plot, table.key))) for label, rows in series.items()]
    return scatter_plot(points, x_label=x_label, y_label=y_label, name=name)


def _labelled(column: Column) -> str:
    return f"{column.head}, {_UNITS[column.unit]}" if column.unit in _UNITS else column.head


def _line(rows: Sequence[Mapping[str, Value]], plot: Axes) -> list[tuple[float, EstimateColumns]]:
    """Return the points in the order of their first numbers."""
    found = [(x, _columns(row.get(plot.y))) for row in rows if (x := _number(row.get(plot.x))) is not None]
    return sorted(found, key=lambda point: point[0])


def _points(rows: Sequence[Mapping[str, Value]], plot: Axes, key: Sequence[str]) -> Iterator[Point]:
    for row in rows:
        x, y = _number(row.get(plot.x)), _number(row.get(plot.y))
        label = str(row.get(plot.label)) if plot.label else ", ".join(str(row.get(name)) for name in key)
        if x is not None and y is not None:
            yield Point(label, x, y)


def _columns(value: Value) -> EstimateColumns:
    if isinstance(value, Estimate):
        return value.as_json()
    return {"value": _number(value), "low": None, "high": None, "n": 1}


def _number(value: Value) -> float | None:
    if isinstance(value, Estimate):
        return value.value
    return float(value) if isinstance(value, int | float) else None
