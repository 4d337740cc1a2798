"""
An interval of a mean over resampled clusters, against `scipy.stats.bootstrap` on the same data.

SciPy knows no clusters. It is given the items, as if they were independent: with `batch=50`, at which it is fastest
here, and as it is called without a batch. It is then given what ours resamples, the total and the size of each cluster.
The last figure has a cluster for each item, where nothing is gained by summing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy.stats import bootstrap

from longform.metrics.statistics import Array, pooled_mean
from tests.bench.measure import Figure, paired

_ITEMS, _CLUSTERS, _REPLICATES, _ROUNDS = 5000, 250, 10_000, 7
_TARGET = 20.0


def figures() -> list[Figure]:
    return list(_figures())


def _figures() -> Iterator[Figure]:
    rng = np.random.default_rng(5)
    values = rng.random(_ITEMS)
    sizes = rng.gamma(2.0, size=_CLUSTERS)  # a few small, a few large ones
    clusters = rng.choice(_CLUSTERS, _ITEMS, p=sizes / sizes.sum())
    lead = f"{_REPLICATES:,} replicates of {_ITEMS:,} items in {len(np.unique(clusters))} clusters; SciPy given"
    ours = _ours(values, clusters)
    for what, reference, rounds, target in (
        ("items, batch 50", _of_items(values, 50), _ROUNDS, _TARGET),
        ("items, no batch", _of_items(values, None), 2, None),
        ("sums of clusters, batch 500", _of_sums(values, clusters), _ROUNDS, None),
    ):
        yield paired(ours, reference, rounds=rounds).rates(
            "clustered bootstrap", items=_REPLICATES, unit="replicates/s", target=target, note=f"{lead} {what}"
        )
    alone = paired(_ours(values, np.arange(_ITEMS)), _of_items(values, 50), rounds=_ROUNDS)
    note = f"{_REPLICATES:,} replicates of {_ITEMS:,} items, each its own cluster; SciPy given items, batch 50"
    yield alone.rates("bootstrap of items", items=_REPLICATES, unit="replicates/s", target=None, note=note)


def _ours(values: Array, clusters: np.ndarray) -> Callable[[], object]:
    labels, counts = clusters.tolist(), np.ones(len(values))
    return lambda: pooled_mean(values, counts, labels, seed=1, resamples=_REPLICATES)


def _of_items(values: Array, batch: int | None) -> Callable[[], object]:
    def work() -> object:
        rng = np.random.default_rng(1)
        return bootstrap((values,), np.mean, n_resamples=_REPLICATES, batch=batch, method="percentile", rng=rng)

    return work


def _of_sums(values: Array, clusters: np.ndarray) -> Callable[[], object]:
    sums = [np.bincount(clusters, weights=side, minlength=_CLUSTERS) for side in (values, np.ones(len(values)))]

    def work() -> object:
        return bootstrap(
            sums,
            lambda total, count, axis: total.sum(axis=axis) / count.sum(axis=axis),
            paired=True,
            vectorized=True,
            n_resamples=_REPLICATES,
            batch=500,
            method="percentile",
            rng=np.random.default_rng(1),
        )

    return work
