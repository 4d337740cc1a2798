"""All pairs of a family: the same numbers from both sides, as SciPy has them, and groups that no pair splits."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import permutation_test

from longform.metrics.measure import Described
from longform.results.pairs import MOST_GROUPS, MOST_SYSTEMS, Member, PairedFamily, largest_sets


def family(values: np.ndarray, **more: Any) -> PairedFamily:
    """Return the family of systems whose *values*, of shape (clusters, systems), each count once."""
    names = [f"s{place}" for place in range(values.shape[1])]
    rows = [
        {"system": name, "cluster": f"c{at:02}", "total": value, "n": 1.0}
        for at, row in enumerate(values.tolist())
        for name, value in zip(names, row, strict=True)
    ]
    frame = pl.DataFrame(rows, schema={"system": pl.String, "cluster": pl.String, "total": pl.Float64, "n": pl.Float64})
    members = [Member([name]) for name in names]
    return PairedFamily(Described("m"), members, frame, {"n_clusters": len(values)}, seed=1, **more)


def drawn(n_clusters: int, n_systems: int) -> np.ndarray:
    return np.random.default_rng(1).random((n_clusters, n_systems))


def test_every_pair_is_found_at_its_place_and_turns_its_sign_alone() -> None:
    values = drawn(9, 5)
    pairs = family(values)
    for first, second in combinations(range(5), 2):
        one, other = pairs.against(second)[first], pairs.against(first)[second]
        assert one["value"] == pytest.approx((values[:, first] - values[:, second]).mean())
        assert (one["value"], one["half"], one["p"]) == (-other["value"], other["half"], other["p"])


def test_p_of_a_pair_alone_is_that_of_scipys_exact_sign_flips() -> None:
    """Studentised and plain statistics order the sign flips of one sample alike."""
    values = drawn(9, 3)
    for first, second in combinations(range(3), 2):
        differences = values[:, first] - values[:, second]
        exact = permutation_test(
            (differences,),
            lambda x: abs(np.mean(x)),
            permutation_type="samples",
            alternative="greater",
            n_resamples=np.inf,
        )
        assert family(values).against(second)[first]["p_alone"] == pytest.approx(exact.pvalue, abs=1e-9)


def test_of_very_many_systems_only_pairs_with_the_reference_are_tested() -> None:
    values = drawn(7, MOST_SYSTEMS + 1)
    pairs, best = family(values), int(values.mean(axis=0).argmax())
    assert (pairs.has_all_pairs, pairs.groups, pairs.reference) == (False, None, best)
    assert len(pairs.tests) == MOST_SYSTEMS
    assert pairs.against(best)[7]["value"] == pytest.approx((values[:, 7] - values[:, best]).mean())
    assert list(pairs.against(7)) == [best]
    assert len(family(values, most=MOST_SYSTEMS + 1).tests) == MOST_SYSTEMS * (MOST_SYSTEMS + 1) / 2


# ---------------------------------------------------------------- groups


def system(mean: float, spread: float, n: int = 12) -> list[float]:
    return [mean + spread * (1 if place % 2 else -1) for place in range(n)]


def groups(*systems: Sequence[float]) -> list[list[str]] | None:
    found = family(np.array(systems).T if systems else np.zeros((0, 0))).groups
    return None if found is None else [[member.words for member in group] for group in found]


def test_a_system_between_two_that_differ_stands_in_a_group_with_each() -> None:
    """The middle one varies so much that it differs from neither."""
    assert groups(system(0.8, 0.01), system(0.5, 0.5), system(0.2, 0.01)) == [["s0", "s1"], ["s1", "s2"]]


def test_a_system_that_differs_from_all_is_a_group_and_so_are_all_if_nothing_could_be_shown() -> None:
    assert groups(system(0.8, 0.01), system(0.2, 0.01), system(0.2, 0.02)) == [["s0"], ["s1", "s2"]]
    assert groups(system(0.8, 0.01, n=3), system(0.2, 0.01, n=3)) == [["s0", "s1"]]
    assert groups(system(0.8, 0.01)) == [["s0"]]
    assert groups() == []


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
