"""
Plan a comparison: the differences that some clusters can show, and the clusters that a difference or an interval needs.

A difference over n clusters is tested by its size over its standard error, which follows Student's distribution of
n - 1 degrees of freedom, in its noncentral form if the systems differ (Cohen, Statistical Power Analysis for the
Behavioral Sciences, 1988, chapter 2). The critical value of a family of tests stands for a level of one test, at which
a larger sample is tested, too. All spreads are standard deviations of one cluster's difference, in its unit.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import inf, sqrt

import numpy as np
from numpy.typing import NDArray

from longform.metrics.paired_differences import ALPHA

POWER = 0.8
"""Usual for planning (Cohen, 1988)."""
_POINTS = 2000  # of the integral over the mean square
_PRECISION = 1e-9  # of a difference, relative
MOST = 10**7
"""Clusters that nobody has: more are not looked for."""


def level_of_one(critical: float, n: int) -> float:
    """Return the level of a single test whose critical |t| is *critical*, with *n* clusters; 0: none passes."""
    from scipy.stats import t  # slow to import

    return 0.0 if critical == inf or n < 2 else float(2 * t.sf(critical, n - 1))


def critical_at(level: float, n: int) -> float:
    """Return the critical value of |t| of a test at *level* with *n* clusters, 2 or more."""
    from scipy.stats import t  # slow to import

    return float(t.isf(level / 2, n - 1)) if level > 0 else inf


def power_of(difference: float, *, spread: float, n: int, critical: float) -> float:
    """Return the probability that a true *difference* is told from chance with *n* clusters, 2 or more."""
    from scipy.special import ndtr  # slow to import

    if critical == inf:
        return 0.0
    if spread == 0:
        return float(difference != 0)
    lead = abs(difference) / spread * sqrt(n)
    # The noncentral t is a normal number over the root of a mean square; SciPy's own is NaN for some of our arguments.
    limits = critical * _root_mean_squares(n)
    return float((ndtr(lead - limits) + ndtr(-lead - limits)).mean())


@lru_cache(maxsize=512)  # 16 KB each; the reports of one process ask for the same again
def _root_mean_squares(n: int) -> NDArray[np.float64]:
    """Return equally likely values of the root of the mean square of n - 1 normal numbers, shape (_POINTS,)."""
    from scipy.stats import chi2  # slow to import

    return np.asarray(np.sqrt(chi2.ppf((np.arange(_POINTS) + 0.5) / _POINTS, n - 1) / (n - 1)))


def detectable(*, spread: float, n: int, critical: float, power: float = POWER) -> float | None:
    """
    Return the smallest true difference that is told from chance with probability *power*.

    None if no difference would be: so few clusters, or so large a family.
    """
    if critical == inf or n < 2:
        return None
    low, high = 0.0, spread / sqrt(n) * (critical + 10)
    while power_of(high, spread=spread, n=n, critical=critical) < power:
        high *= 2
    while high - low > _PRECISION * high:
        middle = (low + high) / 2
        if power_of(middle, spread=spread, n=n, critical=critical) < power:
            low = middle
        else:
            high = middle
    return high


def clusters_for_interval(half_width: float, *, spread: float, level: float = ALPHA) -> int | None:
    """Return the fewest clusters whose interval at *level* is at most *half_width* to each side; None: over MOST."""
    return _fewest(lambda n: critical_at(level, n) * spread / sqrt(n) <= half_width) if level > 0 else None


def clusters_for_difference(
    difference: float, *, spread: float, level: float = ALPHA, power: float = POWER
) -> int | None:
    """Return the fewest clusters that tell a true *difference* from chance with *power*; None: over MOST."""

    def enough(n: int) -> bool:
        return power_of(difference, spread=spread, n=n, critical=critical_at(level, n)) >= power

    return _fewest(enough) if level > 0 and difference else None


def _fewest(enough: Callable[[int], bool]) -> int | None:
    """Return the smallest n from 2 that is *enough*, which every larger one is too."""
    high = 2
    while not enough(high):
        high *= 2
        if high > MOST:
            return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
