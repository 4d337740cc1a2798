"""
Intervals and tests for clustered, paired results.

Summaries of one query share its insights and documents, so they are no independent sample: every interval here
resamples clusters (queries or summaries), not rows: as many as there are, with replacement. A statistic is a function
of column sums, so that a draw needs the sums of clusters alone, and rows are never touched. A draw is decided by the
seed, by the number of clusters and by its own number. Memory, the number of cores and the number of draws that follow
change nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
LEVEL = 0.95
_PLACES_AT_ONCE = 1 << 15
"""Places drawn by one call of the generator. A part of the method: another number gives other draws."""
_FEW = 1 << 13  # clusters whose places are drawn in 16 bits, which is twice as fast; at most one in eight is drawn anew


class EstimateColumns(TypedDict):
    """An estimate in results."""

    value: float | None
    low: float | None
    high: float | None
    n: int


class Estimate(NamedTuple):
    """A value with its 95 % interval; None if it cannot be known (no row, or a single cluster)."""

    value: float | None
    low: float | None
    high: float | None
    n: int

    def scaled(self, factor: float) -> Estimate:
        """The same estimate in another unit."""
        value, low, high = (None if x is None else x * factor for x in (self.value, self.low, self.high))
        return Estimate(value, low, high, self.n)

    def as_json(self) -> EstimateColumns:
        return {"value": self.value, "low": self.low, "high": self.high, "n": self.n}


def of_draws(values: Array, n: int) -> Estimate:
    """Return the first of *values* (1 + draws) with the interval of the others; NaN draws are left out."""
    if np.isnan(values[0]):
        return Estimate(None, None, None, n)
    drawn = values[1:][~np.isnan(values[1:])]
    if not len(drawn):
        return Estimate(float(values[0]), None, None, n)
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return Estimate(float(values[0]), float(low), float(high), n)


def cluster_places(clusters: Sequence[Hashable]) -> NDArray[np.intp]:
    """Return the place of each row's cluster among the distinct ones, in order of first appearance: (rows,)."""
    index = {cluster: place for place, cluster in enumerate(dict.fromkeys(clusters))}
    return np.fromiter((index[cluster] for cluster in clusters), dtype=np.intp, count=len(clusters))


def cluster_sums(columns: Array, clusters: Sequence[Hashable]) -> Array:
    """Return sums of *columns* (rows, k) over each distinct cluster, in order of first appearance: (clusters, k)."""
    places, n = cluster_places(clusters), len(set(clusters))
    parts = [np.bincount(places, weights=column, minlength=n) for column in columns.T]
    return np.stack(parts, axis=1) if parts else np.zeros((n, 0))


def drawn_places(n: int, *, seed: int, resamples: int) -> Iterator[NDArray[np.integer]]:
    """Yield the places of *n* clusters, at least one, in each draw, shape (draws, n), some draws at a time."""
    rng = np.random.default_rng(seed)
    at_once = max(1, _PLACES_AT_ONCE // n)
    kind = np.uint16 if n <= _FEW else np.uint32
    for start in range(0, resamples, at_once):
        # Whole blocks only: the last one has the same draws whether or not more follow.
        yield rng.integers(0, n, size=(at_once, n), dtype=kind)[: resamples - start]


def drawn_counts(n: int, *, seed: int, resamples: int) -> Iterator[Array]:
    """Yield how often each cluster stands in each draw of `drawn_places`, shape (draws, n), some draws at a time."""
    for places in drawn_places(n, seed=seed, resamples=resamples):
        m = len(places)
        cells = places + np.arange(0, m * n, n, dtype=np.intp)[:, None]
        yield np.bincount(cells.ravel(), minlength=m * n).reshape(m, n).astype(np.float64)


def drawn_sums(sums: Array, *, seed: int, resamples: int) -> Iterator[Array]:
    """Yield the sums of *sums* (clusters, k) over each draw of `drawn_places`, shape (draws, k), some at a time."""
    if sums.shape[1] != 2:
        for counts in drawn_counts(len(sums), seed=seed, resamples=resamples):
            yield counts @ sums
        return
    # The two columns of a mean are read as one complex number: half the readings.
    pairs = np.ascontiguousarray(sums, dtype=np.float64).view(np.complex128)[:, 0]
    for places in drawn_places(len(sums), seed=seed, resamples=resamples):
        yield pairs.take(places).sum(axis=1).view(np.float64).reshape(-1, 2)


def bootstrap(
    columns: Array,
    clusters: Sequence[Hashable],
    statistic: Callable[[Array], Array],
    *,
    n: int,
    seed: int,
    resamples: int = 2000,
) -> Estimate:
    """
    Return a statistic of column sums with its percentile interval over resampled clusters.

    *columns* has the shape (rows, k), and *clusters* one label a row. *statistic* makes values (m,), NaN where
    undefined, of sums (m, k). *n* is the number of rows behind the value, for the reader.
    """
    if not len(clusters):
        return Estimate(None, None, None, n)
    sums = cluster_sums(columns, clusters)
    drawn = drawn_sums(sums, seed=seed, resamples=resamples) if len(sums) > 1 else ()
    with np.errstate(divide="ignore", invalid="ignore"):
        values = [statistic(some) for some in chain([sums.sum(axis=0, keepdims=True)], drawn)]
    return of_draws(np.concatenate(values), n)


def ratio(sums: Array) -> Array:
    """Total / count from sums (m, 2): the pooled mean."""
    return sums[:, 0] / sums[:, 1]


def pooled_mean(
    totals: Array, counts: Array, clusters: Sequence[Hashable], *, seed: int, resamples: int = 2000
) -> Estimate:
    """Sum of *totals* over sum of *counts* (both (rows,)), with its interval."""
    columns = np.column_stack([totals, counts])
    return bootstrap(columns, clusters, ratio, n=int(counts.sum()), seed=seed, resamples=resamples)


def pearson_of_sums(sums: Array) -> Array:
    """Pearson correlation from sums (m, 6) of 1, x, y, xx, yy, xy; NaN if a side is constant."""
    n, x, y, xx, yy, xy = sums.T
    spread = (n * xx - x**2) * (n * yy - y**2)
    return np.where(spread > 0, (n * xy - x * y) / np.sqrt(np.where(spread > 0, spread, 1.0)), np.nan)


def pearson(x: Array, y: Array, clusters: Sequence[Hashable], *, seed: int, resamples: int = 2000) -> Estimate:
    """Pearson correlation of two (rows,) arrays, interval over clusters."""
    # Centring first: sums of squares of small spreads far from zero would cancel.
    x, y = (side - side.mean() if len(side) else side for side in (x, y))
    columns = np.column_stack([np.ones_like(x), x, y, x * x, y * y, x * y])
    return bootstrap(columns, clusters, pearson_of_sums, n=len(x), seed=seed, resamples=resamples)


def kappa(
    a: Sequence[str],
    b: Sequence[str],
    classes: Sequence[str],
    clusters: Sequence[Hashable],
    *,
    seed: int,
    resamples: int = 2000,
) -> Estimate:
    """Cohen's kappa (unweighted) of two lists of labels, interval over clusters."""
    k = len(classes)
    place = {name: index for index, name in enumerate(classes)}
    columns = np.zeros((len(a), k * k))
    columns[np.arange(len(a)), [place[x] * k + place[y] for x, y in zip(a, b, strict=True)]] = 1
    return bootstrap(columns, clusters, kappa_of_sums, n=len(a), seed=seed, resamples=resamples)


def kappa_of_sums(sums: Array) -> Array:
    """Cohen's kappa from sums (m, k * k) of pairs of labels; NaN if chance alone explains all."""
    k = int(np.sqrt(sums.shape[1]))
    table = sums.reshape(-1, k, k) / sums.sum(axis=1).reshape(-1, 1, 1)
    observed = np.trace(table, axis1=1, axis2=2)
    expected = (table.sum(axis=1) * table.sum(axis=2)).sum(axis=1)
    return np.where(expected < 1, (observed - expected) / np.where(expected < 1, 1 - expected, 1.0), np.nan)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment: the family's error rate stays at the level tested."""
    order = np.argsort(p_values, kind="stable")
    adjusted = np.empty(len(order))
    stepped = np.asarray(p_values)[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(stepped))
    return [float(p) for p in adjusted]
