"""
Calls a second of many workers through one keeper whose durable write takes as long as an object on S3.

The workers' own queues and messages run; leases have no limit, a call takes a second. The keeper only waits: for each
durable step, which is one for all the messages that wait, and for what its code takes.
"""

from __future__ import annotations

import asyncio
import os
import time
from itertools import count
from typing import Any, NamedTuple, cast

from actors.chat.governor import Unlimited
from actors.chat.keeper_client import Batches
from actors.chat.lease_queue import LeaseQueue
from actors.ledger.keeper import Keeper
from longform.chat.call import ChatReply
from longform.chat.ledger_rows import Intent
from tests.bench.capacity import CALL_S, MESSAGE_S, PUT_S, S3_CLIENT_S
from tests.bench.measure import Figure

_SHARE = float(os.environ.get("LONGFORM_BENCH_SHARE", "1"))
_SECONDS = 12.0 * _SHARE  # until it is counted, and again while it is
_REPLY_S = 1.0
_SIZES = ((8, 16), (100, 16), (100, 64))  # workers, calls in flight of each
_REPLY = ChatReply(text="full", failure=None)


class Count(NamedTuple):
    calls: int
    steps: int


class _Keeper:
    def __init__(self) -> None:
        self.steps = 0
        self._waiting: list[tuple[int, asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None

    async def exchange(self, n_intents: int, n_receipts: int) -> None:
        written = asyncio.get_running_loop().create_future()
        self._waiting.append((max(n_intents, n_receipts), written))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())
        await written

    async def _write(self) -> None:
        while self._waiting:
            taken, self._waiting = self._waiting, []
            self.steps += 1
            await asyncio.sleep(PUT_S + S3_CLIENT_S + MESSAGE_S + CALL_S * sum(calls for calls, _ in taken))
            for _, written in taken:
                if not written.done():
                    written.set_result(None)


class _Door:
    """A worker's connection: one message at a time."""

    def __init__(self, keeper: _Keeper) -> None:
        self._keeper, self._turn = keeper, asyncio.Lock()

    async def ask(self, method: Any, *args: Any) -> Any:
        async with self._turn:
            if method.__name__ != "exchange":
                return {}
            _, intents, receipts = args
            await self._keeper.exchange(len(intents), len(receipts))
            return ["go"] * len(intents)

    async def close(self) -> None:
        pass


def figures() -> list[Figure]:
    return [asyncio.run(_figure(workers, in_flight)) for workers, in_flight in _SIZES]


async def _figure(workers: int, in_flight: int) -> Figure:
    keeper, done = _Keeper(), list[str]()
    tasks = [asyncio.create_task(_work(f"w{number}", keeper, in_flight, done)) for number in range(workers)]
    await asyncio.sleep(_SECONDS)
    before, started = Count(len(done), keeper.steps), time.monotonic()
    await asyncio.sleep(_SECONDS)
    calls, steps = len(done) - before.calls, keeper.steps - before.steps
    seconds = time.monotonic() - started
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    note = f"{steps / seconds:.0f} steps/s, {PUT_S * 1000:.0f} ms an object, {calls / max(1, steps):.1f} calls each"
    name = f"slow keeper, {workers} workers of {in_flight} calls"
    return Figure(name, calls / seconds, None, "calls/s", None, None, note)


async def _work(name: str, keeper: _Keeper, in_flight: int, done: list[str]) -> None:
    batches = Batches(name, cast("Keeper", _Door(keeper)))
    queue = LeaseQueue[Intent](
        Unlimited(), worker=name, job="bench", most=in_flight, begin=batches.begin, not_made=lambda _: None
    )
    numbers = count()

    async def call_on() -> None:
        for number in numbers:
            key = f"{name} {number}"
            await batches.finished(key)
            await queue.take(Intent(key, key, "judge", "bench", "bench", 0, None, 60.0), 100.0, first=False)
            await asyncio.sleep(_REPLY_S)
            queue.end()
            await batches.settle(key, key, _REPLY)
            done.append(key)

    await asyncio.gather(*(call_on() for _ in range(2 * in_flight)))  # a worker holds more rows open than calls
