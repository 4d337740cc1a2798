"""
Pearson and Spearman correlations with percentile intervals over resampled clusters.

Spearman's is Pearson's of mean ranks; ties share the mean of their ranks.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from longform.metrics.statistics import Array, Estimate, cluster_places, drawn_counts, of_draws, pearson_of_sums

FEWEST = 3
"""Points of a correlation; through two there is always a line."""
_ROUNDING, _DIGITS = 1e-12, 12  # what differs by less is a tie: means of the same values in another order
_DRAWN_AT_ONCE = 500_000  # weights of items: 4 MB, however many items


class Correlation(NamedTuple):
    """Correlations, whose value is None if a side is constant or there are fewer than `FEWEST` points."""

    pearson: Estimate
    spearman: Estimate


class Resampling:
    """Draws of clusters, the same for all correlations of one sample, whose items have the labels *clusters*."""

    def __init__(self, clusters: Sequence[Hashable], *, seed: int, resamples: int) -> None:
        n = len(set(clusters))
        drawn = drawn_counts(n, seed=seed, resamples=resamples) if n > 1 else ()
        self._counts: Array = np.vstack([np.ones((1, n)), *drawn])
        self._members = cluster_places(clusters)

    def _weights(self) -> Iterator[Array]:
        """Yield how often each item was drawn, shape (draws, items), some draws at a time; the first has each once."""
        at_once = max(1, _DRAWN_AT_ONCE // max(1, len(self._members)))
        for start in range(0, len(self._counts), at_once):
            yield self._counts[start : start + at_once, self._members]

    def of_items(self, x: Array, y: Array) -> Correlation:
        """Correlate two sides of the items, both of shape (items,)."""
        if len(x) < FEWEST:
            return _unknown(len(x))
        of_values, of_ranks = [], []
        for weights in self._weights():
            of_values.append(_pearson(x, y, weights))
            of_ranks.append(_pearson(_ranks_of_drawn(x, weights), _ranks_of_drawn(y, weights), weights))
        return Correlation(*(of_draws(np.concatenate(found), len(x)) for found in (of_values, of_ranks)))

    def of_means(self, x: Array, y: Array) -> Correlation:
        """
        Correlate the means of systems over the items.

        Each side has the shape (systems, items, 2): total and count of each item.
        """
        if len(x) < FEWEST:
            return _unknown(len(x))
        from scipy.stats import rankdata

        first, second = (np.vstack([_means(side, weights) for weights in self._weights()]) for side in (x, y))
        each = np.ones_like(first)
        one, other = (rankdata(np.round(side, _DIGITS), axis=1) for side in (first, second))
        found = (_pearson(first, second, each), _pearson(one, other, each))
        return Correlation(*(of_draws(values, len(x)) for values in found))


def _means(side: Array, weights: Array) -> Array:
    """Return the mean of each system in each draw, shape (draws, systems)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Array = (weights @ side[:, :, 0].T) / (weights @ side[:, :, 1].T)
    return found


def _unknown(n: int) -> Correlation:
    return Correlation(Estimate(None, None, None, n), Estimate(None, None, None, n))


def _pearson(x: Array, y: Array, weights: Array) -> Array:
    """Return the correlation in each row of *weights* (rows, items); a side has that shape, or that of a row."""
    total = weights.sum(axis=1, keepdims=True)
    x, y = (np.asarray(side - (weights * side).sum(axis=1, keepdims=True) / total) for side in (x, y))
    parts = (np.broadcast_to(1.0, weights.shape), x, y, x * x, y * y, x * y)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = pearson_of_sums(np.stack([(weights * part).sum(axis=1) for part in parts], axis=1))
    return np.where((_largest(x, weights) < _ROUNDING) | (_largest(y, weights) < _ROUNDING), np.nan, found)


def _largest(side: Array, weights: Array) -> Array:
    """Return the largest distance from the mean of what was drawn of a centred side."""
    found: Array = np.where(weights > 0, np.abs(side), 0).max(axis=1)
    return found


def _ranks_of_drawn(side: Array, weights: Array) -> Array:
    """Return the ranks of items in each row of *weights* (rows, items), with an item as often as it was drawn."""
    _, group, n_alike = np.unique(np.round(side, _DIGITS), return_inverse=True, return_counts=True)
    order, starts = np.argsort(group, kind="stable"), np.cumsum(n_alike) - n_alike
    drawn = np.add.reduceat(weights[:, order], starts, axis=1)  # (rows, different values)
    ranks = np.cumsum(drawn, axis=1) - drawn + (drawn + 1) / 2
    found: Array = ranks[:, group]
    return found
