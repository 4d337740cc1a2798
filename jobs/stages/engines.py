"""
Run a chain of operators on blocks of what comes to it: in this process, or as one Ray Data execution.

Either way several blocks are under way at once, each operator works on what the one before it has just finished, and a
receipt is yielded as soon as its part is written.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Coroutine, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

from actors.closing import Close, noting
from actors.storage.folder import Folder
from jobs.stages.cluster import Cluster
from jobs.stages.inbox import Inbox
from jobs.stages.on_ray import Blocks, on_ray
from jobs.stages.operators import Operator
from jobs.stages.parcels import Parcel
from jobs.stages.stations import Station, TaskReceipt, beside

_MEASURED_S = 4.0  # in this process, before the rest may move to workers
_POLL_S = 0.1
_CLOSE_S = 5.0  # from the end of the blocks, or the cancelling of those under way
_LOG = logging.getLogger(__name__)


@dataclass
class Place:
    """The place where a chain runs: this process, or workers of a cluster."""

    cluster: Cluster
    here: bool | None  # this process; None: as the cluster says
    workers: int = 0  # those that the chain has used; 0: none but this process
    cores: int = 1  # those that the chain uses in this process
    _since: float = field(default_factory=time.monotonic)

    @property
    def begins_here(self) -> bool:
        if self.here is None:
            return self.cluster.in_process or self.cluster.measures
        return self.here

    @property
    def words(self) -> str:
        return f"on {self.workers} workers" if self.workers else "in this process"

    def begin(self) -> None:
        """Measure from now on, since models are loaded."""
        self._since = time.monotonic()

    def moves(self, done: int, left: int) -> bool:
        """Return whether the blocks that are *left* go to workers, after so many that were *done* here."""
        if self.here is not None or not self.cluster.measures or not left or not done:
            return False
        spent = time.monotonic() - self._since
        return spent > _MEASURED_S and self.cluster.ends_sooner(spent / done * left, cores=self.cores)


def receipts(run: Folder, chain: Sequence[Operator], blocks: Blocks, place: Place) -> Iterator[TaskReceipt]:
    """Send *blocks* through *chain* in this process, on Ray, or begin here and go on there."""
    done = 0
    on_gpus = any(one.resources.gpus > 0 for one in chain)
    if place.begins_here and (place.cluster.in_process or not on_gpus or place.here):
        with closing(_here(run, chain, blocks, place)) as begun:
            for receipt in begun:
                if isinstance(receipt, int):
                    done = receipt
                    if place.moves(done, len(blocks) - done):
                        break
                else:
                    yield receipt
    if done < len(blocks):
        place.workers = place.cluster.workers
        yield from on_ray(run, chain, blocks[done:], place.cluster)


# ---------------------------------------------------------------- in this process


def _here(
    run: Folder, chain: Sequence[Operator], blocks: Blocks, place: Place
) -> Generator[TaskReceipt | int, None, None]:
    """
    Yield receipts, and after each block how many have gone through; of blocks that wait, in the end alone.

    A caller who stops at such a number leaves no block half done.
    """
    cores = _cores()
    alone = [one.on_cores(cores) for one in chain]
    place.cores = 1 if alone == [*chain] else cores
    with noting() as closes:
        stations = [(one, Station(run, place.cluster.inbox.put, one.stages)) for one in alone]
    place.begin()
    if not any(one.asynchronous for one in alone):
        for done, block in enumerate(blocks, start=1):
            for _, station in stations:
                for _ in station.steps(block):
                    yield from place.cluster.inbox.come()
                yield from place.cluster.inbox.come()  # why there was no step, too
            yield done
        return
    slots = max(one.slots for one in alone if one.asynchronous)
    travels = (_travel(block, stations) for block in blocks)
    with closing(_on_loop(travels, place.cluster.inbox, slots=slots, closes=closes)) as going:
        yield from going
    yield len(blocks)


async def _travel(block: Sequence[Parcel], stations: Sequence[tuple[Operator, Station]]) -> None:
    """Send a block through all stations; those that compute do so beside the loop, one at a time."""
    for operator, station in stations:
        if operator.asynchronous:
            await station.wait(block)
        else:
            await beside(partial(station.compute, block))


def _on_loop(
    travels: Iterator[Coroutine[Any, Any, None]],
    inbox: Inbox,
    *,
    slots: int,  # blocks that are under way at once
    closes: Sequence[Close],  # close what the stations opened, in the end
) -> Generator[TaskReceipt, None, None]:
    """
    Send blocks on their way on an event loop of this thread, and yield each receipt when it is there.

    The loop stands still while the caller has a receipt in hand. A caller that stops cancels what is under way.
    """
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        running: set[asyncio.Future[None]] = set()
        try:
            while True:
                running |= {
                    asyncio.ensure_future(travel, loop=loop) for travel in islice(travels, slots - len(running))
                }
                if not running:
                    return
                done, running = loop.run_until_complete(
                    asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED, timeout=_POLL_S)
                )
                yield from inbox.come()
                for travelled in done:
                    travelled.result()
        finally:
            loop.call_soon(loop.stop)
            loop.run_forever()  # an interrupt leaves the end of the wait above to be seen, which would end the next one
            loop.run_until_complete(_end(running, closes))


async def _end(running: Sequence[Any] | set[asyncio.Future[None]], closes: Sequence[Close]) -> None:
    """Cancel and close; what takes longer is left to the loop, which cancels it."""
    until = asyncio.get_running_loop().time() + _CLOSE_S
    for task in running:
        task.cancel()
    await asyncio.wait([asyncio.ensure_future(asyncio.gather(*running, return_exceptions=True))], timeout=_CLOSE_S)
    for close in closes:
        try:
            async with asyncio.timeout_at(until):
                await close()
        except TimeoutError:
            _LOG.warning("closing took more than %g s, and was given up; what is finished is kept", _CLOSE_S)


def _cores() -> int:
    """Return the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1  # on systems that do not say it
