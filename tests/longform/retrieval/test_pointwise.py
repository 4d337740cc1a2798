"""Scores of single documents: reading a reply, and asking once more."""

from __future__ import annotations

import pytest

from longform.chat.asking import Asks
from longform.chat.call import ChatReply, ChatRequest, Message, failed
from longform.retrieval.pointwise import NO_SCORE, OUT_OF_SCALE, AskedPair, PairScore, TextPair, read_score, scores


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("15", PairScore(15)),
        (" **7** \n", PairScore(7)),
        ("20.", PairScore(20)),
        ("12/20", PairScore(12)),
        ("Score: 3", PairScore(3)),
        ("It names 4 of 9 parts. The rest is left out.\n\nSCORE: 9", PairScore(9)),
        ("Two sentences.\n**Score:** 11 / 20", PairScore(11)),
        ("0", PairScore(None, OUT_OF_SCALE)),
        ("SCORE: 21", PairScore(None, OUT_OF_SCALE)),
        ("-5", PairScore(None, NO_SCORE)),
        ("7.5", PairScore(None, NO_SCORE)),
        ("7/10", PairScore(None, NO_SCORE)),
        ("between 7 and 9", PairScore(None, NO_SCORE)),
        ("SCORE: 9\nbecause it says so", PairScore(None, NO_SCORE)),
        ("A reason.\n14", PairScore(None, NO_SCORE)),
        ("SCORE: ٣", PairScore(None, NO_SCORE)),
        ("", PairScore(None, NO_SCORE)),
    ],
)
def test_score_is_the_whole_reply_or_its_last_line(reply: str, expected: PairScore) -> None:
    assert read_score(reply, 20) == expected


def asked(*pairs: TextPair) -> Asks[dict[TextPair, PairScore]]:
    requests = {
        pair: ChatRequest(messages=(Message("user", f"{pair.document}: {pair.query}"),), max_tokens=10)
        for pair in pairs
    }
    return scores(requests, again, lambda reply: read_score(reply, 20))


def again(request: ChatRequest, unreadable: str) -> ChatRequest:
    said = (*request.messages, Message("assistant", unreadable), Message("user", "again"))
    return ChatRequest(messages=said, max_tokens=10)


def said(text: str) -> ChatReply:
    return ChatReply(text=text, failure=None)


A, B, C = TextPair("a", "q"), TextPair("b", "q"), TextPair("c", "q")


def test_unreadable_score_is_asked_for_once_more_and_a_failed_call_is_not() -> None:
    plan = asked(A, B, C, A)
    first = next(plan)
    assert list(first) == [AskedPair(A), AskedPair(B), AskedPair(C)]
    second = plan.send({AskedPair(A): said("good"), AskedPair(B): failed("http_400"), AskedPair(C): said("99")})
    assert {name: request.messages[1].text for name, request in second.items()} == {
        AskedPair(A, again=True): "good",
        AskedPair(C, again=True): "99",
    }
    assert plan.send({AskedPair(A, again=True): said("8")}) == {}
    with pytest.raises(StopIteration) as end:
        plan.send({AskedPair(C, again=True): failed("http_500")})
    assert end.value.value == {A: PairScore(8), B: PairScore(None, "http_400"), C: PairScore(None, OUT_OF_SCALE)}


def test_second_reply_that_cannot_be_read_either_ends_it() -> None:
    plan = asked(A)
    next(plan)
    plan.send({AskedPair(A): said("99")})
    with pytest.raises(StopIteration) as end:
        plan.send({AskedPair(A, again=True): said("no idea")})
    assert end.value.value == {A: PairScore(None, NO_SCORE)}


def test_nothing_to_score_asks_nothing() -> None:
    with pytest.raises(StopIteration) as end:
        next(asked())
    assert end.value.value == {}
