"""The best of several systems: as SciPy tests two, as counting tests several, and as often right as said."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import permutation_test

from longform.metrics.best import Contest
from longform.metrics.paired_differences import ALPHA
from longform.results.pairs import Pairs, all_pairs


def all_of(values, places=None, *, higher=True) -> Pairs:
    """Test all pairs of systems whose scores (clusters, systems) count one row a cluster."""
    n = values.shape[1]
    sums = [np.column_stack([values[:, place], np.ones(len(values))]) for place in range(n)]
    found = all_pairs(sums, seed=1, contest=Contest(tuple(range(n)) if places is None else places, higher))
    assert found is not None
    return found


def best(values, places=None, **how):
    return all_of(values, places, **how).tests.best


def scipys_p(differences) -> float:
    return permutation_test(
        (differences,),
        lambda x: abs(np.mean(x)),
        permutation_type="samples",
        alternative="greater",
        n_resamples=np.inf,
    ).pvalue


def test_of_two_systems_the_lower_one_has_scipys_p() -> None:
    values = np.random.default_rng(4).random((9, 2)) + np.array([0.0, 0.6])
    found = best(values)
    expected = scipys_p(values[:, 0] - values[:, 1])
    assert found.leader == 1
    assert found.p == pytest.approx(expected, abs=1e-9)
    assert found.p_values == {0: pytest.approx(expected, abs=1e-9), 1: 1.0}


def test_the_p_of_a_name_is_the_largest_of_the_leaders_by_scipy() -> None:
    values = np.random.default_rng(9).random((10, 5)) + np.array([0.1, 0.0, 0.8, 0.2, 0.3])
    found = best(values)
    each = [scipys_p(values[:, 2] - values[:, other]) for other in (0, 1, 3, 4)]
    assert found.leader == 2
    assert found.p == pytest.approx(max(each), abs=1e-9)
    assert found.named == (max(each) <= ALPHA)


def test_the_p_of_each_set_is_the_share_of_sign_changes_that_reach_it() -> None:
    """The 2**7 sign changes are made one by one, and the largest studentised difference of each set is taken."""
    values = np.random.default_rng(2).random((7, 4)) + np.array([0.0, 0.1, 0.2, 0.3])
    found = best(values)

    def largest(signs, systems) -> float:
        sizes = []
        for one, other in combinations(systems, 2):
            differences = signs * (values[:, one] - values[:, other])
            sizes.append(abs(differences.mean()) / differences.std(ddof=1))
        return max(sizes)

    left = set(range(4))
    running = 0.0
    for place in sorted(found.p_values, key=lambda place: (found.p_values[place], -values[:, place].mean())):
        if len(left) > 1:
            own = largest(np.ones(7), left)
            reached = [largest(np.array(signs), left) >= own - 1e-9 for signs in product([1, -1], repeat=7)]
            running = max(running, np.mean(reached))
            assert found.p_values[place] == pytest.approx(running)
            left -= {place}


def test_a_named_system_rules_out_all_others_and_a_lower_value_may_be_the_better_one() -> None:
    rng = np.random.default_rng(1)
    values = 0.5 + 0.02 * rng.normal(size=(12, 6)) + np.array([0, 0, 0, 0.3, 0, -0.3])
    assert (best(values).leader, best(values).named, best(values).left) == (3, True, [3])
    lower = best(values, higher=False)
    assert (lower.leader, lower.named, lower.left) == (5, True, [5])
    among = best(values, (0, 1, 5))
    assert among.leader in (0, 1)
    assert set(among.p_values) == {0, 1, 5}
    assert among.left == [0, 1]


def test_nothing_is_said_of_few_clusters_of_one_system_or_by_no_direction() -> None:
    values = np.random.default_rng(1).random((5, 3))
    assert best(values) is None
    many = np.random.default_rng(1).random((8, 3))
    assert best(many, (1,)) is None
    sums = [np.column_stack([many[:, place], np.ones(8)]) for place in range(3)]
    assert all_pairs(sums, seed=1).tests.best is None


def test_systems_of_the_same_scores_are_not_ruled_out() -> None:
    values = np.repeat(np.random.default_rng(1).random((8, 1)), 3, axis=1)
    found = best(values)
    assert (found.named, found.left) == (False, [0, 1, 2])


# ---------------------------------------------------------------- how often it is right


def noise(rng, clusters: int, systems: int):
    """Clusters that are hard or easy for all, and skewed noise of a standard deviation of 9 points."""
    return 15 * rng.normal(size=(clusters, 1)) + 9 * (rng.gamma(1.0, size=(clusters, systems)) - 1)


@pytest.mark.parametrize(
    ("leads", "n"),
    [([0.0] * 12, 200), ([0.0, 0.0] + [-60.0] * 6, 400), ([0.0, 0.0, 0.0] + [-60.0] * 5, 400)],
    ids=["all equal", "two best", "three best"],
)
def test_equally_good_systems_are_seldom_ruled_out_and_none_is_named(leads, n: int) -> None:
    """At 5 %, three standard deviations over the number that is expected."""
    rng = np.random.default_rng(len(leads))
    equal = leads.count(0.0)
    wrong = 0
    for _ in range(n):
        found = best(noise(rng, 9, len(leads)) + leads)
        wrong += found.named or not set(range(equal)) <= set(found.left)
    assert wrong <= 0.05 * n + 3 * (0.05 * 0.95 * n) ** 0.5


def test_a_leader_is_named_whom_the_tests_of_all_pairs_do_not_tell_from_all_others() -> None:
    """15 points over 11 equal systems, 14 queries."""
    rng = np.random.default_rng(3)
    named = all_told = 0
    for _ in range(40):
        found = all_of(noise(rng, 14, 12) + np.array([15.0, *[0.0] * 11]))
        named += found.tests.best.named and found.tests.best.leader == 0
        all_told += sum(0 in pair for pair in found.apart()) == 11
    assert named >= 24
    assert all_told <= 12
