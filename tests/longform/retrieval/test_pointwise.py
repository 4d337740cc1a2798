"""Scores of single documents: reading a reply, and asking once more."""

from __future__ import annotations

import pytest

from longform.chat.call import ChatReply, ChatRequest, Message, failed
from longform.retrieval.pointwise import NO_SCORE, OUT_OF_SCALE, Asked, Pair, Scored, read_score, scores


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("15", Scored(15)),
        (" **7** \n", Scored(7)),
        ("20.", Scored(20)),
        ("12/20", Scored(12)),
        ("Score: 3", Scored(3)),
        ("It names 4 of 9 parts. The rest is left out.\n\nSCORE: 9", Scored(9)),
        ("Two sentences.\n**Score:** 11 / 20", Scored(11)),
        ("0", Scored(None, OUT_OF_SCALE)),
        ("SCORE: 21", Scored(None, OUT_OF_SCALE)),
        ("-5", Scored(None, NO_SCORE)),
        ("7.5", Scored(None, NO_SCORE)),
        ("7/10", Scored(None, NO_SCORE)),
        ("between 7 and 9", Scored(None, NO_SCORE)),
        ("SCORE: 9\nbecause it says so", Scored(None, NO_SCORE)),
        ("A reason.\n14", Scored(None, NO_SCORE)),
        ("SCORE: ٣", Scored(None, NO_SCORE)),
        ("", Scored(None, NO_SCORE)),
    ],
)
def test_score_is_the_whole_reply_or_its_last_line(reply: str, expected: Scored) -> None:
    assert read_score(reply, 20) == expected


class Twenty:
    def request(self, pair: Pair) -> ChatRequest:
        return ChatRequest(messages=(Message("user", f"{pair.document}: {pair.query}"),), max_tokens=10)

    def again(self, request: ChatRequest, unreadable: str) -> ChatRequest:
        said = (*request.messages, Message("assistant", unreadable), Message("user", "again"))
        return ChatRequest(messages=said, max_tokens=10)

    def read(self, reply: str) -> Scored:
        return read_score(reply, 20)


def said(text: str) -> ChatReply:
    return ChatReply(text=text, failure=None)


A, B, C = Pair("a", "q"), Pair("b", "q"), Pair("c", "q")


def test_unreadable_score_is_asked_for_once_more_and_a_failed_call_is_not() -> None:
    plan = scores([A, B, C, A], Twenty())
    first = next(plan)
    assert list(first) == [Asked(A), Asked(B), Asked(C)]
    second = plan.send({Asked(A): said("good"), Asked(B): failed("http_400"), Asked(C): said("99")})
    assert {name: request.messages[1].text for name, request in second.items()} == {
        Asked(A, again=True): "good",
        Asked(C, again=True): "99",
    }
    assert plan.send({Asked(A, again=True): said("8")}) == {}
    with pytest.raises(StopIteration) as end:
        plan.send({Asked(C, again=True): failed("http_500")})
    assert end.value.value == {A: Scored(8), B: Scored(None, "http_400"), C: Scored(None, OUT_OF_SCALE)}


def test_second_reply_that_cannot_be_read_either_ends_it() -> None:
    plan = scores([A], Twenty())
    next(plan)
    plan.send({Asked(A): said("99")})
    with pytest.raises(StopIteration) as end:
        plan.send({Asked(A, again=True): said("no idea")})
    assert end.value.value == {A: Scored(None, NO_SCORE)}


def test_nothing_to_score_asks_nothing() -> None:
    with pytest.raises(StopIteration) as end:
        next(scores([], Twenty()))
    assert end.value.value == {}
