"""A table as it is laid out for a reader: parts of their own, and values of one column as heads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar, get_args

from longform.tables.table import Column, Table, Unit, Value

Row = TypeVar("Row", bound=Mapping[str, object])


class Part(NamedTuple):
    """
    Rows of a table that stand below one line.

    Attributes:
        values: The columns that the table keeps apart -> their values in these rows.
        table: The rows, with nothing left to be laid out.
    """

    values: Mapping[str, Value]
    table: Table


def laid_out(table: Table) -> Iterator[Part]:
    """Yield the parts of a table in order of appearance, each without the columns that are the same in all its rows."""
    groups: dict[tuple[Value, ...], list[int]] = {}
    for place, row in enumerate(table.rows):
        groups.setdefault(tuple(_single(row.get(name)) for name in table.apart), []).append(place)
    for values, places in groups.items():
        part = table._replace(
            rows=[table.rows[place] for place in places],
            reasons=[table.reasons[place] for place in places] if table.reasons else (),
            columns=[column for column in table.columns if column.name not in table.apart],
            key=[name for name in table.key if name not in table.apart],
            apart=(),
        )
        yield Part(dict(zip(table.apart, values, strict=True)), _pivoted(part) if table.across else part)


def visible(table: Table) -> list[Column]:
    """Return the columns that are shown."""
    return [column for column in table.columns if column.shown]


def below_originals(rows: Iterable[Row], *fields: str) -> list[Row]:
    """
    Return *rows* in their order, but each twin directly below its original; one without an original stands last.

    *fields* tell a summarizer's rows apart, as `setting` does.
    """
    ordered = list(rows)
    twins: dict[tuple[object, ...], list[Row]] = {}
    for row in ordered:
        if row.get("twin_of"):
            twins.setdefault((row["twin_of"], *(row.get(field) for field in fields)), []).append(row)
    found = []
    for row in ordered:
        if not row.get("twin_of"):
            found += [row, *twins.pop((row.get("summarizer"), *(row.get(field) for field in fields)), [])]
    return found + [row for left in twins.values() for row in left]


def _single(value: Value) -> Value:
    return value if isinstance(value, str | int | float) else str(value) if value is not None else None


def _pivoted(table: Table) -> Table:
    """Return a row for each key, and a column for each value of `across`."""
    across, key = table.across, [name for name in table.key if name != table.across]
    head_column = table.column(across)
    heads = [str(head) for head in _ordered_heads(table)]
    behind = table.columns[table.columns.index(head_column) + 1 :]
    value = next(column for column in behind if column.shown)
    rows: dict[tuple[object, ...], dict[str, Value]] = {}
    reasons: dict[tuple[object, ...], dict[str, str]] = {}
    units: dict[str, Unit] = {}
    for place, row in enumerate(table.rows):
        head, name = str(row.get(across)), tuple(row.get(one) for one in key)
        first = {one: given for one, given in row.items() if one not in (across, value.name)}
        rows.setdefault(name, first)[head] = row.get(value.name)
        if reason := table.reason(place, value.name):
            reasons.setdefault(name, {})[head] = reason
        units[head] = _stated(row) if value.unit == "stated" else value.unit
    before = "" if head_column.unit == "text" else f"{head_column.head} "
    pivoted = [value._replace(name=head, title=f"{before}{head}", unit=units[head]) for head in heads]
    place = table.columns.index(value)
    columns = [
        *(one for one in table.columns[:place] if one.name != across), *pivoted, *table.columns[place + 1 :]
    ]  # fmt: skip
    return table._replace(
        columns=columns, rows=list(rows.values()), key=key, across="", reasons=[reasons.get(name, {}) for name in rows]
    )


def _ordered_heads(table: Table) -> list[Value]:
    """Return the values of `across`, numbers by their size and texts in order of appearance."""
    found = distinct_values(table.rows, table.across)
    numbers = sorted(one for one in found if isinstance(one, int | float))
    return [*numbers] if len(numbers) == len(found) else found


def _stated(row: Mapping[str, Value]) -> Unit:
    return next((unit for unit in get_args(Unit) if unit == row.get("unit")), "number")


def distinct_values(rows: Sequence[Mapping[str, Value]], name: str) -> list[Value]:
    """Return the values of a column, each once, in order of appearance."""
    return list(dict.fromkeys(_single(row.get(name)) for row in rows))
