"""Correlations with intervals over clusters, against scipy's on samples that are drawn by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from longform.metrics.correlation import Resampling
from longform.metrics.statistics import drawn_counts

X = np.array([0.1, 0.4, 0.4, 0.8, 0.9, 0.2])
Y = np.array([1.0, 3.0, 2.0, 2.0, 5.0, 1.5])


def test_values_are_scipy_s() -> None:
    found = Resampling("abcdef", seed=1, resamples=50).of_items(X, Y)
    assert found.pearson.value == pytest.approx(stats.pearsonr(X, Y).statistic)
    assert found.spearman.value == pytest.approx(stats.spearmanr(X, Y).statistic)
    assert found.pearson.n == 6


def test_each_draw_is_the_correlation_of_the_items_that_were_drawn() -> None:
    """An item drawn twice counts twice, in ranks too."""
    clusters = ["p", "p", "q", "r", "r", "s"]
    counts = np.concatenate(list(drawn_counts(4, seed=3, resamples=200))).astype(int)
    place = {"p": 0, "q": 1, "r": 2, "s": 3}
    drawn = [np.repeat(np.arange(6), [row[place[cluster]] for cluster in clusters]) for row in counts]
    found = Resampling(clusters, seed=3, resamples=200).of_items(X, Y)
    for estimate, by_scipy in ((found.pearson, stats.pearsonr), (found.spearman, stats.spearmanr)):
        values = [by_scipy(X[one], Y[one]).statistic for one in drawn if np.ptp(X[one]) > 0 < np.ptp(Y[one])]
        assert (estimate.low, estimate.high) == pytest.approx(tuple(np.quantile(values, [0.025, 0.975])))


def test_systems_are_correlated_by_their_means_over_the_same_draws() -> None:
    """Four systems, five queries; the third query has no score in the second system."""
    rng = np.random.default_rng(0)
    x, y = (np.stack([rng.random((4, 5)), np.ones((4, 5))], axis=2) for _ in range(2))
    x[1, 2] = y[1, 2] = 0
    found = Resampling(range(5), seed=1, resamples=100).of_means(x, y)
    means = [side[:, :, 0].sum(axis=1) / side[:, :, 1].sum(axis=1) for side in (x, y)]
    assert found.pearson.value == pytest.approx(stats.pearsonr(*means).statistic)
    assert found.spearman.value == pytest.approx(stats.spearmanr(*means).statistic)
    assert found.pearson.low is not None
    assert found.pearson.low <= found.pearson.value <= (found.pearson.high or 0)


def test_means_that_differ_by_rounding_alone_are_tied() -> None:
    """Three systems: the sums of the first two differ in the last bit."""
    totals = np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.9, 0.9, 0.9]])
    assert totals[0].sum() != totals[1].sum()
    x = np.stack([totals, np.ones_like(totals)], axis=2)
    y = np.stack([np.array([[3.0] * 3, [1.0] * 3, [2.0] * 3]), np.ones_like(totals)], axis=2)
    assert Resampling(range(3), seed=1, resamples=0).of_means(x, y).spearman.value == pytest.approx(0)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_of_less_than_three_points_nothing_is_known(n: int) -> None:
    found = Resampling(range(n), seed=1, resamples=100).of_items(X[:n], Y[:n])
    assert found.pearson == found.spearman == (None, None, None, n)


def test_a_constant_side_has_no_correlation() -> None:
    found = Resampling("abcdef", seed=1, resamples=100).of_items(np.full(6, 0.3), Y)
    assert (found.pearson.value, found.spearman.value) == (None, None)


def test_one_cluster_has_no_interval() -> None:
    found = Resampling("aaaaaa", seed=1, resamples=100).of_items(X, Y)
    assert found.pearson.value is not None
    assert (found.pearson.low, found.pearson.high) == (None, None)
