"""A judge against people, on labels whose agreement is known."""

from __future__ import annotations

import pytest

from longform.metrics.agreement import (
    JudgedPair,
    Label,
    answer_kappa,
    between_annotators,
    linking_accuracy,
    linking_recall,
    mean_bias,
    sample_biases,
    score_agreement,
)

SETTINGS = {"seed": 1, "resamples": 200}


def pair(
    human: str,
    judge: str,
    *,
    links: tuple[int | None, int | None] = (None, None),
    summary: str = "a",
    p: float | None = None,
) -> JudgedPair:
    return JudgedPair(
        summary, Label("people", summary, 0, human, links[0]), Label("judge", summary, 0, judge, links[1], p)
    )


PERFECT = [pair(a, a, summary=a) for a in ("full", "partial", "none")]


def test_equal_answers_agree_fully_and_have_no_bias() -> None:
    assert score_agreement(PERFECT, **SETTINGS).value == pytest.approx(1)
    assert answer_kappa(PERFECT, **SETTINGS).value == pytest.approx(1)
    assert mean_bias(PERFECT, **SETTINGS).value == 0


def test_own_number_of_a_judge_is_what_correlates() -> None:
    pairs = [pair("none", "full", p=0.0, summary="a"), pair("full", "full", p=1.0, summary="b")]

    assert score_agreement(pairs, **SETTINGS).value == pytest.approx(1)


def test_generous_judge_has_bias_above_zero() -> None:
    pairs = [pair("none", "full"), pair("partial", "full"), pair("full", "full"), pair("full", "full", summary="b")]

    assert mean_bias(pairs, **SETTINGS).value == pytest.approx(1.5 / 4)
    assert sample_biases(pairs)[2].tolist() == [pytest.approx(0.5), 0]


def test_linking_accuracy_sees_only_pairs_that_both_linked() -> None:
    pairs = [
        pair("full", "full", links=(1, 1)),
        pair("full", "partial", links=(1, 2)),
        pair("full", "none", links=(3, None)),
        pair("none", "full", links=(None, 4)),
    ]

    assert linking_accuracy(pairs, **SETTINGS)[0] == pytest.approx(1 / 2)
    assert linking_recall(pairs, **SETTINGS)[0] == pytest.approx(1 / 3)


def test_where_one_answer_prevails_cohen_s_kappa_falls_and_randolph_s_does_not() -> None:
    labels = [
        Label(annotator, f"s{n}", n, "none" if (annotator, n) in {("ann", 0), ("bo", 1)} else "full")
        for annotator in ("ann", "bo")
        for n in range(10)
    ]
    (between,) = between_annotators(labels, {"full": 1.0, "none": 0.0}, **SETTINGS)
    assert between["same"]["value"] == pytest.approx(0.8)
    assert between["kappa"]["value"] == pytest.approx((0.8 - 0.82) / (1 - 0.82))
    assert between["free_kappa"]["value"] == pytest.approx((0.8 - 1 / 2) / (1 - 1 / 2))
