"""
Results as versions before 0.7 had them, a key for each study: written beside the tables for one release, read always.

A row of a table is a row of its old form, in which an estimate is a mapping; a few had another shape.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from longform.results.aggregate import models_tables
from longform.results.elsewhere import elsewhere_tables
from longform.results.judges import judges_tables
from longform.studies import calls, cost, curve, facets, failure_modes, key_points, rouge_bootstrap
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
    if "judges" not in there:
        own = judges_tables(results.get("judges") or [], results.get("retest") or [])
        there |= {table.name: table.as_json() for table in own}
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


def _calls(tables: Mapping[str, Json]) -> Rows:
    """Return the rows of what was called with their plan in them."""
    planned = tables.get("calls_planned") or {"rows": [], "reasons": []}
    plans = {}
    for row, reasons in zip(planned["rows"], planned["reasons"], strict=True):
        names = [name.removesuffix("_planned") for name in row if name.endswith("_planned")]
        bounds = {name: _bounds(row[f"{name}_planned"]) for name in names}
        told = {name.removesuffix("_planned"): why for name, why in reasons.items()}
        made = {name: row[f"{name}_made"] for name in names}
        plans[row["ledger"], row["stage"], row["model"]] = ({**bounds, "reasons": told}, made)
    found = []
    for row in tables["calls"]["rows"]:
        plan, since = plans.get((row["ledger"], row["stage"], row["model"]), (None, None))
        kept = {name: value for name, value in row.items() if name not in ("judge", "reranker")}
        found.append({**kept, "known_usd": row["known_usd"] or 0.0, "planned": plan, "since_plan": since})
    return found


def _bounds(planned: Any) -> Any:
    if not isinstance(planned, Mapping):
        return planned
    low, high = (planned["value"] if planned[name] is None else planned[name] for name in ("low", "high"))
    return {"low": low, "expected": planned["value"], "high": high}


_POINT = ("summarizer", "setting", "cost", "quality", "not_distinguishable_from")
_SPENT = ("usd_a_summary", "tokens_in", "tokens_out", "seconds")


def _cost(tables: Mapping[str, Json]) -> dict[str, Rows]:
    frontiers: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in tables["cost"]["rows"]:
        shared = {name: row[name] for name in ("judge", "dataset", "measure", "cluster")}
        shared["currency"] = cost.CURRENCY_OF[row["currency"]]
        own = frontiers.setdefault((row["judge"], row["dataset"]), {**shared, "points": [], "left_out": []})
        if row.get("place") is None:
            why = cost.UNKNOWN_COST if row.get("cost") is None else cost.UNKNOWN_SCORE
            own["left_out"].append({"system": f"{row['summarizer']}, {row['setting']}", "reason": why})
        else:
            on = {"on_frontier": row["place"] == cost.FRONTIER, "beaten_by": row["beaten_by"]}
            own["points"].append({**{name: row[name] for name in _POINT}, **on})
    systems = tables["cost_systems"]
    kept = [{name: row[name] for name in ("dataset", "summarizer", "setting", *_SPENT)} for row in systems["rows"]]
    return {
        "systems": [{**row, "reasons": why} for row, why in zip(kept, systems["reasons"], strict=True)],
        "frontiers": list(frontiers.values()),
        "judges": [
            {name: value for name, value in row.items() if name != "usd_a_summary"}
            for row in tables["cost_judges"]["rows"]
        ],
    }


def _of_cost(found: Mapping[str, Any]) -> list[Table]:
    points: Rows = []
    for one in found["frontiers"]:
        shared = {name: one[name] for name in ("judge", "dataset", "measure", "cluster")}
        shared |= {
            "currency": cost.TITLES[one["currency"]],
            "cost_unit": cost.STATED[one["currency"]],
            "quality_unit": "points",
        }
        for point in one["points"]:
            place = cost.FRONTIER if point["on_frontier"] else cost.BEATEN
            kept = {name: value for name, value in point.items() if name != "on_frontier"}
            points.append({**shared, **kept, "place": place})
        for left in one["left_out"]:
            summarizer, _, setting = left["system"].partition(", ")
            points.append({**shared, "summarizer": summarizer, "setting": setting, "left_out": left["reason"]})
    return cost.tables(points, found.get("systems", []), found["judges"])


_BEFORE: Mapping[str, Callable[[Mapping[str, Json]], Any]] = {
    "facets": _rows("facets", "facets_lengths"),
    "key_points": _key_points,
    "curve": _of_measures("curve"),
    "failure_modes": _rows("failure_modes"),
    "rouge_bootstrap": _rows("rouge_bootstrap"),
    "calls": _calls,
    "cost": _cost,
}
_AFTER: Mapping[str, Callable[[Any], Sequence[Table]]] = {
    "facets": facets.tables,
    "key_points": _of_key_points,
    "curve": _curve,
    "failure_modes": lambda rows: [failure_modes.table(rows)],
    "rouge_bootstrap": lambda rows: [rouge_bootstrap.table(rows)],
    "calls": calls.tables,
    "cost": _of_cost,
    "missing_ledgers": calls.missing_ledgers,
    "elsewhere": elsewhere_tables,
    "several_models": models_tables,
}
_LOWER = frozenset(
    {
        "elsewhere",
        "several_models",
        "facets_lengths",
        "key_points_judges",
        "calls_planned",
        "missing_ledgers",
        "cost_systems",
        "cost_judges",
        "judges",
        "judges_perturbed",
    }
)
"""Tables whose rows stand under the name of another, or that are no studies."""
