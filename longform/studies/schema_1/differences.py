"""Comparisons with one system and pairs of systems or rankers as older results had them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from longform.results.pairs import WANTED
from longform.studies import comparisons, pairwise, retrieval_pairs
from longform.studies.schema_1.rows import Json, Rows, by_key, rows_in
from longform.tables.table import Table

_OLD = "Its systems were compared by an older rule; longform aggregate RUN compares them again."
_KEY = ("judge", "dataset", "measure")
_PLANNED = ("n", "spread", "power", "level", "critical", "detectable", "detectable_in_family")
_BOUNDS = ("difference", "low", "high", "n_clusters")
_REFERENCE = ("summarizer", "setting")


def comparisons_before(tables: Mapping[str, Json]) -> Rows:
    rows, groups = (_by_family(rows_in(name)(tables)) for name in (comparisons.NAME, comparisons.GROUPS))
    return [
        {
            **{name: value for name, value in row.items() if name in _OF_FAMILY},
            "reference_system": _system(row),
            "reference_in_sample": bool(row.get("in_sample")),
            "groups": [group["systems"] for group in groups.get(_family(row), ())] or None,
            "plan": _plan({name.removeprefix("plan_"): value for name, value in row.items() if "plan_" in name}),
            "rows": [_compared(one) for one in rows.get(_family(row), ())],
        }
        for row in rows_in(comparisons.FAMILIES)(tables)
    ]


_OF_FAMILY = (
    *_KEY, "chosen", "n_systems", "n_ordered", "without_score", "cluster", "n_clusters", "n_sign_changes", "reference",
    "reference_score", "reference_same", "tied", "n_tests",
)  # fmt: skip


def _family(row: Json) -> tuple[Any, ...]:
    return tuple(row.get(name) for name in _KEY)


def _by_family(rows: Rows) -> dict[tuple[Any, ...], Rows]:
    return {_family(own[0]): own for own in by_key(rows, _KEY)}


def _system(row: Json) -> Json | None:
    return {name: row[name] for name in _REFERENCE} if row.get("summarizer") is not None else None


_WANTED = {"interval": "for_interval", "difference": "for_difference", "family": "for_difference_in_family"}


def _plan(row: Json) -> Json | None:
    """Return a plan whose wanted sizes stand together."""
    if row.get("n") is None:
        return None
    wanted = [
        {"size": size, **{name: row[f"{column}_{size:g}"] for column, name in _WANTED.items()}}
        for size in WANTED
        if f"interval_{size:g}" in row
    ]
    return {**{name: row[name] for name in _PLANNED}, "wanted": wanted}


def _flat(plan: Json | None) -> dict[str, Any]:
    """Return a plan with a column for each wanted size."""
    wanted = [
        (f"{column}_{one['size']:g}", one[name])
        for one in (plan or {}).get("wanted", ())
        for column, name in _WANTED.items()
        if name in one
    ]
    return {**{name: value for name, value in (plan or {}).items() if name != "wanted"}, **dict(wanted)}


def _compared(row: Json) -> dict[str, Any]:
    difference = row["difference"]
    kept = {name: row[name] for name in ("system", *_REFERENCE, "same", "score", "p", "p_alone", "finding")}
    bounds = dict(zip(_BOUNDS, (difference[name] for name in ("value", "low", "high", "n")), strict=True))
    return {**kept, **bounds, "in_sample": bool(row.get("in_sample"))}


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


def pairs_before(name: str) -> Callable[[Mapping[str, Json]], Rows]:
    """Return what makes the older form of the pairs under a *name*."""

    def before(tables: Mapping[str, Json]) -> Rows:
        parts = [_by_family(rows_in(f"{name}{end}")(tables)) for end in ("", "_systems", "_plans")]
        families = rows_in(f"{name}_families")(tables)
        return [_pairs_before(row, *(of.get(_family(row), []) for of in parts)) for row in families]

    return before


def _pairs_before(row: Json, pairs: Rows, systems: Rows, plans: Rows) -> dict[str, Any]:
    best = None
    if row["leader"] is not None:
        named = any(one["standing"] == pairwise.BEST for one in systems)
        best = {"leader": row["leader"], "named": named, "p": row["leader_p"]}
    return {
        **{name: value for name, value in row.items() if name not in ("leader", "leader_p")},
        "pairs": None if row["left_out"] else _pair_columns(pairs, row["n_clusters"]),
        "plan": _plan(plans[0]) if plans else None,
        "best": best,
        "systems": [_system_before(one) for one in systems],
    }


def _pair_columns(pairs: Rows, n_clusters: int) -> dict[str, Any]:
    found = [row["difference"] for row in pairs]
    n = [one["n"] for one in found]
    return {
        "difference": [one["value"] for one in found],
        "half": [None if one["low"] is None else (one["high"] - one["low"]) / 2 for one in found],
        **{name: [row[name] for row in pairs] for name in ("p", "p_alone")},
        "n_clusters": None if all(one == n_clusters for one in n) else n,
    }


def _system_before(row: Json) -> dict[str, Any]:
    if "summarizer" not in row:
        return {"system": row["system"], "score": row["score"]}
    with_best = None if row["standing"] is None else row["standing"] != pairwise.BEATEN
    kept = {name: row[name] for name in ("system", *_REFERENCE, "same", "score", "letters")}
    return {**kept, "with_best": with_best}


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
