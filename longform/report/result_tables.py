"""Tables that describe themselves as sections of a report, with their figures: nothing here knows a study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from longform.metrics.statistics import Estimate, EstimateColumns
from longform.report.line_plots import Line, line_plot
from longform.report.measures import capitalized, head_of
from longform.report.parts import INTERVAL, Judged, Section, dataset_words, has_datasets, judge_line
from longform.report.plots import Plot
from longform.report.row_names import NAMES, named
from longform.report.scatter_plots import Point, Points, scatter_plot
from longform.report.tables import Column as Head
from longform.report.tables import Table as ShownTable
from longform.results.results import Results
from longform.tables.cells import Cell, row_cell, with_beside, words
from longform.tables.layout import Part, below_originals, distinct_values, headed, laid_out, visible
from longform.tables.table import Axes, Column, Table, Value, series_columns, stated_unit, table_of

FURTHER = "studies"
"""The page of tables that name none."""

_UNITS: Mapping[str, str] = {"points": "of 100", "share": "0 to 1", "usd": "US dollars", "seconds": "seconds"}
_MOST_LINES = 8
_JUDGE = ("judge", "dataset")


def anchor_of(name: str) -> str:
    """Return the address of a table's section on its page."""
    return f"table-{name.replace('_', '-')}"


def tables_of(results: Results) -> Iterator[Table]:
    """Yield the tables of studies; those that users brought to older versions know no units."""
    told = results.get("tables") or {}
    for name, content in told.items():
        yield Table.from_json(name, content)
    for name, study in (results.get("own_studies") or {}).items():
        if name not in told:
            rows = Table(name, [], []).having(study["rows"]).rows
            yield table_of(name, rows, title=study["title"], told=study["told"])


def table_sections(results: Results) -> Iterator[Section]:
    """Yield one section for each table with something to show that heads one, with the tables below its head."""
    tables = [table for table in tables_of(results) if table.rows and visible(table)]
    headed = {table.name for table in tables if not table.section}
    for head in tables:
        if not head.section or head.section not in headed:
            own = [head, *(table for table in tables if table.section == head.name and table is not head)]
            told = head.told.split("\n\n") if head.apart and head.told else []
            shown_tables = [shown for table in own for shown in shown_of(results, table)]
            yield Section(anchor_of(head.name), head.title or head.name, told, shown_tables, page=head.page or FURTHER)


def shown_of(results: Results, table: Table) -> list[ShownTable]:
    """Return a table's parts as heads and cells, with what its columns say of themselves behind the first."""
    parts = [_shown(results, table, part) for part in laid_out(table)]
    told = " ".join(_told(column) for column in visible(table) if column.told or (column.better and not table.across))
    return [part._replace(how=told if place == 0 else "") for place, part in enumerate(parts)]


def _shown(results: Results, table: Table, part: Part) -> ShownTable:
    own = part.table
    columns = [one for one in visible(own) if one.name != "dataset" or has_datasets(table.rows)]
    naming = [one for one in columns if one.name in NAMES]
    others = [one for one in columns if one.name not in NAMES]
    heads = [Head(_titled(results, table, one, own.rows), numeric=one.unit != "text") for one in [*naming, *others]]
    rows = below_originals(own.rows, *(name for name in own.key if name != "summarizer"))
    places = {id(row): place for place, row in enumerate(own.rows)}
    body = [
        [
            *named(results, row, [one.name for one in naming]),
            *(
                with_beside(_cell(results, row, one, own.reason(places[id(row)], one.name)), row, one, own)
                for one in others
            ),
        ]
        for row in rows
    ]
    return ShownTable(_caption(results, table, part), heads, body)


def _cell(results: Results, row: Mapping[str, Value], column: Column, reason: str | None) -> Cell:
    if column.name == "measure":
        return words(head_of(results, str(row.get("measure"))).title)
    return row_cell(row, column, reason)


def _titled(results: Results, table: Table, column: Column, rows: Sequence[Mapping[str, Value]]) -> str:
    if (head := headed(column, rows)) is not None:
        return head_of(results, head).title if column.headed == "measure" else head
    known = table.across == "measure" and column.name not in {one.name for one in table.columns}
    return head_of(results, column.name).title if known else column.head


def _caption(results: Results, table: Table, part: Part) -> str:
    brackets = {
        column.brackets: None
        for column in visible(part.table)
        if any(isinstance(row.get(column.name), Estimate) for row in part.table.rows)
    }
    told = [] if table.apart else [table.told]
    meant = [f"Brackets: {one}." if one else INTERVAL for one in brackets]
    return " ".join(filter(None, [*_line(results, table, part), *told, *meant]))


def _line(results: Results, table: Table, part: Part) -> Iterator[str]:
    """Yield what names a part: the measure by others, in a sentence, and its judge."""
    words_of = {
        name: head_of(results, str(value)).title if name == "measure" else f"{table.column(name).head} {value}"
        for name, value in part.values.items()
        if name not in _JUDGE
    }
    if words_of:
        yield f"{capitalized(' '.join(words_of.values()))}."
    if "judge" in part.values:
        several = "dataset" in part.values and has_datasets(table.rows)
        dataset = dataset_words(part.values).removeprefix("Data set ") if several else None
        judge = part.values["judge"]
        yield f"{judge_line(results, Judged(None if judge is None else str(judge), dataset))}."


def _told(column: Column) -> str:
    told = f"{capitalized(column.head)}: {column.told.rstrip('.')}." if column.told else f"{capitalized(column.head)}:"
    return f"{told} {column.better.capitalize()} is better." if column.better else told


def table_figures(anchor: str, results: Results) -> Iterator[tuple[Plot | None, str]]:
    """Yield the figures of the tables whose section is *anchor*: one for each of their parts."""
    for table in tables_of(results):
        if table.plot is not None and anchor == anchor_of(table.section or table.name):
            apart = table.apart if table.plot.apart is None else table.plot.apart
            for place, part in enumerate(laid_out(table._replace(across="", apart=apart))):
                plot, told = _drawn(results, part.table, table.plot, name=f"{anchor}{place}")
                line = " ".join(_line(results, table, part))
                yield plot, f"{line}{told}" if line else table.told or table.title


def _drawn(results: Results, table: Table, plot: Axes, *, name: str) -> tuple[Plot | None, str]:
    """Return the figure of a part, and what its first numbers stand for if they are no numbers."""
    columns = {column.name: column for column in table.columns}
    places = _places(table, plot.x)
    by = series_columns(plot)
    series: dict[str, list[Mapping[str, Value]]] = {}
    for row in table.rows:
        if _at(row, plot.x, places) is not None:
            label = ", ".join(_label(results, one, row.get(one)) for one in by) if by else columns[plot.y].head
            series.setdefault(label, []).append(row)
    x_label, y_label = (_labelled(results, table, columns[one]) for one in (plot.x, plot.y))
    if plot.form == "scatter":
        points = [
            Points(label, list(_points(rows, plot, table)), joined=label == plot.joined)
            for label, rows in series.items()
        ]
        told = f" The line joins: {plot.joined}." if plot.joined else ""
        return scatter_plot(points, x_label=x_label, y_label=y_label, name=name), told
    if len(series) > _MOST_LINES:
        return None, ""
    lines = [Line(label, _line_points(rows, plot, places)) for label, rows in series.items()]
    told = f" {', '.join(f'{place:.0f}: {value}' for value, place in places.items())}." if places else ""
    joined = plot.form == "line"
    return line_plot(lines, x_label=x_label, y_label=y_label, name=name, of_100=False, joined=joined), told


def _label(results: Results, name: str, value: Value) -> str:
    return head_of(results, str(value)).title if name == "measure" else str(value)


def _places(table: Table, x: str) -> Mapping[Value, float]:
    """Return the values of a column of texts by their places from 1; none if it has numbers."""
    if table.column(x).unit != "text":
        return {}
    return {value: float(place) for place, value in enumerate(distinct_values(table.rows, x), start=1)}


def _at(row: Mapping[str, Value], x: str, places: Mapping[Value, float]) -> float | None:
    value = row.get(x)
    return places.get(value) if places else _number(value)


def _labelled(results: Results, table: Table, column: Column) -> str:
    unit = stated_unit(next(iter(table.rows), {}), column)
    head = _titled(results, table, column, table.rows)
    return f"{head}, {_UNITS[unit]}" if unit in _UNITS else head


def _line_points(
    rows: Sequence[Mapping[str, Value]], plot: Axes, places: Mapping[Value, float]
) -> list[tuple[float, EstimateColumns]]:
    """Return the points in the order of their first numbers."""
    found = [(x, _columns(row.get(plot.y))) for row in rows if (x := _at(row, plot.x, places)) is not None]
    return sorted(found, key=lambda point: point[0])


def _points(rows: Sequence[Mapping[str, Value]], plot: Axes, table: Table) -> Iterator[Point]:
    columns = [table.column(one) for one in (plot.x, plot.y)]
    for row in rows:
        x, y = _number(row.get(plot.x)), _number(row.get(plot.y))
        label = str(row.get(plot.label)) if plot.label else ", ".join(str(row.get(name)) for name in table.key)
        if x is not None and y is not None:
            told = " and ".join(str(row_cell(row, column).text) for column in columns)
            y_columns = _columns(row.get(plot.y))
            yield Point(label, x, y, y_columns["low"], y_columns["high"], told)


def _columns(value: Value) -> EstimateColumns:
    if isinstance(value, Estimate):
        return value.as_json()
    return {"value": _number(value), "low": None, "high": None, "n": 1}


def _number(value: Any) -> float | None:
    if isinstance(value, Estimate):
        return value.value
    return float(value) if isinstance(value, int | float) else None
