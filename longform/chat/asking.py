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


def reached(plan: Asks[Value], answered: Answered) -> Iterator[ChatRequest]:
    """Give the requests that *plan* makes of the replies that are there, answered ones and open ones."""
    try:
        new = next(plan)
        while True:
            yield from new.values()
            if not (found := answered(new)):
                return
            new = plan.send(found)
    except StopIteration:
        return


Note = Callable[[Name, ChatRequest, bool], None]
"""Takes a request, and whether it is made from assumed replies."""


def priced(
    plan: Asks[Value], answered: Answered, assume: Callable[[ChatRequest], ChatReply], note: Note
) -> tuple[Value, bool]:
    """Carry *plan* out on replies that are there, else on assumed ones; return its value, and if any was assumed."""
    guessed = False
    try:
        new = next(plan)
        while True:
            for name, request in new.items():
                note(name, request, guessed)
            found = answered(new)
            assumed = {name: assume(request) for name, request in new.items() if name not in found}
            guessed = guessed or bool(assumed)
            new = plan.send({**found, **assumed})
    except StopIteration as end:
        value: Value = end.value
        return value, guessed
