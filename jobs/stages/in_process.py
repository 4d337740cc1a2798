"""Perform the tasks of a stage in the command's own process, without a cluster."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence
from itertools import islice
from typing import TypeVar

from actors.closing import Close

Task = TypeVar("Task")
Receipt = TypeVar("Receipt")


def receipts_of(
    perform: Callable[[Task], Awaitable[Receipt]], tasks: Iterable[Task], *, slots: int, closes: Sequence[Close]
) -> Generator[Receipt, None, None]:
    """
    Perform *tasks* on an event loop of this thread, and yield each receipt when it is there.

    The loop stands still while the caller has a receipt in hand. A caller that stops cancels what is under way.

    Args:
        perform: Performs one.
        tasks: In the order in which they begin.
        slots: Tasks that are open at once.
        closes: Close what the worker opened, in the end.
    """
    left = iter(tasks)
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        running: set[asyncio.Future[Receipt]] = set()
        try:
            while True:
                running |= {
                    asyncio.ensure_future(perform(task), loop=loop) for task in islice(left, slots - len(running))
                }
                if not running:
                    return
                done, running = loop.run_until_complete(asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED))
                for task in done:
                    yield task.result()
        finally:
            loop.run_until_complete(_end(running, closes))


async def _end(running: Iterable[asyncio.Future[Receipt]], closes: Sequence[Close]) -> None:
    for task in running:
        task.cancel()
    await asyncio.gather(*running, return_exceptions=True)
    for close in closes:
        await close()
