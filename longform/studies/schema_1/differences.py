"""Comparisons with one system and pairs of systems or rankers, of families as older results had them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from longform.studies import comparisons, pairwise, retrieval_pairs
from longform.tables.table import Table

Json = Mapping[str, Any]
Rows = list[dict[str, Any]]
_OLD = "Its systems were compared by an older rule; longform aggregate RUN compares them again."
_KEY = ("judge", "dataset", "measure")
_BOUNDS = ("difference", "low", "high", "n_clusters")
_REFERENCE = ("summarizer", "setting")
_OF_FAMILY = (
    *_KEY, "chosen", "n_systems", "n_ordered", "without_score", "cluster", "n_clusters", "n_sign_changes", "reference",
    "reference_score", "reference_same", "tied", "n_tests",
)  # fmt: skip
_WANTED = {"interval": "for_interval", "difference": "for_difference", "family": "for_difference_in_family"}


def _flat(plan: Json | None) -> dict[str, Any]:
    """Return a plan with a column for each wanted size."""
    wanted = [
        (f"{column}_{one['size']:g}", one[name])
        for one in (plan or {}).get("wanted", ())
        for column, name in _WANTED.items()
        if name in one
    ]
    return {**{name: value for name, value in (plan or {}).items() if name != "wanted"}, **dict(wanted)}


def of_comparisons(families: Sequence[Json]) -> list[Table]:
    rows: Rows = []
    groups: Rows = []
    found: Rows = []
    for one in families:
        key = {name: one.get(name) for name in _KEY}
        if "rows" not in one:
            found.append({**key, "chosen": "best", "left_out": _OLD})
            continue
        plan = comparisons.as_planned(_flat(one.get("plan")))
        marks = {"in_sample": ["summarizer"] if one.get("reference_in_sample") else []}
        kept = {name: one[name] for name in _OF_FAMILY if name in one}
        found.append({**kept, **key, **(one.get("reference_system") or {}), **marks, **plan})
        rows += [_row_of(row, {**key, "reference": one["reference"]}) for row in one["rows"]]
        same = {row["system"]: row["same"] for row in one["rows"]} | {one["reference"]: one["reference_same"]}
        for number, group in enumerate(one.get("groups") or (), start=1):
            also = [name for system in group for name in same.get(system, ())]
            aside = comparisons.aside(sum(row["score"] is not None for row in one["rows"]) + 1, one["n_clusters"])
            groups.append({**key, "group": number, "systems": group, "same": also, "aside": aside})
    return comparisons.tables(rows, found, groups)


def _row_of(row: Json, key: Json) -> dict[str, Any]:
    summarizer, _, setting = row["system"].partition(", ")
    named = {"summarizer": row.get("summarizer", summarizer), "setting": row.get("setting", setting)}
    kept = {name: row[name] for name in ("system", "same", "score", "p", "finding")} | named
    value, low, high, n = (row[name] for name in _BOUNDS)
    marks = {"in_sample": ["summarizer"] if row.get("in_sample") else [], "p_alone": row.get("p_alone")}
    return {**key, **kept, **marks, "difference": {"value": value, "low": low, "high": high, "n": n}}


# ---------------------------------------------------------------- pairs


def of_pairwise(families: Sequence[Json]) -> list[Table]:
    return pairwise.tables(pairwise.NAME, comparisons.NAME, _parts(families))


def of_retrieval_pairs(families: Sequence[Json]) -> list[Table]:
    return retrieval_pairs.tables(pairwise.tables(retrieval_pairs.NAME, retrieval_pairs.BEST, _parts(families)))


def _parts(families: Sequence[Json]) -> pairwise.Parts:
    return (
        [row for one in families for row in _pairs_of(one)],
        [row for one in families for row in _systems_of(one)],
        [_family_of(one) for one in families],
        [row for one in families for row in _plans_of(one)],
    )


def _best_of(one: Json) -> Json:
    """Return the best of a family; empty: nothing could be shown, or an older version chose it by other tests."""
    return {} if any("p_best" in system for system in one["systems"]) else one.get("best") or {}


def _pairs_of(one: Json) -> Iterator[dict[str, Any]]:
    if (pairs := one["pairs"]) is None:
        return
    n = pairs["n_clusters"] or [one["n_clusters"]] * len(pairs["p"])
    names = combinations([system["system"] for system in one["systems"]], 2)
    alone = pairs.get("p_alone") or [None] * len(n)
    columns = zip(names, pairs["difference"], pairs["half"], pairs["p"], alone, n, strict=True)
    for (first, second), value, half, p, p_alone, clusters in columns:
        low, high = (None, None) if value is None or half is None else (value - half, value + half)
        yield {
            **{name: one[name] for name in _KEY},
            "one": first,
            "other": second,
            "difference": {"value": value, "low": low, "high": high, "n": clusters},
            "p": p,
            "p_alone": p_alone,
        }


def _systems_of(one: Json) -> Iterator[dict[str, Any]]:
    best = _best_of(one)
    for system in one["systems"]:
        with_best = system.get("with_best") if best else None
        standing = None if with_best is None else pairwise.PERHAPS if with_best else pairwise.BEATEN
        named = best.get("named") and best["leader"] == system["system"]
        kept = {name: system[name] for name in ("system", *_REFERENCE, "letters") if name in system}
        yield {
            **{name: one[name] for name in _KEY},
            **kept,
            "same": system.get("same", []),
            "score": system["score"],
            "standing": pairwise.BEST if named else standing,
            "ordered": bool(one.get("best")) and system.get("with_best", True) is None,
        }


def _family_of(one: Json) -> dict[str, Any]:
    best = _best_of(one)
    kept = {name: value for name, value in one.items() if name not in ("pairs", "plan", "best", "systems")}
    return {"left_out": None, **kept, "leader": best.get("leader"), "leader_p": best.get("p")}


def _plans_of(one: Json) -> Iterator[dict[str, Any]]:
    if one.get("plan"):
        aside = None if one["unit"] == "points" else pairwise.OTHER_UNIT
        shared = {**{name: one[name] for name in (*_KEY, "unit", "cluster")}, "aside": aside}
        yield {**shared, **_flat(one["plan"])}
