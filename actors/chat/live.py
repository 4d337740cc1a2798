"""Carries out plans that ask: their requests are sent as soon as they may leave."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence

from longform.chat.asking import Asks, Name, Value
from longform.chat.call import ChatReply, ChatRequest

Send = Callable[[Mapping[Name, ChatRequest]], Mapping[Name, Awaitable[ChatReply]]]
"""Sends requests that may leave at once."""


def together(
    requests: Mapping[Name, ChatRequest], replies: Coroutine[None, None, Sequence[ChatReply]]
) -> Mapping[Name, Awaitable[ChatReply]]:
    """Return the awaitable of each of *requests*, whose *replies* come all at once, in their order."""
    coming = asyncio.ensure_future(replies)

    async def reply(place: int) -> ChatReply:
        try:
            return (await asyncio.shield(coming))[place]
        except asyncio.CancelledError:
            coming.cancel()
            raise

    return {name: reply(place) for place, name in enumerate(requests)}


async def carry_out(plan: Asks[Value], send: Send) -> Value:
    """Return what *plan* makes of its replies. An error of a request ends the plan, and is raised."""
    waiting: dict[asyncio.Future[ChatReply], Name] = {}
    try:
        new = next(plan)
        while True:
            waiting |= {asyncio.ensure_future(reply): name for name, reply in send(new).items()}
            done, _ = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            new = plan.send({waiting.pop(reply): reply.result() for reply in done})
    except StopIteration as end:
        value: Value = end.value
        return value
    finally:
        for reply in waiting:
            reply.cancel()
