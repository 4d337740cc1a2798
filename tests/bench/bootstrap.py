"""An interval of a mean over resampled clusters, against `scipy.stats.bootstrap` over the same cluster sums."""

from __future__ import annotations

import numpy as np
from scipy.stats import bootstrap

from longform.metrics.statistics import pooled_mean
from tests.bench.measure import Figure, paired

_ITEMS, _CLUSTERS, _REPLICATES, _ROUNDS = 5000, 250, 10_000, 7


def figures() -> list[Figure]:
    rng = np.random.default_rng(5)
    clusters = rng.integers(0, _CLUSTERS, _ITEMS)
    totals, counts = rng.random(_ITEMS), np.ones(_ITEMS)
    sums = [np.bincount(clusters, weights=side, minlength=_CLUSTERS) for side in (totals, counts)]

    def ours() -> object:
        return pooled_mean(totals, counts, clusters.tolist(), seed=1, resamples=_REPLICATES)

    def reference() -> object:
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

    note = f"{_REPLICATES:,} replicates of {_ITEMS:,} items in {_CLUSTERS} clusters; SciPy by batches of 500"
    return [
        paired(ours, reference, rounds=_ROUNDS).rates(
            "clustered bootstrap", items=_REPLICATES, unit="replicates/s", target=None, note=note
        )
    ]
