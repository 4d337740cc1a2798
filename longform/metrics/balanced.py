"""
Measure how well a judge's numbers tell supported from unsupported, for any share of either.

Balanced accuracy is the measure of Wan et al. (On Positional Bias of Faithfulness for Long-form Summarization, section
3): the mean of the shares answered right among the supported and among the unsupported. The area under the ROC curve
needs no threshold: the odds that a supported item's number is above an unsupported one's, ties half.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from longform.metrics.agreement import JudgedPair, answers_of_people, scores_of
from longform.metrics.faithfulness import SUPPORTED
from longform.metrics.statistics import Array, Estimate, EstimateColumns, bootstrap, cluster_places

NO_LABELS = "no labelled item was judged"
ONE_CLASS = "all judged items are {label}: no number can tell them apart"


class Separation(TypedDict):
    """Both measures in [0, 1], with 95 % intervals over clusters."""

    balanced_accuracy: EstimateColumns
    auroc: EstimateColumns
    threshold: float  # a number above it counts as supported
    n_supported: int  # judged items that people call supported
    n_unsupported: int  # the others among the judged
    n_unjudged: int  # labelled items without a number; they are in neither measure
    reason: str | None  # why both measures are null; null: they are not


def separation(
    pairs: Sequence[JudgedPair], *, seed: int, resamples: int = 2000, threshold: float = SUPPORTED, n_unjudged: int = 0
) -> Separation:
    """
    Measure how well judged items are told apart; both measures are null, with a reason, if a class is missing.

    People's answers to *pairs* count 1 or 0. A number above *threshold* counts as supported; to *n_unjudged* labelled
    items the judge gave no number.
    """
    labels = answers_of_people(pairs) == 1
    numbers = scores_of(pairs)
    clusters = [pair.cluster for pair in pairs]
    n_supported = int(labels.sum())
    settings = {"seed": seed, "resamples": resamples}
    sums = recall_sums(numbers, labels, threshold=threshold)
    accuracy = bootstrap(sums, clusters, mean_recall, n=len(numbers), **settings)
    return {
        "balanced_accuracy": accuracy.as_json(),
        "auroc": auroc(numbers, labels, clusters, **settings).as_json(),
        "threshold": threshold,
        "n_supported": n_supported,
        "n_unsupported": len(pairs) - n_supported,
        "n_unjudged": n_unjudged,
        "reason": _reason(len(pairs), n_supported),
    }


def _reason(n: int, n_supported: int) -> str | None:
    if not n:
        return NO_LABELS
    if 0 < n_supported < n:
        return None
    return ONE_CLASS.format(label="supported" if n_supported else "unsupported")


def recall_sums(numbers: Array, supported: NDArray[np.bool_], *, threshold: float) -> Array:
    """Return the columns whose sums `mean_recall` takes, shape (items, 4): right and all of both classes."""
    right = (numbers > threshold) == supported
    return np.column_stack([supported & right, supported, ~supported & right, ~supported]).astype(np.float64)


def mean_recall(sums: Array) -> Array:
    """Balanced accuracy from sums (m, 4); NaN if a class is missing."""
    recalls: Array = (sums[:, 0] / sums[:, 1] + sums[:, 2] / sums[:, 3]) / 2
    return recalls


def auroc(
    numbers: Array, supported: NDArray[np.bool_], clusters: Sequence[Hashable], *, seed: int, resamples: int = 2000
) -> Estimate:
    """
    The share of (supported, unsupported) pairs with the larger number on the supported side, ties half.

    A resample in which a cluster stands w times holds its pairs with a cluster that stands v times w x v times, so that
    each resample is a quadratic form of the clusters' counts.
    """
    of_item = cluster_places(clusters)
    n = len(set(clusters))
    won = _pairs_won(numbers, supported, of_item, n)
    n_positive = np.bincount(of_item[supported], minlength=n)
    n_negative = np.bincount(of_item[~supported], minlength=n)

    def of_counts(counts: Array) -> Array:
        shares: Array = ((counts @ won) * counts).sum(axis=1) / ((counts @ n_positive) * (counts @ n_negative))
        return shares

    return bootstrap(np.eye(n), range(n), of_counts, n=len(numbers), seed=seed, resamples=resamples)


def _pairs_won(numbers: Array, supported: NDArray[np.bool_], of_item: NDArray[np.intp], n: int) -> Array:
    """Pairs won and half of those tied, shape (clusters of the supported item, clusters of the unsupported one)."""
    won = np.zeros((n, n))
    rest, rest_of = numbers[~supported], of_item[~supported]
    for cluster in range(n):
        ours = np.sort(numbers[supported & (of_item == cluster)])
        above = len(ours) - np.searchsorted(ours, rest, side="right")
        not_below = len(ours) - np.searchsorted(ours, rest, side="left")
        won[cluster] = np.bincount(rest_of, weights=(above + not_below) / 2, minlength=n)
    return won
