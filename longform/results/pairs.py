"""
All pairs of the systems of one judge, data set and measure, tested together, with the numbers behind a plan.

One family holds for a whole report: whichever pair a reader picks, its interval, p-value and finding stand in no other
form elsewhere, and which system is the best follows from the same findings. Among more than MOST_SYSTEMS only pairs
with one reference are tested.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, islice
from math import inf
from typing import Any, NamedTuple

import numpy as np

from longform.keys import stable_seed
from longform.metrics.measure import Better
from longform.metrics.paired_differences import (
    ALPHA,
    Difference,
    FamilyTests,
    family_tests,
)
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
_TIED = 1e-11  # of a share
MEASURE = "joint"
"""The measure that systems are compared by if a run has it."""
NOT_DISTINGUISHABLE = "not distinguishable"
TOO_FEW = "too few clusters"


def signs_seed(seed: int) -> int:
    """Return the seed of drawn sign changes, one for all tests of a run: a pair alone is then the same everywhere."""
    return stable_seed(seed, "changes of sign")


@dataclass(frozen=True)
class Pairs:
    """The tests of a family of systems, which are told by their places."""

    places: Mapping[tuple[int, int], int]  # the systems of each test, the first less the second -> its place in `tests`
    reference: int | None  # the one system with which all others are paired; None: every pair is tested
    tests: FamilyTests  # pairs (i, j) of i < j in the order of `itertools.combinations`, or others with the reference

    def difference(self, first: int, second: int) -> Difference | None:
        """
        Return the first less the second system; None if they have no cluster in common.

        Raises:
            KeyError: The pair was not tested.
        """
        turned = (first, second) not in self.places
        return self.tests.difference(self.places[(second, first) if turned else (first, second)], turned=turned)

    @cached_property
    def apart(self) -> Array:
        """The first less the second of systems that are told apart, 0 for others; shape (systems, systems)."""
        one, other = np.array([*self.places]).T
        found = np.zeros((max(one.max(), other.max()) + 1,) * 2)
        found[one, other] = np.where(np.abs(self.tests.value) > self.tests.half, self.tests.value, 0.0)  # NaN: never
        return np.asarray(found - found.T)

    def plan(self, factor: float) -> dict[str, Any]:
        """
        Return the size of differences that the family's tests can show, in the measure's unit; *factor* makes it.

        Beside these stand the clusters for differences of WANTED sizes, None for more than anyone has: for an interval
        of a single difference, and for a difference told from chance by a single test and by those of the family.
        Empty: no pair has a spread.
        """
        n = self.tests.n
        known = (n == n.max(initial=0)) & (self.tests.error > 0)
        if not known.any() or n.max() < 2:
            return {}
        clusters, critical = int(n.max()), self.tests.critical
        spread = factor * float(np.median(self.tests.error[known])) * clusters**0.5
        within = level_of_one(critical, clusters)
        found: dict[str, Any] = {
            "n": clusters,
            "spread": spread,
            "power": POWER,
            "level": ALPHA,
            "critical": None if critical == inf else critical,
            "detectable": detectable(spread=spread, n=clusters, critical=critical_at(ALPHA, clusters)),
            "detectable_in_family": detectable(spread=spread, n=clusters, critical=critical),
        }
        for size in WANTED if factor != 1.0 else ():
            found[f"interval_{size:g}"] = clusters_for_interval(size, spread=spread)
            found[f"difference_{size:g}"] = clusters_for_difference(size, spread=spread)
            found[f"family_{size:g}"] = clusters_for_difference(size, spread=spread, level=within)
        return found


def all_pairs(
    sums: Sequence[Array], *, seed: int, reference: int | None = None, most: int = MOST_SYSTEMS
) -> Pairs | None:
    """
    Test all pairs of systems, or those with the one at the place *reference* if there are more than *most*.

    Without a reference nothing is tested of so many systems. None: there is no pair to test. *sums* holds totals and
    counts of every cluster for each system, shape (clusters, 2); *seed* is that of drawn sign changes.
    """
    n = len(sums)
    if n < 2 or (n > most and reference is None):
        return None
    with_all = None if n <= most else reference
    places = list(combinations(range(n), 2))
    if with_all is not None:
        places = [(place, with_all) for place in range(n) if place != with_all]
    stacked = np.stack(sums, axis=1)  # (clusters, systems, 2)
    first, second = (stacked[:, [pair[side] for pair in places]] for side in (0, 1))
    numbered = {pair: number for number, pair in enumerate(places)}
    return Pairs(numbered, with_all, family_tests(first, second, seed=seed))


class Best(NamedTuple):
    """The best of the systems *among* all, as far as a family's pairs show it; systems by their places."""

    among: Sequence[int]
    leader: int  # the best score of `left`; if each system is beaten by some other, of all
    tied: list[int]  # others of `left` with the leader's score
    left: list[int]  # systems than which no other is shown to be better, ascending
    named: bool  # the leader is shown to be better than each other system
    p: float | None  # the largest p-value of the leader's pairs; None: nothing was tested


def best_of(pairs: Pairs | None, scores: Sequence[float], among: Sequence[int], better: Better) -> Best:
    """
    Return the best of the systems *among* all; of none that is tested, the best score leads and nothing is named.

    *pairs* and *scores* are of all systems; *among* has places, ascending, at least one.
    """
    sign = 1.0 if better == "higher" else -1.0
    shown = sign * pairs.apart > 0 if pairs else np.zeros((len(scores),) * 2, bool)
    left = [place for place in among if not shown[among, place].any()]
    top = max(sign * scores[place] for place in left or among)
    first, *tied = [place for place in left or among if sign * scores[place] > top - _TIED]
    others = [place for place in among if place != first]
    named = bool(others) and bool(shown[first, others].all())
    p = None
    if pairs is not None and others and pairs.reference in (None, first):
        p = max(1.0 if (one := pairs.difference(first, other)) is None else one.p for other in others)
    return Best(among, first, tied, left, named, p)


def finding(found: Difference | None, better: Better | None = "higher", *, too_few: bool = False) -> str:
    """
    Say in words what the test shows of the first system, by a measure of which *better* values are better.

    *too_few*: at the level of its test, fewer clusters than in a family can show a difference.
    """
    if found is None:
        return "no query in common"
    if too_few or found.too_few_clusters:
        return f"{TOO_FEW} ({found.n_clusters}): no difference could be shown"
    if not found.distinguishable:
        return NOT_DISTINGUISHABLE
    if better is None:
        return "higher" if found.value > 0 else "lower"
    return "better" if (found.value > 0) == (better == "higher") else "worse"


# ---------------------------------------------------------------- groups that cannot be told apart


MOST_GROUPS = 200
"""More groups than a reader would follow, and their number may grow with 3 to the third of the systems."""


def groups(sums: Sequence[Array], *, seed: int) -> list[list[int]] | None:
    """Return the groups of systems, each by places and in their order; see `all_pairs`, and `groups_apart`."""
    pairs = all_pairs(sums, seed=seed, most=len(sums))
    return groups_apart(pairs.apart if pairs else np.zeros((len(sums),) * 2))


def groups_apart(apart: Array) -> list[list[int]] | None:
    """Return the groups of systems of which those *apart* differ by something; None: more than MOST_GROUPS."""
    alike = [{*np.flatnonzero(row == 0).tolist()} - {place} for place, row in enumerate(apart)]
    sets = list(islice(largest_sets(alike), MOST_GROUPS + 1))
    return None if len(sets) > MOST_GROUPS else sorted(map(sorted, sets))


def largest_sets(alike: Sequence[Collection[int]]) -> Iterator[frozenset[int]]:
    """
    Yield each largest set of places that are all alike (Bron and Kerbosch, 1973, with a pivot).

    *alike* holds for each place the other places that are like it, and is symmetric.
    """

    def extended(chosen: frozenset[int], open_: set[int], done: set[int]) -> Iterator[frozenset[int]]:
        if not open_ and not done:
            yield chosen
            return
        pivot = max(sorted(open_ | done), key=lambda place: len(open_.intersection(alike[place])))
        for place in sorted(open_.difference(alike[pivot])):
            near = alike[place]
            yield from extended(chosen | {place}, open_.intersection(near), done.intersection(near))
            open_ = open_ - {place}
            done = done | {place}

    if alike:
        yield from extended(frozenset(), set(range(len(alike))), set())
