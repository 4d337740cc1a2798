"""Rows as `results.json` and pages hold them: by columns, in which texts stand once; `element.js` reads them, too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from types import NoneType
from typing import Any

from longform.errors import UsageError

MOST_ROWS = 2_000  # of a table that are written as rows
Json = Mapping[str, Any]


def packed(tables: Mapping[str, Json]) -> dict[str, Json]:
    """Return the contents of tables as they are written, large ones with a column for each of theirs in `packed`."""
    return {
        name: {**table, "rows": [], "packed": column(table["rows"])["parts"]} if _is_large(table["rows"]) else table
        for name, table in tables.items()
    }


def unpacked(tables: Mapping[str, Json]) -> dict[str, Json]:
    """
    Return the contents of tables with rows, however they were written.

    Raises:
        UsageError: One has another form, as after a change by hand.
    """
    for name, content in tables.items() if isinstance(tables, Mapping) else [("(all)", tables)]:
        for part in ("columns", "rows"):
            found = content.get(part) if isinstance(content, Mapping) else None
            if not isinstance(found, list) or not all(isinstance(one, Mapping) for one in found):
                what = f"expected {part} as a list of objects, found {type(found).__name__}"
                raise UsageError(f"results.json: table {name}: {what}; aggregate the run again")
    return {name: _with_rows(**content) for name, content in tables.items()}


def _is_large(rows: Sequence[Json]) -> bool:
    """Return whether rows are many, and all have the same columns."""
    return len(rows) > MOST_ROWS and all(row.keys() == rows[0].keys() for row in rows)


def column(values: Sequence[Any]) -> Any:
    """Return values of one kind as they are written: records of the same names, lists, texts, or numbers."""
    kinds = {*map(type, values)}
    if kinds == {dict}:
        return {"parts": {name: column([value[name] for value in values]) for name in values[0]}}
    if kinds <= {str, NoneType}:
        place = {text: number for number, text in enumerate(dict.fromkeys(values))}
        return {"texts": [*place], "places": [place[value] for value in values]}
    if kinds <= {list, tuple, NoneType}:
        items = [item for value in values for item in value or ()]
        return {"sizes": [None if value is None else len(value) for value in values], "items": column(items)}
    return values


def _with_rows(packed: Json | None = None, **content: Any) -> Json:
    return content if packed is None else {**content, "rows": values_of({"parts": packed})}


def values_of(written: Any) -> Sequence[Any]:
    """Return the values that `column` wrote."""
    if isinstance(written, list):
        return written
    if "texts" in written:
        return [written["texts"][place] for place in written["places"]]
    if "sizes" in written:
        items = iter(values_of(written["items"]))
        return [size if size is None else list(islice(items, size)) for size in written["sizes"]]
    parts = {name: values_of(part) for name, part in written["parts"].items()}
    return [dict(zip(parts, row, strict=True)) for row in zip(*parts.values(), strict=True)]
