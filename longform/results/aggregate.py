"""
Scored summaries, and their means over systems with intervals.

`pooled` averages over insights of all summaries (SummHay's released code); `per_summary` averages each summary first
(the paper's words). Intervals resample clusters, as the summaries of one query share insights and documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, TypedDict

import numpy as np

from longform.axes import Axes
from longform.keys import stable_seed
from longform.metrics.statistics import Array, Estimate, pooled_mean
from longform.results.columns import AxesColumns, TwinColumns, axes_columns
from longform.results.score_table import Cell, Reasons, RepeatCells, ScoreTable
from longform.tables.names import DATASET, SYSTEM
from longform.tables.table import Column, Table

Aggregate = Literal["pooled", "per_summary"]
ENOUGH_HAYSTACKS = 6
"""The fewest haystacks that are clusters: by sign changes, six can show a difference at 0.05 and five cannot."""
ClusterKind = Literal["query", "haystack"]


class SummaryInfo(NamedTuple):
    """
    A summary's data in the tables, besides its scores.

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
    axes: Axes | None = None  # None: not known
    dataset: str | None = None  # of its query; None: not stated
    text_key: str | None = None  # a hash of its text; None: failed, or not read
    model: str | None = None  # as answered by the provider; None: no language model, or unknown
    repeat: int | None = None  # of its context by its system, from 0; None: written elsewhere
    cause: str | None = None  # of its failure: why the step failed that failed first; None: `failure` says it
    cited_by: str | None = None  # of a twin: what chose its citations; None: not known, or no twin
    elsewhere: bool = False  # whether a run that writes, too, took it as it was shipped

    @property
    def cluster(self) -> str:
        """The unit that is independent of the rest of the sample."""
        return self.haystack_id if self.cluster_kind == "haystack" and self.haystack_id else self.query_id


def axes_json(info: SummaryInfo) -> AxesColumns | None:
    """Return the axes of a summary for results; None if they are not known."""
    return None if info.axes is None else axes_columns(info.axes)


class Scored(NamedTuple):
    """
    A summary under one judge, or under none.

    Attributes:
        info: Of the summary.
        measures: Measure -> (total, n, unjudged); those without a judge stand under every judge.
        reasons: Measure -> why it has no value.
        repeats: Measure -> the same by each repeat of the judge, whose mean `measures` has.
    """

    info: SummaryInfo
    measures: Mapping[str, Cell]
    reasons: Mapping[str, str] = {}
    repeats: Mapping[str, Sequence[Cell]] = {}

    def has(self, measure: str) -> bool:
        """Return whether it has a value of a measure."""
        return self.measures.get(measure, (0.0, 0, 0))[1] > 0


Group = Sequence[Scored]


class Clusters(NamedTuple):
    """
    Units that intervals and tests take as independent.

    Attributes:
        dataset: Whose; None: not stated.
        kind: `haystack` if there are ENOUGH_HAYSTACKS of them and some hold several queries, else `query`.
        n_queries: With a summary.
        n_haystacks: Of these queries.
    """

    dataset: str | None
    kind: ClusterKind
    n_queries: int
    n_haystacks: int


def clusters_of(infos: Iterable[SummaryInfo]) -> list[Clusters]:
    """
    Clusters of each data set, in order of appearance.

    Queries of one haystack share its documents: they count as one cluster if there are enough haystacks.
    """
    datasets: dict[str | None, dict[str, str | None]] = {}
    for info in infos:
        datasets.setdefault(info.dataset, {})[info.query_id] = info.haystack_id
    return [_clusters(dataset, haystacks) for dataset, haystacks in datasets.items()]


def _clusters(dataset: str | None, haystacks: Mapping[str, str | None]) -> Clusters:
    """Clusters of one data set; *haystacks* are by query."""
    n = len(set(haystacks.values()))
    kind: ClusterKind = "haystack" if ENOUGH_HAYSTACKS <= n < len(haystacks) else "query"
    return Clusters(dataset, kind, len(haystacks), n)


def with_clusters(infos: Iterable[SummaryInfo]) -> tuple[dict[str, SummaryInfo], list[Clusters]]:
    """Return summaries by id, each with what is resampled of its data set; and what that is, for the reader."""
    found = list(infos)
    clusters = clusters_of(found)
    kinds = {row.dataset: row.kind for row in clusters}
    return {info.summary_id: info._replace(cluster_kind=kinds[info.dataset]) for info in found}, clusters


class ModelsRow(TypedDict):
    """A summarizer whose replies came from several models, which stand in one row of every table."""

    summarizer: str
    dataset: str | None
    models: dict[str, int]  # number of summaries by model


def several_models(infos: Iterable[SummaryInfo]) -> list[ModelsRow]:
    """Return a row for each summarizer whose replies came from several models."""
    found: dict[tuple[str, str | None], Counter[str]] = {}
    for info in infos:
        if info.model is not None and info.twin_of is None:
            found.setdefault((info.summarizer, info.dataset), Counter())[info.model] += 1
    return [
        {"summarizer": summarizer, "dataset": dataset, "models": dict(counts.most_common())}
        for (summarizer, dataset), counts in found.items()
        if len(counts) > 1
    ]


def models_tables(rows: Sequence[ModelsRow]) -> list[Table]:
    """Return summarizers whose replies came from several models as a table; none if there is none."""
    found = Table(
        "several_models",
        [DATASET, SYSTEM[0], Column("model"), Column("n_summaries", "count", "summaries")],
        [
            {"dataset": row["dataset"], "summarizer": row["summarizer"], "model": model, "n_summaries": n}
            for row in rows
            for model, n in row["models"].items()
        ],
        title="Several models under one name",
        told="Models that wrote the summaries of one summarizer, as the provider answered. Its rows pool them. Name "
        "one version of the model in the configuration, or give each version a summarizer of its own, to have them "
        "apart.",
        key=["dataset", "summarizer", "model"],
        page="scores",
    )
    return [found] if rows else []


def scored_summaries(table: ScoreTable, judge: str | None, infos: Mapping[str, SummaryInfo]) -> list[Scored]:
    """Return the summaries of *infos* that *judge* has scores of, in their order; scores without a judge join them."""
    scores = table.scored(judge)
    return [
        Scored(info, found, Reasons(found), RepeatCells(found))
        for summary_id, info in infos.items()
        if (found := scores.get(summary_id)) is not None
    ]


def final_summaries(summaries: Group) -> list[Scored]:
    """Without the snapshots that a later one of the same query and system replaces."""
    latest: dict[tuple[str, str, str], Scored] = {}
    for scored in summaries:
        info = scored.info
        key = (info.summarizer, info.setting, info.query_id if info.elapsed_minutes is not None else info.summary_id)
        held = latest.get(key)
        if held is None or (info.elapsed_minutes or 0) >= (held.info.elapsed_minutes or 0):
            latest[key] = scored
    return list(latest.values())


class Averaging(NamedTuple):
    """Settings of means and of their intervals."""

    aggregate: Aggregate
    seed: int
    resamples: int

    def own(self, *name: object) -> Averaging:
        """Return the same with a seed for the thing of that *name*."""
        return self._replace(seed=stable_seed(self.seed, *name))


def estimate(group: Group, measure: str, how: Averaging, *, with_empty: bool = False) -> Estimate:
    """
    Return a measure of one system over its summaries, as a share, with its interval over clusters.

    Args:
        group: The summaries.
        measure: Its name.
        how: They are averaged and resampled.
        with_empty: Whether clusters without a value are drawn too, and add nothing: tables that set several rows of one
            system side by side resample the same clusters in each.
    """
    rows = averaged(group, measure, how.aggregate, with_empty=with_empty)
    totals, counts = np.array([row.total for row in rows]), np.array([row.n for row in rows])
    return pooled_mean(totals, counts, [row.cluster for row in rows], seed=how.seed, resamples=how.resamples)


class Averaged(NamedTuple):
    """A summary's share of a mean; the repeats of one query are one summary."""

    total: float
    n: float
    cluster: str


def averaged(
    group: Group, measure: str, aggregate: Aggregate = "pooled", *, with_empty: bool = False
) -> list[Averaged]:
    """
    Return what each summary of one system that has the measure adds to its mean; repeats are averaged within a query.

    A summary counts as often as it has insights, or once if *aggregate* is per_summary. If *with_empty*, summaries
    without the measure stand there with 0 of 0.
    """
    found: dict[tuple[str, bool, str], list[tuple[float, float]]] = {}
    for scored in group:
        total, n, _ = scored.measures.get(measure, (0.0, 0, 0))
        if n or with_empty:
            repeated = scored.info.repeat is not None
            key = (scored.info.query_id if repeated else scored.info.summary_id, repeated, scored.info.cluster)
            share = (total, float(n)) if aggregate == "pooled" else (total / (n or 1), 1.0)
            found.setdefault(key, []).extend([share] if n else [])
    return [
        Averaged(sum(total for total, _ in rows) / times, sum(n for _, n in rows) / times, cluster)
        for (_, _, cluster), rows in found.items()
        for times in [max(1, len(rows))]
    ]


def n_repeats(group: Group) -> int:
    """Return how many summaries of one context a query of one system has at most."""
    return 1 + max((scored.info.repeat or 0 for scored in group), default=0)


def n_judge_repeats(group: Group, measures: Iterable[str]) -> int:
    """Return how many answers of the judge stand behind each score at most."""
    names = list(measures)
    return max((len(one.repeats[name]) for one in group for name in names if name in one.repeats), default=1)


def mean_cut_share(group: Group) -> float | None:
    """Share of retrieved tokens that the budget took away; None if the contexts are not known."""
    cuts = [s.info.cut_share for s in group if s.info.cut_share is not None]
    return float(np.mean(cuts)) if cuts else None


def twin_names(group: Group) -> TwinColumns:
    """Return whose summaries these repeat with other citations, and what chose those; None: they are no twins."""
    found: TwinColumns = {"twin_of": group[0].info.twin_of, "cited_by": group[0].info.cited_by}
    if group[0].info.elsewhere:
        found["elsewhere"] = True
    return found


def systems_of(summaries: Group) -> dict[tuple[str, str], list[Scored]]:
    """(setting, summarizer) -> its summaries, in order of appearance."""
    found: dict[tuple[str, str], list[Scored]] = {}
    for scored in summaries:
        found.setdefault((scored.info.setting, scored.info.summarizer), []).append(scored)
    return found


def cluster_totals(group: Group, clusters: Sequence[str], measure: str, aggregate: Aggregate = "pooled") -> Array:
    """Totals and counts of a measure of one system for each of *clusters*, shape (clusters, 2); see `averaged`."""
    place = {cluster: index for index, cluster in enumerate(clusters)}
    sums = np.zeros((len(clusters), 2))
    for row in averaged(group, measure, aggregate):
        sums[place[row.cluster]] += (row.total, row.n)
    return sums
