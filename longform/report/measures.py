"""The measures of a report's tables: which columns they head, in which order, and what is said of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from longform.results.cells import Columns, described_in, held, within
from longform.results.results import Results
from longform.tables.table import Column

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


def all_heads(results: Results) -> list[Column]:
    """Return the measures of *results* as columns."""
    return [_column(row) for row in described_in(results) if row.get("fact") is None]


def fact_heads(results: Results, cells: Sequence[Columns], *facts: str) -> list[Column]:
    """Return the facts that *cells* have, those that reports show in the places *facts*."""
    names = held(cells)
    return [_column(row) for row in described_in(results) if row.get("fact") in facts and row["name"] in names]


def _column(row: Mapping[str, Any]) -> Column:
    return Column(**{name: row[name] for name in _DESCRIBED if name in row})


def head_of(results: Results, measure: str) -> Column:
    """Return the measure of this name; one that *results* do not describe is named as it is."""
    known = {head.name: head for head in all_heads(results)}
    return known.get(measure) or Column(measure, "points", measure.replace("_", " "), better="higher")


def factor_of(head: Column) -> int:
    """Return the factor from a score to the number that pages show."""
    return 100 if head.unit in ("points", "share") else 1


def by_this_judge(heads: Sequence[Column], results: Results, judge: str | None) -> list[Column]:
    """Return *heads* with a mark on those that *judge* gives if it was fitted on the data of *results*."""
    if not any(row["judge"] == judge and row.get("in_sample") for row in results.get("judges") or []):
        return [*heads]
    judged = {row["name"] for row in described_in(results) if row.get("judged_by") is not None}
    return [one._replace(title=f"{one.head} (in sample)") if one.name in judged else one for one in heads]


def heads_of(results: Results, cells: Sequence[Columns]) -> list[Column]:
    """Return the measures that *cells* have, without those that stand in another table or column."""
    names = held(cells) - {*_IN_PARTS, LENGTH}
    return [head for head in all_heads(results) if head.name in names]


def main_measure(cell: Columns) -> str:
    """Return the measure by which rows are ranked: the joint score, else the first one with a better direction."""
    return MAIN if MAIN in cell else next(iter(within(cell, "intervals")), MAIN)
