"""
ROUGE as MSRS's release aggregates it: percentiles of the mean over resampled summaries.

Google's `rouge_score` draws as many summaries as there are, with replacement, 1,000 times; `low`, `mid` and `high` are
the percentiles 2.5, 50 and 97.5 of the means. The release reports `high`, and the paper's tables (4 to 11) print it: an
upper bound, not the mean. Its draws have no seed; ours have, so that a number is the same again. Summaries are drawn
one by one, also if several share documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from longform.evidence.scan import pl
from longform.evidence.scores import final, means, samples, with_facts
from longform.keys import stable_seed
from longform.metrics.rouge import RELEASED
from longform.metrics.statistics import Array
from longform.results.aggregate import by_system
from longform.results.evidence import Evidence, Family, rows_of
from longform.tables.table import DATASET, SYSTEM, Column, Table

Row = Mapping[str, Any]
MEASURES = tuple(measure.name for measure in RELEASED)
RESAMPLES = 1000
_PERCENTILES = (2.5, 50.0, 97.5)
_DIGITS = 2  # as in print


class RougeBootstrap:
    """ROUGE of each system as MSRS's release aggregates it."""

    name = "rouge_bootstrap"
    needs = ("scores", "summaries")

    def result(self, evidence: Evidence) -> Table | None:
        """Return a row for each system and measure as released; None if no configuration asked for such a measure."""
        listed = [measure.name for measure in evidence.measures if measure.name in MEASURES]
        seed = evidence.averaging.seed

        def of_family(own: Family) -> list[Row]:
            scores = means(own.scores.filter(pl.col("measure").is_in(listed)))
            originals = by_system(final(own.facts.filter(pl.col("twin_of").is_null())))
            return [row for group in originals.values() for row in _rows(own, with_facts(scores, group), listed, seed)]

        rows = rows_of(evidence, listed, of_family)
        return table(rows) if rows else None


def table(rows: Sequence[Row]) -> Table:
    """Return the percentiles as a table that describes itself."""
    return Table(
        "rouge_bootstrap",
        [
            DATASET,
            *SYSTEM[:2],
            Column("measure"),
            *(Column(name, "points", digits=_DIGITS) for name in ("mean", "low", "mid", "high")),
            Column("n_summaries", "count", "summaries"),
            Column("judge", shown=False),
        ],
        (),
        title="ROUGE as released",
        told=(
            "ROUGE as MSRS's release aggregates it: percentiles 2.5 (low), 50 (mid) and 97.5 (high) of the means of "
            f"{RESAMPLES:,} resamples of the summaries, one by one. The paper prints high, which is above the mean: "
            "hold printed numbers against it, and all else against the mean."
        ),
        key=["dataset", "summarizer", "setting", "measure"],
        page="scores",
    ).having(rows)


def _rows(own: Family, scores: pl.DataFrame, listed: Sequence[str], seed: int) -> Iterator[Row]:
    shares = samples(scores, "per_summary", "summarizer", "setting", "measure")
    found = shares.with_columns(value=pl.col("total") / pl.col("n")).partition_by("measure", as_dict=True)
    for measure in (name for name in listed if (name,) in found):
        summarizer, setting = found[measure,].select("summarizer", "setting").row(0)
        values = found[measure,]["value"].to_numpy()
        low, mid, high = percentiles(values, seed=stable_seed(seed, summarizer, setting, measure))
        yield {
            "judge": own.judge,
            "dataset": own.dataset,
            "summarizer": summarizer,
            "setting": setting,
            "measure": measure,
            "n_summaries": len(values),
            "mean": 100 * float(values.mean()),
            "low": 100 * low,
            "mid": 100 * mid,
            "high": 100 * high,
        }


def percentiles(values: Array, *, seed: int) -> tuple[float, float, float]:
    """Return low, mid and high of the means of resampled *values*."""
    drawn = np.random.default_rng(seed).integers(0, len(values), size=(RESAMPLES, len(values)))
    low, mid, high = np.percentile(values[drawn].mean(axis=1), _PERCENTILES)
    return float(low), float(mid), float(high)
