"""Logistic regression on standardised features, given back on the raw scale; scikit-learn does the fitting."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SIGNIFICANT = 6


def fit_logistic(
    features: NDArray[np.float64], labels: NDArray[np.bool_], *, strength: float
) -> tuple[tuple[float, ...], float]:
    """
    Weights and intercept for raw features, rounded to 6 significant digits so that a machine's last bits stay out.

    Args:
        features: Shape (rows, features), finite.
        labels: Shape (rows,).
        strength: Inverse of the L2 penalty (scikit-learn's C).
    """
    from sklearn.linear_model import LogisticRegression

    mean, deviation = features.mean(axis=0), np.maximum(features.std(axis=0), 1e-9)
    model = LogisticRegression(C=strength, max_iter=5000, tol=1e-8).fit((features - mean) / deviation, labels)
    weights = model.coef_[0] / deviation
    return tuple(significant(weight) for weight in weights), significant(model.intercept_[0] - weights @ mean)


def significant(value: float) -> float:
    """*value* with 6 significant digits."""
    return float(f"{value:.{SIGNIFICANT}g}")
