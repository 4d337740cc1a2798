"""
Large tables as `results.json` holds them: their values a column at a time under `packed`, a third of the bytes.

Texts, which repeat, stand once, and their places in the rows; the parts of estimates are columns of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

MOST_ROWS = 2_000
"""Rows that are written as rows."""
Json = Mapping[str, Any]


def packed(tables: Mapping[str, Json]) -> dict[str, Json]:
    """Return the contents of tables as they are written."""
    return {name: _packed(content) if _is_large(content["rows"]) else content for name, content in tables.items()}


def unpacked(tables: Mapping[str, Json]) -> dict[str, Json]:
    """Return the contents of tables with rows, however they were written."""
    return {name: _unpacked(content) if content.get("packed") else content for name, content in tables.items()}


def _is_large(rows: Sequence[Json]) -> bool:
    """Return whether rows are many, and all have the same columns of single values and estimates."""
    return len(rows) > MOST_ROWS and all(
        row.keys() == rows[0].keys() and not any(isinstance(value, list) for value in row.values()) for row in rows
    )


def _packed(content: Json) -> Json:
    columns = {name: [row[name] for row in content["rows"]] for name in content["rows"][0]}
    return {**content, "rows": [], "packed": {name: _column(values) for name, values in columns.items()}}


def _column(values: Sequence[Any]) -> Any:
    if all(isinstance(value, Mapping) for value in values):
        return {"parts": {name: [value[name] for value in values] for name in values[0]}}
    if all(value is None or isinstance(value, str) for value in values):
        place = {text: number for number, text in enumerate(dict.fromkeys(values))}
        return {"texts": [*place], "places": [place[value] for value in values]}
    return values


def _unpacked(content: Json) -> Json:
    columns = {name: _values(column) for name, column in content["packed"].items()}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return {**{name: value for name, value in content.items() if name != "packed"}, "rows": rows}


def _values(column: Any) -> Sequence[Any]:
    if isinstance(column, list):
        return column
    if "texts" in column:
        return [column["texts"][place] for place in column["places"]]
    return [dict(zip(column["parts"], parts, strict=True)) for parts in zip(*column["parts"].values(), strict=True)]
