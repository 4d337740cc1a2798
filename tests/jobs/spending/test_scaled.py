"""Calls of the queries planned, scaled to more of them."""

from __future__ import annotations

import pytest

from jobs.spending.call_count import StageCalls, for_queries, scaling_notes
from longform.errors import UsageError
from longform.settings.chat import ChatSettings
from longform.spending import CountRange

CHAT = ChatSettings(model="gpt-4o")


def calls(*tokens: float, n_paid: int = 0) -> StageCalls:
    inputs = {str(place): CountRange(n, n, n) for place, n in enumerate(tokens)}
    return StageCalls(stage="judge", chat=CHAT, inputs=inputs, n_paid=n_paid)


def test_calls_and_tokens_grow_with_queries() -> None:
    (scaled,) = for_queries([calls(100, 200)], n_planned=2, n_queries=500)

    assert len(scaled.inputs) == 500
    assert sum(span.expected or 0 for span in scaled.inputs.values()) == 500 * 150


def test_paid_calls_are_calls_of_the_new_queries() -> None:
    (scaled,) = for_queries([calls(100, n_paid=3)], n_planned=2, n_queries=10)

    assert (len(scaled.inputs), scaled.n_paid) == (20, 0)


def test_queries_that_differ_widen_the_ends() -> None:
    """Two values 100 and 200: mean 150, deviation 70.7, t of one degree 12.7; the ends stay above 0."""
    (alike,) = for_queries([calls(150, 150, 150)], n_planned=3, n_queries=100)
    (unlike,) = for_queries([calls(140, 150, 160)], n_planned=3, n_queries=100)
    (far,) = for_queries([calls(100, 200)], n_planned=2, n_queries=100)

    assert alike.inputs["0"] == CountRange(150, 150, 150)
    half = 4.302653 * 10 * (1 / 100 + 1 / 3) ** 0.5 / 150
    assert unlike.inputs["0"].low == pytest.approx(140 * (1 - half))
    assert unlike.inputs["0"].high == pytest.approx(140 * (1 + half))
    assert far.inputs["0"].low == 0


def test_fewer_queries_scale_too() -> None:
    (scaled,) = for_queries([calls(1, 2, 3, 4)], n_planned=4, n_queries=1)

    assert len(scaled.inputs) == 1


def test_nothing_left_to_scale_is_said() -> None:
    with pytest.raises(UsageError, match=r"every call of judge .* name an empty folder with --ledger"):
        for_queries([calls(n_paid=3)], n_planned=3, n_queries=5)
    with pytest.raises(UsageError, match="expected a benchmark with a query"):
        for_queries([calls()], n_planned=0, n_queries=5)


def test_notes_say_what_it_rests_on() -> None:
    assert "times 41.67" in next(scaling_notes(12, 500))
    assert "shows no spread" in list(scaling_notes(1, 500))[1]
