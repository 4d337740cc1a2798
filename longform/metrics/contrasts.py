"""
Differences of statistics over the same clusters, estimated together as one family by the bootstrap.

Clusters are drawn once for all differences of a family, which keeps the dependence between them. Each difference is
divided by the standard deviation of its draws, and the critical value is the 95 % quantile of the largest such distance
of any difference from its own value (max-T: Westfall and Young, Resampling-Based Multiple Testing, 1993). All intervals
of a family therefore hold together in about 95 of 100 cases. The standard deviation is that of a sample, and its
quantiles are Student's: the plain bootstrap of a dozen clusters would call 15 of 100 equal families different.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypedDict

import numpy as np

from longform.metrics.paired_differences import ALPHA, smallest_p
from longform.metrics.statistics import Array, drawn_counts

TOO_FEW = "too few {clusters} to tell"
_NOTHING = 1e-12  # of a standard deviation of draws


class Compared(NamedTuple):
    """A difference to estimate."""

    sums: Array  # column sums of each cluster, shape (clusters, k); rows of zeros are clusters that are not in it
    statistic: Callable[[Array], Array]  # sums (m, k) -> differences (m,), NaN where undefined
    n: int  # rows behind the value, for the reader
    # clusters that bound it; None: those with a row. A mean of parts has those of its smallest part
    n_clusters: int | None = None


class Contrast(TypedDict):
    """A difference with its simultaneous interval; bounds and p are null if there are too few clusters."""

    value: float | None  # null: undefined
    low: float | None
    high: float | None
    p: float | None  # adjusted for the family
    n: int  # rows behind the value
    n_clusters: int


def contrasts(family: Sequence[Compared], *, seed: int, resamples: int = 2000) -> list[Contrast]:
    """Estimate the differences of a family, all of the same clusters in the same order."""
    if not family:
        return []
    with np.errstate(divide="ignore", invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of means of nothing but NaN
        values = np.array([float(one.statistic(one.sums.sum(axis=0, keepdims=True))[0]) for one in family])
        n_clusters = [n_used(one.sums) if one.n_clusters is None else one.n_clusters for one in family]
        usable = np.array(
            [smallest_p(n) <= ALPHA and not np.isnan(value) for n, value in zip(n_clusters, values, strict=True)]
        )
        drawn = _drawn(family, seed, resamples)
        spread = np.nanstd(drawn, axis=0, ddof=1)
        spread = np.where(spread > _NOTHING, spread, np.nan)
        distances = np.where(usable, np.abs(drawn - values) / spread, np.nan)
        largest = np.nanmax(np.column_stack([np.zeros(len(drawn)), distances]), axis=1)
    return [
        _contrast(float(values[place]), float(spread[place]) if usable[place] else None, largest, one.n, n)
        for place, (one, n) in enumerate(zip(family, n_clusters, strict=True))
    ]


def n_used(sums: Array) -> int:
    """Return the number of clusters that have a row."""
    return int((np.abs(sums).sum(axis=1) > 0).sum())


def _drawn(family: Sequence[Compared], seed: int, resamples: int) -> Array:
    """Return the differences of each draw, shape (resamples, differences)."""
    parts = [
        np.column_stack([one.statistic(counts @ one.sums) for one in family])
        for counts in drawn_counts(len(family[0].sums), seed=seed, resamples=resamples)
    ]
    return np.concatenate(parts)


def _contrast(value: float, spread: float | None, largest: Array, n: int, n_clusters: int) -> Contrast:
    """Return the difference; *spread* is None if there are too few clusters, and NaN if every draw gives the same."""
    found: Contrast = {"value": value, "low": None, "high": None, "p": None, "n": n, "n_clusters": n_clusters}
    if np.isnan(value):
        return {**found, "value": None}
    if spread is None:
        return found
    if np.isnan(spread):
        return {**found, "low": value, "high": value, "p": 1.0 if value == 0 else 1 / (1 + len(largest))}
    from scipy.stats import norm, t  # slow to import

    error = spread * np.sqrt(n_clusters / (n_clusters - 1))
    reached = int((largest >= norm.isf(t.sf(abs(value) / error, n_clusters - 1))).sum())
    half = float(error * t.isf(norm.sf(np.quantile(largest, 1 - ALPHA)), n_clusters - 1))
    return {**found, "low": value - half, "high": value + half, "p": (1 + reached) / (1 + len(largest))}


def contrast_words(contrast: Contrast, first: str, second: str, *, clusters: str = "summaries") -> str:
    """Say which of two is higher; `not distinguishable` unless the interval excludes 0."""
    if contrast["value"] is None:
        return "unknown"
    if contrast["low"] is None or contrast["high"] is None:
        return TOO_FEW.format(clusters=clusters)
    if contrast["low"] <= 0 <= contrast["high"]:
        return "not distinguishable"
    return f"{first if contrast['value'] > 0 else second} is higher"
