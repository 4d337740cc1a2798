"""
The number of summaries that a study of positions needs, from what is assumed of its writer and its judge.

Planted is a U over the places of the documents, `lowest + depth * (2 x - 1)**2` at x from 0 (first) to 1 (last). It is
found if the tests of `longform.metrics.position_bias` say so at level FOUND: the spread of the places, adjusted for the
rows of its family, and the contrast of the ends with the middle.

Sentences are independent, and supported or not: any other number from 0 to 1 with the same mean varies less. Then the
spread is a noncentral chi-square with a degree of freedom less than there are bins (the between-groups sum of squares
over the variance of one sentence), and the contrast is normal. Their joint power is at least the sum of both less 1.

A judge that errs in both directions alike, with balanced accuracy b, sees 2 b - 1 of every difference between places:
the size grows with one over its square.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from longform.metrics.position_bias import FOUND, MOST_BINS, Array

POWER = 0.999
"""Power at a recommended size: twenty studies of three judges each find the U in all but about 6 of 100 cases."""
MOST_SUMMARIES = 10_000_000
"""No size is recommended above it."""


class Assumed(NamedTuple):
    """
    Attributes:
        depth: The best place of the U less the worst one, in shares of 1.
        mean: Faithfulness over all places.
        n_documents: In a prompt.
        n_sentences: In a summary, as many about each document.
        accuracy: Balanced accuracy of the judge of sentences.
        n_tests: Rows of the family, for which the p-values are adjusted.
    """

    depth: float
    mean: float
    n_documents: int
    n_sentences: float
    accuracy: float = 1.0
    n_tests: int = 1

    @property
    def bins(self) -> int:
        return min(MOST_BINS, self.n_documents)

    @property
    def fits(self) -> bool:
        """Return whether a U of this depth and mean stays between 0 and 1."""
        planted = u_profile(self)
        return bool(planted.min() >= 0 and planted.max() <= 1)


def u_profile(assumed: Assumed) -> Array:
    """Return the planted faithfulness of each bin, shape (bins,)."""
    curved = (2 * np.arange(assumed.bins) / (assumed.bins - 1) - 1) ** 2
    return np.asarray(assumed.mean + assumed.depth * (curved - curved.mean()))


def seen(profile: Array, accuracy: float) -> Array:
    """Return the share of sentences that a judge of that balanced accuracy calls supported, shape of *profile*."""
    return np.asarray(1 - accuracy + (2 * accuracy - 1) * profile)


def power(assumed: Assumed, n_summaries: int) -> float:
    """
    Return the probability, or a lower bound of it, that so many summaries show the U.

    Raises:
        ValueError: Fewer than three documents, of which no curve has a shape.
    """
    from scipy.stats import chi2, ncx2, norm  # slow to import

    if assumed.bins < 3:
        msg = f"expected 3 documents or more, found {assumed.n_documents}"
        raise ValueError(msg)
    rates = seen(u_profile(assumed), assumed.accuracy)
    each = n_summaries * assumed.n_sentences / assumed.bins  # sentences of a bin
    variance = rates.mean() * (1 - rates.mean())
    away = each * ((rates - rates.mean()) ** 2).sum() / variance
    by_spread = ncx2.sf(chi2.isf(FOUND / assumed.n_tests, assumed.bins - 1), assumed.bins - 1, away)
    third = assumed.bins // 3
    ends = (rates[:third].mean() + rates[-third:].mean()) / 2 - rates[third:-third].mean()
    error = np.sqrt(variance / each * (1 / (2 * third) + 1 / (assumed.bins - 2 * third)))
    by_ends = norm.sf(norm.isf(FOUND / 2) - ends / error)
    return max(0.0, float(by_spread + by_ends - 1))


def summaries_needed(assumed: Assumed, wanted: float = POWER) -> int | None:
    """Return the fewest summaries that show the U with that power; None if the judge sees too little of it."""
    low, high = 0, 1
    while power(assumed, high) < wanted:
        low, high = high, 2 * high
        if low > MOST_SUMMARIES:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power(assumed, middle) >= wanted else (middle, high)
    return high
