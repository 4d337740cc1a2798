"""Scores by place and faithfulness as older results had them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from longform.keys import in_groups
from longform.metrics.cited_support import SHARE
from longform.metrics.faithfulness import Merging
from longform.results.cells import CELLS, KEY, WITHOUT_SCORE, systems_in, text_in, within
from longform.studies import faithfulness, position
from longform.studies.faithfulness_places import DEGENERATE, INDEX
from longform.studies.schema_1.rows import OF_AXES, Json, Rows, by_key, rows_in, with_axes, without_axes
from longform.tables.table import Table

_NEW_IN_POSITION = ("setting", "order", "joined", "score", "finding")


def position_before(tables: Mapping[str, Json]) -> Rows:
    found: Rows = []
    content = tables["position"]
    for own in by_key(content["rows"], (name for name in content["key"] if name != "order")):
        scores = {row["order"]: row["score"] for row in own}
        run = {
            order: one if isinstance(one, dict) else {"value": one} for order, one in scores.items() if one is not None
        }
        kept = {name: value for name, value in own[0].items() if name not in _NEW_IN_POSITION}
        found.append(
            {
                **with_axes(kept),
                "system": own[0]["setting"],
                **{order: run.get(order, {}).get("value") for order in position.ORDERS},
                "intervals": {order: [one.get("low"), one.get("high")] for order, one in run.items()},
            }
        )
    return found


def of_position(rows: Sequence[Mapping[str, Any]]) -> list[Table]:
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
                    **{name: value for name, value in without_axes(row).items() if name not in known},
                    "setting": row["system"],
                    "scores": {order: found for order in position.ORDERS if (found := score(row, order)) is not None},
                }
                for row in rows
            ]
        )
    ]


CHECKED = {
    name: f"faithfulness_{name}"
    for name in (
        *("curves", "shapes", "orders", "against_plain", "alignment", "placed_twice", "permutations", "lengths"),
        *("not_applicable", "attribution"),
    )
}
_COUNTS = ("n_summaries", "n_repeats", "n_failed", WITHOUT_SCORE, "unjudged_share")


def faithfulness_before(tables: Mapping[str, Json]) -> dict[str, Any]:
    def rows(name: str) -> Rows:
        """Return the rows of a table, and of the one beside it that only programs read."""
        return rows_in(CHECKED[name], f"{CHECKED[name]}_untested")(tables)

    (run,) = tables["faithfulness"]["rows"]
    merging = Merging(run["documents_merged"], run["sentences_merged"])
    return {
        "mode": run["mode"],
        "merging": merging._asdict(),
        "attribution": run["attribution"],
        "attributed": rows("attribution"),
        "cells": [*_checked(tables, {"faithfulness": merging.name, "supported": SHARE})],
        "places": [*_placed(rows("shapes"), rows("curves"))],
        "orders": [*_ordered(rows("orders"))],
        "against_plain": [*_families(rows("against_plain"))],
        "lengths": [
            row
            for unit, end in (("documents", ""), ("tokens", "_tokens"))
            for name in [f"{CHECKED['lengths']}{end}"]
            for row in _by_lengths(rows_in(name)(tables), rows_in(f"{name}_curves")(tables), unit)
        ],
        "alignment": [_aligned(row) for row in rows("alignment")],
        "placed_twice": [*_twice(rows("placed_twice"))],
        "permutations": [
            _named(row, kept=("calibrated", "n_orders", "lowest", "highest", "narrow", "stopped"))
            for row in rows("permutations")
        ],
        "not_applicable": rows("not_applicable"),
    }


def _aligned(row: Mapping[str, Any]) -> dict[str, Any]:
    found = row["spearman"] if isinstance(row["spearman"], Mapping) else {"value": row["spearman"]}
    return {**row, "spearman": found["value"], "low": found.get("low"), "high": found.get("high")}


def _named(row: Mapping[str, Any], *, kept: Iterable[str] = (), order: str | None = None) -> dict[str, Any]:
    """Return the columns that name a system, and those that are *kept*."""
    own = with_axes({name: row.get(name) for name in (*KEY, *OF_AXES)}, order=order or row.get("order"))
    return {**own, **{name: row[name] for name in kept if name in row}}


def _checked(tables: Mapping[str, Json], measures: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield what judges of support found of each system."""
    means = {tuple(row.get(name) for name in (*KEY, "measure")): row.get("value") for row in tables[CELLS]["rows"]}
    unknown = {"value": None, "low": None, "high": None, "n": 0}
    for row in (row for row in systems_in({"tables": tables}) if WITHOUT_SCORE in row):
        key, axes = tuple(text_in(row, name) for name in KEY), within(row, "axes")
        yield {
            **{name: value for name, value in row.items() if name in (*KEY, *_COUNTS)},
            **{name: axes[name] for name in ("method", "order", "n_documents", "length_tokens")},
            **{name: means[(*key, measure)] or unknown for name, measure in measures.items()},
            "axes": axes,
            "failures": row.get("failures", {}),
            "elsewhere": row.get("elsewhere", False),
        }


def _placed(shapes: Rows, curves: Rows) -> Iterator[dict[str, Any]]:
    points = in_groups((tuple(row.get(name) for name in (*KEY, "measure")), row["value"]) for row in curves)
    for own in by_key(shapes, KEY):
        found: dict[str, Any] = {
            **_named(own[0], kept=("bins",)),
            "degenerate": {name: own[0][name] for name in DEGENERATE},
        }
        for row in own:
            key = tuple(row.get(name) for name in (*KEY, "measure"))
            found[row["measure"]] = {
                "curve": None if row["untestable"] else points.get(key, []),
                "index": {name: row[name] for name in INDEX} if row["spread"] is not None else None,
                **({"reason": row["untestable"]} if row["untestable"] else {}),
            }
        yield found


def _ordered(rows: Rows) -> Iterator[dict[str, Any]]:
    moved = ("sensitivity", "chance", "chance_high", "p", "p_holm", "n_independent")
    for own in by_key(rows, KEY):
        run = {row["order"]: row["faithfulness"] for row in own if row["faithfulness"] is not None}
        yield {**_named(own[0], kept=moved, order="given"), **run}


def _families(rows: Rows) -> Iterator[dict[str, Any]]:
    of_family = ("judge", "dataset", "n_sign_changes")
    for own in by_key(rows, ("judge", "dataset")):
        pairs = [{name: value for name, value in row.items() if name not in of_family} for row in own]
        yield {**{name: own[0][name] for name in of_family}, "rows": pairs}


def _by_lengths(rows: Rows, curves: Rows, unit: str) -> Iterator[dict[str, Any]]:
    length = ("n_documents", "fewest", "most", "length_tokens")
    points = in_groups((tuple(row.get(name) for name in (*KEY, *length)), row["value"]) for row in curves)
    for own in by_key(rows, KEY):
        named = _named({**own[0], "n_documents": None, "length_tokens": None})
        yield {
            **named,
            "unit": unit,
            "lengths": [
                {
                    **{name: row[name] for name in length},
                    "faithfulness": row["faithfulness"],
                    "curve": points.get(tuple(row.get(name) for name in (*KEY, *length)), [])
                    if row["has_curve"]
                    else None,
                }
                for row in own
            ],
        }


def _twice(rows: Rows) -> Iterator[dict[str, Any]]:
    for own in by_key(rows, KEY):
        curves = {by: [row["value"] for row in own if row["by"] == by] for by in (own[0]["judge"], own[0]["second"])}
        first, second = curves.values()
        yield {**_named(own[0], kept=("second", "spearman")), "own": first, "other": second}


def of_faithfulness(found: Mapping[str, Any]) -> list[Table]:
    if "attributed" in found:
        return faithfulness.tables(found)
    parts = ("attributed", "places", "orders", "lengths", "alignment", "permutations", "not_applicable")
    made = faithfulness.tables({**found, **dict.fromkeys(parts, ()), "attribution": None, "against_plain": ()})
    told = "These results were made by an older version; `longform evaluate` on the same run makes them again."
    return [table._replace(told=f"{told}\n\n{table.told}") for table in made]
