"""Ratings from 1 to 5, and their mean by the probabilities of the five digits."""

from __future__ import annotations

from math import log

import pytest

from longform.chat.call import TokenLogprobs
from longform.judges.kind import Group, Verdict
from longform.judges.kinds.reference import NO_REFERENCE, REFERENCE, UNREADABLE, mean_rating, parse_rating


def token(text: str, **likely: float) -> TokenLogprobs:
    top = tuple((name.removeprefix("d"), log(p)) for name, p in likely.items())
    return TokenLogprobs(text, dict(top).get(text, log(0.01)), top)


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        *(("4", "4"), (" **5**", "5"), ("3.", "3"), ("2 - few points", "2")),
        *((unreadable, None) for unreadable in ("4/5", "45", "3.5", "1-5", "0", "6", "Good", "")),
    ],
)
def test_a_reply_is_the_rating_it_begins_with(reply: str, answer: str | None) -> None:
    found = parse_rating(reply, None)

    assert (found.answer, found.failure) == (answer, None if answer else UNREADABLE)


def test_digits_are_weighed_by_their_probabilities() -> None:
    """G-Eval: 0.5 x 4 + 0.25 x 5 + 0.25 x 3 is a rating of 4, three quarters of the way."""
    assert mean_rating([token("4", d4=0.4, d5=0.2, d3=0.2, The=0.2)]) == pytest.approx(0.75)
    assert mean_rating([token("**", d5=0.1), token("5", d5=0.8)]) == 1.0
    assert mean_rating([token("1", d1=0.9)]) == 0.0


@pytest.mark.parametrize("logprobs", [None, (), (token("The", d4=0.9),)])
def test_without_a_rating_among_the_tokens_it_is_unknown(logprobs: tuple[TokenLogprobs, ...] | None) -> None:
    assert mean_rating(logprobs) is None


def test_what_needs_no_judge() -> None:
    summary, nothing = Group("s", ("A summary.",), ()), Group("s", (), ())

    assert REFERENCE.settle(summary, "A reference.") is None
    assert REFERENCE.settle(nothing, "A reference.") == Verdict("1", 0.0)
    assert REFERENCE.settle(summary, " ") == Verdict(None, None, NO_REFERENCE)


@pytest.mark.parametrize(("number", "rating"), [(0.0, "1"), (0.6, "3"), (0.7, "4"), (1.0, "5")])
def test_a_mean_answers_the_nearest_rating(number: float, rating: str) -> None:
    assert REFERENCE.by_number(number, ()).answer == rating
