"""The measures of a report's tables: which columns they head, in which order, and what is said of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from longform.measures import default_names, named
from longform.metrics.measure import Measure, described
from longform.results.cells import measures_in
from longform.results.columns import Columns, held, within
from longform.results.results import Results

IN_PARTS = ("precision", "recall")
"""Measures that have a section of their own."""
LENGTH = "words_per_bullet"
MAIN = "joint"


def capitalized(text: str) -> str:
    """Return *text* with a capital first letter, the others as they are."""
    return text[:1].upper() + text[1:]


class Head(NamedTuple):
    """A measure as results describe it."""

    name: str
    title: str
    unit: str
    better: str | None
    told: str
    judged_by: str | None = None  # kind of the judge that it needs; None: none
    in_sample: bool = False  # a judge that was fitted on these very data gave it

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
        direction = f"; {self.better} is better" if self.better else ", neither better nor worse"
        more = "" if self.in_points and self.better == "higher" else direction
        return f"{capitalized(self.title)}: {self.told}{more}."

    @property
    def digits(self) -> int:
        """Number of decimals in a table."""
        return 2 if self.unit == "rating" else 1

    @property
    def factor(self) -> int:
        """The number by which a value is shown larger: shares are kept in 0 to 1 and shown in 0 to 100."""
        return 100 if self.unit == "share" else 1


def all_heads(results: Results) -> list[Head]:
    """Return the measures of *results*; older ones list none and have those of coverage."""
    rows = measures_in(results)
    if not rows and "measures" not in results and not results.get("tables"):
        rows = [described(one) for one in named(default_names(["coverage"])) if isinstance(one, Measure)]
    return [
        Head(row["name"], row["title"], row["unit"], row["better"], row["told"], row.get("judged_by")) for row in rows
    ]


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
    names = held(cells)
    return [head for head in all_heads(results) if head.name in names and head.name not in (*IN_PARTS, LENGTH)]


def main_measure(cell: Columns) -> str:
    """Return the measure by which rows are ranked: the joint score, else the first one listed."""
    return MAIN if MAIN in cell else next(iter(within(cell, "intervals")), MAIN)
