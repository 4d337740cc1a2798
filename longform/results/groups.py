"""
Groups of systems that cannot be told apart: every pair is tested, all pairs of a judge and measure as one family.

A group is a largest set of systems of which no pair differs by `longform.metrics.paired_differences`. That two systems
cannot be told apart from a third does not make them alike, so a system may stand in several groups.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import combinations, islice

import numpy as np

from longform.metrics.paired_differences import paired_differences
from longform.metrics.statistics import Array

MOST_GROUPS = 200
"""More groups than a reader would follow, and their number may grow with 3 to the third of the systems."""


def groups(sums: Sequence[Array], *, seed: int) -> list[list[int]] | None:
    """
    Return the groups of systems, each by places and in their order; None if there are more than MOST_GROUPS.

    Args:
        sums: Of each system, totals and counts of every cluster, shape (clusters, 2).
        seed: Of drawn sign changes.
    """
    pairs = list(combinations(range(len(sums)), 2))
    apart: set[tuple[int, int]] = set()
    if pairs:
        first, second = (np.stack([sums[pair[side]] for pair in pairs], axis=1) for side in (0, 1))
        found = paired_differences(first, second, seed=seed)
        apart = {pair for pair, one in zip(pairs, found, strict=True) if one is not None and one.distinguishable}
    return groups_apart(len(sums), apart)


def groups_apart(n: int, apart: Collection[tuple[int, int]]) -> list[list[int]] | None:
    """Return the groups of *n* systems of which the pairs *apart* differ; None if there are more than MOST_GROUPS."""
    places = range(n)
    alike = [{other for other in places if other != one} for one in places]
    for one, other in apart:
        alike[one].discard(other)
        alike[other].discard(one)
    sets = list(islice(largest_sets(alike), MOST_GROUPS + 1))
    return None if len(sets) > MOST_GROUPS else sorted(map(sorted, sets))


def largest_sets(alike: Sequence[Collection[int]]) -> Iterator[frozenset[int]]:
    """
    Yield each largest set of places that are all alike (Bron and Kerbosch, 1973, with a pivot).

    Args:
        alike: Of each place, the other places that are like it; symmetric.
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
