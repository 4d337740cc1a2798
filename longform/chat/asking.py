"""
Plans that ask: pure generators, which one of several drivers carries out.

A plan yields the requests that may leave from now on, is sent replies as they come, and returns a value made of them.
A driver may send the replies of any requests that are still open, several at once or one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterator, Mapping
from typing import TypeVar

from longform.chat.call import ChatReply, ChatRequest

Value = TypeVar("Value")
Name = Hashable
"""The name of a request in its plan."""

Asks = Generator[Mapping[Name, ChatRequest], Mapping[Name, ChatReply], Value]
"""A plan: yields new requests, is sent replies, returns a value."""

Answered = Callable[[Mapping[Name, ChatRequest]], Mapping[Name, ChatReply]]
"""Finds the replies that are there already; other requests are left out."""


def unanswered(plan: Asks[Value], answered: Answered) -> Iterator[ChatRequest]:
    """Give the requests that *plan* waits for, once it has read all replies that are there."""
    waiting: dict[Name, ChatRequest] = {}
    try:
        new = next(plan)
        while True:
            found = answered(new)
            waiting |= {name: request for name, request in new.items() if name not in found}
            if not found:
                break
            new = plan.send(found)
    except StopIteration:
        pass
    yield from waiting.values()


Assume = Callable[[ChatRequest], ChatReply]
"""Gives the reply that a request is assumed to have."""


def priced(
    plan: Asks[Value], answered: Answered, assume: Assume | None, note: Callable[[ChatRequest], None]
) -> Value | None:
    """
    Carry *plan* out on replies that are there, else on assumed ones; *note* takes its requests.

    Return None if a reply is not there, and none is to be assumed.
    """
    try:
        new = next(plan)
        while True:
            for request in new.values():
                note(request)
            found = answered(new)
            missing = {name: request for name, request in new.items() if name not in found}
            if missing and assume is None:
                return None
            new = plan.send({**found, **{name: assume(request) for name, request in missing.items() if assume}})
    except StopIteration as end:
        value: Value = end.value
        return value
