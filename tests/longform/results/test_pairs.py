"""All pairs of a family: the same numbers from both sides, and as SciPy has them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import permutation_test

from longform.results.pairs import MOST_SYSTEMS, all_pairs


def sums(n_clusters: int, n_systems: int, seed: int = 1):
    values = np.random.default_rng(seed).random((n_clusters, n_systems))
    return values, [np.column_stack([values[:, place], np.ones(n_clusters)]) for place in range(n_systems)]


def test_every_pair_is_found_at_its_place_and_turns_its_sign_alone() -> None:
    values, given = sums(9, 5)
    pairs = all_pairs(given, seed=1)
    for first, second in combinations(range(5), 2):
        one, other = pairs.difference(first, second), pairs.difference(second, first)
        assert one.value == pytest.approx((values[:, first] - values[:, second]).mean())
        assert (one.value, one.low, one.p) == (-other.value, -other.high, other.p)


def test_p_of_a_pair_alone_is_that_of_scipys_exact_sign_flips() -> None:
    """Studentised and plain statistics order the sign flips of one sample alike."""
    values, given = sums(9, 3)
    pairs = all_pairs(given, seed=1)
    for first, second in combinations(range(3), 2):
        differences = values[:, first] - values[:, second]
        exact = permutation_test(
            (differences,),
            lambda x: abs(np.mean(x)),
            permutation_type="samples",
            alternative="greater",
            n_resamples=np.inf,
        )
        assert pairs.difference(first, second).p_alone == pytest.approx(exact.pvalue, abs=1e-9)


def test_of_very_many_systems_only_pairs_with_the_reference_are_tested() -> None:
    values, given = sums(7, MOST_SYSTEMS + 1)
    assert all_pairs(given, seed=1) is None
    pairs = all_pairs(given, seed=1, reference=3)
    assert pairs.difference(3, 7).value == pytest.approx((values[:, 3] - values[:, 7]).mean())
    assert pairs.difference(1, 3).value == pytest.approx((values[:, 1] - values[:, 3]).mean())
    with pytest.raises(KeyError):
        pairs.difference(1, 2)
