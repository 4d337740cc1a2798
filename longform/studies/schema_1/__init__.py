"""
Results as versions before 0.7 wrote them, a key for each study: read as the tables that results have now.

A row of a table was a row of its older form, in which an estimate is a mapping; a few had another shape.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from longform.measures import SHIPPED
from longform.results.aggregate import models_tables
from longform.results.cells import CELLS
from longform.results.elsewhere import elsewhere_tables
from longform.results.judges import judges_tables
from longform.results.order_dependence import order_table
from longform.studies import (
    calls,
    cost,
    curve,
    facets,
    failure_modes,
    faithfulness,
    key_points,
    position,
    repair,
    retest,
    retrieval,
    retrieval_against_generation,
    rouge_bootstrap,
)
from longform.studies.schema_1.cells import of_cells, without_axes
from longform.studies.schema_1.differences import of_comparisons, of_pairwise, of_retrieval_pairs
from longform.tables.packed import unpacked
from longform.tables.table import Table, table_of

Row = Mapping[str, Any]
Rows = list[dict[str, Any]]


def with_tables(results: Row) -> dict[str, Any]:
    """Return results of an older version with the tables that they lack."""
    there = unpacked(results.get("tables") or {})
    for name, made in _AFTER.items():
        if results.get(name) and name not in there:
            there |= {table.name: table.as_json() for table in made(results[name])}
    if results.get("order_independent") and "order_independent" not in there:
        by_place = (results.get("faithfulness") or {}).get("mode") == "document"
        there["order_independent"] = order_table(results["order_independent"], by_place=by_place).as_json()
    if CELLS not in there and (CELLS in results or results.get("faithfulness")):
        there |= {table.name: table.as_json() for table in of_cells(results)}
    for name, study in (results.get("own_studies") or {}).items():
        rows = Table(name, [], []).having(study["rows"]).rows
        there.setdefault(name, table_of(name, rows, title=study["title"], told=study["told"]).as_json())
    if "judges" not in there:
        cards = judges_tables(results.get("judges") or [], results.get("retest") or [])
        there |= {table.name: table.as_json() for table in cards}
    return {**results, "tables": there} if there else dict(results)


def of_key_points(found: Row) -> list[Table]:
    judges = [{**row, "swapped": [" with ".join(pair) for pair in row["swapped"]]} for row in found["judges"]]
    return key_points.tables(found["systems"], judges)


def of_curve(rows: Sequence[Row]) -> list[Table]:
    known = {"axes", *(column.name for column in curve.table([]).columns)}
    return [
        curve.table(
            [
                {**{one: value for one, value in row.items() if one in known}, "measure": name, "score": row[name]}
                for row in rows
                for name in row
                if name not in known
            ]
        )
    ]


def of_position(rows: Sequence[Row]) -> list[Table]:
    def score(row: Row, order: str) -> Any:
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


def of_faithfulness(found: Row) -> list[Table]:
    if "attributed" in found:
        return faithfulness.tables(found)
    parts = ("attributed", "places", "orders", "lengths", "alignment", "permutations", "not_applicable")
    made = faithfulness.tables({**found, **dict.fromkeys(parts, ()), "attribution": None, "against_plain": ()})
    told = "These results were made by an older version; `longform evaluate` on the same run makes them again."
    return [table._replace(told=f"{told}\n\n{table.told}") for table in made]


_RANKERS = ("dataset", "system", "retriever", "reranker", "budget_tokens", "cut_share", "in_sample")


def of_retrieval(rows: Sequence[Row]) -> list[Table]:
    return [retrieval.table([one for row in rows for one in _by_ranking_measure(row)])]


def _by_ranking_measure(row: Row) -> Iterator[dict[str, Any]]:
    intervals = row.get("intervals") or {}
    for measure in [name for name in row if name not in (*_RANKERS, "intervals", "reasons")]:
        low, high = intervals.get(measure) or (None, None)
        score = {"value": row[measure], "low": low, "high": high, "n": 0}  # how many queries was not said
        yield {**{name: row.get(name) for name in _RANKERS}, "measure": measure, "score": score}


_UNIT_OF = {measure.name: measure.unit for measure in SHIPPED}


def of_against(found: Row) -> list[Table]:
    systems = [
        {
            **{name: row[name] for name in ("dataset", "summarizer", "setting", "left_out")},
            **row["retrieval"],
            "k": found["k"],
            "unit": _UNIT_OF.get(cell["measure"], "points"),
            **cell,
        }
        for row in found["systems"]
        for cell in row["generation"]
    ]
    return retrieval_against_generation.tables(systems, found["correlations"], k=found["k"])


def of_cost(found: Row) -> list[Table]:
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


def of_repair(found: Row) -> list[Table]:
    """Return the tables of repair, whose examples had documents as `number` and `right`, and scores in `f1`."""
    same = ("kind", "summarizer", "setting", "summary_id", "repaired_id", "bullet", "insight")
    examples = [
        {
            **{name: one[name] for name in same},
            **dict(zip(("f1_before", "f1_after"), one["f1"], strict=True)),
            **{side: [str(cited["number"]) for cited in one[side]] for side in ("before", "after")},
            "gold": list(map(str, one["gold"])),
            "evidence_document": one["evidence"] and one["evidence"]["number"],
            "evidence": one["evidence"] and one["evidence"]["text"],
        }
        for one in found["examples"]
    ]
    return repair.tables({**found, "examples": examples}) or []


_AFTER: Mapping[str, Callable[[Any], Sequence[Table]]] = {
    "comparisons": of_comparisons,
    "pairwise": of_pairwise,
    "retrieval_pairs": of_retrieval_pairs,
    "position": of_position,
    "faithfulness": of_faithfulness,
    "retrieval": of_retrieval,
    "retrieval_against_generation": of_against,
    "repair": of_repair,
    "retest": lambda rows: [retest.table(rows)],
    "facets": facets.tables,
    "key_points": of_key_points,
    "curve": of_curve,
    "failure_modes": lambda rows: [failure_modes.table([without_axes(row) for row in rows])],
    "rouge_bootstrap": lambda rows: [rouge_bootstrap.table(rows)],
    "calls": calls.tables,
    "cost": of_cost,
    "missing_ledgers": calls.missing_ledgers,
    "elsewhere": elsewhere_tables,
    "several_models": models_tables,
}
"""Key of older results -> what makes the tables of its content."""
