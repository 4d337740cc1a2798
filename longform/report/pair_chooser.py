"""Every pair of systems, or of rankers, by every measure, as a page's script shows the two that a reader picks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from longform.keys import in_groups
from longform.report.page_data import page_data
from longform.report.parts import NO_DATASET, has_datasets
from longform.report.result_tables import anchor_of
from longform.results.cells import Row, of_family, table_rows
from longform.results.results import Results

_ENDS = {"one", "other", "difference", "p"}


def choosers(results: Results) -> dict[str, str]:
    """
    Return the data of choosers, safe within a script, by the address of the section that each stands in.

    There is one for each table of pairs beside which tables of its systems and families stand.
    """
    found = {}
    tables = results.get("tables") or {}
    for name, content in tables.items():
        beside = {f"{name}_systems", f"{name}_families"} <= {*tables}
        if content["rows"] and beside and {column["name"] for column in content["columns"]} >= _ENDS:
            found[anchor_of(content.get("section") or name)] = _json(results, name)
    return found


def _json(results: Results, name: str) -> str:
    """Return the families of pairs, the joint score first."""
    families = [row for row in table_rows(results, f"{name}_families") if not row["left_out"]]
    several = has_datasets(families)
    pairs, systems = (
        in_groups((of_family(row), row) for row in table_rows(results, f"{name}{end}")) for end in ("", "_systems")
    )
    return page_data(
        families=[
            _family(results, one, pairs[of_family(one)], systems[of_family(one)], several=several)
            for one in sorted(families, key=lambda one: one["measure"] != "joint")
        ]
    )


def _reference(results: Results, one: Row) -> str | None:
    rows = table_rows(results, "comparisons_families")
    found = [row["reference"] for row in rows if (row["judge"], row["dataset"]) == (one["judge"], one["dataset"])]
    return found[-1] if found else None


_OF_SYSTEM = ("system", "score", "summarizer", "setting")
_OF_FAMILY = ("unit", "better", "measure", "judge", "dataset", "n_tests", "smallest_p", "n_clusters", "cluster")


def _family(
    results: Results, one: Row, pairs: Sequence[Row], systems: Sequence[Row], *, several: bool
) -> Mapping[str, Any]:
    writers = any(row.get("summarizer") for row in systems)
    where = [one["dataset"] or NO_DATASET] if several else []
    where += [one["judge"] or "no judge"] if writers else []
    return {
        **{name: one[name] for name in _OF_FAMILY},
        "title": one["title"] + (f" ({', '.join(where)})" if where else ""),
        "clusters": _clusters(one),
        "few": int(one["smallest_p"] > one["level"]),
        "reference": _reference(results, one) if writers else None,
        "systems": [
            {name: row.get(name) for name in _OF_SYSTEM} | {"score": round(row["score"], 3)} for row in systems
        ],
        "pairs": [
            {"difference": told["value"], "half": half_of(told), "p": row["p"], "n": told["n"]}
            for row in pairs
            for told in [row["difference"]]
        ],
    }


def half_of(difference: Row) -> float | None:
    """Return half the width of an interval, in as few digits as it was made of."""
    if difference["low"] is None:
        return None
    half = (difference["high"] - difference["low"]) / 2
    return short if abs((short := round(half, 6)) - half) < 1e-12 else float(half)


def _clusters(one: Row) -> str:
    plural = "queries" if one["cluster"] == "query" else "haystacks"
    shared = (
        f", which share the documents of {one['n_haystacks']} haystacks and so are not independent"
        if one["cluster"] == "query" and 0 < one["n_haystacks"] < one["n_queries"]
        else ""
    )
    n = one["n_sign_changes"]
    made = f"all {n:,} changes of sign (exact)" if one["exact"] else f"{n:,} drawn changes of sign"
    return f"{one['n_clusters']} {plural}{shared}; {made}, smallest possible p {one['smallest_p']:.2g}"
