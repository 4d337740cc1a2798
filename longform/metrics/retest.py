"""
Agreement of a judge with itself: the same question asked several times.

Repeats are interchangeable, so kappa is Fleiss' (Measuring nominal scale agreement among many raters, Psychological
Bulletin 76, 1971), with the expected agreement of the answers that all repeats give. The other figure, r, is the
intraclass correlation by double entry (Fisher, Statistical Methods for Research Workers, 1925, section 38). Intervals
resample clusters, which are queries or summaries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple, TypedDict

import numpy as np

from longform.metrics.statistics import Array, EstimateColumns, bootstrap, pearson_of_sums, ratio

_Statistic = Callable[[Array], Array]


class RepeatedPair(NamedTuple):
    """
    The answers of a judge to one question.

    Attributes:
        cluster: Of the question.
        answers: Of each repeat; None: unjudged.
        numbers: Of each repeat, in [0, 1]; None: unjudged.
    """

    cluster: Hashable
    answers: Sequence[str | None]
    numbers: Sequence[float | None]


class Retest(TypedDict):
    """The agreement of a judge with itself."""

    n_repeats: int
    n_pairs: int  # questions with two or more answers
    n_without: int  # questions with fewer
    same: EstimateColumns  # share of two repeats that give the same answer
    kappa: EstimateColumns  # null: all answers are the same
    r: EstimateColumns  # of the numbers; null: they do not vary
    spread: float | None  # standard deviation of one answer's number about the mean of its question


def retest(pairs: Sequence[RepeatedPair], *, seed: int, resamples: int) -> Retest:
    """Return the agreement between the repeats of *pairs*; questions with fewer than two answers count in no figure."""
    known = [pair for pair in pairs if sum(answer is not None for answer in pair.answers) > 1]
    clusters = [pair.cluster for pair in known]
    classes = sorted({answer for pair in known for answer in pair.answers if answer is not None})
    shares = np.array([_shares(pair, classes) for pair in known]).reshape(-1, 2 + len(classes))
    moments = np.array([_moments(pair) for pair in known]).reshape(-1, 6)
    variances = [float(np.var(_numbers(pair), ddof=1)) for pair in known]

    def of(columns: Array, statistic: _Statistic) -> EstimateColumns:
        return bootstrap(columns, clusters, statistic, n=len(known), seed=seed, resamples=resamples).as_json()

    return {
        "n_repeats": max((len(pair.answers) for pair in pairs), default=0),
        "n_pairs": len(known),
        "n_without": len(pairs) - len(known),
        "same": of(shares[:, [1, 0]], ratio),
        "kappa": of(shares, _kappa),
        "r": of(moments, pearson_of_sums),
        "spread": float(np.sqrt(np.mean(variances))) if variances else None,
    }


def _shares(pair: RepeatedPair, classes: Sequence[str]) -> list[float]:
    """Return 1, the share of two repeats that agree, and the share of each answer."""
    votes = Counter(answer for answer in pair.answers if answer is not None)
    n = votes.total()
    return [1.0, sum(of * (of - 1) for of in votes.values()) / (n * (n - 1)), *(votes[name] / n for name in classes)]


def _kappa(sums: Array) -> Array:
    """Return Fleiss' kappa of sums of `_shares`, shape (m, 2 + classes) -> (m,)."""
    n, observed = sums[:, 0], sums[:, 1] / sums[:, 0]
    expected = ((sums[:, 2:] / n[:, None]) ** 2).sum(axis=1)
    apart = expected < 1 - 1e-12
    return np.where(apart, (observed - expected) / np.where(apart, 1 - expected, 1.0), np.nan)


def _numbers(pair: RepeatedPair) -> Array:
    return np.array([number for number in pair.numbers if number is not None])


def _moments(pair: RepeatedPair) -> list[float]:
    """Return the means of 1, x, y, xx, yy and xy over both orders of two repeats, about 1/2 for their precision."""
    numbers = _numbers(pair) - 0.5
    n = len(numbers)
    mean, square = float(numbers.mean()), float((numbers**2).mean())
    product = (n * n * mean * mean - n * square) / (n * (n - 1))
    return [1.0, mean, mean, square, square, product]
