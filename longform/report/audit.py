"""The page of a benchmark: tables that its maker kept beside it, shown and drawn by their columns alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from longform.metrics.statistics import Estimate, EstimateColumns
from longform.report.haystacks import haystack_name
from longform.report.line_plots import Line, line_plot
from longform.report.parts import INTERVAL, Section, split_caption
from longform.report.plots import Plot
from longform.report.tables import Column as Head
from longform.report.tables import Table as ShownTable
from longform.results.results import Results
from longform.tables.cells import Cell, cell_rows
from longform.tables.table import Axes, Column, Table, Value

_READER = "longform.synthesis.tables"
"""The annex that makes tables of audits and accounts of benchmarks that keep none."""

_MOST_ROWS = 40  # that one still reads; the file has all
_UNITS = {"points": "of 100", "share": "0 to 1"}


def audit_sections(results: Results) -> Iterator[Section]:
    """Yield one section if the benchmark says of itself how it was made and audited; else none."""
    if described := _described(results):
        shown = [_shown(results, table) for table in _tables(described) if table.plot is None]
        yield Section("audit", described["title"], list(described["told"]), shown)


def benchmark_figures(results: Results) -> Iterator[tuple[Plot | None, str]]:
    """Yield the figures of the benchmark's tables; a table with a figure is shown by it."""
    for table in _tables(_described(results) or {"tables": {}}):
        if table.plot is not None:
            yield _drawn(table, table.plot), table.told


def _described(results: Results) -> Mapping[str, Any] | None:
    """Return the title, the sentences and the tables of the benchmark; None: it has none of them."""
    kept = results.get("benchmark_tables")
    audit, account = results.get("audit"), results.get("synthesis")
    if kept or not (audit or account):
        return kept
    made: Mapping[str, Any] = import_module(_READER).benchmark_tables(audit, account)
    return made


def _tables(described: Mapping[str, Any]) -> Iterator[Table]:
    return (Table.from_json(name, content) for name, content in described["tables"].items())


def _shown(results: Results, table: Table) -> ShownTable:
    """Return the first rows as heads and cells; a title `documents: written` stands below an upper head `documents`."""
    own = table._replace(rows=[_named(results, row) for row in table.rows[:_MOST_ROWS]])
    heads = [_head(column) for column in own.columns]
    told = [own.told] if own.told else []
    if len(own.rows) < len(table.rows):
        told.append(f"The first {len(own.rows)} of {len(table.rows):,}; the files beside the benchmark have all.")
    if any(isinstance(value, Estimate) for row in own.rows for value in row.values()):
        told.append(INTERVAL)
    caption, more = split_caption(" ".join(told))
    how = [_told(head, column) for head, column in zip(heads, own.columns, strict=True) if column.told or column.better]
    return ShownTable(caption, heads, _cells(own), " ".join(filter(None, [more, *how])))


def _named(results: Results, row: Mapping[str, Value]) -> Mapping[str, Value]:
    named = row.get("haystack")
    return {**row, "haystack": haystack_name(results, named)} if isinstance(named, str) else row


def _head(column: Column) -> Head:
    group, _, name = column.head.rpartition(": ")
    return Head(name, group, numeric=column.unit != "text")


def _told(head: Head, column: Column) -> str:
    better = f"{column.better.capitalize()} is better." if column.better else ""
    return f"{head.name.capitalize()}: {column.told.rstrip('.')}. {better}".strip()


def _cells(table: Table) -> list[list[Cell]]:
    return [
        [_finer(cell, row.get(column.name), column) for cell, column in zip(cells, table.columns, strict=True)]
        for cells, row in zip(cell_rows(table), table.rows, strict=True)
    ]


def _finer(cell: Cell, value: Value, column: Column) -> Cell:
    """Return a share with one digit more in its interval: label noise is a few in a thousand."""
    if column.unit != "share" or not isinstance(value, Estimate) or value.low is None or value.high is None:
        return cell
    return cell._replace(detail=f"[{100 * value.low:.2f}, {100 * value.high:.2f}]")


def _drawn(table: Table, plot: Axes) -> Plot | None:
    series: dict[str, list[tuple[float, EstimateColumns]]] = {}
    for row in table.rows:
        x, y = row.get(plot.x), row.get(plot.y)
        if isinstance(x, int | float) and isinstance(y, int | float):
            label = str(row.get(plot.by)) if plot.by else plot.y
            series.setdefault(label, []).append((x, {"value": y, "low": None, "high": None, "n": 1}))
    x_label, y_label = (_labelled(next(one for one in table.columns if one.name == name)) for name in (plot.x, plot.y))
    lines = [Line(label, points) for label, points in series.items()]
    name = f"benchmark-{table.name}".replace("_", "-")
    return line_plot(lines, x_label=x_label, y_label=y_label, name=name)


def _labelled(column: Column) -> str:
    return f"{column.head}, {_UNITS[column.unit]}" if column.unit in _UNITS else column.head
