"""Figures of tables that describe themselves, each of the form and of the columns that a table names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, TypeVar

from longform.metrics.statistics import Estimate
from longform.report.parts import NO_DATASET
from longform.report.plots import ORANGE, BandMark, Plot, SeriesPoint, band_plot, point_plot
from longform.report.result_tables import anchor_of, line_of, of_report, tables_of, titled, told_above
from longform.report.shown_names import short_systems
from longform.report.tables import IN_SAMPLE, mark_of
from longform.results.cells import capitalized, head_of
from longform.results.results import Results
from longform.tables.cells import row_cell
from longform.tables.layout import below_originals, distinct_values, laid_out
from longform.tables.table import Axes, Column, Table, Value, names_in, stated_unit

Some = TypeVar("Some")
_UNITS: Mapping[str, str] = {"points": "of 100", "share": "per cent", "usd": "US dollars", "seconds": "seconds"}
_MOST_LINES = 20  # that differ without colour
_MOST_BESIDE = 3  # series beside one that they are compared with
_TICKS_CHARACTERS = 64  # below a figure of one panel


def table_figures(anchor: str, results: Results) -> Iterator[Plot]:
    """Yield the figures of the tables whose section is *anchor*."""
    for number, table in enumerate(one for one in tables_of(results) if one.plot is not None and one.shown):
        if anchor == anchor_of(table.section or table.name):
            yield from figures_of(results, table, name=f"{anchor}{number}-")


def figures_of(results: Results, table: Table, *, name: str) -> Iterator[Plot]:
    """Yield the figures of a table, one for each of its parts or more; *name* begins the ids of all."""
    if (plot := table.plot) is None:
        return
    apart = table.apart if plot.apart is None else plot.apart
    made = _banded if plot.form in ("forest", "change") else _pointed
    for place, part in enumerate(laid_out(of_report(table)._replace(across="", under=(), apart=apart))):
        line = " ".join([*line_of(results, table, part), *([] if told_above(table) else [table.told])]).strip()
        ids = (f"{name}{place}-{number}" for number in count())
        for drawn, told in made(results, _to_draw(part.table, plot), plot, ids):
            if drawn is not None:
                yield drawn._replace(caption=f"{line}{told}" if line else table.title)


def _to_draw(table: Table, plot: Axes) -> Table:
    """Return the rows that a figure draws, shares as per cent."""
    left = [row for row in table.rows if not plot.but or row.get(plot.but) is None]
    rows = [row for row in left if all(row.get(name) == left[0].get(name) for name in plot.first or ())]
    drawn = [table.column(name) for name in {plot.x, plot.y, plot.to or plot.x}]
    shares = [[one.name for one in drawn if stated_unit(row, one) == "share"] for row in rows]
    shown = [{**row, **{one: _in_percent(row.get(one)) for one in own}} for row, own in zip(rows, shares, strict=True)]
    return table._replace(rows=shown, reasons=())


def _in_percent(value: Value) -> Value:
    if isinstance(value, Estimate):
        return value.scaled(100)
    return 100 * value if isinstance(value, int | float) else value


def _banded(results: Results, table: Table, plot: Axes, ids: Iterator[str]) -> Iterator[tuple[Plot | None, str]]:
    """Yield figures of estimates, or of changes from one column to another, of so many bands each."""
    column, names = table.column(plot.to or plot.x), short_systems(results)
    signed, label = column.unit == "difference", _labelled(results, table, column)
    bands: dict[str, dict[str, BandMark]] = {}
    more, by = _telling_apart(table, plot), names_in(plot.by or "")
    for place, row in enumerate(table.rows):
        start, value = _number(row.get(plot.x)) if plot.to else None, _estimate(row.get(column.name))
        if value.value is not None and (start is not None or not plot.to):
            band = ", ".join(str(row.get(name)) for name in (plot.y, *more))
            band = f"{names.get(band, band)}{_series_mark(row, [plot.y])}"
            series = ", ".join(_label(results, one, row.get(one)) for one in by) or ("" if plot.to else column.head)
            if series in bands.get(band, ()):  # no key tells the rows apart
                band = f"{band}, row {place + 1}"
            apart_from_0 = value.low is not None and value.high is not None and (value.low > 0 or value.high < 0)
            colour = (ORANGE if apart_from_0 else "") if signed else None if plot.to or by else ""
            bands.setdefault(band, {})[series] = BandMark(band, series, value, start, colour)
    apart = signed and any(mark.colour for band in bands.values() for mark in band.values())
    told = " Orange, filled: the interval excludes 0. Grey, hollow: it does not." if apart else ""
    x_label, head, ends = f"{column.head}, in points" if signed else label, f"{capitalized(column.head)}: ", None
    if plot.to:
        before = table.column(plot.x)
        ends = (before.head, column.head)
        x_label, head = f"{' to '.join(ends)}{label.removeprefix(column.head)}", f"{capitalized(' to '.join(ends))}. "
        told = f" From {before.told} to {column.told}." if before.told and column.told else ""
    shape = "+.1f" if signed else f".{column.digits or 1}f"
    for some in batched(list(bands.values()), _MOST_LINES):
        marks = [mark for band in some for mark in band.values()]
        zero = signed or any(bound < 0 for mark in marks for bound in mark.value[:3] if bound is not None)
        yield band_plot(marks, x_label=x_label, head=head, name=next(ids), ends=ends, zero=zero, shape=shape), told


def _telling_apart(table: Table, plot: Axes) -> list[str]:
    """Return the columns of the key that a band is named by too, if its name stands in several rows of a series."""
    drawn = [plot.y, *names_in(plot.by or "")]
    if len({tuple(str(row.get(name)) for name in drawn) for row in table.rows}) == len(table.rows):
        return []
    return [name for name in table.key if name not in drawn and len(distinct_values(table.rows, name)) > 1]


def _pointed(results: Results, table: Table, plot: Axes, ids: Iterator[str]) -> Iterator[tuple[Plot | None, str]]:
    """Yield figures of lines or points, of so many series each, with a panel for each value of a column."""
    places, by = _places(table, plot), names_in(plot.by or "")
    x_label, y_label = (_labelled(results, table, table.column(one)) for one in (plot.x, plot.y))
    titles = distinct_values(table.rows, plot.panels) if plot.panels else [""]
    ticks = [str(value) for value in places]
    ticks = ticks if sum(len(tick) + 2 for tick in ticks) <= _TICKS_CHARACTERS / min(2, len(titles)) else []
    series: dict[str, list[Row]] = {}
    for row in below_originals(table.rows, *(one for one in table.key if one != "summarizer")):
        if _at(row, plot.x, places) is not None:
            label = ", ".join(_label(results, one, row.get(one)) for one in by) if by else table.column(plot.y).head
            series.setdefault(f"{label}{_series_mark(row, by)}", []).append(row)
    told = _said_of_points(table, plot, labels=(x_label, y_label), several=len(titles) > 1)
    if places and not ticks:
        told += f" {', '.join(f'{place:.0f}: {value}' for value, place in places.items())}."
    free = plot.form == "scatter"
    axes: dict[str, Any] = {"x_label": x_label, "y_label": y_label, "ticks": ticks, "free": free}
    axes |= {"joined": plot.form == "line", "steps": plot.joined}
    for shown in _figures_of(series, plot):
        points = [
            point._replace(panel="" if len(titles) == 1 else str(title or NO_DATASET), series=label)
            for title in titles
            for label, rows in shown
            for own in [[row for row in rows if not plot.panels or row.get(plot.panels) == title]]
            for point in _points(own, plot, table, places, ticks)
        ]
        if not free or len(points) > 1:
            yield point_plot(points, name=next(ids), **axes), told


def _said_of_points(table: Table, plot: Axes, *, labels: tuple[str, str], several: bool) -> str:
    if plot.form == "scatter":
        x_label, y_label = labels
        return f" The line joins: {plot.joined}." if plot.joined else f" {capitalized(y_label)} by {x_label}."
    return f" A panel a {table.column(plot.panels).head}." if plot.panels and several else ""


Row = Mapping[str, Value]


def _figures_of(series: Mapping[str, list[Row]], plot: Axes) -> Iterator[list[tuple[str, list[Row]]]]:
    """Yield the series of each figure: those that stand beside none, then a few others beside each that they name."""
    named: dict[str, list[tuple[str, list[Row]]]] = {}
    alone: list[tuple[str, list[Row]]] = []
    for label, rows in series.items():
        beside = rows[0].get(plot.beside) if plot.beside else None
        (alone if beside is None else named.setdefault(str(beside), [])).append((label, rows))
    yield from batched(alone, _MOST_LINES)
    for beside, others in named.items():
        first = [(label, rows) for label, rows in alone if label in (beside, f"{beside} ({IN_SAMPLE})")]
        yield from ([*first, *some] for some in batched(others, _MOST_BESIDE))


def _points(
    rows: Iterable[Row], plot: Axes, table: Table, places: Mapping[Value, float], ticks: Sequence[str]
) -> Iterator[SeriesPoint]:
    """Yield the points of a series, by their places if these have an order."""
    if plot.form == "scatter":
        for row in rows:
            label = str(row.get(plot.label)) if plot.label else ", ".join(str(row.get(name)) for name in table.key)
            told = " and ".join(_point_words(row, table.column(one)) for one in (plot.x, plot.y))
            y = _estimate(row.get(plot.y))
            if y.value is not None:
                yield SeriesPoint("", "", _at(row, plot.x, places) or 0.0, y, f"{label} {told}", label)
        return
    for x, row in sorted(((_at(row, plot.x, places) or 0.0, row) for row in rows), key=lambda point: point[0]):
        y = _estimate(row.get(plot.y))
        told = "none" if y.value is None else f"{y.value:.1f}"
        tick = f"{ticks[int(x) - 1]} " if ticks else ""
        yield SeriesPoint("", "", x, y, f"{tick}{told}", part=str(row.get(plot.within)) if plot.within else "")


def batched(values: Sequence[Some], n: int) -> Iterator[list[Some]]:
    """Yield so many values at a time."""
    return (list(values[start : start + n]) for start in range(0, len(values), n))


def _label(results: Results, name: str, value: Value) -> str:
    return head_of(results, str(value)).head if name == "measure" else str(value)


def _series_mark(row: Mapping[str, Value], by: Sequence[str]) -> str:
    """Return the mark of a series, such as that of a model which was fitted on these data."""
    return next((f" {mark}" for name in by if (mark := mark_of(row, name))), "")


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


def _point_words(row: Mapping[str, Value], column: Column) -> str:
    """Say a number of a point; a share is per cent already."""
    if stated_unit(row, column) == "share":
        return f"{_number(row.get(column.name)):.1f} %"
    return str(row_cell(row, column).text)


def _estimate(value: Value) -> Estimate:
    return value if isinstance(value, Estimate) else Estimate(_number(value), None, None, 1)


def _number(value: Any) -> float | None:
    if isinstance(value, Estimate):
        return value.value
    return float(value) if isinstance(value, int | float) else None
