"""
Differences of pairs that are each tested by themselves, adjusted together by Holm's procedure.

Sonja Holm, A simple sequentially rejective multiple test procedure (Scandinavian Journal of Statistics 6, 1979). The
pair with the k-th smallest p-value of m is tested at ALPHA / (m - k + 1), and all after the first that fails fail too.
Each pair's interval is at the level at which the procedure tested it; those after the first that fails are at that
one's level. An interval therefore excludes 0 exactly if the adjusted p-value is at most ALPHA.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from longform.keys import stable_seed
from longform.metrics.paired_differences import ALPHA, Difference, paired_differences, smallest_p
from longform.metrics.statistics import Array, holm

_SAME = 1e-12  # of levels that differ by rounding only


class Pair(NamedTuple):
    """Totals and counts of two systems, each of shape (clusters, 2); a count of 0: not there."""

    first: Array
    second: Array


class Adjusted(NamedTuple):
    """
    Attributes:
        difference: First less second, with the p-value of the pair alone.
        p_holm: Adjusted for the family.
        level: At which the interval is.
    """

    difference: Difference
    p_holm: float
    level: float

    @property
    def too_few_clusters(self) -> bool:
        """No difference whatever could have been shown, at the level of this pair."""
        return smallest_p(self.difference.n_clusters) > self.level + _SAME


def stepwise_differences(pairs: Sequence[Pair], *, seed: int) -> list[Adjusted | None]:
    """Return the differences of a family of *pairs*; None for a pair that shares no cluster, which is no member."""
    alone = [_alone(pair, seed, place, ALPHA) for place, pair in enumerate(pairs)]
    known = [place for place, found in enumerate(alone) if found is not None]
    p_values = [found.p for found in alone if found is not None]
    levels = holm_levels(p_values)
    made: list[Adjusted | None] = [None] * len(pairs)
    for place, level, adjusted in zip(known, levels, holm(p_values), strict=True):
        if (found := _alone(pairs[place], seed, place, level)) is not None:
            made[place] = Adjusted(found, adjusted, level)
    return made


def holm_levels(p_values: Sequence[float]) -> list[float]:
    """Return the level at which Holm's procedure tests each; for all after the first that fails, that one's."""
    levels = [0.0] * len(p_values)
    failed: float | None = None
    for step, place in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        level = ALPHA / (len(p_values) - step) if failed is None else failed
        failed = level if failed is None and p_values[place] > level + _SAME else failed
        levels[place] = level
    return levels


def _alone(pair: Pair, seed: int, place: int, level: float) -> Difference | None:
    own = stable_seed(seed, place)
    return paired_differences(pair.first[:, None], pair.second[:, None], seed=own, alpha=level)[0]
