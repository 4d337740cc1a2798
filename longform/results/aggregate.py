"""
Scored summaries, and their means over systems with intervals.

`pooled` averages over insights of all summaries (SummHay's released code); `per_summary` averages each summary first
(the paper's words). Intervals resample clusters, as the summaries of one query share insights and documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypedDict

import numpy as np

from longform.axes import Axes
from longform.evidence.infos import ClusterKind, Clusters, SummaryInfo, clusters_of, with_clusters
from longform.evidence.scan import pl
from longform.evidence.scores import means, samples
from longform.keys import stable_seed
from longform.metrics.statistics import Array, Estimate, pooled_mean
from longform.results.columns import AxesColumns, TwinColumns, axes_columns
from longform.results.score_table import Cell, ScoreTable
from longform.tables.names import DATASET, SYSTEM
from longform.tables.table import Column, Table

__all__ = ["ClusterKind", "Clusters", "SummaryInfo", "clusters_of", "with_clusters"]  # studies import them from here

Aggregate = Literal["pooled", "per_summary"]


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
        repeats: Measure -> the same by each repeat of the judge, whose mean `measures` has; empty if it was asked once.
    """

    info: SummaryInfo
    measures: Mapping[str, Cell]
    reasons: Mapping[str, str] = {}
    repeats: Mapping[str, Sequence[Cell]] = {}

    def has(self, measure: str) -> bool:
        """Return whether it has a value of a measure."""
        return self.measures.get(measure, (0.0, 0, 0))[1] > 0


Group = Sequence[Scored]


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
    return [Scored(info, *found) for summary_id, info in infos.items() if (found := scores.get(summary_id)) is not None]


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


def mean_of(scores: pl.DataFrame, how: Averaging) -> Estimate:
    """
    Return the mean of a measure of one system, as a share, with its interval over clusters.

    Args:
        scores: Means over the repeats of the judge, by that measure, with the facts of their summaries.
        how: The averaging.
    """
    own = samples(scores, how.aggregate)
    clusters = own["cluster"].to_physical().to_list()
    return pooled_mean(own["total"].to_numpy(), own["n"].to_numpy(), clusters, seed=how.seed, resamples=how.resamples)


def sums_of(scores: pl.DataFrame, clusters: Sequence[str], aggregate: Aggregate = "pooled") -> Array:
    """Return totals and counts of a measure of one system for each of *clusters*, shape (clusters, 2)."""
    place = {cluster: index for index, cluster in enumerate(clusters)}
    sums = np.zeros((len(clusters), 2))
    shares = samples(scores, aggregate).group_by("cluster", maintain_order=True).agg(pl.col("total", "n").sum())
    for cluster, *own in shares.iter_rows():
        sums[place[cluster]] = own
    return sums


def by_system(rows: pl.DataFrame) -> dict[tuple[str, str], pl.DataFrame]:
    """(setting, summarizer) -> its rows, sorted."""
    found = rows.partition_by("setting", "summarizer", as_dict=True, maintain_order=True)
    return {(str(setting), str(summarizer)): own for (setting, summarizer), own in sorted(found.items())}


def by_measure(scores: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Measure -> its rows."""
    return {
        str(name): own for (name,), own in scores.partition_by("measure", as_dict=True, maintain_order=True).items()
    }


def marks_of(facts: pl.DataFrame) -> TwinColumns:
    """Return whose summaries those of a system repeat with other citations, and what chose those; null: no twins."""
    first = facts.row(0, named=True)
    found: TwinColumns = {"twin_of": first["twin_of"], "cited_by": first["cited_by"]}
    return {**found, "elsewhere": True} if first["elsewhere"] else found


def axes_in(facts: pl.DataFrame) -> dict[str, Any]:
    """Return the axes of a system as columns; none if they are not known."""
    first = facts.row(0, named=True)
    return {} if first["retriever"] is None else {name: first[name] for name in Axes._fields}


def n_repeats(group: Group) -> int:
    """Return how many summaries of one context a query of one system has at most."""
    return 1 + max((scored.info.repeat or 0 for scored in group), default=0)


def twin_names(group: Group) -> TwinColumns:
    """Return whose summaries these repeat with other citations, and what chose those; None: they are no twins."""
    found: TwinColumns = {"twin_of": group[0].info.twin_of, "cited_by": group[0].info.cited_by}
    if group[0].info.elsewhere:
        found["elsewhere"] = True
    return found


def why_unknown(group: Group, measure: str) -> str:
    """Return the most frequent reason of the summaries."""
    reasons = Counter(one.reasons[measure] for one in group if measure in one.reasons)
    if all(one.info.failure is not None for one in group):
        return "every summary failed"
    return reasons.most_common(1)[0][0] if reasons else "no summary has a value"


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


# ---------------------------------------------------------------- the spread between repeats


class SpreadColumns(TypedDict):
    """Standard deviations of a system's mean over repeats, in the unit of the measure; null: fewer than two."""

    summaries: float | None  # over repeats of its summaries
    judge: float | None  # over repeats of the judge's answers


NO_SPREAD: SpreadColumns = {"summaries": None, "judge": None}


def spread(scores: pl.DataFrame, aggregate: Aggregate, factor: float) -> SpreadColumns:
    """
    Return the spread of one system's mean by a measure, whose *scores* these are, one for each repeat of the judge.

    Only queries, or summaries, that have a value in every repeat count, so that all repeats are of the same ones.
    """
    return {
        "summaries": _deviation(_by_summary_repeat(means(scores)), aggregate, factor),
        "judge": _deviation(_by_judge_repeat(scores), aggregate, factor),
    }


def _by_summary_repeat(scores: pl.DataFrame) -> pl.DataFrame:
    of = pl.col("summary_repeat").fill_null(0).alias("of")
    valued = (
        scores.filter(pl.col("n") > 0).with_columns(of).unique(["of", "query_id"], keep="last", maintain_order=True)
    )
    return valued.filter(pl.len().over("query_id") == valued["of"].n_unique())


def _by_judge_repeat(scores: pl.DataFrame) -> pl.DataFrame:
    summary = "summary_id"
    numbered = scores.with_columns(of=pl.int_range(pl.len()).over(summary), times=pl.len().over(summary))
    return numbered.filter(pl.col("times") == pl.col("times").max(), (pl.col("n") > 0).all().over(summary))


def _deviation(repeats: pl.DataFrame, aggregate: Aggregate, factor: float) -> float | None:
    """Return the deviation of the means of the repeats that `of` tells apart."""
    shares = samples(repeats, aggregate, "of").group_by("of", maintain_order=True)
    found = shares.agg(mean=pl.col("total").sum() / pl.col("n").sum())["mean"]
    return factor * float(np.std(found.to_numpy(), ddof=1)) if len(found) > 1 else None
