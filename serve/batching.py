"""
Units of work of many callers, run together by a budget of tokens.

One batch runs at a time, in a thread, so that the event loop stays free to take or refuse more. What arrives
meanwhile is the next batch. It is not `@serve.batch`, which needs a replica around it and does not refuse.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Generic, TypeVar

from actors.serving.messages import DeadlineError, QueueFullError, TooLargeError

_KEPT = 0.7
"""Share of what was measured before that still counts after a batch (guess): five batches make five sixths of it."""

SHORTEST_S, LONGEST_S = 1.0, 60.0
"""Bounds of `Retry-After`; later than a minute, other replicas may have started."""

Unit = TypeVar("Unit")
Answer = TypeVar("Answer")

_FAILURES = 3
"""Batches that may fail one after another before the replica calls itself ill."""

_STUCK_S = 600.0
"""Longer than any batch takes on a CPU that is merely busy (guess)."""


@dataclass
class _Request:
    """State that all units of a request share; times are the clock's."""

    start_by: float
    done_by: float  # infinite: the caller did not say
    started: bool = False


@dataclass
class _Queued(Generic[Unit, Answer]):
    unit: Unit
    cost: int
    answer: asyncio.Future[Answer]
    request: _Request
    in_queue: bool = True


class TokenBatcher(Generic[Unit, Answer]):
    """
    Calls *run* with as many waiting units as fit the budget, first come first served; a larger unit goes alone.

    A batch that fails is run again one unit at a time, so that a unit answers for itself only. A request is refused
    when it comes if its turn is expected too late, and at its turn if that came too late.

    *run* answers units in their order, and blocks. When *queue_tokens* wait, `ask` refuses; no request waits longer
    than *max_wait_s* for its turn, and the first one after a rest waits *wait_s* for company.
    """

    def __init__(
        self,
        run: Callable[[list[Unit]], Sequence[Answer]],
        *,
        batch_tokens: int,
        queue_tokens: int,
        max_wait_s: float = math.inf,
        wait_s: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._run = run
        self._batch_tokens = batch_tokens
        self._queue_tokens = queue_tokens
        self._max_wait_s = max_wait_s
        self._wait_s = wait_s
        self._clock = clock
        self._queue: deque[_Queued[Unit, Answer]] = deque()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="batch")
        self._drain: asyncio.Task[None] | None = None
        self._rate = ServiceRate()
        self._started: float | None = None
        self._running_tokens = 0
        self._failures = 0
        self._last_failure = ""
        self.waiting_tokens = 0  # queued, not running

    async def ask(self, units: Sequence[Unit], costs: Sequence[int], *, within_s: float | None = None) -> list[Answer]:
        """
        Return the answers, in order.

        Raises:
            QueueFullError: Nothing of it was run.
            TooLargeError: Nor will it ever be.
            DeadlineError: *within_s* passed; the rest was not run.
            Exception: What *run* raised for a unit of them.
        """
        self._admit(sum(costs), within_s)
        now, loop = self._clock(), asyncio.get_running_loop()
        request = _Request(now + self._max_wait_s, math.inf if within_s is None else now + within_s)
        asked = [_Queued(unit, cost, loop.create_future(), request) for unit, cost in zip(units, costs, strict=True)]
        self._queue.extend(asked)
        self.waiting_tokens += sum(costs)
        if asked and (self._drain is None or self._drain.done()):
            self._drain = asyncio.create_task(self._drained())
        try:
            if asked:
                await asyncio.wait([one.answer for one in asked])
        finally:
            for one in asked:  # those of a caller who has gone are not run, and nobody waits for them
                if one.answer.cancel():
                    self._leave(one)
        failures = [failure for one in asked if (failure := one.answer.exception())]
        if failures:
            raise failures[0]
        return [one.answer.result() for one in asked]

    def _admit(self, tokens: int, within_s: float | None) -> None:
        """
        Raises:
            QueueFullError, TooLargeError, DeadlineError: As of `ask`.
        """
        if tokens > self._queue_tokens:
            raise TooLargeError
        if within_s is not None and within_s <= 0:
            raise DeadlineError
        wait_s = self.expected_wait_s()
        own_s = tokens * self._rate.seconds_a_token(self._running_tokens, self._running_s())
        timely = not tokens or may_join(wait_s, own_s, max_wait_s=self._max_wait_s, within_s=within_s)
        if self.waiting_tokens >= self._queue_tokens or not timely:
            raise QueueFullError(retry_after_s(wait_s))

    def expected_wait_s(self) -> float:
        """Return the seconds until all that runs and waits now is computed, as far as is known."""
        waiting, running = self.waiting_tokens, self._running_tokens
        return expected_wait_s(self._rate, waiting_tokens=waiting, running_tokens=running, running_s=self._running_s())

    def _running_s(self) -> float:
        return 0.0 if self._started is None else self._clock() - self._started

    def problem(self) -> str | None:
        """Return why this replica should be replaced; None if it works."""
        if self._failures >= _FAILURES:
            return f"the last {self._failures} batches failed, the last one with {self._last_failure}"
        if self._started is not None and self._clock() - self._started > _STUCK_S:
            return f"a batch has been running for more than {_STUCK_S:g} s"
        return None

    async def _drained(self) -> None:
        await asyncio.sleep(self._wait_s)
        while batch := self._next():
            await self._answer(batch)

    def _next(self) -> list[_Queued[Unit, Answer]]:
        """The next batch; empty: nobody waits."""
        batch: list[_Queued[Unit, Answer]] = []
        room = self._batch_tokens
        while self._queue:
            one = self._queue[0]
            late = None if one.answer.done() else self._lateness(one.request)
            if batch and one.cost > room and late is None and not one.answer.done():
                break
            self._leave(self._queue.popleft())
            if late is not None:
                _settle(one.answer, late)
            elif not one.answer.done():
                one.request.started = True
                batch.append(one)
                room -= one.cost
        return batch

    def _lateness(self, request: _Request) -> Exception | None:
        """Return the error of a request whose turn comes too late, or None."""
        now = self._clock()
        if now >= request.done_by:
            return DeadlineError()
        if now > request.start_by and not request.started:
            return QueueFullError(retry_after_s(self.expected_wait_s()))
        return None

    def _leave(self, one: _Queued[Unit, Answer]) -> None:
        """Count *one* no longer among those that wait."""
        self.waiting_tokens -= one.cost if one.in_queue else 0
        one.in_queue = False

    async def _answer(self, batch: list[_Queued[Unit, Answer]]) -> None:
        failure = await self._try(batch)
        if failure and len(batch) > 1:
            alone = [await self._try([one]) for one in batch if not one.answer.done()]
            failure = None if None in alone else failure
        self._failures = self._failures + 1 if failure else 0
        self._last_failure = type(failure).__name__

    async def _try(self, batch: list[_Queued[Unit, Answer]]) -> Exception | None:
        """
        Run the batch and hand out its answers. Return a failure, and hand it out too if the batch
        held one request.
        """
        self._started = self._clock()
        self._running_tokens = sum(one.cost for one in batch)
        try:
            units = [one.unit for one in batch]
            answers = await asyncio.get_running_loop().run_in_executor(self._thread, self._run, units)
            pairs = list(zip(batch, answers, strict=True))
        except Exception as error:  # noqa: BLE001  whatever a model raises is the answer to those who asked
            if len(batch) == 1:
                _settle(batch[0].answer, error)
            return error
        else:
            self._rate.learn(self._running_tokens, self._running_s())
            for one, answer in pairs:
                _settle(one.answer, answer)
            return None
        finally:
            self._started = None
            self._running_tokens = 0


def _settle(future: asyncio.Future[Answer], outcome: Answer | Exception) -> None:
    if future.done():  # the caller has gone
        return
    if isinstance(outcome, Exception):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)


class ServiceRate:
    """Measures how long a replica computes for a token. Recent batches count most, and large ones more than small."""

    def __init__(self) -> None:
        self._tokens = 0.0
        self._seconds = 0.0

    def learn(self, tokens: int, seconds: float) -> None:
        """Add a batch that was computed."""
        self._tokens = _KEPT * self._tokens + tokens
        self._seconds = _KEPT * self._seconds + seconds

    def seconds_a_token(self, running_tokens: int, running_s: float) -> float:
        """The mean that was measured, or the pace of the batch that runs now if that is slower already."""
        measured = self._seconds / self._tokens if self._tokens else 0.0
        return max(measured, running_s / running_tokens if running_tokens else 0.0)


def expected_wait_s(rate: ServiceRate, *, waiting_tokens: int, running_tokens: int, running_s: float) -> float:
    """Return the seconds until all that runs and waits now is computed; 0 if nothing does, or nothing is known."""
    pace = rate.seconds_a_token(running_tokens, running_s)
    return max(0.0, pace * (running_tokens + waiting_tokens) - running_s)


def may_join(wait_s: float, own_s: float, *, max_wait_s: float, within_s: float | None) -> bool:
    """
    Return whether a request may join the queue.

    Whoever finds nobody before them may always: were they refused because of a rate that is wrong, nothing would be
    computed, and the rate would stay wrong.

    Its turn comes after *wait_s*, it takes *own_s* itself, and the caller waits *within_s*; None: it did not say.
    """
    if wait_s <= 0:
        return True
    return wait_s <= max_wait_s and (within_s is None or wait_s + own_s <= within_s)


def retry_after_s(wait_s: float) -> float:
    """Return when to ask again: when all that waits now is computed. Sooner, all who were refused would meet again."""
    return min(max(SHORTEST_S, wait_s), LONGEST_S)
