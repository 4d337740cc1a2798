"""Columns that rows of several results share, and those that have the name of a measure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from longform.errors import LongformError

Columns = Mapping[str, object]
"""A row of any result, whose columns are read by name."""

AnyRow = TypeVar("AnyRow", bound=Columns)


def number_in(row: Columns, name: str) -> float | None:
    """
    Return the number in the column *name*, None if it is unknown or there is no such column.

    Raises:
        LongformError: The column holds something else.
    """
    value = row.get(name)
    if value is None or isinstance(value, int | float):
        return value
    raise LongformError(f"results: expected a number or null in column {name}, found {value!r}")


def text_in(row: Columns, name: str) -> str | None:
    """Return the text in the column *name*, None if it is unknown or there is no such column."""
    value = row.get(name)
    return None if value is None else str(value)


def within(row: Columns, name: str) -> Columns:
    """Return the columns inside the column *name*, such as reasons and intervals; none if there is no such column."""
    value = row.get(name)
    return value if isinstance(value, Mapping) else {}


def interval_in(row: Columns, name: str) -> Sequence[float | None] | None:
    """Return the interval of the number in the column *name*, None if it has none."""
    found = within(row, "intervals").get(name)
    return found if isinstance(found, list | tuple) else None


def held(rows: Iterable[Columns]) -> set[str]:
    """Return the names of all columns that *rows* have."""
    return {name for row in rows for name in row}
