"""The time that a request gives itself in its `X-Request-Timeout` header."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar

from actors.serving.messages import DEADLINE_HEADER, DeadlineError
from serve.http.errors import ApiError

_DONE_BY: ContextVar[float | None] = ContextVar("done_by", default=None)
"""Deadline of the request that this task answers, on its event loop's clock; None: the request did not say."""


def stated_s(headers: Sequence[tuple[bytes, bytes]]) -> float | None:
    """
    Return the seconds that a request gives itself, or None if it does not say.

    Raises:
        ApiError: It says something else.
    """
    name = DEADLINE_HEADER.lower().encode()
    stated = dict(headers).get(name)
    if stated is None:
        return None
    try:
        seconds = float(stated)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise ApiError(400, f"{DEADLINE_HEADER}: expected seconds, a number above 0")
    return seconds


@contextmanager
def counting_down(seconds: float | None) -> Iterator[None]:
    """Give the calls inside so many seconds from now."""
    done_by = None if seconds is None else asyncio.get_running_loop().time() + seconds
    token = _DONE_BY.set(done_by)
    try:
        yield
    finally:
        _DONE_BY.reset(token)


@asynccontextmanager
async def in_time() -> AsyncIterator[float | None]:
    """
    Yield the seconds that are left, None if the request did not say, and end the work inside when they have passed.

    Raises:
        DeadlineError: They have.
    """
    done_by = _DONE_BY.get()
    left = None if done_by is None else done_by - asyncio.get_running_loop().time()
    try:
        async with asyncio.timeout_at(done_by) as clock:
            yield left
    except TimeoutError:
        if clock.expired():
            raise DeadlineError from None
        raise
