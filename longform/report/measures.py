"""The measures of a report's tables: which columns they head, in which order, and what is said of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from longform.metrics.measure import Better
from longform.results.cells import described_in
from longform.results.columns import Columns, held, within
from longform.results.results import Results
from longform.tables.cells import Cell, value_cell
from longform.tables.table import Column, Unit, Value

CITATION = {"precision": "precision", "recall": "recall", "citation": "F1 (citation)"}
"""Measures of the section of citations -> their heads there."""
_IN_PARTS = ("precision", "recall")
"""Measures that stand in no other section."""
LENGTH = "words_per_bullet"
MAIN = "joint"


def capitalized(text: str) -> str:
    """Return *text* with a capital first letter, the others as they are."""
    return text[:1].upper() + text[1:]


class Head(NamedTuple):
    """
    A measure, or a fact of a system, as results describe it.

    Attributes:
        name: The key of its values in cells.
        title: The head of its column.
        unit: Decides scale and digits.
        better: The direction of a better value; None: neither.
        told: Says in a sentence what its values are.
        judged_by: The kind of judge that it needs; None: none.
        in_sample: True if a judge that was fitted on these very data gave it.
        digits: Decimals; None: as many as the unit has.
        fact: The place of what is no score: beside scores, or with every system alone; None: a score.
    """

    name: str
    title: str
    unit: Unit
    better: Better | None
    told: str
    judged_by: str | None = None
    in_sample: bool = False
    digits: int | None = None
    fact: str | None = None

    @property
    def marked(self) -> str:
        """The head of its column."""
        return f"{self.title} (in sample)" if self.in_sample else self.title

    @property
    def in_points(self) -> bool:
        return self.unit == "points"

    @property
    def definition(self) -> str:
        """One sentence of a caption."""
        if not self.told:
            return ""
        direction = f"; {self.better} is better" if self.better else "" if self.fact else ", neither better nor worse"
        more = "" if self.in_points and self.better == "higher" else direction
        return f"{capitalized(self.title)}: {self.told}{more}."

    def shown(self, value: Value, reason: str | None = None) -> Cell:
        """Return a value of it."""
        return value_cell(value, Column(self.name, self.unit, digits=self.digits), reason=reason)


def all_heads(results: Results) -> list[Head]:
    """Return the measures of *results*."""
    return [head for head in _heads(results) if head.fact is None]


def fact_heads(results: Results, cells: Sequence[Columns], *facts: str) -> list[Head]:
    """Return the facts that *cells* have, those that reports show in the places *facts*."""
    names = held(cells)
    return [head for head in _heads(results) if head.fact in facts and head.name in names]


def _heads(results: Results) -> list[Head]:
    return [Head(**{name: row[name] for name in Head._fields if name in row}) for row in described_in(results)]


def head_of(results: Results, measure: str) -> Head:
    """Return the measure of this name; one that *results* do not describe is named as it is."""
    known = {head.name: head for head in all_heads(results)}
    return known.get(measure) or Head(measure, measure.replace("_", " "), "points", "higher", "")


def by_this_judge(heads: Sequence[Head], results: Results, judge: str | None) -> list[Head]:
    """Return *heads* with a mark on those that *judge* gives if it was fitted on the data of *results*."""
    fitted = any(row["judge"] == judge and row.get("in_sample") for row in results.get("judges") or [])
    return [head._replace(in_sample=fitted and head.judged_by is not None) for head in heads]


def heads_of(results: Results, cells: Sequence[Columns]) -> list[Head]:
    """Return the measures that *cells* have, without those that stand in another table or column."""
    names = held(cells) - {*_IN_PARTS, LENGTH}
    return [head for head in all_heads(results) if head.name in names]


def main_measure(cell: Columns) -> str:
    """Return the measure by which rows are ranked: the joint score, else the first one with a better direction."""
    return MAIN if MAIN in cell else next(iter(within(cell, "intervals")), MAIN)
