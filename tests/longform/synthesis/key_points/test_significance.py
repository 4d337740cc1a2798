"""The significance of points: P(YES) from log probabilities, and what is done without."""

from __future__ import annotations

from math import log as ln

import pytest

from longform.chat.call import TokenLogprobs
from longform.synthesis.asking import Log, Reply, carried_out
from longform.synthesis.key_points.points import scores
from longform.synthesis.key_points.settings import ModelsSettings


def said(yes: float, no: float) -> Reply:
    top = (("YES", ln(yes)), (" no", ln(no)), ("Perhaps", ln(0.01)))
    return Reply("YES", None, "call", (TokenLogprobs("YES", ln(yes), top),))


def scored(*rounds: list[Reply], **settings: object) -> tuple[list[float | None], Log]:
    log = Log()
    points = [f"Point {n}." for n in range(len(rounds[0]))]
    plan = scores("Why?", points, ModelsSettings.model_validate(settings), replies=2, log=log)
    waiting = list(rounds)
    return carried_out(plan, lambda _: waiting.pop(0)), log


def test_a_score_is_the_share_of_yes_and_the_threshold_decides() -> None:
    found, log = scored([said(0.7, 0.1), said(0.3, 0.3)])
    assert found == pytest.approx([0.875, 0.5])
    assert [(one.check, one.verdict) for one in log.attempts] == [
        ("significance read", "accepted"),
        ("point significant", "accepted"),
        ("significance read", "accepted"),
        ("point significant", "rejected"),
    ]
    assert log.attempts[-1].reason == "P(YES) 0.500 below 0.7"


def test_a_threshold_that_is_reached_is_enough() -> None:
    _, log = scored([said(0.5, 0.5)], threshold=0.5)
    assert log.attempts[-1].verdict == "accepted"


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(None, "empty_reply"), "empty_reply"),
        (Reply("It depends.", None, "call", ()), "no_yes_or_no"),
        (Reply("YES", None, "call", None), "no_probability"),
    ],
)
def test_what_cannot_be_read_is_asked_again_and_then_given_up(reply: Reply, reason: str) -> None:
    assert scored([reply], [said(0.6, 0.2)])[0] == pytest.approx([0.75])
    found, log = scored([reply], [reply])
    assert found == [None]
    assert [(one.verdict, one.reason) for one in log.attempts] == [("rejected", reason), ("exhausted", reason)]


def test_answers_count_as_1_and_0_if_the_configuration_says_so() -> None:
    replies = [Reply("YES.", None), Reply("No, it is background.", None)]
    assert scored(replies, without_logprobs="answers")[0] == [1.0, 0.0]
