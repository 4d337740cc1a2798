"""Rows and columns of the tables of results, as pages, exports and plans read them: systems, pairs, measures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeVar, cast

from longform.axes import SystemAxes
from longform.errors import LongformError
from longform.keys import in_groups
from longform.metrics.measure import Description
from longform.results.aggregate import NO_SPREAD
from longform.tables.table import Column

CELLS, MEASURES, FAILURES = "cells", "measures", "failures"
"""Tables of `longform.studies.cells`."""
BESIDE_SCORES, WITH_EVERY_SYSTEM, IN_WORDS = "beside scores", "with every system", "in words"
"""Places of reports for what is known of systems besides scores."""
WITHOUT_SCORE = "n_without_score"
"""A fact that systems have under judges of support alone."""
POOLED = "a judge of support has the sentences of all summaries together"
"""The reason why it has no mean of the summaries' own means."""
KEY = ("judge", "dataset", "summarizer", "setting")
"""The columns that tell systems apart."""


CellRow = dict[str, Any]
"""
A system under a judge, in the columns of the tables of cells and failures; a column for each measure has its value.

Beside them stand `axes`, the fields of `longform.axes.Axes`, null if they are not known; `intervals`, `reasons` and
`spread` by measure, `spread` only if something was repeated; and `failures` by reason, only if there were any. The
counts are those of insights under a judge of coverage, of targets under one of another task.
"""
Averaged = Literal["value", "per_summary"]
"""Columns of means."""
Row = Mapping[str, Any]
_BOUNDS = {"difference": "value", "low": "low", "high": "high", "n_clusters": "n"}


def table_rows(results: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """Return the rows of a table; none if there is no such table."""
    return list(((results.get("tables") or {}).get(name) or {"rows": ()})["rows"])


def systems_in(results: Mapping[str, Any], averaged: Averaged = "value") -> list[CellRow]:
    """
    Return a row for each system, judge and data set of the table of cells, its measures as columns.

    *results* without tables have no systems; *averaged* names the column of means.
    """
    tables = results.get("tables") or {}
    if CELLS not in tables:
        return []
    facts, better = ({row["name"] for row in described_in(results) if row.get(name)} for name in ("fact", "better"))
    content, found = tables[CELLS], dict[tuple[Any, ...], dict[str, Any]]()
    for row, reasons in zip(content["rows"], content["reasons"], strict=True):
        own = found.setdefault(tuple(map(row.get, KEY)), {})
        if not own:
            own.update(_named(row))
        name = row["measure"]
        if name in facts:
            own[name] = row.get("value")
        else:
            estimate = row.get(averaged) or {}
            own[name] = estimate.get("value")
            own["intervals"][name] = [estimate.get("low"), estimate.get("high")]
            own["spread"][name] = {by: row.get(f"spread_{by}") for by in NO_SPREAD}
        if reason := reasons.get(averaged) or reasons.get("value"):
            own["reasons"][name] = reason
    for row in table_rows(results, FAILURES):
        found[tuple(map(row.get, KEY))].setdefault("failures", {})[row["reason"]] = row["n_summaries"]
    for own in found.values():
        own["intervals"] = dict(sorted(own["intervals"].items(), key=lambda one: one[0] not in better))
        if all(one == NO_SPREAD for one in own["spread"].values()):
            del own["spread"]
    return list(found.values())


def _named(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns that name a system, its axes together."""
    axes = None if row.get("retriever") is None else {name: row.get(name) for name in SystemAxes._fields}
    names = {name: row.get(name) for name in (*KEY, "twin_of", "cited_by")}
    more = {"elsewhere": True} if row.get("elsewhere") else {}
    kept: dict[str, Any] = {"in_sample": row.get("in_sample") or [], "intervals": {}, "reasons": {}, "spread": {}}
    return {**names, "axes": axes, **more, **kept}


def described_in(results: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Return what results say of each measure and of each fact of systems."""
    return table_rows(results, MEASURES)


def listed_in(results: Mapping[str, Any]) -> list[Description]:
    """Return the measures that a configuration lists, without those that judges of support have in any case."""
    pooled = {row["name"] for row in described_in(results) if row.get("pooled")}
    return [one for one in measures_in(results) if one["name"] not in pooled]


def measures_in(results: Mapping[str, Any]) -> list[Description]:
    """Return the measures of cells, without what is no score."""
    names = Description.__annotations__
    rows = [{name: row.get(name) for name in names} for row in described_in(results) if not row.get("fact")]
    return cast("list[Description]", rows)


def of_family(row: Row) -> tuple[Any, ...]:
    """Return what tells the family of a row apart."""
    return row["judge"], row.get("dataset"), row["measure"]


def compared_families(results: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what was compared how, each with its comparisons as `rows`, and its `reference_system`."""
    families = [*map(dict, table_rows(results, "comparisons_families"))]
    rows = in_groups(
        (of_family(row), {**row, **{name: row["difference"][own] for name, own in _BOUNDS.items()}})
        for row in (table_rows(results, "comparisons") if families else ())
    )
    for family in families:
        known = family.get("summarizer") is not None
        family["reference_system"] = {name: family[name] for name in ("summarizer", "setting")} if known else None
        family["rows"] = rows.get(of_family(family), [])
    return families


def pairs_of(results: Mapping[str, Any], measure: str, judge: str | None, dataset: str | None) -> list[Row]:
    """Return the systems of the family of a measure, with their groups and the places that its tests leave open."""
    own, rows = (judge, dataset, measure), table_rows(results, "pairwise_systems")
    return [row for row in rows if (row["judge"], row["dataset"], row["measure"]) == own]


Columns = Mapping[str, object]
"""A row of any result, whose columns are read by name."""

AnyRow = TypeVar("AnyRow", bound=Columns)


def number_in(row: Columns, name: str) -> float | None:
    """
    Return the number in the column *name*, None if it is unknown or there is no such column.

    Raises:
        LongformError: The column holds something else.
    """
    value = row.get(name)
    if value is None or isinstance(value, int | float):
        return value
    raise LongformError(f"results: expected a number or null in column {name}, found {value!r}")


def text_in(row: Columns, name: str) -> str | None:
    """Return the text in the column *name*, None if it is unknown or there is no such column."""
    value = row.get(name)
    return None if value is None else str(value)


def within(row: Columns, name: str) -> Columns:
    """Return the columns inside the column *name*, such as reasons and intervals; none if there is no such column."""
    value = row.get(name)
    return value if isinstance(value, Mapping) else {}


def interval_in(row: Columns, name: str) -> Sequence[float | None] | None:
    """Return the interval of the number in the column *name*, None if it has none."""
    found = within(row, "intervals").get(name)
    return found if isinstance(found, list | tuple) else None


def held(rows: Iterable[Columns]) -> set[str]:
    """Return the names of all columns that *rows* have."""
    return {name for row in rows for name in row}


# ---------------------------------------------------------------- the measures of tables

CITATION = {"precision": "precision", "recall": "recall", "citation": "F1 (citation)"}
"""Measures of the section of citations -> their heads there."""
_IN_PARTS = ("precision", "recall")
"""Measures that stand in no other section."""
LENGTH = "words_per_bullet"
MAIN = "joint"
_DESCRIBED = ("name", "unit", "title", "told", "better", "digits")


def capitalized(text: str) -> str:
    """Return *text* with a capital first letter, the others as they are."""
    return text[:1].upper() + text[1:]


def all_heads(results: Mapping[str, Any]) -> list[Column]:
    """Return the measures of *results* as columns."""
    return [_measure_column(row) for row in described_in(results) if row.get("fact") is None]


def fact_heads(results: Mapping[str, Any], cells: Sequence[Columns], *facts: str) -> list[Column]:
    """Return the facts that *cells* have, those that reports show in the places *facts*."""
    names = held(cells)
    return [_measure_column(row) for row in described_in(results) if row.get("fact") in facts and row["name"] in names]


def _measure_column(row: Mapping[str, Any]) -> Column:
    return Column(**{name: row[name] for name in _DESCRIBED if name in row})


def head_of(results: Mapping[str, Any], measure: str) -> Column:
    """Return the measure of this name; one that *results* do not describe is named as it is."""
    known = {head.name: head for head in all_heads(results)}
    return known.get(measure) or Column(measure, "points", measure.replace("_", " "), better="higher")


def factor_of(head: Column) -> int:
    """Return the factor from a score to the number that pages show."""
    return 100 if head.unit in ("points", "share") else 1


def by_this_judge(heads: Sequence[Column], results: Mapping[str, Any], judge: str | None) -> list[Column]:
    """Return *heads* with a mark on those that *judge* gives if it was fitted on the data of *results*."""
    if not any(row["judge"] == judge and row.get("in_sample") for row in results.get("judges") or []):
        return [*heads]
    judged = {row["name"] for row in described_in(results) if row.get("judged_by") is not None}
    return [one._replace(title=f"{one.head} (in sample)") if one.name in judged else one for one in heads]


def heads_of(results: Mapping[str, Any], cells: Sequence[Columns]) -> list[Column]:
    """Return the measures that *cells* have, without those that stand in another table or column."""
    names = held(cells) - {*_IN_PARTS, LENGTH}
    return [head for head in all_heads(results) if head.name in names]


def main_measure(cell: Columns) -> str:
    """Return the measure by which rows are ranked: the joint score, else the first one with a better direction."""
    return MAIN if MAIN in cell else next(iter(within(cell, "intervals")), MAIN)
