"""Rows of tables as rows of older results, and back: what several studies need."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from longform.keys import in_groups
from longform.tables.table import AXES

Json = Mapping[str, Any]
Rows = list[dict[str, Any]]


def rows_in(*names: str) -> Callable[[Mapping[str, Json]], Rows]:
    return lambda tables: [row for name in names if name in tables for row in tables[name]["rows"]]


def of_measures(name: str) -> Callable[[Mapping[str, Json]], Rows]:
    """Return a row for each key but the measure, and a column for each measure."""

    def rows(tables: Mapping[str, Json]) -> Rows:
        key = [one for one in tables[name]["key"] if one != "measure"]
        return [
            {one: value for one, value in own[0].items() if one not in ("measure", "score")}
            | {row["measure"]: row["score"] for row in own}
            for own in by_key(tables[name]["rows"], key)
        ]

    return rows


def by_measure(rows: Sequence[Mapping[str, Any]], columns: Iterable[str]) -> Rows:
    """Return a row for each measure of *rows*: what is none of *columns*."""
    known = {*columns}
    return [
        {**{one: value for one, value in row.items() if one in known}, "measure": name, "score": row[name]}
        for row in rows
        for name in row
        if name not in known and name != "axes"
    ]


OF_AXES = tuple(column.name for column in AXES)


def with_axes(row: Mapping[str, Any], *, order: str | None = "given") -> dict[str, Any]:
    """Return a row whose columns of its setting stand together."""
    kept = {name: value for name, value in row.items() if name not in OF_AXES}
    if row.get("retriever") is None:
        return kept
    return {**kept, "axes": {**{name: row.get(name) for name in OF_AXES}, "order": order}}


def without_axes(row: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in row.items() if name not in ("axes", "order")}
    return {**kept, **{name: value for name, value in (row.get("axes") or {}).items() if name in OF_AXES}}


def by_key(rows: Iterable[Mapping[str, Any]], key: Iterable[str]) -> Iterator[Rows]:
    """Yield the rows that agree in the columns *key*."""
    names = list(key)
    yield from in_groups((tuple(row.get(name) for name in names), dict(row)) for row in rows).values()
