"""Queues the calls of one worker, and leases their turns."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from actors.chat.governor import LeaseSource
from longform.chat.call import Signals
from longform.chat.ledger_rows import Admission
from longform.quota.leases import Accepted, Lease, LeaseAsk, Left, QuotaLimits, Refused

_MOST_SIZES = 256  # of an ask; the rest come with the next
_ROUND_S = 0.06  # asks are at least this far apart, so that one serves many calls

CallT = TypeVar("CallT")


@dataclass(eq=False)
class _WaitingCall(Generic[CallT]):
    call: CallT
    tokens: float
    turn: asyncio.Future[Admission]


class LeaseQueue(Generic[CallT]):
    """First come, first served; a call that was refused goes to the front."""

    def __init__(
        self,
        leases: LeaseSource,
        *,
        worker: str,
        job: str,  # the command that it works for
        most: int,  # calls that may be leased or under way at once
        # records the intents of leased calls, and says what becomes of each
        begin: Callable[[Sequence[CallT]], Awaitable[Sequence[Admission]]],
        not_made: Callable[[CallT], None],  # told of a call that was recorded, and given up before its turn came
    ) -> None:
        self._leases, self._worker, self._job, self._most = leases, worker, job, most
        self._begin, self._not_made = begin, not_made
        self._queue: deque[_WaitingCall[CallT]] = deque()
        self._n_leased = 0
        self._left: list[tuple[float, float]] = []
        self._accepted: list[tuple[float, float, float | None]] = []
        self._refused: list[tuple[float, float, float | None]] = []
        self._returned: list[float] = []
        self._signals: Signals | None = None
        self._signals_sent = 0.0
        self._limits: QuotaLimits | None = None
        self._asking: asyncio.Task[None] | None = None
        self._starting: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Event()
        self._had_all = True

    async def take(self, call: CallT, tokens: float, *, first: bool) -> Admission:
        """Wait for the turn of *call*, which reserves *tokens*; after "go", `end` it."""
        waiting = _WaitingCall(call, tokens, asyncio.get_running_loop().create_future())
        if first:
            self._queue.appendleft(waiting)
        else:
            self._queue.append(waiting)
        self._wake()
        return await waiting.turn

    def end(self) -> None:
        """End a call that had its turn."""
        self._n_leased -= 1
        self._wake()

    def hear_left(self, sent: float, reserved: float) -> None:
        """Note that a call left at *sent* (monotonic seconds)."""
        self._left.append((sent, reserved))

    def hear_accepted(self, sent: float, reserved: float, actual: float | None) -> None:
        """Note that a call was let in: it left at *sent* and took *actual* tokens."""
        self._accepted.append((sent, reserved, actual))

    def hear_refused(self, sent: float, reserved: float, retry_after_s: float | None) -> None:
        """Note that a call that left at *sent* met a limit."""
        self._refused.append((sent, reserved, retry_after_s))
        self._wake()

    def hear(self, sent: float, signals: Signals) -> None:
        """Take in the headers of the reply to a call that left at *sent*; those of the last one to leave are told."""
        if self._signals is None or sent >= self._signals_sent:
            self._signals_sent, self._signals = sent, signals

    def give_up(self, error: Exception) -> None:
        """Tell every call that waits for its turn that none will come."""
        self._tell_all(error)

    async def close(self) -> None:
        """Give up what waits."""
        tasks = [*self._starting, *([self._asking] if self._asking else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # ------------------------------------------------------------ asking for leases

    def _wake(self) -> None:
        self._changed.set()
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._ask_on())

    async def _ask_on(self) -> None:
        while self._queue or self._n_leased or self._refused or self._accepted:
            self._changed.clear()
            asked = time.monotonic()
            ask = self._ask()
            try:
                lease = await self._leases.lease(ask)
            except Exception as error:  # noqa: BLE001  # each waiting call is told
                self._tell_all(error)
                return
            self._limits = lease.limits
            self._had_all = lease.calls >= len(ask.sizes)
            self._grant(lease)
            await asyncio.sleep(max(0.0, asked + _ROUND_S - time.monotonic()))
            await self._until_asking_pays(asked + lease.again_s)

    async def _until_asking_pays(self, ends: float) -> None:
        while not self._asking_pays() and (left := ends - time.monotonic()) > 0:
            try:
                async with asyncio.timeout(left):
                    await self._changed.wait()
            except TimeoutError:
                return
            self._changed.clear()

    def _asking_pays(self) -> bool:
        """Return whether to ask before the governor's time: a refusal is to be told, or calls that could go."""
        unknown = self._had_all and bool(self._queue) and self._n_leased < self._most
        return bool(self._refused) or unknown or not (self._queue or self._n_leased)

    def _ask(self) -> LeaseAsk:
        while self._queue and self._queue[0].turn.done():  # cancelled
            self._queue.popleft()
        n_sizes = max(0, min(self._most - self._n_leased, _MOST_SIZES))
        now = time.monotonic()
        ask = LeaseAsk(
            worker=self._worker,
            job=self._job,
            sizes=tuple(waiting.tokens for waiting, _ in zip(self._queue, range(n_sizes), strict=False)),
            waiting=len(self._queue),
            in_flight=self._n_leased,
            returned=tuple(self._returned),
            accepted=tuple(Accepted(now - sent, reserved, actual) for sent, reserved, actual in self._accepted),
            refused=tuple(Refused(now - sent, reserved, told) for sent, reserved, told in self._refused),
            signals=self._signals,
            known=self._limits,
            signals_sent_s_ago=now - self._signals_sent,
            left=tuple(Left(now - sent, reserved) for sent, reserved in self._left),
        )
        self._left, self._accepted, self._refused, self._returned, self._signals = [], [], [], [], None
        return ask

    def _tell_all(self, error: Exception) -> None:
        while self._queue:
            waiting = self._queue.popleft()
            if not waiting.turn.done():
                waiting.turn.set_exception(error)

    # ------------------------------------------------------------ using a lease

    def _grant(self, lease: Lease) -> None:
        taken = [self._queue.popleft() for _ in range(min(lease.calls, len(self._queue)))]
        granted = [waiting for waiting in taken if not waiting.turn.done()]
        self._returned += [waiting.tokens for waiting in taken if waiting.turn.done()]  # cancelled
        if granted:
            self._n_leased += len(granted)
            task = asyncio.create_task(self._start(granted))
            self._starting.add(task)
            task.add_done_callback(self._starting.discard)

    async def _start(self, granted: Sequence[_WaitingCall[CallT]]) -> None:
        try:
            admissions = await self._begin([waiting.call for waiting in granted])
        except Exception as error:  # noqa: BLE001  # each is told
            for waiting in granted:
                self._give_back(waiting)
                if not waiting.turn.done():
                    waiting.turn.set_exception(error)
            return
        for waiting, admission in zip(granted, admissions, strict=True):
            given_up = waiting.turn.done()
            if not given_up:
                waiting.turn.set_result(admission)
            if given_up or admission != "go":
                self._give_back(waiting)
            if given_up and admission == "go":
                self._not_made(waiting.call)

    def _give_back(self, waiting: _WaitingCall[CallT]) -> None:
        self._returned.append(waiting.tokens)
        self._n_leased -= 1
        self._wake()
