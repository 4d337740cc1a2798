"""
A mean by a judge, corrected by a sample that people labelled: prediction-powered inference.

Angelopoulos et al., Prediction-powered inference (Science 382, 2023), with the weight of PPI++ (Angelopoulos, Duchi and
Zrnic, 2023). People's mean of the labelled summaries is moved by *weight* times the judge's mean of the others less the
judge's mean of the labelled:

    estimate = weight * mean(judge, others) + mean over labelled of (people - weight * judge)

A mean here is a total over a count, as a summary counts as often as it has insights, and what counts may itself be
judged (the covered ones). Both parts are corrected, and the estimate is their quotient; of counts that are all 1 it is
the formula above. (Means of the judge over all summaries instead of the others give the same estimates: the weight is
larger by 1 + labelled / others.)

The estimate is right for any weight, whatever the judge's errors are, if

- the labelled summaries are a random sample of all, and
- clusters (queries, or haystacks) are independent of each other; summaries of one cluster need not be.

The weight changes only how wide the interval is. It is near 1 for a judge that goes with people, and near 0 for a
useless one, whose interval is then that of the labels alone.

The interval is value plus and minus a quantile of Student's t times the standard error. Of the labelled clusters one
degree of freedom goes to the mean, and one to a weight that was tuned. The standard error adds what each cluster moves
the estimate by (its linear part), labelled and other summaries of a cluster together. It needs no resampling:
percentiles of resampled clusters are too narrow at the 10 to 40 labelled clusters that people have time for.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from longform.metrics.statistics import LEVEL, Array, Estimate, cluster_sums

NO_LABEL = "no summary is labelled"
NO_VALUE = "no labelled summary has a value by people's labels"
NO_COUNT = "too few labels: what the corrected mean divides by is not above 0"
ONE_CLUSTER = "fewer than 2 clusters are labelled, so nothing says how far labels vary"
ALIKE = "no labelled cluster differs from the others, so nothing says how far labels vary"
_FEWEST_CLUSTERS = 2
_NOTHING = 1e-12  # shares are sums of few floats


class Corrected(NamedTuple):
    """A corrected mean, or a difference of two, with the parts that make its interval."""

    value: float | None = None  # None: there is none
    weight: float = 0.0  # the judge's, from 0 (labels alone) to 1
    # cluster -> how far it moves the value from what is expected; the sum of squares is the variance
    moves: Mapping[Hashable, float] = {}
    n_labelled: int = 0  # labelled summaries
    n_clusters: int = 0  # clusters with a labelled summary
    n_fitted: int = 1  # numbers that were fitted to these clusters: the mean, and a weight that was tuned
    missing: str | None = None  # says why there is no value

    @property
    def standard_error(self) -> float:
        """Return the standard error for many clusters; the interval widens it for few."""
        return float(np.sqrt(sum(move**2 for move in self.moves.values())))

    @property
    def half(self) -> float:
        """Return half the width of the interval; 0: labelled clusters do not vary."""
        freedom = max(1, self.n_clusters - self.n_fitted)
        error = self.standard_error * np.sqrt(self.n_clusters / freedom)
        return float(stdtrit(freedom, (1 + LEVEL) / 2) * error) if error >= _NOTHING else 0.0

    @property
    def reason(self) -> str | None:
        """Return why the value, or its interval, is unknown; None: both are known."""
        if self.missing is not None or self.n_clusters < _FEWEST_CLUSTERS:
            return self.missing or ONE_CLUSTER
        return None if self.half else ALIKE

    @property
    def estimate(self) -> Estimate:
        """Return the value with its interval."""
        if self.value is None or self.reason is not None:
            return Estimate(self.value, None, None, self.n_labelled)
        return Estimate(self.value, self.value - self.half, self.value + self.half, self.n_labelled)


def corrected(judge: Array, people: Array, clusters: Sequence[Hashable], *, weight: float | None = None) -> Corrected:
    """
    Correct a judge's mean by people's labels.

    *judge* has the total and count of each summary, shape (summaries, 2), and *people* the same by people's labels, NaN
    for summaries that are not labelled. *clusters* has one label a summary. *weight* is the judge's; None: that of
    PPI++, which makes the interval of unclustered means narrowest.
    """
    labelled = ~np.isnan(people[:, 0])
    if not labelled.any():
        return Corrected(missing=NO_LABEL)
    ours, theirs, others = judge[labelled], people[labelled], judge[~labelled]
    if theirs[:, 1].sum() <= 0:
        return Corrected(missing=NO_VALUE)
    n_fitted = 1
    if weight is None:
        weight = _tuned(ours, theirs, others)
        n_fitted = 2 if weight else 1
    elif not len(others):
        weight = 0.0
    beside = others.mean(axis=0) if len(others) else np.zeros(2)
    total, count = weight * beside + (theirs - weight * ours).mean(axis=0)
    if count <= 0:
        return Corrected(missing=NO_COUNT)
    value = float(total / count)
    moves = np.zeros(len(judge))
    moves[labelled] = _centred(_residuals(theirs, value) - weight * _residuals(ours, value)) / labelled.sum()
    moves[~labelled] = weight * _centred(_residuals(others, value)) / max(1, len(others))
    sums = cluster_sums(moves[:, None] / count, clusters)[:, 0]
    of_labelled = {cluster for cluster, is_labelled in zip(clusters, labelled, strict=True) if is_labelled}
    by_cluster = dict(zip(dict.fromkeys(clusters), sums.tolist(), strict=True))
    return Corrected(value, weight, by_cluster, int(labelled.sum()), len(of_labelled), n_fitted)


def _residuals(rows: Array, value: float) -> Array:
    """Return how far the total of each row is from *value* times its count: 0 on average."""
    found: Array = rows[:, 0] - value * rows[:, 1]
    return found


def _centred(values: Array) -> Array:
    return values - values.mean() if len(values) else values


def _tuned(ours: Array, theirs: Array, others: Array) -> float:
    """Return the weight of PPI++: cov(people, judge) over (1 + labelled / others) var(judge), from 0 to 1."""
    value = theirs[:, 0].sum() / theirs[:, 1].sum()
    by_judge, by_people = _residuals(ours, value), _residuals(theirs, value)
    varies = np.var(np.concatenate([by_judge, _residuals(others, value)]), ddof=1) if len(others) else 0.0
    if varies <= 0:
        return 0.0
    together = float((_centred(by_people) * _centred(by_judge)).mean())
    return float(np.clip(together / ((1 + len(ours) / len(others)) * varies), 0.0, 1.0))


def difference(first: Corrected, second: Corrected) -> Corrected:
    """Return a corrected mean less another one, whose summaries may share clusters."""
    if first.value is None or second.value is None:
        return Corrected(missing=first.missing or second.missing)
    clusters = dict.fromkeys([*first.moves, *second.moves])
    return Corrected(
        first.value - second.value,
        min(first.weight, second.weight),
        {one: first.moves.get(one, 0.0) - second.moves.get(one, 0.0) for one in clusters},
        min(first.n_labelled, second.n_labelled),
        min(first.n_clusters, second.n_clusters),
        max(first.n_fitted, second.n_fitted),
    )
