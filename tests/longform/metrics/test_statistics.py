"""Intervals, correlations and tests against known answers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from longform.metrics.statistics import holm, kappa, pearson, pooled_mean


def test_pooled_mean_weighs_rows_by_their_counts() -> None:
    found = pooled_mean(np.array([3.0, 0.0]), np.array([3.0, 1.0]), ["a", "b"], seed=1)

    assert found.value == pytest.approx(3 / 4)
    assert found.n == 4


def test_one_cluster_has_no_interval_and_none_has_no_value() -> None:
    assert pooled_mean(np.array([1.0, 2.0]), np.ones(2), ["a", "a"], seed=1)[:3] == (1.5, None, None)
    assert pooled_mean(np.array([]), np.array([]), [], seed=1)[:3] == (None, None, None)


def test_interval_of_a_mean_covers_as_often_as_it_says() -> None:
    """95 % of intervals of means of 40 clusters hold the true mean; 300 draws leave about +-2.5 %."""
    rng = np.random.default_rng(7)
    covered = 0
    for draw in range(300):
        values = rng.normal(0.3, 1, size=40)
        found = pooled_mean(values, np.ones(40), list(range(40)), seed=draw, resamples=400)
        covered += found.low <= 0.3 <= found.high

    assert 0.90 <= covered / 300 <= 0.98


def test_resampling_clusters_widens_the_interval_where_rows_agree_within_them() -> None:
    rng = np.random.default_rng(3)
    values = np.repeat(rng.normal(size=20), 10)
    rows = pooled_mean(values, np.ones(200), list(range(200)), seed=1)
    clusters = pooled_mean(values, np.ones(200), list(np.repeat(range(20), 10)), seed=1)

    assert clusters.high - clusters.low > 2 * (rows.high - rows.low)


def test_interval_of_a_mean_is_scipys_percentile_interval_but_for_chance() -> None:
    """Clusters of unlike sizes; SciPy resamples their totals and sizes. 20,000 draws leave 2 % of the width."""
    rng = np.random.default_rng(8)
    clusters = rng.integers(0, 40, size=600) // rng.integers(1, 4, size=600)
    values = rng.gamma(2.0, size=600) + 0.05 * clusters
    sums = [np.bincount(clusters, weights=side) for side in (values, np.ones(600))]
    expected = stats.bootstrap(
        sums,
        lambda total, count, axis: total.sum(axis=axis) / count.sum(axis=axis),
        paired=True,
        vectorized=True,
        n_resamples=20_000,
        method="percentile",
        rng=np.random.default_rng(2),
    ).confidence_interval
    found = pooled_mean(values, np.ones(600), clusters.tolist(), seed=1, resamples=20_000)

    near = 0.05 * (expected.high - expected.low)
    assert (found.low, found.high) == (pytest.approx(expected.low, abs=near), pytest.approx(expected.high, abs=near))


def test_pearson_equals_scipy() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(1e6, 1, size=50)  # far from zero: sums of squares would cancel without centring
    y = x + rng.normal(size=50)

    assert pearson(x, y, list(range(50)), seed=1).value == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-9)


def test_pearson_of_a_constant_is_unknown() -> None:
    assert pearson(np.ones(3), np.arange(3.0), [1, 2, 3], seed=1).value is None


def test_kappa_of_a_hand_worked_table() -> None:
    a, b = ["x", "x", "y", "y"], ["x", "y", "y", "y"]
    expected = 2 / 4 * 1 / 4 + 2 / 4 * 3 / 4

    assert kappa(a, b, ["x", "y"], list("abcd"), seed=1).value == pytest.approx((3 / 4 - expected) / (1 - expected))


def test_kappa_is_one_for_equal_labels_and_zero_for_independent_ones() -> None:
    a = ["x", "x", "y", "y"]

    assert kappa(a, a, ["x", "y"], list("abcd"), seed=1).value == pytest.approx(1)
    assert kappa(a, ["x", "y", "x", "y"], ["x", "y"], list("abcd"), seed=1).value == pytest.approx(0)


def test_kappa_and_holm_equal_those_of_statsmodels() -> None:
    from statsmodels.stats import inter_rater, multitest

    rng = np.random.default_rng(6)
    for _ in range(20):
        a, b = rng.integers(0, 3, size=(2, 50))
        table = np.zeros((3, 3))
        np.add.at(table, (a, b), 1)
        expected = inter_rater.cohens_kappa(table, return_results=False)
        one, other = ([str(label) for label in labels] for labels in (a, b))
        found = kappa(one, other, ["0", "1", "2"], list(range(50)), seed=1, resamples=20)
        assert found.value == pytest.approx(expected, abs=1e-9)
        p_values = rng.random(12) ** 4
        assert holm(p_values) == pytest.approx(multitest.multipletests(p_values, method="holm")[1], abs=1e-9)


def test_holm_of_a_hand_worked_family() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == pytest.approx([1.0, 1.0])
