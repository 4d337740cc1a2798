"""Tables that describe themselves as sections of a report, with their figures: nothing here knows a study."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from longform.metrics.statistics import Estimate, EstimateColumns
from longform.report.line_plots import Line, Panel, panel_plot
from longform.report.measures import capitalized, head_of
from longform.report.parts import INTERVAL, NO_DATASET, Judged, Section, dataset_words, has_datasets, judge_line
from longform.report.plots import Plot
from longform.report.row_names import NAMES, named
from longform.report.scatter_plots import Point, Points, scatter_plot
from longform.report.tables import IN_SAMPLE
from longform.report.tables import Column as Head
from longform.report.tables import Table as ShownTable
from longform.results.results import Results
from longform.tables.cells import Cell, row_cell, words
from longform.tables.layout import Part, below_originals, distinct_values, laid_out, visible
from longform.tables.table import Axes, Column, Table, Unit, Value, series_columns, table_of

FURTHER = "studies"
"""The page of tables that name none."""

_UNITS: Mapping[str, str] = {"points": "of 100", "share": "0 to 1", "usd": "US dollars", "seconds": "seconds"}
_MOST_LINES = 20  # that differ without colour
_MOST_BESIDE = 3  # series beside one that they are compared with
_TICKS_CHARACTERS = 64  # below a figure of one panel
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
    """Yield one section for each table that has rows and heads a section, with the tables below its head."""
    tables = [table for table in tables_of(results) if table.rows and table.shown]
    headed = {table.name for table in tables if not table.section}
    for head in tables:
        if not head.section or head.section not in headed:
            own = [head, *(table for table in tables if table.section == head.name and table is not head)]
            told = head.told.split("\n\n") if _told_above(head) else []
            shown_tables = [shown for table in own for shown in shown_of(results, table)]
            yield Section(anchor_of(head.name), head.title or head.name, told, shown_tables, page=head.page or FURTHER)


def _told_above(table: Table) -> bool:
    """Return true if what is told of a table stands above all of its parts, and not in the caption of each."""
    return bool(table.told and table.apart and not table.section)


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
    heads = [Head(_titled(results, table, one), numeric=one.unit != "text") for one in [*naming, *others]]
    rows = below_originals(own.rows, *(name for name in own.key if name != "summarizer"))
    places = {id(row): place for place, row in enumerate(own.rows)}
    body = [
        [
            *named(results, row, [one.name for one in naming]),
            *(_cell(results, row, one, own.reason(places[id(row)], one.name)) for one in others),
        ]
        for row in rows
    ]
    return ShownTable(_caption(results, table, part), heads, body)


def _cell(results: Results, row: Mapping[str, Value], column: Column, reason: str | None) -> Cell:
    if column.name == "measure":
        return words(head_of(results, str(row.get("measure"))).title)
    return row_cell(row, column, reason)


def _titled(results: Results, table: Table, column: Column) -> str:
    known = table.across == "measure" and column.name not in {one.name for one in table.columns}
    return head_of(results, column.name).title if known else column.head


def _caption(results: Results, table: Table, part: Part) -> str:
    has_interval = any(isinstance(value, Estimate) for row in part.table.rows for value in row.values())
    told = [] if _told_above(table) else [table.told]
    return " ".join(filter(None, [*_line(results, table, part), *told, INTERVAL if has_interval else ""]))


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
    for number, table in enumerate(one for one in tables_of(results) if one.plot is not None and one.shown):
        if table.plot is not None and anchor == anchor_of(table.section or table.name):
            apart = table.apart if table.plot.apart is None else table.plot.apart
            for place, part in enumerate(laid_out(table._replace(across="", apart=apart))):
                line = " ".join([*_line(results, table, part), *([] if _told_above(table) else [table.told])]).strip()
                for plot, told in _drawn(results, part.table, table.plot, name=f"{anchor}{number}-{place}"):
                    yield plot, f"{line}{told}" if line else table.title


def _drawn(results: Results, table: Table, plot: Axes, *, name: str) -> Iterator[tuple[Plot | None, str]]:
    """Yield the figures of a part, of so many series each, and what its first numbers stand for if they are none."""
    columns = {column.name: column for column in table.columns}
    places = _places(table, plot)
    by = series_columns(plot)
    series: dict[str, list[Mapping[str, Value]]] = {}
    for row in below_originals(table.rows, *(one for one in table.key if one != "summarizer")):
        if _at(row, plot.x, places) is not None:
            label = ", ".join(_label(results, row, one) for one in by) if by else columns[plot.y].head
            series.setdefault(f"{label}{_series_mark(row, by)}", []).append(row)
    x_label, y_label = (_labelled(columns[one], table.rows) for one in (plot.x, plot.y))
    if plot.form == "scatter":
        points = [Points(label, list(_points(rows, plot, table.key))) for label, rows in series.items()]
        yield scatter_plot(points, x_label=x_label, y_label=y_label, name=name), ""
        return
    titles = distinct_values(table.rows, plot.panels) if plot.panels else [""]
    ticks = [str(value) for value in places]
    ticks = ticks if sum(len(tick) + 2 for tick in ticks) <= _TICKS_CHARACTERS / min(2, len(titles)) else []
    told = f" {', '.join(f'{place:.0f}: {value}' for value, place in places.items())}." if places and not ticks else ""
    told = f" A panel a {columns[plot.panels].head}.{told}" if plot.panels and len(titles) > 1 else told
    for number, shown in enumerate(_figures_of(series, plot)):
        panels = [
            Panel("" if len(titles) == 1 else str(title or NO_DATASET), list(_lines(shown, plot, places, title)))
            for title in titles
        ]
        drawn = panel_plot(
            panels,
            x_label=x_label,
            y_label=y_label,
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
) -> Iterator[Line]:
    """Yield the lines of a panel."""
    for label, rows in series:
        found = [
            (x, row)
            for row in rows
            if (x := _at(row, plot.x, places)) is not None and (not plot.panels or row.get(plot.panels) == title)
        ]
        found.sort(key=lambda point: point[0])
        points = [(x, _columns(row.get(plot.y))) for x, row in found]
        yield Line(label, points, [str(row.get(plot.joined)) for _, row in found] if plot.joined else ())


def _label(results: Results, row: Mapping[str, Value], name: str) -> str:
    value = row.get(name)
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


def _labelled(column: Column, rows: Sequence[Mapping[str, Value]]) -> str:
    unit: Unit | str = column.unit
    if unit == "stated":
        unit = str(next((row.get("unit") for row in rows), "number"))
    return f"{column.head}, {_UNITS[unit]}" if unit in _UNITS else column.head


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


def _number(value: Any) -> float | None:
    if isinstance(value, Estimate):
        return value.value
    return float(value) if isinstance(value, int | float) else None
