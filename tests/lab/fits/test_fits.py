"""Parts of all fits: logistic regression on the scale of the features, digits that are kept, the best threshold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score

from lab.fits import best_threshold, fit_logistic, significant

ROWS = st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])), min_size=2, max_size=40).filter(
    lambda rows: len({label for label, _ in rows}) == 2
)


def test_weights_are_given_on_the_scale_of_the_features() -> None:
    """Known answer: labels drawn from 2 x - 0.01 y + 1 where y is a thousand times as wide as x."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(20_000, 2)) * [1, 1000] + [0, 300]
    chance = 1 / (1 + np.exp(-(features @ [2.0, -0.01] + 1)))
    weights, intercept = fit_logistic(features, rng.random(len(chance)) < chance, strength=100.0)
    assert weights == pytest.approx((2.0, -0.01), rel=0.05)
    assert intercept == pytest.approx(1.0, abs=0.1)


def test_a_feature_that_never_varies_weighs_nothing_that_shows() -> None:
    rng = np.random.default_rng(0)
    features = np.stack([rng.normal(size=200), np.full(200, 3.0)], axis=1)
    weights, intercept = fit_logistic(features, features[:, 0] > 0, strength=1.0)
    assert weights[1] == pytest.approx(0, abs=1e-6)
    assert features @ weights + intercept == pytest.approx(weights[0] * features[:, 0], abs=0.3)


@pytest.mark.parametrize(
    ("value", "kept"), [(1234567.0, 1234570.0), (-0.000123456789, -0.000123457), (0.0, 0.0), (2.0, 2.0)]
)
def test_six_digits_are_kept(value: float, kept: float) -> None:
    assert significant(value) == kept


def test_best_threshold_by_hand() -> None:
    """Above 0.35 both supported and one of three others: 1/2 (1 + 2/3); no other cut is better."""
    numbers, supported = np.array([0.9, 0.1, 0.4, 0.6, 0.3]), np.array([True, False, True, False, False])
    assert best_threshold(numbers, supported) == pytest.approx(0.35)
    with pytest.raises(ValueError, match="one class"):
        best_threshold(numbers, np.ones(5, dtype=bool))


@given(ROWS)
def test_no_threshold_is_better_than_the_best(rows: list[tuple[bool, float]]) -> None:
    numbers, supported = np.array([row[1] for row in rows]), np.array([row[0] for row in rows])

    def reached(threshold: float) -> float:
        return float(balanced_accuracy_score(supported, numbers > threshold))

    best = reached(best_threshold(numbers, supported))
    cuts = [(a + b) / 2 for a, b in zip(sorted(set(numbers)), sorted(set(numbers))[1:], strict=False)]
    assert all(best >= reached(cut) - 1e-12 for cut in cuts)
