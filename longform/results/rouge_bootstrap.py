"""
ROUGE as MSRS's release aggregates it: percentiles of the mean over resampled summaries.

Google's `rouge_score` draws as many summaries as there are, with replacement, 1,000 times; `low`, `mid` and `high` are
the percentiles 2.5, 50 and 97.5 of the means. The release reports `high`, and the paper's tables (4 to 11) print it: an
upper bound, not the mean. Its draws have no seed; ours have, so that a number is the same again. Summaries are drawn
one by one, also if several share documents.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from longform.keys import stable_seed
from longform.metrics.rouge import RELEASED
from longform.metrics.statistics import Array
from longform.results.aggregate import Group, averaged, final_summaries, systems_of
from longform.results.columns import OfJudge
from longform.results.evidence import Evidence, Family, rows_of

MEASURES = tuple(measure.name for measure in RELEASED)
RESAMPLES = 1000
_PERCENTILES = (2.5, 50.0, 97.5)


class BootstrapRow(OfJudge):
    """A measure of a system, in points."""

    summarizer: str
    setting: str
    measure: str
    n_summaries: int  # with a value
    mean: float
    low: float
    mid: float
    high: float


def rouge_bootstrap(evidence: Evidence) -> list[BootstrapRow] | None:
    """Return a row for each system and measure as released; None if no configuration asked for such a measure."""
    listed = [measure.name for measure in evidence.measures if measure.name in MEASURES]
    seed = evidence.averaging.seed

    def of_family(own: Family) -> list[BootstrapRow]:
        groups = sorted(systems_of(final_summaries(own.summaries)).items())
        originals = [group for _, group in groups if group[0].info.twin_of is None]
        return [row for group in originals for name in listed for row in _rows(own, group, name, seed)]

    return rows_of(evidence, listed, of_family) or None


def _rows(own: Family, group: Group, measure: str, seed: int) -> Iterator[BootstrapRow]:
    info = group[0].info
    values = np.array([row.total / row.n for row in averaged(group, measure, "per_summary")])
    if len(values):
        low, mid, high = percentiles(values, seed=stable_seed(seed, info.summarizer, info.setting, measure))
        yield {
            "judge": own.judge,
            "dataset": own.dataset,
            "summarizer": info.summarizer,
            "setting": info.setting,
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
