"""Frames of scores that tests write down a summary at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import polars as pl

from longform.evidence.infos import SummaryInfo, summary_frame
from longform.evidence.scores import facts_of
from longform.metrics.measure import Measure
from longform.results.aggregate import Averaging
from longform.results.cells import CellRow, systems_in
from longform.studies.cells import cells_of, tables_of
from longform.tables.table import Table, checked

COLUMNS = {
    "judge": pl.Categorical, "summary_id": pl.String, "measure": pl.Categorical, "repeat": pl.Int32,
    "total": pl.Float64, "n": pl.Float64, "unjudged": pl.Float64, "reason": pl.Categorical,
}  # fmt: skip


Cell = tuple[float, float, float]
"""Total, count and unjudged."""


class Scored(NamedTuple):
    """A summary with its scores by measure; `repeats` has a score for each repeat of the judge."""

    info: SummaryInfo
    measures: Mapping[str, Cell]
    reasons: Mapping[str, str] = {}
    repeats: Mapping[str, Sequence[Cell]] = {}


def frames_of(group: Sequence[Scored], judge: str | None = "j") -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the scores of *group* and the facts of its summaries, as `Family` has them."""
    rows = [
        (judge, one.info.summary_id, measure, repeat, *score, one.reasons.get(measure))
        for one in group
        for measure, mean in one.measures.items()
        for repeat, score in enumerate(one.repeats.get(measure, [mean]))
    ]
    ids = pl.Enum([one.info.summary_id for one in group])
    scores = pl.DataFrame(rows, schema=COLUMNS, orient="row").with_columns(pl.col("summary_id").cast(ids))
    return scores, facts_of(scores, summary_frame(one.info for one in group).lazy())


class FramesOf:
    """The frames of summaries that are described one by one, as evidence has them; asked anew each time."""

    def __init__(self, infos: Mapping[str, SummaryInfo]) -> None:
        self._infos = infos

    @property
    def summaries(self) -> pl.LazyFrame:
        return summary_frame(self._infos.values()).lazy()


def cells(
    scores: pl.DataFrame, facts: pl.DataFrame, measures: Iterable[Measure], how: Averaging, *, judge: str | None
) -> list[CellRow]:
    """Return the systems of the table of cells of one judge and data set."""
    return systems_in(cell_tables(scores, facts, measures, how, judge=judge))


def cell_tables(
    scores: pl.DataFrame, facts: pl.DataFrame, measures: Iterable[Measure], how: Averaging, *, judge: str | None
) -> dict[str, Any]:
    """Return results with the tables of cells of one judge and data set."""
    evidence: Any = SimpleNamespace(averaging=how, measures=list(measures), spent={})
    family: Any = SimpleNamespace(judge=judge, scores=scores, facts=facts, evidence=evidence)
    return tables_in_json(tables_of(cells_of(family), evidence))


def tables_in_json(tables: Iterable[Table]) -> dict[str, Any]:
    return {"tables": {table.name: checked(table).as_json() for table in tables}}
