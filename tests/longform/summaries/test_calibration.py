"""Permutation calibration that draws orders until their summaries agree."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from math import inf, sqrt

import pytest
from pydantic import ValidationError

from actors.summarizers.summarizer import method_of
from longform.chat.asking import Recorded, carry_out
from longform.chat.call import ChatReply, ChatRequest, Message, failed
from longform.settings.methods import SHIPPED_METHODS, CalibrationMethodSettings
from longform.summaries.calibration import orders_needed, spread
from longform.summaries.methods import AskStep, Plan

SAMPLED = CalibrationMethodSettings(kind="calibration", orders="sampled", n_orders=3, most=12, spread=0.3)


def test_the_spread_of_summaries_is_known_where_they_are_alike_and_where_they_are_not() -> None:
    assert spread(["The bridge was rebuilt."] * 4) == 0
    assert spread(["harbour"]) == inf
    assert spread(["harbour", "library"]) == pytest.approx(1.0)  # shares 1/2 and 1/2
    assert spread(["bridge harbour", "bridge library", "bridge"]) == pytest.approx(sqrt((4 / 9) / (11 / 9) / 2))


def test_as_many_orders_are_needed_as_the_square_of_the_spread_says() -> None:
    """Summaries without a common word: the variance is 1, and the spread after K orders 1 / sqrt(K - 1)."""
    apart = ["harbour", "library"]
    assert orders_needed(apart, 0.5) == 5
    assert orders_needed(apart, 0.25) == 17
    assert orders_needed(["harbour"] * 3, 0.25) == 3


def run(method: CalibrationMethodSettings, n_documents: int, said: Sequence[str | None]) -> tuple[Plan, list[str]]:
    """Carry the method out on a model whose k-th order says the k-th text; return the plan and the steps asked."""
    asked: list[str] = []

    def request(step: AskStep, _texts: Sequence[str]) -> ChatRequest:
        asked.append(step.name)
        return ChatRequest(messages=(Message("user", step.name),), max_tokens=9)

    def answer(request: ChatRequest) -> ChatReply:
        name = request.messages[0].text
        text = said[(int(name.removeprefix("order-")) - 1) % len(said)] if name.startswith("order-") else "merged"
        return failed("timeout") if text is None else ChatReply(text=text, failure=None)

    plan = method_of(method).asks(n_documents, 7, request, lambda _, reply: reply)
    carried_out, replies = asyncio.run(carry_out(plan, Recorded(lambda _: {}, answer).answer))
    assert list(replies) == [step.name for step in carried_out]
    return carried_out, asked


def test_orders_whose_summaries_agree_are_no_more_than_the_first() -> None:
    plan, asked = run(SAMPLED, 5, ["The bridge was rebuilt."])
    assert asked == ["order-1", "order-2", "order-3", "final"]
    assert plan == method_of(SAMPLED).plan(5, seed=7)


def test_orders_whose_summaries_differ_are_drawn_up_to_the_most() -> None:
    words = [f"{first}{second}" for first in ("north", "south", "east", "west") for second in ("gate", "mill", "quay")]
    plan, asked = run(SAMPLED, 5, words)
    assert len(plan) == 12 + 1
    assert len(asked) == len(set(asked)) == 13, "no order is asked for twice"
    assert plan[:3] == method_of(SAMPLED).plan(5, seed=7)[:3], "the first orders are those of a smaller number"
    assert len({step.documents for step in plan[:-1]}) == 12


def test_summaries_that_differ_a_little_take_some_more_orders_until_they_agree() -> None:
    common = "harbour dredged autumn fishing boats leave september council voted"
    said = [f"{common} {word} {word}s" for word in ("bridge", "library", "market", "tower", "school", "ferry")]
    plan, _ = run(SAMPLED.model_copy(update={"spread": 0.18}), 5, said)
    assert 3 < len(plan) - 1 < 12


def test_no_more_orders_are_drawn_than_there_are() -> None:
    plan, _ = run(SAMPLED, 2, ["harbour", "library"])
    assert len(plan) == 2 + 1


def test_a_failed_summary_ends_the_drawing() -> None:
    plan, asked = run(SAMPLED, 5, ["harbour", None, "library"])
    assert asked == ["order-1", "order-2", "order-3"]
    assert len(plan) == 4


def test_a_spread_is_for_sampled_orders() -> None:
    with pytest.raises(ValidationError, match="spread is for sampled orders"):
        CalibrationMethodSettings(kind="calibration", orders="rotations", spread=0.2)
    with pytest.raises(ValidationError, match="expected n_orders of at most 4"):
        CalibrationMethodSettings(kind="calibration", orders="sampled", n_orders=5, most=4, spread=0.2)


def test_methods_without_a_spread_keep_the_identity_they_had() -> None:
    rotations = SHIPPED_METHODS["calibration-rotations"]
    assert rotations.identity == {
        "kind": "calibration", "orders": "rotations", "n_orders": None, "most": 24, "seed": 0,
    }  # fmt: skip
    assert SAMPLED.identity["spread"] == 0.3
