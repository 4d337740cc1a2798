"""
Plan a study: the differences that some clusters can show, and the clusters or summaries that a finding needs.

Comparisons of systems. A difference over n clusters is tested by its size over its standard error, which follows
Student's distribution of n - 1 degrees of freedom, in its noncentral form if the systems differ (Cohen, Statistical
Power Analysis for the Behavioral Sciences, 1988, chapter 2). The critical value of a family of tests stands for a level
of one test, at which a larger sample is tested, too. All spreads are standard deviations of one cluster's difference,
in its unit.

Positions of documents. Planted is a U over the places of the documents, `lowest + depth * (2 x - 1)**2` at x from 0
(first) to 1 (last). It is found if the tests of `longform.metrics.position_bias` say so at level FOUND: the spread of
the places, adjusted for the rows of its family, and the contrast of the ends with the middle. Sentences are
independent, and supported or not: any other number from 0 to 1 with the same mean varies less. Then the spread is a
noncentral chi-square with a degree of freedom less than there are bins (the between-groups sum of squares over the
variance of one sentence), and the contrast is normal. Their joint power is at least the sum of both less 1. A judge
that errs in both directions alike, with balanced accuracy b, sees 2 b - 1 of every difference between places: the size
grows with one over its square.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from functools import lru_cache, partial
from math import inf, sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import gammaincinv, ndtr, ndtri, stdtr, stdtrit

from longform.metrics.paired_differences import ALPHA
from longform.metrics.position_bias import FOUND, MOST_BINS
from longform.metrics.statistics import Array

POWER = 0.8
"""Usual for planning (Cohen, 1988)."""
_POINTS = 2000  # of the integral over the mean square
_PRECISION = 1e-9  # of a difference, relative
MOST = 10**7
"""Clusters or summaries that nobody has: more are not looked for."""
U_POWER = 0.999
"""Power at the size of a study of positions: twenty of three judges each find the U in all but about 6 of 100 cases."""


def level_of_one(critical: float, n: int) -> float:
    """Return the level of a single test whose critical |t| is *critical*, with *n* clusters; 0: none passes."""
    return 0.0 if critical == inf or n < 2 else float(2 * stdtr(n - 1, -critical))


def critical_at(level: float, n: int) -> float:
    """Return the critical value of |t| of a test at *level* with *n* clusters, 2 or more."""
    return float(-stdtrit(n - 1, level / 2)) if level > 0 else inf


def power_of(difference: float, *, spread: float, n: int, critical: float) -> float:
    """Return the probability that a true *difference* is told from chance with *n* clusters, 2 or more."""
    if critical == inf:
        return 0.0
    if spread == 0:
        return float(difference != 0)
    lead = abs(difference) / spread * sqrt(n)
    # The noncentral t is a normal number over the root of a mean square; SciPy's own is NaN for some of our arguments.
    limits = critical * _root_mean_squares(n)
    return float((ndtr(lead - limits) + ndtr(-lead - limits)).mean())


@lru_cache(maxsize=512)  # 16 KB each; the reports of one process ask for the same again
def _root_mean_squares(n: int) -> Array:
    """Return equally likely values of the root of the mean square of n - 1 normal numbers, shape (_POINTS,)."""
    return np.asarray(np.sqrt(2 * gammaincinv((n - 1) / 2, (np.arange(_POINTS) + 0.5) / _POINTS) / (n - 1)))


def detectable(*, spread: float, n: int, critical: float, power: float = POWER) -> float | None:
    """Return the smallest true difference told from chance with *power*; None: few clusters, or so large a family."""
    return None if critical == inf or n < 2 else spread / sqrt(n) * _standardized(n, critical, power)


@lru_cache  # families of one table have as many clusters
def _standardized(n: int, critical: float, power: float) -> float:
    """Return the smallest difference over its standard error that is told from chance with probability *power*."""
    low, high = 0.0, critical + 10
    while power_of(high, spread=sqrt(n), n=n, critical=critical) < power:
        high *= 2
    while high - low > _PRECISION * high:
        middle = (low + high) / 2
        short = power_of(middle, spread=sqrt(n), n=n, critical=critical) < power
        low, high = (middle, high) if short else (low, middle)
    return high


def clusters_for_interval(half_width: float, *, spread: float, level: float = ALPHA) -> int | None:
    """Return the fewest clusters whose interval at *level* is at most *half_width* to each side; None: over MOST."""
    return _fewest(lambda n: critical_at(level, n) * spread / sqrt(n) <= half_width) if level > 0 else None


def clusters_for_difference(
    difference: float, *, spread: float, level: float = ALPHA, power: float = POWER
) -> int | None:
    """Return the fewest clusters that tell a true *difference* from chance with *power*; None: over MOST."""
    if level <= 0 or not difference:
        return None
    alone = ndtri(level / 2)
    near = ((alone - ndtri(power)) * spread / difference) ** 2 + alone**2 / 2  # of a normal number, nearly
    enough = partial(power_of, difference, spread=spread)
    return _fewest(lambda n: enough(n=n, critical=critical_at(level, n)) >= power, near=int(min(near, MOST)))


class Sized(NamedTuple):
    """Two sides of one plan: the differences that *n* clusters show, and the clusters that show a difference."""

    spread: float  # standard deviation of a difference of two systems between clusters
    n: int  # clusters
    critical: float  # critical |t| of a test among those of its family; inf: none passes

    def shown(self, power: float = POWER) -> dict[str, float | None]:
        """Return the smallest true difference that a test shows, chosen beforehand, and in its family."""
        alone, within = (
            detectable(spread=self.spread, n=self.n, critical=critical, power=power)
            for critical in (critical_at(ALPHA, self.n), self.critical)
        )
        return {"detectable": alone, "detectable_in_family": within}

    def needed(self, difference: float, power: float = POWER) -> tuple[int | None, int | None]:
        """Return the clusters that show a true *difference* by one test, chosen beforehand, and in its family."""
        alone, within = (
            clusters_for_difference(difference, spread=self.spread, level=level, power=power)
            for level in (ALPHA, level_of_one(self.critical, self.n))
        )
        return alone, within


def _fewest(enough: Callable[[int], bool], least: int = 2, near: int = 2) -> int | None:
    """Return the smallest n from *least* that is *enough*, which every larger one is too; perhaps it is *near*."""
    low = high = max(least, near)
    step = 1
    while low > least and enough(low):
        low, step = max(least, low - step), 2 * step
    while high < MOST and not enough(high):
        high, step = min(MOST, high + step), 2 * step
    sizes = range(low, high + 1)
    place = bisect_left(sizes, x=True, key=enough)
    return sizes[place] if place < len(sizes) else None


# ---------------------------------------------------------------- positions of documents


class Assumed(NamedTuple):
    depth: float  # the best place of the U less the worst one, in shares of 1
    mean: float  # faithfulness over all places
    n_documents: int  # documents in a prompt
    n_sentences: float  # sentences in a summary, as many about each document
    accuracy: float = 1.0  # balanced accuracy of the judge of sentences
    n_tests: int = 1  # rows of the family, for which the p-values are adjusted

    @property
    def bins(self) -> int:
        return min(MOST_BINS, self.n_documents)

    @property
    def fits(self) -> bool:
        """Return whether a U of this depth and mean stays between 0 and 1."""
        planted = planted_u(self)
        return bool(planted.min() >= 0 and planted.max() <= 1)


def planted_u(assumed: Assumed) -> Array:
    """Return the planted faithfulness of each bin, shape (bins,)."""
    curved = (2 * np.arange(assumed.bins) / (assumed.bins - 1) - 1) ** 2
    return np.asarray(assumed.mean + assumed.depth * (curved - curved.mean()))


def seen(profile: Array, accuracy: float) -> Array:
    """Return the share of sentences that a judge of that balanced accuracy calls supported, shape of *profile*."""
    return np.asarray(1 - accuracy + (2 * accuracy - 1) * profile)


def power_of_u(assumed: Assumed, n_summaries: int) -> float:
    """
    Return the probability, or a lower bound of it, that so many summaries show the U.

    Raises:
        ValueError: Fewer than three documents, of which no curve has a shape.
    """
    from scipy.stats import chi2, ncx2, norm  # slow to import

    if assumed.bins < 3:
        raise ValueError(f"expected 3 documents or more, found {assumed.n_documents}")
    rates = seen(planted_u(assumed), assumed.accuracy)
    each = n_summaries * assumed.n_sentences / assumed.bins  # sentences of a bin
    variance = rates.mean() * (1 - rates.mean())
    away = each * ((rates - rates.mean()) ** 2).sum() / variance
    by_spread = ncx2.sf(chi2.isf(FOUND / assumed.n_tests, assumed.bins - 1), assumed.bins - 1, away)
    third = assumed.bins // 3
    ends = (rates[:third].mean() + rates[-third:].mean()) / 2 - rates[third:-third].mean()
    error = np.sqrt(variance / each * (1 / (2 * third) + 1 / (assumed.bins - 2 * third)))
    by_ends = norm.sf(norm.isf(FOUND / 2) - ends / error)
    return max(0.0, float(by_spread + by_ends - 1))


def summaries_needed(assumed: Assumed, power: float = U_POWER) -> int | None:
    """Return the fewest summaries that show the U with *power*; None if the judge sees too little of it."""
    return _fewest(lambda n: power_of_u(assumed, n) >= power, least=1)
