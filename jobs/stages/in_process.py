"""Perform the tasks of a stage in the command's own process, without a cluster."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence
from itertools import islice
from typing import TypeVar

from actors.closing import Close

Task = TypeVar("Task")
Receipt = TypeVar("Receipt")

_CLOSE_S = 5.0  # from the end of the tasks, or the cancelling of those under way
_LOG = logging.getLogger(__name__)


def receipts_of(
    perform: Callable[[Task], Awaitable[Receipt]],
    tasks: Iterable[Task],  # in the order in which they begin
    *,
    slots: int,  # tasks that are open at once
    closes: Sequence[Close],  # close what the worker opened, in the end
    close_s: float = _CLOSE_S,  # the most seconds that open tasks and closing take in the end
) -> Generator[Receipt, None, None]:
    """
    Perform *tasks* on an event loop of this thread, and yield each receipt when it is there.

    The loop stands still while the caller has a receipt in hand. A caller that stops cancels what is under way.
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
            loop.call_soon(loop.stop)
            loop.run_forever()  # an interrupt leaves the end of the wait above to be seen, which would end the next one
            loop.run_until_complete(_end(running, closes, close_s))


async def _end(running: Iterable[asyncio.Future[Receipt]], closes: Sequence[Close], close_s: float) -> None:
    """Cancel and close; what takes longer is left to the loop, which cancels it."""
    until = asyncio.get_running_loop().time() + close_s
    for task in running:
        task.cancel()
    await asyncio.wait([asyncio.ensure_future(asyncio.gather(*running, return_exceptions=True))], timeout=close_s)
    for close in closes:
        try:
            async with asyncio.timeout_at(until):
                await close()
        except TimeoutError:
            _LOG.warning("closing took more than %g s, and was given up; what is finished is kept", close_s)
