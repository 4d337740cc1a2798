"""Rows of the tables of comparisons and of pairs, as sentences, figures and plans read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from longform.results.results import Results

Row = Mapping[str, Any]
_BOUNDS = {"difference": "value", "low": "low", "high": "high", "n_clusters": "n"}


def table_rows(results: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """Return the rows of a table; none if there is no such table."""
    return list(((results.get("tables") or {}).get(name) or {"rows": ()})["rows"])


def of_family(row: Row) -> tuple[Any, ...]:
    """Return what tells the family of a row apart."""
    return row["judge"], row.get("dataset"), row["measure"]


def compared_families(results: Results) -> list[dict[str, Any]]:
    """Return what was compared how, each with its comparisons as `rows`, and its `reference_system`."""
    families, rows = [*map(dict, table_rows(results, "comparisons_families"))], dict[tuple[Any, ...], list[Row]]()
    for row in table_rows(results, "comparisons") if families else ():
        bounds = {name: row["difference"][own] for name, own in _BOUNDS.items()}
        rows.setdefault(of_family(row), []).append({**row, **bounds})
    for family in families:
        known = family.get("summarizer") is not None
        family["reference_system"] = {name: family[name] for name in ("summarizer", "setting")} if known else None
        family["rows"] = rows.get(of_family(family), [])
    return families


def pairs_of(results: Results, measure: str, judge: str | None, dataset: str | None) -> list[Row]:
    """Return the systems of the family of a measure, with their groups and the places that its tests leave open."""
    return [
        row
        for row in table_rows(results, "pairwise_systems")
        if (row["judge"], row["dataset"], row["measure"]) == (judge, dataset, measure)
    ]
