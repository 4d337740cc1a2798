"""
Results as versions before 0.7 had them, a key for each study: written beside the tables for one release, read always.

A row of a table is a row of its old form, in which an estimate is a mapping; a few had another shape.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from longform.results.aggregate import models_tables
from longform.results.cells import CELLS, FAILURES, MEASURES, listed_in
from longform.results.elsewhere import elsewhere_tables
from longform.results.judges import judges_tables
from longform.results.order_dependence import order_table
from longform.results.repaired_examples import with_example_rows
from longform.studies import calls, curve, facets, failure_modes, key_points, repair, retest, rouge_bootstrap
from longform.studies.schema_1.cells import cells_before, of_cells
from longform.studies.schema_1.costs import calls_before, cost_before, of_cost
from longform.studies.schema_1.differences import (
    comparisons_before,
    of_comparisons,
    of_pairwise,
    of_retrieval_pairs,
    pairs_before,
)
from longform.studies.schema_1.faithful import (
    CHECKED,
    faithfulness_before,
    of_faithfulness,
    of_position,
    position_before,
)
from longform.studies.schema_1.rankings import (
    AGAINST,
    CORRELATED,
    against_before,
    of_against,
    of_retrieval,
    repair_before,
    retrieval_before,
)
from longform.studies.schema_1.rows import Json, Rows, by_measure, of_measures, rows_in, with_axes, without_axes
from longform.tables.packed import unpacked
from longform.tables.table import Table, table_of


def as_before(tables: Mapping[str, Json], users: Collection[str] = ()) -> dict[str, Any]:
    """
    Return what the *tables* of `results.json`, by name, were in older results.

    *users* are the names of studies that users brought, which may be those of shipped ones.
    """
    found: dict[str, Any] = {}
    for name, content in tables.items():
        if name in _BEFORE and name not in users:
            found[name] = _BEFORE[name](tables)
        elif name not in LOWER:
            own = found.setdefault("own_studies", {})
            own[name] = {key: content[key] for key in ("title", "told", "rows")}
    if CELLS in tables:
        found["per_summary_cells"] = cells_before(tables, "per_summary")
    return found


def with_tables(results: Json) -> dict[str, Any]:
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


def key_points_before(tables: Mapping[str, Json]) -> dict[str, Rows]:
    judges = rows_in("key_points_judges")(tables)
    pairs = [{**row, "swapped": [pair.split(" with ") for pair in row["swapped"]]} for row in judges]
    return {"systems": rows_in("key_points")(tables), "judges": pairs}


def of_key_points(found: Mapping[str, Any]) -> list[Table]:
    judges = [{**row, "swapped": [" with ".join(pair) for pair in row["swapped"]]} for row in found["judges"]]
    return key_points.tables(found["systems"], judges)


def of_curve(rows: Sequence[Mapping[str, Any]]) -> list[Table]:
    return [curve.table(by_measure(rows, [column.name for column in curve.table([]).columns]))]


_BEFORE: Mapping[str, Callable[[Mapping[str, Json]], Any]] = {
    "order_independent": lambda tables: [
        {name: value for name, value in row.items() if name != "aside"} for row in rows_in("order_independent")(tables)
    ],
    "comparisons": comparisons_before,
    "pairwise": pairs_before("pairwise"),
    "retrieval_pairs": pairs_before("retrieval_pairs"),
    CELLS: cells_before,
    MEASURES: lambda tables: listed_in({"tables": tables}),
    "position": position_before,
    "faithfulness": faithfulness_before,
    "retrieval": retrieval_before,
    AGAINST: against_before,
    repair.NAME: repair_before,
    "retest": rows_in("retest"),
    "facets": rows_in("facets", "facets_lengths"),
    "key_points": key_points_before,
    "curve": of_measures("curve"),
    "failure_modes": lambda tables: [
        with_axes({name: value for name, value in row.items() if name != "order"}, order=row.get("order"))
        for row in rows_in("failure_modes")(tables)
    ],
    "rouge_bootstrap": rows_in("rouge_bootstrap"),
    "calls": calls_before,
    "cost": cost_before,
}
_AFTER: Mapping[str, Callable[[Any], Sequence[Table]]] = {
    "comparisons": of_comparisons,
    "pairwise": of_pairwise,
    "retrieval_pairs": of_retrieval_pairs,
    "position": of_position,
    "faithfulness": of_faithfulness,
    "retrieval": of_retrieval,
    AGAINST: of_against,
    repair.NAME: lambda found: repair.tables(with_example_rows(found)) or [],
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
LOWER = frozenset(
    {
        *("comparisons_families", "comparisons_groups", "retrieval_pairs_best"),
        *(f"{name}_{end}" for name in ("pairwise", "retrieval_pairs") for end in ("systems", "families", "plans")),
        *("facets_lengths", "key_points_judges", "elsewhere", "several_models", "order_independent"),
        *("judges", "judges_perturbed", CELLS, MEASURES, FAILURES),
        *(f"{AGAINST}_{level}" for level in CORRELATED),
        *(repair.CHANGES, repair.CITATIONS, repair.EXAMPLES),
        *("calls_planned", "missing_ledgers", "cost_systems", "cost_judges"),
        *(f"{name}{end}" for name in CHECKED.values() for end in ("", "_untested", "_curves")),
        *(f"{CHECKED['lengths']}_tokens{end}" for end in ("", "_curves")),
    }
)
"""Tables whose rows stand under the name of another, or that are no studies."""
