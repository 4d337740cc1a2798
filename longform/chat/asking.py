"""
Plans that ask, and the one driver that carries them out: live, in batches, or for a price.

A plan is a pure generator: it yields the requests that may leave from now on, is sent replies as they come, and returns
a value made of them. What answers it is a function, and decides whether anything is sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator, Hashable, Mapping
from typing import TypeVar

from longform.chat.call import ChatReply, ChatRequest

Value = TypeVar("Value")
Name = Hashable
"""The name of a request in its plan."""

Asks = Generator[Mapping[Name, ChatRequest], Mapping[Name, ChatReply], Value]
"""A plan: yields new requests, is sent replies, returns a value."""

Answer = Callable[[Mapping[Name, ChatRequest]], Mapping[Name, Awaitable[ChatReply]]]
"""Takes requests that may leave at once; those that it leaves out have no reply, and will have none."""


Find = Callable[[Mapping[Name, ChatRequest]], Mapping[Name, ChatReply]]
"""Finds the replies that are there already; other requests are left out."""

Assume = Callable[[ChatRequest], ChatReply]
"""Gives the reply that a request is assumed to have."""


class UnansweredError(Exception):
    """A plan waits for replies that do not come."""


async def carry_out(plan: Asks[Value], answer: Answer) -> Value:
    """
    Return what *plan* makes of the replies. An error of a request ends the plan, and is raised.

    Raises:
        UnansweredError: The plan has read all replies that there are, and waits for others.
    """
    waiting: dict[asyncio.Future[ChatReply], Name] = {}
    try:
        new = next(plan)
        while True:
            waiting |= {asyncio.ensure_future(reply): name for name, reply in answer(new).items()}
            if not waiting:
                raise UnansweredError
            done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            new = plan.send({waiting.pop(reply): reply.result() for reply in [*waiting] if reply in done})
    except StopIteration as end:
        value: Value = end.value
        return value
    finally:
        for reply in waiting:
            reply.cancel()


class Recorded:
    """
    Answers plans without a call: by replies that are there, else by those that are to be assumed.

    `asked` has all requests in their order, `open` those of them that have no reply.
    """

    def __init__(self, find: Find, assume: Assume | None = None) -> None:
        self._find, self._assume = find, assume
        self.asked: list[ChatRequest] = []
        self.open: list[ChatRequest] = []

    def answer(self, requests: Mapping[Name, ChatRequest]) -> Mapping[Name, Awaitable[ChatReply]]:
        found = dict(self._find(requests))
        self.asked += requests.values()
        for name, request in requests.items():
            if name not in found and self._assume is not None:
                found[name] = self._assume(request)
            elif name not in found:
                self.open.append(request)
        return {name: _now(reply) for name, reply in found.items()}


async def _now(reply: ChatReply) -> ChatReply:
    return reply
