"""Groups of systems that cannot be told apart: largest sets without a pair that differs."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from longform.results.pairs import MOST_GROUPS, groups, largest_sets


def system(mean: float, spread: float, n: int = 12) -> np.ndarray:
    values = mean + spread * np.where(np.arange(n) % 2, 1.0, -1.0)
    return np.stack([values, np.ones(n)], axis=1)


def test_a_system_between_two_that_differ_stands_in_a_group_with_each() -> None:
    """The middle one varies so much that it differs from neither."""
    assert groups([system(0.8, 0.01), system(0.5, 0.5), system(0.2, 0.01)], seed=1) == [[0, 1], [1, 2]]


def test_a_system_that_differs_from_all_is_a_group_and_so_are_all_if_nothing_could_be_shown() -> None:
    assert groups([system(0.8, 0.01), system(0.2, 0.01), system(0.2, 0.02)], seed=1) == [[0], [1, 2]]
    assert groups([system(0.8, 0.01, n=3), system(0.2, 0.01, n=3)], seed=1) == [[0, 1]]
    assert groups([system(0.8, 0.01)], seed=1) == [[0]]
    assert groups([], seed=1) == []


def test_largest_sets_are_those_that_a_search_of_all_subsets_finds() -> None:
    draw = np.random.default_rng(3)
    for n in range(1, 11):
        near = np.triu(draw.random((n, n)) < 0.6, 1)
        alike = [{other for other in range(n) if near[one, other] or near[other, one]} for one in range(n)]
        sets = [
            set(some)
            for size in range(1, n + 1)
            for some in combinations(range(n), size)
            if all(two in alike[one] for one, two in combinations(some, 2))
        ]
        expected = {frozenset(one) for one in sets if not any(one < other for other in sets)}
        found = list(largest_sets(alike))
        assert len(found) == len(set(found))
        assert set(found) == expected


def test_more_groups_than_a_reader_would_follow_are_none() -> None:
    n = 15  # five triples, each alike to all but its own: 3**5 groups
    alike = [{other for other in range(n) if other // 3 != one // 3} for one in range(n)]
    assert len(list(largest_sets(alike))) == 3**5 > MOST_GROUPS
