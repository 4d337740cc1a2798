"""Close what a worker opened, once a stage that ran in the command's own process is done with it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Close = Callable[[], Awaitable[None]]

_NOTED: ContextVar[list[Close] | None] = ContextVar("noted", default=None)


@contextmanager
def noting() -> Iterator[list[Close]]:
    """Give the list of what is opened inside, which the caller closes."""
    noted: list[Close] = []
    before = _NOTED.set(noted)
    try:
        yield noted
    finally:
        _NOTED.reset(before)


def close_later(close: Close) -> None:
    """Note *close*, if anybody does; what is open in a worker's process ends with the process."""
    if (noted := _NOTED.get()) is not None:
        noted.append(close)
