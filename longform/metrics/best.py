"""
The best of several systems: one that can be named, and those that cannot be ruled out.

To say which system is the best, it need not be known which of the others differ. Both questions below are therefore
answered with fewer systems than by the tests of all pairs, each at the level of one test.

Ruled out. The systems that are left are tested as a family of pairs, by the largest statistic of any pair (max-T under
changes of sign: `longform.metrics.paired_differences`). If the largest is told from chance, the system that is beaten
by most is ruled out, and those that are left are tested as a smaller family, with a smaller critical value, until no
pair differs: the model confidence set of Hansen, Lunde and Nason (Econometrica 79, 2011), its tests those of a
step-down procedure (Romano and Wolf, JASA 100, 2005). A system's p-value is the largest of the tests that were made
until it was ruled out. In about 95 of 100 cases no system that is best is ruled out.

Named. The leader is the best if it differs from each other system by the test of that pair alone, without an
adjustment: to name a wrong one, a system must beat all others, the true best among them, and be ahead by chance in
each comparison. The worst case are two that are equally good, far ahead of the rest, and it has the level of one test
(Gutmann and Maymin, Is the Selected Population the Best?, Annals of Statistics 15, 1987; Hung and Fithian, Rank
Verification for Exponential Families, Annals of Statistics 47, 2019). If one is named, all others are ruled out.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from longform.metrics.statistics import Array


class Contest(NamedTuple):
    """
    The systems among which the best is sought.

    Attributes:
        places: Among all systems of a family of pairs, ascending.
        higher: Whether higher values are better; False: lower ones are.
    """

    places: tuple[int, ...]
    higher: bool


class Nested(NamedTuple):
    """
    Smaller and smaller sets of systems, each without the one that the set before it ruled out.

    Attributes:
        order: Systems by their places, the first to be ruled out first; the last is the leader.
        pairs: Of each system with those after it, in that order, as places among the family's pairs.
        starts: The first of `pairs` of each system but the leader.
    """

    order: NDArray[np.intp]
    pairs: NDArray[np.intp]
    starts: NDArray[np.intp]

    @classmethod
    def of(cls, contest: Contest, n: int, signed: Array) -> Nested:
        """
        Order the systems of a contest.

        Args:
            contest: Two systems or more.
            n: Systems of the family.
            signed: Statistics of its pairs (i, j) of i < j, above 0 if i is higher, in the order of `combinations`.
        """
        ahead = np.zeros((n, n))
        first, second = np.array(list(combinations(range(n), 2))).T
        turned = 1.0 if contest.higher else -1.0
        ahead[first, second], ahead[second, first] = turned * signed, -turned * signed
        order = np.array(_out_first(ahead, contest.places), dtype=np.intp)
        place = np.zeros((n, n), dtype=np.intp)
        place[first, second] = place[second, first] = np.arange(len(first))
        pairs = [place[order[step], order[step + 1 :]] for step in range(len(order) - 1)]
        starts = np.cumsum([0, *map(len, pairs[:-1])])
        return cls(order, np.concatenate(pairs), starts)

    def largest(self, statistics: Array) -> Array:
        """Return the largest statistic in each set, shape (tosses, systems less 1), from those of all pairs."""
        of_each = np.maximum.reduceat(statistics[:, self.pairs], self.starts, axis=1)
        return np.maximum.accumulate(of_each[:, ::-1], axis=1)[:, ::-1]


def _out_first(ahead: Array, places: Sequence[int]) -> list[int]:
    """Return *places* in the order in which they are ruled out: the one that any other of those left beats by most."""
    left, found = list(places), []
    while left:
        beaten = ahead[np.ix_(left, left)].max(axis=0)
        found.append(left.pop(int(beaten.argmax())))
    return found


class Best(NamedTuple):
    """
    A contest decided; systems by their places.

    Attributes:
        leader: Ahead of all others.
        p: The largest p-value of its pairs, each by itself.
        named: Whether it is the best.
        p_values: Of each system of the contest: that it is among the best; 1 of the leader.
        left: Systems that are not ruled out, ascending.
    """

    leader: int
    p: float
    named: bool
    p_values: dict[int, float]
    left: list[int]


def best_of_contest(nested: Nested, p_steps: Array, p_alone: Array, *, alpha: float) -> Best:
    """
    Conclude from the tests of a contest.

    Args:
        nested: Its sets.
        p_steps: The p-value of each set.
        p_alone: Of each pair of the family, by itself.
        alpha: The level.
    """
    ends = [*nested.starts[1:], len(nested.pairs)]  # the last pair of each system is that with the leader
    p = float(p_alone[nested.pairs[np.array(ends) - 1]].max())
    leader = int(nested.order[-1])
    of_each = [*np.maximum.accumulate(p_steps).tolist(), 1.0]
    p_values = {int(place): float(value) for place, value in zip(nested.order, of_each, strict=True)}
    named = p <= alpha
    left = [leader] if named else sorted(place for place, value in p_values.items() if value > alpha)
    return Best(leader, p, named, p_values, left)
