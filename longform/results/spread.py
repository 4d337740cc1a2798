"""
The spread between repeats: how far a system's mean moves if its summaries are written again, or judged again.

Repeats are averaged within a query, and intervals resample queries with the means of their repeats. The variance
between n repeats is in them so, divided by n: resampling repeats within the resampled queries besides would count it
twice (Davison and Hinkley, Bootstrap Methods and their Application, 1997, section 3.8).
"""

from __future__ import annotations

from typing import TypedDict

import numpy as np

from longform.evidence.scan import pl
from longform.evidence.scores import means, samples
from longform.results.aggregate import Aggregate


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
