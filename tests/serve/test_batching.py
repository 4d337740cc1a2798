"""Batches by tokens, answers to those who asked, refusals when too much waits."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from actors.served import QueueFullError, TooLargeError
from serve.batching import TokenBatcher


class Gate:
    """A model that waits to be let through, and notes its batches."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.entered = threading.Event()
        self.batches: list[list[Any]] = []

    def __call__(self, units: list[Any]) -> list[Any]:
        self.entered.set()
        assert self.open.wait(30)
        self.batches.append(units)
        if any(unit == "bad" for unit in units):
            raise ValueError("bad")
        return [f"<{unit}>" for unit in units]


def batcher(run: Callable[[list[Any]], list[Any]], *, tokens: int = 10, queue: int = 1000) -> TokenBatcher:
    return TokenBatcher(run, batch_tokens=tokens, queue_tokens=queue)


async def entered(gate: Gate) -> None:
    await asyncio.to_thread(gate.entered.wait, 30)


async def test_batches_keep_to_the_budget_and_answers_to_their_order() -> None:
    gate = Gate()
    gate.open.set()
    asked = batcher(gate)
    units, costs = list("abcdefg"), [4, 4, 4, 30, 1, 9, 1]
    assert await asked.ask(units, costs) == [f"<{unit}>" for unit in units]
    assert gate.batches == [["a", "b"], ["c"], ["d"], ["e", "f"], ["g"]]


async def test_what_arrives_while_a_batch_runs_goes_together() -> None:
    """Callers with one unit each are the usual case; one by one they would wait for each other."""
    gate = Gate()
    asked = batcher(gate)
    first = asyncio.create_task(asked.ask(["first"], [1]))
    await entered(gate)
    others = [asyncio.create_task(asked.ask([number], [2])) for number in range(5)]
    await asyncio.sleep(0)
    gate.open.set()
    assert await asyncio.gather(first, *others) == [["<first>"], *([f"<{n}>"] for n in range(5))]
    assert gate.batches == [["first"], [0, 1, 2, 3, 4]]


async def test_a_full_queue_refuses_whole_requests() -> None:
    gate = Gate()
    asked = batcher(gate, queue=5)
    running = asyncio.create_task(asked.ask(["running"], [1]))
    await entered(gate)
    waiting = asyncio.create_task(asked.ask(["waiting"], [5]))
    await asyncio.sleep(0)
    with pytest.raises(QueueFullError) as refused:
        await asked.ask(["refused", "too"], [1, 1])
    assert 1 <= refused.value.retry_after_s <= 30
    gate.open.set()
    assert await asyncio.gather(running, waiting) == [["<running>"], ["<waiting>"]]
    assert await asked.ask(["later"], [1]) == ["<later>"]
    assert "refused" not in [unit for batch in gate.batches for unit in batch]


async def test_more_than_the_queue_may_hold_is_refused_for_good() -> None:
    with pytest.raises(TooLargeError):
        await batcher(lambda units: units, queue=5).ask(["a", "b"], [3, 3])


async def test_a_unit_answers_for_itself_only() -> None:
    gate = Gate()
    gate.open.set()
    asked = batcher(gate)
    found = await asyncio.gather(asked.ask(["good"], [1]), asked.ask(["bad"], [1]), return_exceptions=True)
    assert found[0] == ["<good>"]
    assert isinstance(found[1], ValueError)
    assert asked.problem() is None


async def test_those_who_have_gone_are_not_worked_for() -> None:
    gate = Gate()
    asked = batcher(gate)
    first = asyncio.create_task(asked.ask(["first"], [1]))
    await entered(gate)
    gone = asyncio.create_task(asked.ask(["gone"], [1]))
    stays = asyncio.create_task(asked.ask(["stays"], [1]))
    await asyncio.sleep(0)
    gone.cancel()
    await asyncio.sleep(0)
    gate.open.set()
    assert await asyncio.gather(first, stays) == [["<first>"], ["<stays>"]]
    assert gate.batches == [["first"], ["stays"]]
    assert asked.waiting_tokens == 0


async def test_a_model_that_fails_again_and_again_is_ill_until_it_works() -> None:
    gate = Gate()
    gate.open.set()
    asked = batcher(gate)
    for _ in range(3):
        assert asked.problem() is None
        with pytest.raises(ValueError, match="bad"):
            await asked.ask(["bad"], [1])
    assert "3 batches failed, the last one with ValueError" in str(asked.problem())
    await asked.ask(["good"], [1])
    assert asked.problem() is None


async def test_a_batch_that_never_ends_is_a_problem() -> None:
    gate, now = Gate(), [0.0]
    asked = TokenBatcher(gate, batch_tokens=10, queue_tokens=10, clock=lambda: now[0])
    running = asyncio.create_task(asked.ask(["a"], [1]))
    await entered(gate)
    assert asked.problem() is None
    now[0] = 10_000.0
    assert "running for more than" in str(asked.problem())
    gate.open.set()
    await running
    assert asked.problem() is None


async def test_the_wait_that_a_refusal_states_grows_with_what_waits() -> None:
    now = [0.0]

    def slow(units: list[Any]) -> list[Any]:
        now[0] += 2.0 * len(units)
        return units

    asked = TokenBatcher(slow, batch_tokens=1, queue_tokens=1000, clock=lambda: now[0])
    await asked.ask(["a"], [1])
    asked.waiting_tokens = 5
    assert asked.retry_after_s() == pytest.approx(10.0)
    asked.waiting_tokens = 100
    assert asked.retry_after_s() == 30.0


async def test_nothing_asked_is_nothing_run() -> None:
    gate = Gate()
    assert await batcher(gate).ask([], []) == []
    assert gate.batches == []
