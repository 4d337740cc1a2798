"""
Shared by all fits: logistic regression, and tables of what fitted components reach.

Features are standardised for the fit, and weights given back on the raw scale; scikit-learn does the fitting.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_curve

from longform.judges.card_columns import Reach
from longform.judges.card_figures import with_interval

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

    *strength* is the inverse of the L2 penalty (scikit-learn's C), *weights* count the rows.
    """
    mean, deviation = features.mean(axis=0), np.maximum(features.std(axis=0), 1e-9)
    model = LogisticRegression(C=strength, max_iter=5000, tol=1e-8)
    model.fit((features - mean) / deviation, labels, sample_weight=weights)
    slopes = model.coef_[0] / deviation
    return tuple(significant(slope) for slope in slopes), significant(model.intercept_[0] - slopes @ mean)


def best_threshold(numbers: NDArray[np.float64], supported: NDArray[np.bool_]) -> float:
    """
    Return the number above which to say supported for the largest balanced accuracy; both of shape (items,).

    It lies half-way between two numbers; of several that are best it is the lowest.

    Raises:
        ValueError: There are not two classes.
    """
    if supported.all() or not supported.any():
        raise ValueError(f"expected supported and unsupported items, got {len(supported)} of one class or none")
    wrong, right, cuts = (side[:0:-1] for side in roc_curve(supported, numbers, drop_intermediate=False))
    if len(cuts) == 1:
        return float(cuts[0])
    place = 1 + (right - wrong)[1:].round(12).argmax()  # each cut, in rising order, is the lowest that is supported
    return float(cuts[place - 1 : place + 1].mean())


def write_json(file: Path, content: Any, *, indent: int | None = 1) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content, indent=indent) + "\n", encoding="utf-8")


def significant(value: float) -> float:
    """*value* with 6 significant digits."""
    return float(f"{value:.{SIGNIFICANT}g}")


def reach_table(rows: Sequence[Reach]) -> str:
    """The rows as a Markdown table."""
    lines = ["| measure | value [95 %] | n | fitted on | measured on |", "| --- | --- | --- | --- | --- |"]
    for row in rows:
        digits = 1 if max(abs(row["value"] or 0), abs(row["high"] or 0)) > _SHARE_AT_MOST else 3
        told = (row["measure"], with_interval(row, 1, digits), f"{row['n']:,}", row["fitted_on"], row["scored_on"])
        lines.append(f"| {' | '.join(told)} |")
    return "\n".join(lines)
