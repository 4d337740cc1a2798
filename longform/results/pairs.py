"""
All pairs of the systems of one judge, data set and measure, tested together, with the numbers behind a plan.

One family holds for a whole page: whichever pair a reader picks, its interval, p-value and finding stand in no other
form elsewhere. Among more than MOST_SYSTEMS only pairs with one reference are tested.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import inf
from typing import NamedTuple, NotRequired, TypedDict

import numpy as np

from longform.keys import stable_seed
from longform.metrics.best import Contest
from longform.metrics.paired_differences import ALPHA, ENUMERATED, Difference, FamilyTests, family_tests
from longform.metrics.power import (
    POWER,
    clusters_for_difference,
    clusters_for_interval,
    critical_at,
    detectable,
    level_of_one,
)
from longform.metrics.statistics import Array

MOST_SYSTEMS = 100
"""4,950 pairs: a second of tests for each measure, and a tenth of a megabyte of results."""
WANTED = (2.0, 5.0)
"""Differences in points that a plan is told for: near the lead of a good system over the next, and a plain one."""


def signs_seed(seed: int) -> int:
    """Return the seed of drawn sign changes, one for all tests of a run: a pair alone is then the same everywhere."""
    return stable_seed(seed, "changes of sign")


class WantedColumns(TypedDict):
    """Clusters for a wanted size of differences; null: more than anyone has, or nothing could be planned."""

    size: float
    for_interval: int | None  # plus and minus so much, of a single difference
    for_difference: int | None  # a single true difference of this size is told from chance
    for_difference_in_family: int | None  # the same among all tests of the family


class PlanColumns(TypedDict):
    """The size of differences that a family can show, in the measure's unit; null: none."""

    n: int  # clusters
    spread: float  # of a cluster's difference: standard deviation, the median of the pairs
    power: float
    level: float
    critical: NotRequired[float | None]  # |difference| / error that the tests of this family ask for; null: none passes
    detectable: float | None  # by a single test at the level
    detectable_in_family: float | None  # by the tests of this family
    wanted: list[WantedColumns]


class Pairs(NamedTuple):
    """
    The tests of a family of systems, which are told by their places.

    Attributes:
        n: Systems.
        reference: The place of the one system with which all others are paired; None: every pair is tested.
        tests: Pairs (i, j) of i < j in the order of `itertools.combinations`, or the others with the reference.
    """

    n: int
    reference: int | None
    tests: FamilyTests

    def difference(self, first: int, second: int) -> Difference | None:
        """
        Return the first less the second system; None if they have no cluster in common.

        Raises:
            KeyError: The pair was not tested.
        """
        if self.reference is not None:
            if self.reference not in (first, second) or first == second:
                raise KeyError((first, second))
            other = first if second == self.reference else second
            return self.tests.difference(other - (other > self.reference), turned=first == self.reference)
        low, high = sorted((first, second))
        return self.tests.difference(place_of(low, high, self.n), turned=first > second)

    def apart(self) -> set[tuple[int, int]]:
        """Return the pairs (i, j) of i < j that are told apart."""
        found = np.abs(self.tests.value) > self.tests.half  # False beside a NaN
        return {pair for pair, is_apart in zip(combinations(range(self.n), 2), found, strict=True) if is_apart}

    def plan(self, factor: float) -> PlanColumns | None:
        """Return what the family's spread plans for; None: no pair has a spread. *factor* makes the measure's unit."""
        n = self.tests.n
        known = (n == n.max(initial=0)) & (self.tests.error > 0)
        if not known.any() or n.max() < 2:
            return None
        clusters = int(n.max())
        spread = factor * float(np.median(self.tests.error[known])) * clusters**0.5
        critical = self.tests.critical
        within = level_of_one(critical, clusters)
        return {
            "n": clusters,
            "spread": spread,
            "power": POWER,
            "level": ALPHA,
            "critical": None if critical == inf else critical,
            "detectable": detectable(spread=spread, n=clusters, critical=critical_at(ALPHA, clusters)),
            "detectable_in_family": detectable(spread=spread, n=clusters, critical=critical),
            "wanted": [
                {
                    "size": size,
                    "for_interval": clusters_for_interval(size, spread=spread),
                    "for_difference": clusters_for_difference(size, spread=spread),
                    "for_difference_in_family": clusters_for_difference(size, spread=spread, level=within),
                }
                for size in (WANTED if factor != 1.0 else ())
            ],
        }


def place_of(low: int, high: int, n: int) -> int:
    """Return the place of the pair (low, high) in `itertools.combinations` of range(n)."""
    return low * (2 * n - low - 1) // 2 + high - low - 1


def all_pairs(
    sums: Sequence[Array], *, seed: int, reference: int | None = None, contest: Contest | None = None
) -> Pairs | None:
    """
    Test all pairs of systems, or those with *reference* if there are more than MOST_SYSTEMS.

    Args:
        sums: Of each system, totals and counts of every cluster, shape (clusters, 2).
        seed: Of drawn sign changes.
        reference: Its place; None: there is none, and of too many systems nothing is tested.
        contest: The systems of which the best is sought; None: it is not, nor if there are too many.

    Returns:
        None if there is no pair to test.
    """
    n = len(sums)
    if n < 2 or (n > MOST_SYSTEMS and reference is None):
        return None
    every = n <= MOST_SYSTEMS
    places = list(combinations(range(n), 2))
    if not every and reference is not None:
        places = [(place, reference) for place in range(n) if place != reference]
    stacked = np.stack(sums, axis=1)  # (clusters, systems, 2)
    first, second = (stacked[:, [pair[side] for pair in places]] for side in (0, 1))
    tests = family_tests(first, second, seed=seed, contest=contest if every else None)
    return Pairs(n, None if every else reference, tests)


def is_exact(n_clusters: int) -> bool:
    """Return whether every change of sign of so many clusters is made."""
    return n_clusters <= ENUMERATED
