"""
Shared by all fits: logistic regression, and tables of what fitted components reach.

Features are standardised for the fit, and weights given back on the raw scale; scikit-learn does the fitting.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from longform.judges.card_columns import Reach

INTERVALS = {"seed": 1, "resamples": 2000}
"""The seed and the resamples of every interval of a reach table."""
SIGNIFICANT = 6
_SHARE_AT_MOST = 2.0
"""Larger values are percent or points, and have one decimal."""


def fit_logistic(
    features: NDArray[np.float64],
    labels: NDArray[np.bool_],
    *,
    strength: float,
    weights: NDArray[np.float64] | None = None,
) -> tuple[tuple[float, ...], float]:
    """
    Weights and intercept for raw features, rounded to 6 significant digits so that a machine's last bits stay out.

    Args:
        features: Shape (rows, features), finite.
        labels: Shape (rows,).
        strength: Inverse of the L2 penalty (scikit-learn's C).
        weights: Counts of the rows, shape (rows,); None: 1.
    """
    from sklearn.linear_model import LogisticRegression

    mean, deviation = features.mean(axis=0), np.maximum(features.std(axis=0), 1e-9)
    model = LogisticRegression(C=strength, max_iter=5000, tol=1e-8)
    model.fit((features - mean) / deviation, labels, sample_weight=weights)
    slopes = model.coef_[0] / deviation
    return tuple(significant(slope) for slope in slopes), significant(model.intercept_[0] - slopes @ mean)


def fit_ordinal(
    features: NDArray[np.float64], labels: NDArray[np.float64], *, strength: float
) -> tuple[tuple[tuple[float, ...], tuple[float, ...]], tuple[float, float]]:
    """
    Return weights and intercepts of two fits, one for labels of at least 0.5 and one for 1.

    Args:
        features: Shape (rows, features), finite.
        labels: Shape (rows,), each 0, 0.5 or 1.
        strength: Inverse of the L2 penalty.
    """
    (partly, partly_at), (fully, fully_at) = (
        fit_logistic(features, labels >= cut, strength=strength) for cut in (0.5, 1.0)
    )
    return (partly, fully), (partly_at, fully_at)


def cuts_by_shares(scores: NDArray[np.float64], labels: NDArray[np.float64]) -> tuple[float, float]:
    """Return the scores from which answers are partial and full, so that answers have the shares of the labels."""
    shares = [float((labels < cut).mean()) for cut in (0.5, 1.0)]
    partial_from, full_from = np.quantile(scores, shares).tolist()
    return significant(partial_from), significant(full_from)


def best_threshold(numbers: NDArray[np.float64], supported: NDArray[np.bool_]) -> float:
    """
    Return the number above which to say supported for the largest balanced accuracy; both of shape (items,).

    It lies half-way between two numbers; of several that are best it is the lowest.

    Raises:
        ValueError: There are not two classes.
    """
    if supported.all() or not supported.any():
        raise ValueError(f"expected supported and unsupported items, got {len(supported)} of one class or none")
    order = np.argsort(numbers, kind="stable")
    ordered, right = numbers[order], supported[order]
    below = np.cumsum(~right) / (~right).sum() - np.cumsum(right) / right.sum()
    between = np.flatnonzero(np.diff(ordered))
    if not len(between):
        return float(ordered[0])
    place = between[below[between].argmax()]
    return float((ordered[place] + ordered[place + 1]) / 2)


def significant(value: float) -> float:
    """*value* with 6 significant digits."""
    return float(f"{value:.{SIGNIFICANT}g}")


def reach_table(rows: Sequence[Reach]) -> str:
    """The rows as a Markdown table."""
    lines = [f"| {row.measure} | {_interval(row)} | {row.n:,} | {row.fitted_on} | {row.scored_on} |" for row in rows]
    header = ["| measure | value [95 %] | n | fitted on | measured on |", "| --- | --- | --- | --- | --- |"]
    return "\n".join([*header, *lines])


def _interval(row: Reach) -> str:
    digits = 1 if max(abs(row.value), abs(row.high or 0)) > _SHARE_AT_MOST else 3
    value = f"{row.value:.{digits}f}"
    return value if row.low is None or row.high is None else f"{value} [{row.low:.{digits}f}, {row.high:.{digits}f}]"
