"""Holm's procedure over pairs: its levels, and intervals that say what its verdicts say."""

from __future__ import annotations

import numpy as np
import pytest

from longform.metrics.paired_differences import ALPHA, holm_levels, paired_differences, stepwise_differences
from longform.metrics.statistics import Array


def pair(lead: float, seed: int, n: int = 30) -> tuple[Array, Array]:
    """Two systems over clusters of one count each; the first is better by *lead*."""
    draw = np.random.default_rng(seed)

    def sums(mean: float) -> Array:
        return np.column_stack([mean + draw.normal(0, 0.1, n), np.ones(n)])

    return sums(0.5 + lead), sums(0.5)


def test_the_smallest_p_value_is_tested_at_the_smallest_level_and_all_stop_with_the_first_that_fails() -> None:
    assert holm_levels([0.04, 0.001]) == pytest.approx([ALPHA, ALPHA / 2])
    assert holm_levels([0.03, 0.04, 0.001]) == pytest.approx([ALPHA / 2, ALPHA / 2, ALPHA / 3])
    assert holm_levels([]) == []


def test_intervals_exclude_nothing_exactly_if_the_adjusted_p_value_is_small() -> None:
    found = [one for seed in range(4) for one in stepwise_differences(
        [pair(lead, 10 * seed + place) for place, lead in enumerate((0.0, 0.05, 0.07, 0.2))], seed=seed
    )]  # fmt: skip
    verdicts = []
    for one in found:
        assert one is not None
        assert one.difference.distinguishable == (one.p_holm <= ALPHA)
        verdicts.append(one.difference.distinguishable)
    assert 4 <= sum(verdicts) < len(verdicts)


def test_a_single_pair_is_tested_as_a_family_of_one() -> None:
    one = pair(0.1, 3)
    (found,) = stepwise_differences([one], seed=1)
    assert found is not None
    (alone,) = paired_differences(one[0][:, None], one[1][:, None], seed=5)
    assert alone is not None
    assert found.difference.value == alone.value == pytest.approx(0.1, abs=0.08)
    assert found.p_holm == found.difference.p == pytest.approx(alone.p, abs=0.01)
    assert found.level == ALPHA


def test_six_clusters_suffice_for_one_pair_and_not_for_three() -> None:
    three = stepwise_differences([pair(0.5, seed, n=6) for seed in range(3)], seed=1)
    assert all(one is not None and one.too_few_clusters and one.difference.low is None for one in three)
    (one,) = stepwise_differences([pair(0.5, 1, n=6)], seed=1)
    assert one is not None
    assert not one.too_few_clusters
    assert one.difference.distinguishable


def test_a_pair_without_a_cluster_in_common_is_no_member() -> None:
    apart = (np.array([[1.0, 1.0], [0.0, 0.0]]), np.array([[0.0, 0.0], [1.0, 1.0]]))
    none, alone = stepwise_differences([apart, pair(0.5, 1)], seed=1)
    assert none is None
    assert alone is not None
    assert alone.level == ALPHA
