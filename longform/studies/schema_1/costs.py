"""Calls and costs as older results had them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from longform.studies import cost
from longform.studies.schema_1.rows import Json, Rows
from longform.tables.table import Table


def calls_before(tables: Mapping[str, Json]) -> Rows:
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


def cost_before(tables: Mapping[str, Json]) -> dict[str, Rows]:
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


def of_cost(found: Mapping[str, Any]) -> list[Table]:
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
