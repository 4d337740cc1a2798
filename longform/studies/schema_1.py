"""
Results as versions before 0.7 had them, a key for each study: written beside the tables for one release, read always.

A row of a table is a row of its old form, in which an estimate is a mapping; a few had another shape.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from longform.studies import curve, facets, failure_modes, key_points, position, rouge_bootstrap
from longform.tables.names import AXES
from longform.tables.table import Table

Json = Mapping[str, Any]
Rows = list[dict[str, Any]]


def as_before(tables: Mapping[str, Json]) -> dict[str, Any]:
    """Return what the tables of `results.json` were in older results."""
    found: dict[str, Any] = {}
    for name, content in tables.items():
        if name in _BEFORE:
            found[name] = _BEFORE[name](tables)
        elif name not in _LOWER:
            own = found.setdefault("own_studies", {})
            own[name] = {key: content[key] for key in ("title", "told", "rows")}
    return found


def with_tables(results: Json) -> dict[str, Any]:
    """Return results of an older version with the tables that they lack."""
    there = dict(results.get("tables") or {})
    for name, made in _AFTER.items():
        if results.get(name) and name not in there:
            there |= {table.name: table.as_json() for table in made(results[name])}
    return {**results, "tables": there} if there else dict(results)


def _rows(*names: str) -> Callable[[Mapping[str, Json]], Rows]:
    return lambda tables: [row for name in names if name in tables for row in tables[name]["rows"]]


def _of_measures(name: str) -> Callable[[Mapping[str, Json]], Rows]:
    """Return a row for each key but the measure, and a column for each measure."""

    def rows(tables: Mapping[str, Json]) -> Rows:
        found: dict[tuple[Any, ...], dict[str, Any]] = {}
        for row in tables[name]["rows"]:
            key = tuple(row.get(one) for one in tables[name]["key"] if one != "measure")
            kept = {one: value for one, value in row.items() if one not in ("measure", "score")}
            found.setdefault(key, kept)[row["measure"]] = row["score"]
        return list(found.values())

    return rows


def _by_measure(rows: Sequence[Mapping[str, Any]], columns: Iterable[str]) -> Rows:
    """Return a row for each measure of *rows*: what is none of *columns*."""
    known = {*columns}
    return [
        {**{one: value for one, value in row.items() if one in known}, "measure": name, "score": row[name]}
        for row in rows
        for name in row
        if name not in known and name != "axes"
    ]


def _key_points(tables: Mapping[str, Json]) -> dict[str, Rows]:
    judges = _rows("key_points_judges")(tables)
    pairs = [{**row, "swapped": [pair.split(" with ") for pair in row["swapped"]]} for row in judges]
    return {"systems": _rows("key_points")(tables), "judges": pairs}


def _of_key_points(found: Mapping[str, Any]) -> list[Table]:
    judges = [{**row, "swapped": [" with ".join(pair) for pair in row["swapped"]]} for row in found["judges"]]
    return key_points.tables(found["systems"], judges)


def _curve(rows: Sequence[Mapping[str, Any]]) -> list[Table]:
    return [curve.table(_by_measure(rows, [column.name for column in curve.table([]).columns]))]


_OF_AXES = tuple(column.name for column in AXES)


def _with_axes(row: Mapping[str, Any], *, order: str | None = "given") -> dict[str, Any]:
    """Return a row whose columns of its setting stand together."""
    kept = {name: value for name, value in row.items() if name not in _OF_AXES}
    if row.get("retriever") is None:
        return kept
    return {**kept, "axes": {**{name: row.get(name) for name in _OF_AXES}, "order": order}}


def _without_axes(row: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in row.items() if name not in ("axes", "order")}
    return {**kept, **{name: value for name, value in (row.get("axes") or {}).items() if name in _OF_AXES}}


def _by_key(rows: Iterable[Mapping[str, Any]], key: Iterable[str]) -> Iterator[list[Mapping[str, Any]]]:
    """Yield the rows that agree in the columns *key*."""
    names, found = list(key), dict[tuple[Any, ...], list[Mapping[str, Any]]]()
    for row in rows:
        found.setdefault(tuple(row.get(name) for name in names), []).append(row)
    yield from found.values()


_NEW_IN_POSITION = ("setting", "order", "joined", "score", "finding")


def _position(tables: Mapping[str, Json]) -> Rows:
    found: Rows = []
    content = tables["position"]
    for own in _by_key(content["rows"], (name for name in content["key"] if name != "order")):
        scores = {row["order"]: row["score"] for row in own}
        run = {
            order: one if isinstance(one, dict) else {"value": one} for order, one in scores.items() if one is not None
        }
        kept = {name: value for name, value in own[0].items() if name not in _NEW_IN_POSITION}
        found.append(
            {
                **_with_axes(kept),
                "system": own[0]["setting"],
                **{order: run.get(order, {}).get("value") for order in position.ORDERS},
                "intervals": {order: [one.get("low"), one.get("high")] for order, one in run.items()},
            }
        )
    return found


def _of_position(rows: Sequence[Mapping[str, Any]]) -> list[Table]:
    def score(row: Mapping[str, Any], order: str) -> Any:
        low, high = (row.get("intervals") or {}).get(order, (None, None))
        value = row.get(order)
        return value if low is None else {"value": value, "low": low, "high": high, "n": 0}  # not known

    known = {"system", "intervals", "reasons", *position.ORDERS}
    return [
        position.table(
            [
                {
                    "reference": "random",
                    "compared": ["top", "bottom"],
                    **{name: value for name, value in _without_axes(row).items() if name not in known},
                    "setting": row["system"],
                    "scores": {order: found for order in position.ORDERS if (found := score(row, order)) is not None},
                }
                for row in rows
            ]
        )
    ]


_BEFORE: Mapping[str, Callable[[Mapping[str, Json]], Any]] = {
    "position": _position,
    "facets": _rows("facets", "facets_lengths"),
    "key_points": _key_points,
    "curve": _of_measures("curve"),
    "failure_modes": _rows("failure_modes"),
    "rouge_bootstrap": _rows("rouge_bootstrap"),
}
_AFTER: Mapping[str, Callable[[Any], Sequence[Table]]] = {
    "position": _of_position,
    "facets": facets.tables,
    "key_points": _of_key_points,
    "curve": _curve,
    "failure_modes": lambda rows: [failure_modes.table([_without_axes(row) for row in rows])],
    "rouge_bootstrap": lambda rows: [rouge_bootstrap.table(rows)],
}
_LOWER = frozenset({"facets_lengths", "key_points_judges"})
"""Tables whose rows stand under the name of another."""
