"""Batches by tokens, answers to those who asked, refusals when too much waits."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from actors.serving.messages import DeadlineError, QueueFullError, TooLargeError
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
    assert 1 <= refused.value.refusal.retry_after_s <= 30
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


class Clock:
    """A model that takes a second of this clock for each unit, and can be stopped before a batch."""

    def __init__(self) -> None:
        self.now = 0.0
        self.gate = Gate()
        self.gate.open.set()

    def __call__(self) -> float:
        return self.now

    def run(self, units: list[Any]) -> list[Any]:
        answers = self.gate(units)
        self.now += len(units)
        return answers

    def batcher(self, **options: Any) -> TokenBatcher:
        return TokenBatcher(self.run, batch_tokens=1, queue_tokens=1000, clock=self, **options)


async def behind_a_batch(clock: Clock, asked: TokenBatcher, n_waiting: int) -> list[asyncio.Task[list[Any]]]:
    """A second a token is known, one unit runs, and so many wait behind it."""
    await asked.ask(["measured"], [1])
    clock.gate.open.clear()
    clock.gate.entered.clear()
    tasks = [asyncio.create_task(asked.ask(["running"], [1]))]
    await entered(clock.gate)
    tasks += [asyncio.create_task(asked.ask([f"waits {n}"], [1])) for n in range(n_waiting)]
    await asyncio.sleep(0)
    return tasks


async def test_who_would_wait_too_long_is_told_when_to_come_again() -> None:
    clock = Clock()
    asked = clock.batcher(max_wait_s=5)
    tasks = await behind_a_batch(clock, asked, 4)
    assert asked.expected_wait_s() == pytest.approx(5.0)
    last = asyncio.create_task(asked.ask(["last"], [1]))  # five seconds of work before it: it may wait
    await asyncio.sleep(0)
    with pytest.raises(QueueFullError) as refused:
        await asked.ask(["refused"], [1])
    assert refused.value.refusal.retry_after_s == pytest.approx(6.0)
    clock.gate.open.set()
    await asyncio.gather(*tasks, last)
    assert ["refused"] not in clock.gate.batches


async def test_a_request_is_refused_at_once_that_cannot_be_answered_within_its_own_deadline() -> None:
    clock = Clock()
    asked = clock.batcher(max_wait_s=100)
    tasks = await behind_a_batch(clock, asked, 4)
    with pytest.raises(QueueFullError):
        await asked.ask(["a", "b"], [1, 1], within_s=6.5)  # five seconds before it, two of its own
    tasks.append(asyncio.create_task(asked.ask(["c", "d"], [1, 1], within_s=7.5)))
    await asyncio.sleep(0)
    clock.gate.open.set()
    assert (await asyncio.gather(*tasks))[-1] == ["<c>", "<d>"]


async def test_what_nobody_waits_for_any_more_is_not_computed() -> None:
    clock = Clock()
    asked = clock.batcher(max_wait_s=100)
    tasks = await behind_a_batch(clock, asked, 1)
    late = asyncio.create_task(asked.ask(["late"], [1], within_s=10))
    await asyncio.sleep(0)
    clock.now += 20  # the batch that runs takes longer than was known
    clock.gate.open.set()
    with pytest.raises(DeadlineError):
        await late
    await asyncio.gather(*tasks)
    assert clock.gate.batches == [["measured"], ["running"], ["waits 0"]]
    with pytest.raises(DeadlineError):
        await asked.ask(["passed before it came"], [1], within_s=0.0)
    assert asked.waiting_tokens == 0


async def test_no_request_begins_after_the_longest_wait_whatever_was_expected() -> None:
    clock = Clock()
    asked = clock.batcher(max_wait_s=5)
    tasks = await behind_a_batch(clock, asked, 3)
    clock.now += 20
    clock.gate.open.set()
    found = await asyncio.gather(*tasks, return_exceptions=True)
    assert found[0] == ["<running>"]
    assert [type(one) for one in found[1:]] == [QueueFullError] * 3
    assert asked.waiting_tokens == 0


async def test_a_request_that_has_begun_is_finished() -> None:
    """Its later batches wait for its own earlier ones, not for others."""
    clock = Clock()
    units = [f"{n}" for n in range(9)]
    assert len(await clock.batcher(max_wait_s=3).ask(units, [1] * 9)) == 9


async def test_those_who_leave_are_not_counted_among_those_that_wait() -> None:
    clock = Clock()
    asked = clock.batcher(max_wait_s=5)
    tasks = await behind_a_batch(clock, asked, 5)
    with pytest.raises(QueueFullError):
        await asked.ask(["refused"], [1])
    for gone in tasks[2:]:
        gone.cancel()
    await asyncio.sleep(0)
    assert asked.waiting_tokens == 1
    clock.gate.open.set()
    assert await asked.ask(["admitted"], [1]) == ["<admitted>"]


async def test_nothing_asked_is_nothing_run() -> None:
    gate = Gate()
    assert await batcher(gate).ask([], []) == []
    assert gate.batches == []
