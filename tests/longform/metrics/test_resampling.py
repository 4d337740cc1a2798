"""Draws of clusters: from the seed alone, as often as chance has it, and the same by sums as by counts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from longform.metrics.statistics import drawn_counts, drawn_places, drawn_sums


def together(parts):
    return np.concatenate(list(parts))


@pytest.mark.parametrize("n", [1, 7, 250, 9000])
def test_the_first_draws_are_the_same_however_many_follow(n: int) -> None:
    few, many = (together(drawn_places(n, seed=3, resamples=size)) for size in (5, 700))
    assert few.shape == (5, n)
    assert many.shape == (700, n)
    assert (many[:5] == few).all()
    assert many.max() < n


def test_another_seed_gives_other_draws() -> None:
    one, other = (together(drawn_counts(40, seed=seed, resamples=20)) for seed in (1, 2))
    assert (one != other).any()


def test_counts_are_those_of_the_places_and_sums_those_of_the_counts() -> None:
    sums = np.random.default_rng(1).normal(size=(30, 5))
    places, counts = (together(draw(30, seed=9, resamples=2500)) for draw in (drawn_places, drawn_counts))
    assert counts.shape == (2500, 30)
    for row in (0, 1091, 1092, 2499):  # 1,092 draws are made at once
        assert counts[row].tolist() == np.bincount(places[row], minlength=30).tolist()
    for width in (1, 2, 5):
        found = together(drawn_sums(sums[:, :width], seed=9, resamples=2500))
        assert found == pytest.approx(counts @ sums[:, :width])


@pytest.mark.parametrize("n", [5, 8193])
def test_every_cluster_is_drawn_as_often_as_every_other(n: int) -> None:
    """Places of 16 and of 32 bits; the chi-square statistic of the counts is no outlier on either side."""
    counts = together(drawn_counts(n, seed=4, resamples=60)).sum(axis=0)
    assert counts.sum() == 60 * n
    assert 1e-4 < stats.chisquare(counts).pvalue < 1 - 1e-4
