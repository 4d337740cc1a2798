"""
Units of work of many callers, run together by a budget of tokens.

One batch runs at a time, in a thread, so that the event loop stays free to take or refuse more. What arrives
meanwhile is the next batch. It is not `@serve.batch`, which needs a replica around it and does not refuse.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from actors.served import QueueFullError, TooLargeError

_FAILURES = 3
"""Batches that may fail one after another before the replica calls itself ill."""

_STUCK_S = 600.0
"""Longer than any batch takes on a CPU that is merely busy (guess)."""

_LONGEST_WAIT_S = 30.0
_SMOOTHING = 0.3  # of the newest batch in the mean seconds a token


@dataclass
class _Waiting:
    unit: Any
    cost: int
    answer: asyncio.Future[Any]


class TokenBatcher:
    """
    Calls *run* with as many waiting units as fit the budget, first come first served; a larger unit goes alone.

    A batch that fails is run again one unit at a time, so that a unit answers for itself only.

    Args:
        run: Units -> answers, in order; blocks.
        batch_tokens: The budget.
        queue_tokens: When as many wait, `ask` refuses.
        wait_s: For company, before the first batch after a rest.
        clock: In seconds.

    Attributes:
        waiting_tokens: Queued, not running.
        n_batches: That were run.
    """

    def __init__(
        self,
        run: Callable[[list[Any]], Sequence[Any]],
        *,
        batch_tokens: int,
        queue_tokens: int,
        wait_s: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._run = run
        self._batch_tokens = batch_tokens
        self._queue_tokens = queue_tokens
        self._wait_s = wait_s
        self._clock = clock
        self._queue: deque[_Waiting] = deque()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="batch")
        self._drain: asyncio.Task[None] | None = None
        self._seconds_a_token = 0.0
        self._started: float | None = None
        self._failures = 0
        self._last_failure = ""
        self.waiting_tokens = 0
        self.n_batches = 0

    async def ask(self, units: Sequence[Any], costs: Sequence[int]) -> list[Any]:
        """
        The answers, in order.

        Raises:
            QueueFullError: Nothing of it was queued.
            TooLargeError: Nor will it ever be.
            Exception: What *run* raised for a unit of them.
        """
        if sum(costs) > self._queue_tokens:
            raise TooLargeError
        if self.waiting_tokens >= self._queue_tokens:
            raise QueueFullError(self.retry_after_s())
        loop = asyncio.get_running_loop()
        asked = [_Waiting(unit, cost, loop.create_future()) for unit, cost in zip(units, costs, strict=True)]
        self._queue.extend(asked)
        self.waiting_tokens += sum(costs)
        if asked and (self._drain is None or self._drain.done()):
            self._drain = asyncio.create_task(self._drained())
        try:
            if asked:
                await asyncio.wait([one.answer for one in asked])
        finally:
            for one in asked:  # those of a caller who has gone are not run
                one.answer.cancel()
        failures = [failure for one in asked if (failure := one.answer.exception())]
        if failures:
            raise failures[0]
        return [one.answer.result() for one in asked]

    def retry_after_s(self) -> float:
        """How long what waits will take, from 1 to 30 s."""
        return min(max(1.0, self.waiting_tokens * self._seconds_a_token), _LONGEST_WAIT_S)

    def problem(self) -> str | None:
        """Why this replica should be replaced; None: it works."""
        if self._failures >= _FAILURES:
            return f"the last {self._failures} batches failed, the last one with {self._last_failure}"
        if self._started is not None and self._clock() - self._started > _STUCK_S:
            return f"a batch has been running for more than {_STUCK_S:g} s"
        return None

    async def _drained(self) -> None:
        await asyncio.sleep(self._wait_s)
        while batch := self._next():
            await self._answer(batch)

    def _next(self) -> list[_Waiting]:
        """The next batch; empty: nobody waits."""
        batch: list[_Waiting] = []
        room = self._batch_tokens
        while self._queue and (self._queue[0].cost <= room or not batch):
            one = self._queue.popleft()
            self.waiting_tokens -= one.cost
            if not one.answer.done():
                batch.append(one)
                room -= one.cost
        return batch

    async def _answer(self, batch: list[_Waiting]) -> None:
        failure = await self._try(batch)
        if failure and len(batch) > 1:
            alone = [await self._try([one]) for one in batch if not one.answer.done()]
            failure = None if None in alone else failure
        self._failures = self._failures + 1 if failure else 0
        self._last_failure = type(failure).__name__

    async def _try(self, batch: list[_Waiting]) -> Exception | None:
        """Runs the batch and hands out its answers; a failure comes back, and is handed out where it was of one."""
        self._started = self._clock()
        self.n_batches += 1
        try:
            units = [one.unit for one in batch]
            answers = await asyncio.get_running_loop().run_in_executor(self._thread, self._run, units)
            pairs = list(zip(batch, answers, strict=True))
        except Exception as error:  # noqa: BLE001  whatever a model raises is the answer to those who asked
            if len(batch) == 1:
                _settle(batch[0].answer, error)
            return error
        else:
            self._learn(batch)
            for one, answer in pairs:
                _settle(one.answer, answer)
            return None
        finally:
            self._started = None

    def _learn(self, batch: Sequence[_Waiting]) -> None:
        started = self._clock() if self._started is None else self._started
        newest = (self._clock() - started) / max(1, sum(one.cost for one in batch))
        known = self._seconds_a_token or newest
        self._seconds_a_token = known + _SMOOTHING * (newest - known)


def _settle(future: asyncio.Future[Any], outcome: Any) -> None:
    if future.done():  # the caller has gone
        return
    if isinstance(outcome, Exception):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)
