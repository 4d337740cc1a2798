"""A table as it is laid out for a reader: parts of their own, and values of one column as heads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from longform.keys import in_groups
from longform.tables.table import Column, Table, Unit, Value, stated_unit

Row = TypeVar("Row", bound=Mapping[str, object])


class LayoutPart(NamedTuple):
    """Rows of a table that stand below one line."""

    values: Mapping[str, Value]  # the columns that the table keeps apart -> their values in these rows
    table: Table  # the rows, with nothing left to be laid out

    @property
    def titled(self) -> Table:
        """Return the rows with what they are of in their title."""
        of = ", ".join(f"{name} {value}" for name, value in self.values.items() if value is not None)
        title = self.table.title or self.table.name
        return self.table._replace(title=f"{title}: {of}" if of else title)


def laid_out(table: Table) -> Iterator[LayoutPart]:
    """Yield the parts of a table in order of appearance, each without the columns that are the same in all its rows."""
    apart = (tuple(_single(row.get(name)) for name in table.apart) for row in table.rows)
    for values, places in in_groups((values, place) for place, values in enumerate(apart)).items():
        part = table._replace(
            rows=[table.rows[place] for place in places],
            reasons=[table.reasons[place] for place in places] if table.reasons else (),
            columns=[column for column in table.columns if column.name not in table.apart],
            key=[name for name in table.key if name not in table.apart],
            apart=(),
        )
        yield LayoutPart(dict(zip(table.apart, values, strict=True)), _pivoted(part) if table.across else part)


def visible(table: Table) -> list[Column]:
    """Return the columns that are shown."""
    return [column for column in table.columns if column.shown]


def below_originals(rows: Iterable[Row], *fields: str) -> list[Row]:
    """
    Return *rows* in their order, but each twin directly below its original; one without an original stands last.

    *fields* tell a summarizer's rows apart, as `setting` does.
    """
    ordered, found = list(rows), list[Row]()
    twins = in_groups(
        ((row["twin_of"], *(row.get(field) for field in fields)), row) for row in ordered if row.get("twin_of")
    )
    for row in ordered:
        if not row.get("twin_of"):
            found += [row, *twins.pop((row.get("summarizer"), *(row.get(field) for field in fields)), [])]
    return found + [row for left in twins.values() for row in left]


def _single(value: Value) -> Value:
    return value if isinstance(value, str | int | float) else str(value) if value is not None else None


def _pivoted(table: Table) -> Table:
    """Return a row for each key, and columns for each value of `across`: one, or those that stand under it."""
    across, key = table.across, [name for name in table.key if name != table.across]
    head_column = table.column(across)
    heads = [str(head) for head in _ordered_heads(table)]
    behind = table.columns[table.columns.index(head_column) + 1 :]
    under = [table.column(name) for name in table.under] or [next(column for column in behind if column.shown)]
    left_out = {across, *(value.name for value in under)}
    rows: dict[tuple[object, ...], dict[str, Value]] = {}
    reasons: dict[tuple[object, ...], dict[str, str]] = {}
    units: dict[str, Unit] = {}
    for place, row in enumerate(table.rows):
        head, key_of_row = str(row.get(across)), tuple(row.get(one) for one in key)
        own = rows.setdefault(key_of_row, {one: given for one, given in row.items() if one not in left_out})
        for value in under:
            name = _below(table, head, value)
            own[name] = row.get(value.name)
            if reason := table.reason(place, value.name):
                reasons.setdefault(key_of_row, {})[name] = reason
            units[name] = stated_unit(row, value)
    before = "" if head_column.unit == "text" else f"{head_column.head} "
    pivoted = [
        value._replace(
            name=name,
            title=value.head if table.under else f"{before}{head}",
            unit=units.get(name, value.unit),
            group=f"{before}{head}" if table.under else "",
        )
        for head in heads
        for value in under
        for name in [_below(table, head, value)]
    ]
    place = table.columns.index(under[0])
    columns = [
        *(one for one in table.columns[:place] if one.name not in left_out),
        *pivoted,
        *(one for one in table.columns[place:] if one.name not in left_out),
    ]
    return table._replace(
        columns=columns,
        rows=list(rows.values()),
        key=key,
        across="",
        under=(),
        reasons=[reasons.get(name, {}) for name in rows],
    )


def _below(table: Table, head: str, value: Column) -> str:
    return f"{head} {value.name}" if table.under else head


def headed(column: Column, rows: Sequence[Mapping[str, Value]]) -> str | None:
    """Return the value that heads a column of *rows*; None: no value, or several."""
    values = distinct_values(rows, column.headed) if column.headed else []
    return str(values[0]) if len(values) == 1 and values[0] is not None else None


def _ordered_heads(table: Table) -> list[Value]:
    """Return the values of `across`, numbers by their size and texts in order of appearance."""
    found = distinct_values(table.rows, table.across)
    numbers = sorted(one for one in found if isinstance(one, int | float))
    return [*numbers] if len(numbers) == len(found) else found


def distinct_values(rows: Sequence[Mapping[str, Value]], name: str) -> list[Value]:
    """Return the values of a column, each once, in order of appearance."""
    return list(dict.fromkeys(_single(row.get(name)) for row in rows))
