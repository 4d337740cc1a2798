"""Agreement of a judge with itself, by known answers."""

from __future__ import annotations

import pytest

from longform.metrics.agreement import RepeatedPair, retest
from longform.metrics.statistics import pearson

NUMBERS = {"yes": 1.0, "no": 0.0}


def pair(cluster: int, *answers: str | None) -> RepeatedPair:
    return RepeatedPair(cluster, answers, [None if one is None else NUMBERS[one] for one in answers])


def test_answers_that_never_change_agree_wholly() -> None:
    found = retest([pair(0, "yes", "yes"), pair(1, "no", "no")], seed=1, resamples=100)

    assert (found["same"]["value"], found["kappa"]["value"], found["spread"]) == (1.0, 1.0, 0.0)
    assert found["r"]["value"] == pytest.approx(1.0)


def test_kappa_is_that_of_fleiss_for_three_repeats() -> None:
    """Shares of agreeing repeats 1, 1/3 and 1; yes 2/3 of all: (7/9 - 5/9) / (4/9)."""
    answers = [pair(0, "yes", "yes", "yes"), pair(1, "yes", "no", "no"), pair(2, "no", "no", "no")]
    found = retest([*answers, pair(3, "yes", "yes", "yes")], seed=1, resamples=100)

    observed, share = (1 + 1 / 3 + 1 + 1) / 4, 7 / 12
    expected = share**2 + (1 - share) ** 2
    assert found["same"]["value"] == pytest.approx(observed)
    assert found["kappa"]["value"] == pytest.approx((observed - expected) / (1 - expected))


def test_r_of_two_repeats_is_pearson_of_both_orders() -> None:
    first, second = [0.1, 0.4, 0.9, 0.6], [0.2, 0.3, 0.7, 0.9]
    pairs = [RepeatedPair(place, ("x", "x"), both) for place, both in enumerate(zip(first, second, strict=True))]
    import numpy as np

    both = pearson(np.array(first + second), np.array(second + first), list(range(8)), seed=1, resamples=100)
    assert retest(pairs, seed=1, resamples=100)["r"]["value"] == pytest.approx(both.value)


def test_questions_with_one_answer_count_in_no_figure_and_sameness_has_no_kappa() -> None:
    found = retest([pair(0, "yes", "yes"), pair(1, "yes", None), pair(2, "yes", "yes")], seed=1, resamples=100)

    assert (found["n_repeats"], found["n_pairs"], found["n_without"]) == (2, 2, 1)
    assert (found["kappa"]["value"], found["r"]["value"]) == (None, None)
    assert retest([], seed=1, resamples=100)["same"]["value"] is None
