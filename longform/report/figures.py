"""The figures of each section of a report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from longform.report.audit import benchmark_figures
from longform.report.plots import Plot
from longform.report.pooling import pooled_words
from longform.report.result_figures import table_figures
from longform.report.scores import score_figures
from longform.results.results import Results


class Figure(NamedTuple):
    plot: Plot
    caption: str


FIGURES: Mapping[str, Callable[[Results], Iterable[tuple[Plot | None, str]]]] = {
    "scores": score_figures,
    "audit": benchmark_figures,
}
"""Anchor of a section -> what draws its figures."""


def figures(anchor: str, results: Results) -> list[Figure]:
    """The figures of the section *anchor*; ids are numbered, as names of judges and systems are anyone's text."""
    draw = FIGURES.get(anchor)
    pooled = pooled_words(results, anchor)
    drawn = draw(results) if draw else ()
    found = (*drawn, *table_figures(anchor, results))
    return [Figure(plot, f"{pooled}{caption}") for plot, caption in found if plot is not None]
