"""Frames of scores that tests write down a summary at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import polars as pl

from longform.axes import SystemAxes
from longform.evidence.scan import NAMES
from longform.evidence.scores import facts_of
from longform.evidence.summaries import ClusterKind
from longform.metrics.measure import Measure
from longform.results.aggregate import Averaging
from longform.results.calls import SPENT
from longform.results.cells import CellRow, systems_in
from longform.studies.cells import cells_of, tables_of
from longform.tables.table import Table, checked


class SummaryInfo(NamedTuple):
    """
    A summary that a test describes; `summary_frame` makes a row of it.

    Attributes:
        twin_of: The summarizer whose summary this one repeats with other citations; None if it is no twin.
        haystack_id: Holds the documents of its query.
        cluster_kind: The unit that is resampled, its query or its haystack.
    """

    summary_id: str
    query_id: str
    summarizer: str
    setting: str
    order: str | None
    elapsed_minutes: float | None
    cut_share: float | None
    failure: str | None
    twin_of: str | None = None
    haystack_id: str | None = None
    cluster_kind: ClusterKind = "query"
    axes: SystemAxes | None = None  # None: not known
    dataset: str | None = None  # of its query; None: not stated
    text_key: str | None = None  # a hash of its text; None: failed, or not read
    model: str | None = None  # as answered by the provider; None: no language model, or unknown
    repeat: int | None = None  # of its context by its system, from 0; None: written elsewhere
    cause: str | None = None  # of its failure: why the step failed that failed first; None: `failure` says it
    cited_by: str | None = None  # of a twin: what chose its citations; None: not known, or no twin
    original: str | None = None  # of a twin: the summary that it repeats
    elsewhere: bool = False  # whether a run that writes, too, took it as it was shipped

    @property
    def cluster(self) -> str:
        """The unit that is independent of the rest of the sample."""
        return self.haystack_id if self.cluster_kind == "haystack" and self.haystack_id else self.query_id


_TEXTS = (
    "summary_id", "query_id", "dataset", "haystack_id", "cluster", "summarizer", "setting", "order", "twin_of",
    "cited_by", "model", "failure", "cause", "original",
)  # fmt: skip
_NUMBERS = ("elapsed_minutes", "cut_share")


def summary_frame(infos: Iterable[SummaryInfo]) -> pl.DataFrame:
    """
    Return a row for each summary, in their order, with the axes of its system beside it.

    `summary_repeat` counts summaries of one context by one system, from 0; it is null if they were written elsewhere.
    """
    found = list(infos)

    def column(name: str, values: Iterable[object], kind: type[pl.DataType]) -> pl.Series:
        return pl.Series(name, list(values), dtype=pl.Categorical if name in NAMES else kind)

    columns = [column(name, (getattr(one, name) for one in found), pl.String) for name in _TEXTS]
    columns += [column(name, (getattr(one, name) for one in found), pl.Float64) for name in _NUMBERS]
    columns.append(column("text_key", (one.text_key for one in found), pl.String))
    columns.append(column("elsewhere", (one.elsewhere for one in found), pl.Boolean))
    columns.append(column("summary_repeat", (one.repeat for one in found), pl.Int32))
    for name in (name for name in SystemAxes._fields if name != "order"):
        values = (None if one.axes is None else getattr(one.axes, name) for one in found)
        columns.append(column(name, values, pl.Int64))
    return pl.DataFrame(columns)


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


def contents_of(found: Mapping[str, object] = {}) -> pl.DataFrame:
    """Return what summaries say as evidence has it, from what is equal if they say the same."""
    rows = [(summary_id, str(content)) for summary_id, content in found.items()]
    return pl.DataFrame(rows, schema={"summary_id": pl.String, "content": pl.String}, orient="row")


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
    evidence: Any = SimpleNamespace(averaging=how, measures=list(measures), spent=spent_of({}), checked=None)
    family: Any = SimpleNamespace(judge=judge, scores=scores, facts=facts, evidence=evidence)
    return tables_in_json(tables_of(cells_of(family, evidence.measures), evidence))


def tables_in_json(tables: Iterable[Table]) -> dict[str, Any]:
    return {"tables": {table.name: checked(table).as_json() for table in tables}}


def spent_of(costs: Mapping[str, Sequence[float | None]]) -> pl.DataFrame:
    """Return what the calls of each summary took: dollars, tokens in and out, and seconds."""
    schema = {"summary_id": pl.String, **dict.fromkeys(SPENT, pl.Float64)}
    return pl.DataFrame([(name, *cost) for name, cost in costs.items()], schema=schema, orient="row")
