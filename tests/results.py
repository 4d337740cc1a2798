"""Results of runs as tests read them: rows of tables, systems with a column for each measure, and facts of the run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from longform.keys import in_groups
from longform.metrics.cited_support import SHARE
from longform.metrics.faithfulness import Merging
from longform.results.cells import KEY, WITHOUT_SCORE, listed_in, systems_in, table_rows

Results = Mapping[str, Any]


def cells_of(results: Results) -> list[dict[str, Any]]:
    """Return the systems that have a measure which the configuration lists."""
    listed = {one["name"] for one in listed_in(results)}
    return [row for row in systems_in(results) if listed & row.keys()]


def checked_of(results: Results) -> list[dict[str, Any]]:
    """Return the systems under judges of support, with estimates of their `faithfulness` and share `supported`."""
    (run,) = table_rows(results, "faithfulness")
    merging = Merging(run["documents_merged"], run["sentences_merged"])
    means = {(*map(row.get, KEY), row["measure"]): row.get("value") for row in table_rows(results, "cells")}
    unknown = {"value": None, "low": None, "high": None}
    return [
        row
        | {
            name: means[(*map(row.get, KEY), measure)] or unknown
            for name, measure in (("faithfulness", merging.name), ("supported", SHARE))
        }
        for row in systems_in(results)
        if WITHOUT_SCORE in row
    ]


def by_measure(results: Results, table: str) -> list[dict[str, Any]]:
    """Return a row for each key but the measure of a table of scores, with a column for the value of each measure."""
    key = [name for name in results["tables"][table]["key"] if name != "measure"]
    found = in_groups((tuple(map(row.get, key)), row) for row in table_rows(results, table))
    return [{**rows[0], **{row["measure"]: value_of(row["score"]) for row in rows}} for rows in found.values()]


def value_of(score: Any) -> Any:
    """Return the number of a cell, which an estimate has with its interval."""
    return score["value"] if isinstance(score, Mapping) else score
