"""
Scored summaries, and their means over systems with intervals.

`pooled` averages over insights of all summaries (SummHay's released code); `per_summary` averages each summary first
(the paper's words). Intervals resample clusters, as the summaries of one query share insights and documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypedDict

import numpy as np

from longform.axes import SystemAxes
from longform.evidence.scan import pl
from longform.evidence.scores import means, samples
from longform.evidence.summaries import ClusterKind
from longform.keys import stable_seed
from longform.metrics.statistics import Array, Estimate, pooled_mean
from longform.settings.systems import SystemName
from longform.tables.table import DATASET, SYSTEM, Column, Table

Aggregate = Literal["pooled", "per_summary"]


def several_models(summaries: pl.DataFrame) -> list[dict[str, Any]]:
    """Return `summarizer`, `dataset` and `models` (the number of summaries of each) where replies came from several."""
    known = summaries.filter(pl.col("model").is_not_null(), pl.col("twin_of").is_null())
    of_summarizer = known.partition_by("summarizer", "dataset", as_dict=True, maintain_order=True)
    return [
        {"summarizer": summarizer, "dataset": dataset, "models": dict(Counter(own["model"]).most_common())}
        for (summarizer, dataset), own in of_summarizer.items()
        if own["model"].n_unique() > 1
    ]


def models_tables(rows: Sequence[Mapping[str, Any]]) -> list[Table]:
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


class Averaging(NamedTuple):
    """Settings of means and of their intervals."""

    aggregate: Aggregate
    seed: int
    resamples: int

    def own(self, *name: object) -> Averaging:
        """Return the same with a seed for the thing of that *name*."""
        return self._replace(seed=stable_seed(self.seed, *name))


def mean_of(scores: pl.DataFrame, how: Averaging, *, with_empty: bool = False) -> Estimate:
    """
    Return the mean of a measure of one system, as a share, with its interval over clusters.

    *scores* are means over the repeats of the judge, by that measure, with the facts of their summaries. Clusters
    without a value are drawn *with_empty*, and add nothing: tables that set several rows of one system side by side
    resample the same clusters in each.
    """
    own = samples(scores, how.aggregate, with_empty=with_empty)
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


def cluster_kind(facts: pl.DataFrame) -> ClusterKind:
    """Return the unit that is resampled of summaries."""
    apart = pl.col("cluster").cast(pl.String) != pl.col("query_id").cast(pl.String)
    return "haystack" if facts.select(apart.any()).item() else "query"


def why_unknown(scores: pl.DataFrame | None, *, all_failed: bool) -> str:
    """Return the most frequent reason of the summaries of a system, whose *scores* by a measure these are."""
    if all_failed:
        return "every summary failed"
    found = Counter(() if scores is None else scores["reason"].drop_nulls()).most_common(1)
    return found[0][0] if found else "no summary has a value"


def systems_of(rows: pl.DataFrame) -> dict[SystemName, pl.DataFrame]:
    """Return the rows of each system, in order of appearance."""
    found = rows.partition_by("summarizer", "setting", as_dict=True, maintain_order=True)
    return {SystemName(*map(str, name)): own for name, own in found.items()}


def systems_in(summaries: pl.DataFrame) -> list[SystemName]:
    """Return the systems of summaries, in order of appearance."""
    found = summaries.select("summarizer", "setting").unique(maintain_order=True)
    return [SystemName(*name) for name in found.iter_rows()]


def by_system(rows: pl.DataFrame) -> dict[tuple[str, str], pl.DataFrame]:
    """(setting, summarizer) -> its rows, sorted."""
    found = rows.partition_by("setting", "summarizer", as_dict=True, maintain_order=True)
    return {(str(setting), str(summarizer)): own for (setting, summarizer), own in sorted(found.items())}


def by_measure(scores: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Measure -> its rows."""
    return {
        str(name): own for (name,), own in scores.partition_by("measure", as_dict=True, maintain_order=True).items()
    }


def marks_of(facts: pl.DataFrame) -> dict[str, Any]:
    """Return whose summaries those of a system repeat with other citations, and what chose those; null: no twins."""
    first = facts.row(0, named=True)
    elsewhere = {"elsewhere": True} if first["elsewhere"] else {}
    return {"twin_of": first["twin_of"], "cited_by": first["cited_by"], **elsewhere}


def axes_in(facts: pl.DataFrame) -> dict[str, Any]:
    """Return the axes of a system as columns; none if they are not known."""
    first = facts.row(0, named=True)
    return {} if first["retriever"] is None else {name: first[name] for name in SystemAxes._fields}


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
