"""
Answers matrices: groups of calls whose prompts begin with one shared text.

The first call of a group goes alone; when its reply shows that the server has read the text, the rest follows. So the
text is paid once in full, and then at the price of cached tokens. A server that keeps one prefix a slot (llama.cpp)
gets a group's calls one after the other, and as many groups at once as it has slots.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from os.path import commonprefix
from typing import NamedTuple

from actors.chat_model import ChatModel
from longform.chat import ChatReply, ChatRequest
from longform.configuration import ChatSettings
from longform.grouping import pieces, replica_of
from longform.token_estimates import counted_input


class Group(NamedTuple):
    """Calls about one text: `shared` is its key, `shared_tokens` its length, counted or a quarter of its characters."""

    shared: str
    shared_tokens: float
    requests: tuple[ChatRequest, ...]


_WORTH_WARMING = 1024  # tokens; providers that share prefixes between servers keep none that is shorter


class MatrixExecutor:
    """One a worker and model."""

    def __init__(self, chat: ChatModel, settings: ChatSettings) -> None:
        self._chat = chat
        self._by_slot = settings.prefix_cache == "slot"
        self._loads = [0] * max(1, len(settings.replicas))
        self._slots = asyncio.Semaphore(settings.concurrency)

    async def replies(self, groups: Sequence[Group]) -> list[list[ChatReply]]:
        """Shape (groups, items): the reply to each request, in its place."""
        cut = pieces([len(group.requests) for group in groups], len(self._loads))
        found = await asyncio.gather(*(self._group(group, places) for group, places in zip(groups, cut, strict=True)))
        return list(found)

    async def _group(self, group: Group, places: Sequence[range]) -> list[ChatReply]:
        answers = [self._piece(group, piece, place) for piece, place in enumerate(places)]
        return [reply for part in await asyncio.gather(*answers) for reply in part]

    async def _piece(self, group: Group, piece: int, places: range) -> list[ChatReply]:
        replica = replica_of(group.shared, piece, self._loads)
        self._loads[replica] += len(places)
        try:
            requests = [replace(group.requests[place], replica=replica) for place in places]
            if self._by_slot:
                async with self._slots:
                    return [await self._chat.complete(request) for request in requests]
            return await self._warmed(requests, worth=group.shared_tokens >= _WORTH_WARMING)
        finally:
            self._loads[replica] -= len(places)

    async def _warmed(self, requests: Sequence[ChatRequest], *, worth: bool) -> list[ChatReply]:
        first: list[ChatReply] = []
        while worth and len(first) < len(requests):
            first.append(await self._chat.complete(requests[len(first)]))
            if first[-1].seconds is not None:  # one from the ledger warms no server
                break
        rest = await asyncio.gather(*(self._chat.complete(request) for request in requests[len(first) :]))
        return [*first, *rest]


def group_of(shared: str, requests: Sequence[ChatRequest]) -> Group:
    """The *requests* that share a text with the key *shared*: what all their prompts begin with."""
    texts = ["".join(message.text for message in request.messages) for request in requests]
    prefix = len(commonprefix(texts))  # noqa: RUF071  # characters are meant
    counted = counted_input(requests[0]) * prefix / max(1, len(texts[0])) if requests else 0.0
    return Group(shared, counted, tuple(requests))
