"""
Differences of pairs of systems over the same clusters, tested and estimated together as one family.

A family is every difference that is read together: those of one judge and one measure.

Test. If two systems are alike, they may change places within each cluster, so the sign of a cluster's difference is a
coin's. A coin is tossed for each cluster and holds for all pairs of the family, which keeps the dependence between
pairs. The statistic of a pair is its difference over its standard error. Its p-value is the share of tosses whose
largest statistic of the family reaches it: the single-step max-T procedure of Westfall and Young (Resampling-Based
Multiple Testing, 1993, chapter 2), with sign changes as in Romano and Wolf (Exact and Approximate Stepdown Methods for
Multiple Hypothesis Testing, JASA 100, 2005). The smallest possible p-value of n clusters is therefore 2 / 2**n, however
many pairs the family has. Up to ENUMERATED clusters every toss is made, else DRAWS are drawn and the observed signs
count as one more. A single pair's p-value is exact if its systems are exchangeable within clusters. The family's error
rate is kept exactly if the differences of a cluster change their signs together, and for many clusters in any case.

Interval. The difference plus and minus the critical value of that test times the standard error. It excludes 0 exactly
if the p-value is at most ALPHA, and all intervals of a family hold their differences together in 95 of 100 cases.

Means are ratios of sums. If the systems of a pair count differently many rows in a cluster (unjudged ones), the
differences of clusters are those of the linearised ratio.

Pairs that are not read as one family by max-T are tested alone and adjusted by Holm's procedure
(`stepwise_tests`; Sonja Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of
Statistics 6, 1979). The pair with the k-th smallest p-value of m is tested at ALPHA / (m - k + 1), and all after the
first that fails fail too. Each pair's interval is at the level at which the procedure tested it; those after the first
that fails are at that one's level. So here, too, an interval excludes 0 exactly if the adjusted p-value is at most
ALPHA.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from longform.keys import stable_seed
from longform.metrics.statistics import LEVEL, Array, holm

ALPHA = 1 - LEVEL
ENUMERATED = 14
"""Most clusters whose sign changes are all made: 2**13, as a toss and its opposite have the same statistic."""
DRAWS = 9_999

_AT_ONCE = 1024  # tosses
_STATISTICS_AT_ONCE = 50_000  # tosses of pairs: arrays of 400 kB, which a processor's cache holds
_SIGNS_AT_ONCE = 500_000  # tosses of clusters: 4 MB, however many clusters
_SAME = 1e-10  # of statistics in [0, 1] that differ by rounding only
_NOTHING = 1e-14  # of a cluster's difference, which is a share
_SAME_LEVEL = 1e-12  # of levels that differ by rounding only


def smallest_p(n_clusters: int) -> float:
    """The p-value of a difference that no other sign change reaches."""
    return 2.0 ** (1 - n_clusters) if n_clusters <= ENUMERATED else 1 / (DRAWS + 1)


def n_sign_changes(n_clusters: int) -> int:
    """Return the number of sign changes that test a family of so many clusters, the observed signs included."""
    return 2**n_clusters if n_clusters <= ENUMERATED else DRAWS + 1


class FamilyTests(NamedTuple):
    """All tests of a family, an entry a pair."""

    value: Array  # first less second; NaN for a pair that shares no cluster
    half: Array  # half the width of its interval; NaN: so few clusters bound nothing
    error: Array  # standard error; NaN: a single cluster has none
    p: Array  # adjusted for the family
    p_alone: Array  # for the pair as a family of its own, by the same changes of sign
    n: NDArray[np.int64]  # clusters that both systems have
    few: NDArray[np.bool_]  # too few clusters for any difference to be shown
    # smallest |value| / error that is told from chance, in a pair with all clusters; inf: none would be
    critical: float


def family_tests(first: Array, second: Array, *, seed: int, alpha: float = ALPHA) -> FamilyTests:
    """
    Test the differences of a family's pairs, first less second.

    Memory is that of a few arrays of _STATISTICS_AT_ONCE numbers and of the sums, however many sign changes there are.

    *first* has the total and count of each pair's first system, shape (clusters, pairs, 2); a count of 0: not there.
    *second* has the same of the second systems. Intervals agree with a test at level *alpha*.
    """
    shared = (first[..., 1] > 0) & (second[..., 1] > 0)  # (clusters, pairs)
    used = shared.any(axis=1)
    first, second, shared = first[used], second[used], shared[used]
    if not len(shared):
        nothing = np.full(shared.shape[1], np.nan)
        none = np.zeros(shared.shape[1], np.int64)
        return FamilyTests(nothing, nothing, nothing, nothing, nothing, none, none == 0, np.inf)
    found = _Contributions.of(first, second, shared)
    same = np.ones((1, len(shared)))
    (value,), (left,) = found.moments(same)
    own = found.statistics(same)[0]
    few = np.array([smallest_p(int(n)) > alpha for n in found.n])
    largest, reached = found.changed(_signs(len(shared), seed), own)
    critical = largest[::-1][int(alpha * len(largest) + _SAME)]  # the largest value that is not rejected
    p = (len(largest) - np.searchsorted(largest, own - _SAME)) / len(largest)
    moved, there = (value != 0) | (left > 0), found.n > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = critical / (1 - critical) if critical < 1 - _SAME else np.nan
        half = np.where(moved, np.sqrt(left * factor), 0.0)
        # The floor holds an interval to its p if the two are equal but for rounding.
        half = np.where(p > alpha, np.fmax(half, np.abs(value)), half)
        half = np.where(few | ~there | (moved & np.isnan(factor)), np.nan, half)
        error = np.where(found.n > 1, np.sqrt(left * found.n / (found.n - 1)), np.nan)
    n = len(shared)
    limit = float(np.sqrt((n - 1) / n * factor)) if n > 1 and not np.isnan(factor) else np.inf
    value, p_alone = np.where(there, value, np.nan), reached / len(largest)
    return FamilyTests(value, half, error, p, p_alone, found.n, few, limit)


class _Contributions(NamedTuple):
    """Contributions of each cluster to each pair's difference."""

    parts: Array  # shape (clusters, pairs); their sum over clusters is the difference
    weights: Array  # shares of the clusters in the counts, of the same shape; they sum to 1
    n: NDArray[np.int64]  # clusters of each pair, shape (pairs,)

    @classmethod
    def of(cls, first: Array, second: Array, shared: NDArray[np.bool_]) -> _Contributions:
        parts, weights = np.zeros(shared.shape), np.zeros(shared.shape)
        difference = np.zeros(shared.shape[1])
        for sign, side in ((1.0, first), (-1.0, second)):
            totals, counts = (np.where(shared, side[..., place], 0.0) for place in (0, 1))
            n = np.maximum(counts.sum(axis=0), 1e-300)
            mean = totals.sum(axis=0) / n
            parts += sign * (totals - mean * counts) / n
            weights += counts / n / 2
            difference += sign * mean
        parts += difference * weights
        parts[np.abs(parts) < _NOTHING] = 0.0
        return cls(parts, weights, shared.sum(axis=0))

    def moments(self, signs: Array) -> tuple[Array, Array]:
        """The differences under *signs* (tosses, clusters), and the sums of squares left: each (tosses, pairs)."""
        difference = signs @ self.parts
        crossed = signs @ (self.parts * self.weights)
        squares, weights = (self.parts**2).sum(axis=0), (self.weights**2).sum(axis=0)
        return difference, np.maximum(squares - 2 * difference * crossed + difference**2 * weights, 0.0)

    def statistics(self, signs: Array) -> Array:
        """d² / (d² + rest), which grows with |difference| / standard error and is bounded: (tosses, pairs)."""
        difference, left = self.moments(signs)
        total = difference**2 + left
        return np.divide(difference**2, total, out=np.zeros_like(total), where=total > 0)

    def changed(self, signs: Iterable[Array], own: Array) -> tuple[Array, Array]:
        """
        Return what changes of sign give.

        *signs* are of shape (tosses, clusters) each; *own* is the statistic of each pair as observed.

        Returns:
            The largest statistic of any pair under each toss, ascending; and for each pair the number of tosses whose
            statistic of the same pair reaches its own.
        """
        reached, largest = np.zeros(len(own)), []
        for some in signs:
            n_parts = min(len(some), -(-len(some) * len(own) // _STATISTICS_AT_ONCE))
            for part in np.array_split(some, n_parts):
                statistics = self.statistics(part)
                largest.append(statistics.max(axis=1))
                reached += np.count_nonzero(statistics >= own - _SAME, axis=0)
        return np.sort(np.concatenate(largest)), reached


def _signs(n_clusters: int, seed: int) -> Iterator[Array]:
    """The observed signs first; each of shape (tosses, clusters)."""
    if n_clusters <= ENUMERATED:
        tosses = np.arange(2 ** (n_clusters - 1))
        for start in range(0, len(tosses), _AT_ONCE):
            bits = (tosses[start : start + _AT_ONCE, None] >> np.arange(n_clusters)) & 1
            yield 1.0 - 2.0 * bits.astype(np.float64)
        return
    yield np.ones((1, n_clusters))
    rng = np.random.default_rng(seed)
    at_once = min(_AT_ONCE, max(1, _SIGNS_AT_ONCE // n_clusters))
    for start in range(0, DRAWS, at_once):
        size = (min(at_once, DRAWS - start), n_clusters)
        yield 1.0 - 2.0 * rng.integers(0, 2, size=size).astype(np.float64)


# ---------------------------------------------------------------- each pair alone, adjusted by Holm's procedure


def stepwise_tests(first: Array, second: Array, *, seed: int) -> FamilyTests:
    """
    Test the pairs of a family, as `family_tests` has them, by Holm's procedure.

    `p` is adjusted by it, and `half` and `few` are of the level at which it tests the pair. A pair that shares no
    cluster is no member. The family has no `critical` value of its own.
    """

    def alone(place: int, level: float) -> FamilyTests:
        own = first[:, [place]], second[:, [place]]
        return family_tests(*own, seed=stable_seed(seed, place), alpha=level)

    tests = [alone(place, ALPHA) for place in range(first.shape[1])]
    known = [place for place, one in enumerate(tests) if one.n[0]]
    p_values = [float(tests[place].p[0]) for place in known]
    for place, level, adjusted in zip(known, holm_levels(p_values), holm(p_values), strict=True):
        tests[place] = alone(place, level)._replace(p=np.array([adjusted]))
    columns = {name: np.concatenate([getattr(one, name) for one in tests]) for name in FamilyTests._fields[:-1]}
    return FamilyTests(**columns, critical=np.inf)


def holm_levels(p_values: Sequence[float]) -> list[float]:
    """Return the level at which Holm's procedure tests each; for all after the first that fails, that one's."""
    order = np.argsort(p_values, kind="stable")
    steps, levels = ALPHA / np.arange(len(order), 0, -1), np.empty(len(order))
    failed = np.asarray(p_values)[order] > steps + _SAME_LEVEL
    levels[order] = np.minimum(steps, steps[failed].min(initial=ALPHA))  # steps ascend
    return [float(level) for level in levels]
