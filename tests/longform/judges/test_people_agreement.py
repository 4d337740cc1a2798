"""People against people and judges against people, with labels written by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from longform.judges.meta_evaluation import people_agreement
from longform.metrics.agreement import WEIGHTS, Label

ITEMS = [(f"s{place // 2}", f"i{place % 2}") for place in range(16)]
"""Two insights of each of eight summaries."""

ANN = ["full", "none", "partial", "none"] * 4
BO = ["full", "none", "full", "none"] * 4
CY = ["none", "none", "partial", "full"] * 2
"""The third annotator labels the first four summaries alone."""


def labels(name: str, answers: list[str], links: Mapping[int, int] | None = None) -> list[Label]:
    return [
        Label(name, summary, (summary, insight), answer, (links or {}).get(place))
        for place, ((summary, insight), answer) in enumerate(zip(ITEMS, answers, strict=False))
    ]


def agreement(people: list[Label], **judges: list[Label]) -> dict[str, Any]:
    found = people_agreement(people, judges, WEIGHTS, seed=1, resamples=200)
    assert found is not None
    return found


def correlation(first: list[str], second: list[str]) -> float:
    pairs = list(zip(first, second, strict=False))
    x, y = ([WEIGHTS[pair[side]] for pair in pairs] for side in (0, 1))
    return float(np.corrcoef(x, y)[0, 1])


def test_two_annotators_by_hand() -> None:
    found = agreement(labels("ann", ANN, {0: 0, 2: 1}) + labels("bo", BO, {0: 0, 2: 2}))

    assert (found["annotators"], found["n_items"], found["n_summaries"]) == (["ann", "bo"], 16, 8)
    assert found["people"]["n_pairs"] == 1
    assert found["people"]["pearson"]["value"] == pytest.approx(correlation(ANN, BO))
    assert found["people"]["same"]["value"] == 0.75
    # full 1/4 and 1/2, none 1/2 and 1/2, partial 1/4 and 0: by chance 3/8
    assert found["people"]["kappa"]["value"] == pytest.approx((0.75 - 0.375) / (1 - 0.375))
    assert (found["people"]["links"]["value"], found["people"]["links"]["n"]) == (0.5, 2)


def test_the_mean_of_three_pairs_counts_each_pair_once() -> None:
    found = agreement(labels("ann", ANN) + labels("bo", BO) + labels("cy", CY))
    expected = [correlation(ANN, BO), correlation(ANN, CY), correlation(BO, CY)]

    assert [pair["annotators"] for pair in found["pairs"]] == [["ann", "bo"], ["ann", "cy"], ["bo", "cy"]]
    assert [pair["pearson"]["value"] for pair in found["pairs"]] == pytest.approx(expected)
    assert [pair["pearson"]["n"] for pair in found["pairs"]] == [16, 8, 8]
    assert found["people"]["pearson"]["value"] == pytest.approx(np.mean(expected))
    assert found["people"]["links"]["value"] is None


def test_a_judge_is_held_against_each_annotator_on_their_common_items() -> None:
    """Items of one annotator alone are no part of either side."""
    people = labels("ann", ANN) + labels("bo", BO[:10])
    found = agreement(people, judge=labels("judge", ANN))
    (judge,) = found["judges"]

    assert found["n_items"] == 10
    assert judge["pearson"]["value"] == pytest.approx((1 + correlation(ANN[:10], BO)) / 2)
    assert judge["n_pairs"] == 2
    less = judge["less_people"]["value"]
    assert less == pytest.approx((1 - correlation(ANN[:10], BO)) / 2)


def test_a_judge_like_one_more_annotator_is_not_distinguishable_and_a_contrary_one_is_lower() -> None:
    contrary = [{"full": "none", "none": "full", "partial": "partial"}[answer] for answer in ANN]
    people = labels("ann", ANN) + labels("bo", BO)
    found = agreement(people, like=labels("like", BO[::-1][::-1]), contrary=labels("contrary", contrary))
    by_name = {judge["judge"]: judge for judge in found["judges"]}

    assert by_name["contrary"]["less_people"]["value"] == pytest.approx(-correlation(ANN, BO) * 2, abs=0.2)
    assert (by_name["contrary"]["less_people"]["high"] or 0) < 0


def test_a_judge_s_own_number_counts_in_its_correlation() -> None:
    people = labels("ann", ANN) + labels("bo", ANN)
    numbers = [one._replace(number=WEIGHTS[one.answer], answer="none") for one in labels("judge", ANN)]
    (judge,) = agreement(people, judge=numbers)["judges"]

    assert judge["pearson"]["value"] == pytest.approx(1.0)
    assert judge["same"]["value"] == 0.5


def test_a_judge_without_answers_is_unknown() -> None:
    people = labels("ann", ANN) + labels("bo", BO)
    (judge,) = agreement(people, silent=[])["judges"]

    assert (judge["pearson"]["value"], judge["less_people"]["value"], judge["n_pairs"]) == (None, None, 0)


def test_one_annotator_is_no_ceiling() -> None:
    alone = labels("ann", ANN[:8]) + [
        Label("bo", f"t{place}", (f"t{place}", "i"), answer) for place, answer in enumerate(BO)
    ]
    assert people_agreement(alone, {}, WEIGHTS, seed=1, resamples=50) is None
