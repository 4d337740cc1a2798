"""Replies about key points: the word, the quotes of a yes, and P(yes) among three words."""

from __future__ import annotations

from math import log
from typing import Any

import pytest

from longform.chat.call import TokenLogprobs
from longform.judges.kind import Group, Verdict
from longform.judges.kinds.key_point import KEY_POINT, parse_entailment
from longform.judges.kinds.misses import MISSES
from longform.judges.worth import target_item

RESPONSE = "The dam was closed in May.\n\nFarmers asked  for water all summer."


@pytest.mark.parametrize(
    ("reply", "answer", "failure"),
    [
        ("Yes. <quote>The dam was closed in May.</quote> It says so.", "entailed", None),
        ("**Yes** <quote>May. Farmers asked for water</quote>", "entailed", None),
        ("No. It was closed in June.", "contradicted", None),
        ("Neutral: the response leaves out the month.", "neutral", None),
        ("neutral", "neutral", None),
        ("Yes, it does.", None, "no_quote"),
        ("Yes. <quote> </quote>", None, "no_quote"),
        ("Yes. <quote>The dam was shut in May.</quote>", None, "quote_not_in_response"),
        ("Yes. <quote>closed in May</quote> <quote>closed in June</quote>", None, "quote_not_in_response"),
        ("The answer is yes. <quote>closed in May</quote>", "entailed", None),
        ("<think><quote>shut</quote></think>Answer: **Yes** <quote>closed in May</quote>", "entailed", None),
        ("Neutral.\n\nAnswer: no", None, "contradictory_answers"),
        ("Yes or no or neutral", None, "no_yes_no_or_neutral"),
        ("Neutrality is hard.", None, "no_yes_no_or_neutral"),
        ("", None, "no_yes_no_or_neutral"),
    ],
)
def test_a_yes_must_quote_the_response(reply: str, answer: str | None, failure: str | None) -> None:
    assert parse_entailment(reply, None, RESPONSE) == Verdict(answer, None, failure)


def test_p_yes_is_among_three_words_however_they_are_cut_into_tokens() -> None:
    top = (("Yes", log(0.6)), ("Neut", log(0.15)), (" no", log(0.05)), ("N", log(0.1)), ("neutral", log(0.1)))
    found = parse_entailment("Neutral", [TokenLogprobs("Neut", log(0.15), top)], RESPONSE)

    assert found.probability == pytest.approx(0.6 / 0.9)


@pytest.mark.parametrize(
    ("human", "judge", "same"), [("neutral", "not_entailed", True), ("entailed", "neutral", False)]
)
def test_what_a_number_cannot_tell_apart_is_compared_as_one(human: str, judge: str, same: bool) -> None:
    row = {"linked_unit": None, "probability": None, "failure": None}
    label: Any = row | {"answer": human, "summary_id": "s", "target_id": "t", "annotator": "ann"}
    verdict: Any = row | {"answer": judge}
    pair = target_item(KEY_POINT, label, verdict, source="h", part=None).pair
    assert pair is not None
    assert (pair.human.answer == pair.judge.answer) is same


@pytest.mark.parametrize(
    ("reply", "answer"), [("General. It is vague.", "general"), ("Missing", "missing"), ("It is said.", None)]
)
def test_a_way_of_missing_is_the_first_word(reply: str, answer: str | None) -> None:
    verdict = MISSES.read(reply, None, Group("k", (RESPONSE,), ("p",)), "ours")
    assert (verdict.answer, verdict.failure is None) == (answer, answer is not None)
