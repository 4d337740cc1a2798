"""Holm's procedure over pairs: its levels, and intervals that say what its verdicts say."""

from __future__ import annotations

import numpy as np
import pytest

from longform.metrics.paired_differences import ALPHA, FamilyTests, family_tests, holm_levels, stepwise_tests
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


def adjusted(*pairs: tuple[Array, Array], seed: int = 1) -> FamilyTests:
    first, second = (np.stack(side, axis=1) for side in zip(*pairs, strict=True))
    return stepwise_tests(first, second, seed=seed)


def test_intervals_exclude_nothing_exactly_if_the_adjusted_p_value_is_small() -> None:
    verdicts = []
    for seed in range(4):
        found = adjusted(
            *(pair(lead, 10 * seed + place) for place, lead in enumerate((0.0, 0.05, 0.07, 0.2))), seed=seed
        )
        apart = np.abs(found.value) > found.half
        assert (apart == (found.p <= ALPHA)).all()
        verdicts += apart.tolist()
    assert 4 <= sum(verdicts) < len(verdicts)


def test_a_single_pair_is_tested_as_a_family_of_one() -> None:
    one = pair(0.1, 3)
    found, alone = adjusted(one), family_tests(one[0][:, None], one[1][:, None], seed=5)
    assert found.value == alone.value == pytest.approx(0.1, abs=0.08)
    assert found.p == found.p_alone == pytest.approx(alone.p, abs=0.01)
    assert found.half == pytest.approx(alone.half, rel=0.02)


def test_six_clusters_suffice_for_one_pair_and_not_for_three() -> None:
    three = adjusted(*(pair(0.5, seed, n=6) for seed in range(3)))
    assert three.few.all()
    assert np.isnan(three.half).all()
    one = adjusted(pair(0.5, 1, n=6))
    assert not one.few.any()
    assert one.value > one.half


def test_a_pair_without_a_cluster_in_common_is_no_member() -> None:
    there, gone = np.ones((30, 2)), np.zeros((30, 2))
    found, (alone,) = adjusted((there, gone), pair(0.05, 1)), adjusted(pair(0.05, 1), seed=1).half
    assert np.isnan(found.value[0])
    assert found.p[1] == found.p_alone[1]
    assert found.half[1] == pytest.approx(alone, rel=0.05), "at the level of a family of one"
