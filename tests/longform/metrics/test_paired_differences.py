"""Families of paired differences: what the interval says is what the test says, and both are right as often as said."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.metrics.paired_differences import ALPHA, family_tests, smallest_p

SHARES = st.sampled_from([0.0, 0.25, 0.5, 1.0])


class Found(NamedTuple):
    """A test of one pair."""

    value: float
    low: float | None
    high: float | None
    p: float
    n_clusters: int
    too_few_clusters: bool

    @property
    def distinguishable(self) -> bool:
        return self.low is not None and not self.low <= 0 <= self.high


def paired_differences(first, second, *, seed: int) -> list[Found | None]:
    """Return a row for each pair of a family; None: it shares no cluster."""
    tests = family_tests(first, second, seed=seed)
    rows = zip(tests.value, tests.half, tests.p, tests.n, tests.few, strict=True)
    return [
        None if np.isnan(value) else Found(value, *_bounds(value, half), p, n, few) for value, half, p, n, few in rows
    ]


def _bounds(value: float, half: float) -> tuple[float | None, float | None]:
    return (None, None) if np.isnan(half) else (value - half, value + half)


def counted_once(values):
    """Values (clusters, pairs) as totals of one row each: (clusters, pairs, 2)."""
    return np.stack([values, np.ones_like(values)], axis=-1)


@st.composite
def families(draw):
    """Few clusters and coarse scores, so that ties and equal statistics are common."""
    n, pairs = draw(st.integers(1, 9)), draw(st.integers(1, 4))
    sides = []
    for _ in range(2):
        counts = np.array(draw(st.lists(st.integers(0, 3), min_size=n * pairs, max_size=n * pairs))).reshape(n, pairs)
        shares = np.array(draw(st.lists(SHARES, min_size=n * pairs, max_size=n * pairs))).reshape(n, pairs)
        sides.append(np.stack([shares * counts, counts], axis=-1).astype(float))
    return sides


@given(families())
def test_interval_excludes_zero_exactly_if_p_is_at_most_the_level(family) -> None:
    for found in paired_differences(*family, seed=1):
        if found is None:
            continue
        excludes = found.low is not None and not found.low <= 0 <= found.high
        assert excludes == (found.p <= ALPHA) == found.distinguishable
        assert found.p >= smallest_p(found.n_clusters) - 1e-12
        if found.low is not None:
            assert found.low - 1e-12 <= found.value <= found.high + 1e-12


@given(families())
def test_systems_that_change_places_change_the_sign_only(family) -> None:
    first, second = family
    for one, other in zip(
        paired_differences(first, second, seed=1), paired_differences(second, first, seed=1), strict=True
    ):
        assert (one is None) == (other is None)
        if one is not None:
            assert (one.value, one.p) == (pytest.approx(-other.value), pytest.approx(other.p))


def test_p_of_one_pair_is_the_share_of_sign_changes_that_reach_it() -> None:
    """The 2**7 sign changes of seven clusters are counted one by one."""
    differences = np.array([0.3, 0.1, 0.4, 0.2, -0.1, 0.5, 0.25])
    reached = [
        abs(np.dot(signs, differences)) >= abs(differences.sum()) - 1e-12
        for signs in itertools.product([1, -1], repeat=7)
    ]
    (found,) = paired_differences(counted_once(differences[:, None]), counted_once(np.zeros((7, 1))), seed=1)

    assert found.p == pytest.approx(np.mean(reached))
    assert found.value == pytest.approx(differences.mean())


def test_smallest_p_is_not_multiplied_by_the_size_of_the_family() -> None:
    """155 systems of which each differs from the reference, by unlike amounts, in each of 16 clusters."""
    rng = np.random.default_rng(3)
    better = counted_once(0.4 + 0.1 * rng.random((16, 155)))
    found = paired_differences(better, counted_once(0.1 * rng.random((16, 155))), seed=1)

    assert all(difference.p <= 0.001 and difference.low > 0 for difference in found)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_few_clusters_show_no_difference_and_bound_none(n: int) -> None:
    rng = np.random.default_rng(n)
    (found,) = paired_differences(counted_once(0.9 + 0.1 * rng.random((n, 1))), counted_once(np.zeros((n, 1))), seed=1)

    assert found.too_few_clusters
    assert (found.low, found.high, found.distinguishable) == (None, None, False)
    assert found.p == pytest.approx(smallest_p(n)) == pytest.approx(2 / 2**n)


def test_six_clusters_are_enough_for_a_steady_difference() -> None:
    (found,) = paired_differences(
        counted_once(np.array([[0.9], [0.8], [0.7], [0.9], [0.8], [0.6]])), counted_once(np.zeros((6, 1))), seed=1
    )

    assert found.p == pytest.approx(2 / 2**6)
    assert found.low > 0


def test_equal_scores_differ_by_nothing() -> None:
    same = counted_once(np.arange(10.0)[:, None] / 10)
    (found,) = paired_differences(same, same, seed=1)

    assert found[:4] == (0, 0, 0, 1)


def test_pair_without_a_common_cluster_has_no_difference() -> None:
    there, gone = counted_once(np.ones((8, 1))), np.zeros((8, 1, 2))

    assert paired_differences(there, gone, seed=1) == [None]


def test_clusters_count_by_their_rows() -> None:
    """Pooled: 10 of 12 rows less 1 of 12, though the middle of the clusters says otherwise."""
    first = np.array([[[9.0, 9.0]], [[1.0, 3.0]]])
    second = np.array([[[0.0, 9.0]], [[1.0, 3.0]]])
    (found,) = paired_differences(first, second, seed=1)

    assert found.value == pytest.approx(9 / 12)


# ---------------------------------------------------------------- how often it is right


def simulated(rng, *, clusters: int, systems: int, noise: float = 0.15, leads=0.0):
    """Scores in which clusters differ much, systems only by *leads*, and noise is skewed; the reference comes apart."""
    hard = rng.beta(2, 2, size=(clusters, 1))
    own = rng.gamma(1.0, noise, size=(clusters, systems + 1)) - noise
    scores = hard + own
    return counted_once(scores[:, 1:] + leads), counted_once(np.repeat(scores[:, :1], systems, axis=1))


@pytest.mark.parametrize(("clusters", "systems"), [(8, 20), (10, 40)])
def test_a_family_without_any_difference_is_seldom_told_to_have_one(clusters: int, systems: int) -> None:
    """At 5 %, of 200 families 10 are expected; 23 are more than four standard deviations off."""
    rng = np.random.default_rng(clusters)
    wrong = sum(
        any(
            found.distinguishable
            for found in paired_differences(*simulated(rng, clusters=clusters, systems=systems), seed=draw)
        )
        for draw in range(200)
    )

    assert wrong <= 22


def test_true_nulls_beside_great_differences_are_seldom_told_apart() -> None:
    """Ten systems are 0.5 better: they must not make the other ten look different."""
    rng = np.random.default_rng(11)
    leads = np.array([0.5] * 10 + [0.0] * 10)
    wrong = 0
    for draw in range(150):
        found = paired_differences(*simulated(rng, clusters=10, systems=20, leads=leads), seed=draw)
        wrong += any(difference.distinguishable for difference in found[10:])

    assert wrong <= 18


def test_a_planted_difference_is_found_among_many_systems() -> None:
    """0.3 in 13 clusters, with a noise of 0.21 in each: of 40 families, most find it."""
    rng = np.random.default_rng(5)
    leads = np.array([0.3] + [0.0] * 76)
    found = [
        paired_differences(*simulated(rng, clusters=13, systems=77, leads=leads), seed=draw)[0] for draw in range(40)
    ]

    assert sum(difference.distinguishable and difference.value > 0 for difference in found) >= 24


def test_intervals_of_a_family_hold_their_differences_together() -> None:
    """Among 150 families, 7 or 8 are expected with an interval that misses its true difference."""
    rng = np.random.default_rng(13)
    leads = np.linspace(-0.4, 0.4, 10)
    missed = 0
    for draw in range(150):
        found = paired_differences(*simulated(rng, clusters=12, systems=10, leads=leads), seed=draw)
        missed += any(not f.low <= lead <= f.high for f, lead in zip(found, leads, strict=True))

    assert missed <= 18
