"""
Clusters drawn with replacement, as many as there are, for bootstrap intervals.

A statistic of column sums needs only the sums of each draw: a table of the clusters' sums is read at the places drawn,
and rows are never touched. A draw is decided by the seed, by the number of clusters and by its own number. Memory, the
number of cores and the number of draws that follow change nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

_PLACES_AT_ONCE = 1 << 15
"""Places drawn by one call of the generator. A part of the method: another number gives other draws."""
_FEW = 1 << 13  # clusters whose places are drawn in 16 bits, which is twice as fast; at most one in eight is drawn anew


def drawn_places(n: int, *, seed: int, resamples: int) -> Iterator[NDArray[np.integer]]:
    """
    Yield the places of clusters in each draw, shape (draws, n), some draws at a time.

    Args:
        n: Clusters, at least one; a draw has as many.
        seed: Of the generator.
        resamples: Draws in all.
    """
    rng = np.random.default_rng(seed)
    at_once = max(1, _PLACES_AT_ONCE // n)
    kind = np.uint16 if n <= _FEW else np.uint32
    for start in range(0, resamples, at_once):
        # Whole blocks only: the last one has the same draws whether or not more follow.
        yield rng.integers(0, n, size=(at_once, n), dtype=kind)[: resamples - start]


def drawn_counts(n: int, *, seed: int, resamples: int) -> Iterator[NDArray[np.float64]]:
    """Yield how often each cluster stands in each draw of `drawn_places`, shape (draws, n), some draws at a time."""
    for places in drawn_places(n, seed=seed, resamples=resamples):
        m = len(places)
        cells = places + np.arange(0, m * n, n, dtype=np.intp)[:, None]
        yield np.bincount(cells.ravel(), minlength=m * n).reshape(m, n).astype(np.float64)


def drawn_sums(sums: NDArray[np.float64], *, seed: int, resamples: int) -> Iterator[NDArray[np.float64]]:
    """Yield the sums of *sums* (clusters, k) over each draw of `drawn_places`, shape (draws, k), some at a time."""
    if sums.shape[1] != 2:
        for counts in drawn_counts(len(sums), seed=seed, resamples=resamples):
            yield counts @ sums
        return
    # The two columns of a mean are read as one complex number: half the readings.
    pairs = np.ascontiguousarray(sums, dtype=np.float64).view(np.complex128)[:, 0]
    for places in drawn_places(len(sums), seed=seed, resamples=resamples):
        yield pairs.take(places).sum(axis=1).view(np.float64).reshape(-1, 2)
