"""
Answers plans live: sends their requests as soon as they may leave, those that begin alike as groups.

Prompts of a group begin with one shared text, or the longest of them begins with what the others do.

The first call of a group goes alone; when its reply shows that the server has read the text, the rest follows. So the
text is paid once in full, and then at the price of cached tokens. A server that keeps one prefix a slot (llama.cpp)
gets a group's calls one after the other, and as many groups at once as it has slots.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections.abc import Awaitable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import NamedTuple

from actors.chat.model import ChatModel
from longform.chat.asking import Asks, Name, Value, carry_out
from longform.chat.call import ChatReply, ChatRequest, Shared
from longform.chat.prices import counted_input
from longform.keys import in_groups
from longform.settings.chat import ChatSettings

_SHORTEST_PIECE = 8  # items; reading the text again for fewer costs more than waiting
_FULLEST = 1.25  # times its even share that a replica may get


class CallGroup(NamedTuple):
    """Calls about one text."""

    shared: str  # the text's key
    # the most that a later prompt can take from the first; counted, or a quarter of its characters
    shared_tokens: float
    requests: tuple[ChatRequest, ...]  # in the order in which they are sent
    whole: bool = False  # one replica answers all, however many they are: each further one would read the text again


_WORTH_WARMING = 1024  # tokens; providers that share prefixes between servers keep none that is shorter


class MatrixExecutor:
    """One a worker and model."""

    def __init__(self, chat: ChatModel, settings: ChatSettings) -> None:
        self._chat = chat
        self._by_slot = settings.prefix_cache == "slot"
        self._loads = [0] * max(1, len(settings.replicas))
        self._slots = asyncio.Semaphore(settings.concurrency)

    async def carry_out(self, plans: Iterable[Asks[Sequence[Value]]]) -> list[Value]:
        """Carry plans out at once, and return what they made one after the other."""
        made = await asyncio.gather(*(carry_out(plan, self.answer) for plan in plans))
        return [one for of_plan in made for one in of_plan]

    def answer(self, requests: Mapping[Name, ChatRequest]) -> Mapping[Name, Awaitable[ChatReply]]:
        """Send requests that begin alike as groups, whose replies come all at once, and others by themselves."""
        alone = {name: self._chat.complete(request) for name, request in requests.items() if request.shared is None}
        if not (parts := [*_alike(requests)]):
            return alone
        groups = [group_of(of.text, [requests[name] for name in names], whole=of.grows) for of, names in parts]
        coming = asyncio.ensure_future(self.replies(groups))

        async def reply(group: int, place: int) -> ChatReply:
            try:
                return (await asyncio.shield(coming))[group][place]
            except asyncio.CancelledError:
                coming.cancel()
                raise

        names = ((name, group, place) for group, (_, of) in enumerate(parts) for place, name in enumerate(of))
        return {**{name: reply(group, place) for name, group, place in names}, **alone}

    async def replies(self, groups: Sequence[CallGroup]) -> list[list[ChatReply]]:
        """Return the reply to each request, in its place: shape (groups, items)."""
        cut = zip(groups, pieces([len(group.requests) for group in groups], len(self._loads)), strict=True)
        return list(await asyncio.gather(*(self._group(group, places) for group, places in cut)))

    async def _group(self, group: CallGroup, places: Sequence[range]) -> list[ChatReply]:
        parts = [range(len(group.requests))] if group.whole else places
        answers = [self._piece(group, piece, part) for piece, part in enumerate(parts)]
        return [reply for part in await asyncio.gather(*answers) for reply in part]

    async def _piece(self, group: CallGroup, piece: int, places: range) -> list[ChatReply]:
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
            if first[-1].seconds is not None and not first[-1].from_ledger:  # only what is sent warms a server
                break
        rest = await asyncio.gather(*(self._chat.complete(request) for request in requests[len(first) :]))
        return [*first, *rest]


def _alike(requests: Mapping[Name, ChatRequest]) -> Iterator[tuple[Shared, list[Name]]]:
    """Give the names of requests that go out as one group."""
    of_text = in_groups((request.shared, name) for name, request in requests.items() if request.shared is not None)
    for shared, names in of_text.items():
        parts = growing([requests[name] for name in names]) if shared.grows else [range(len(names))]
        yield from ((shared, [names[place] for place in part]) for part in parts)


def group_of(shared: str, requests: Sequence[ChatRequest], *, whole: bool = False) -> CallGroup:
    """Return the *requests* that share a text with the key *shared*: what prompts begin with like the first of them."""
    texts = [_prompt(request) for request in requests]
    # not what all have in common: of growing prompts that is the shortest, and the first call warms far more
    prefix = max((_common_start(texts[0], text) for text in texts[1:]), default=len(texts[0]) if texts else 0)
    counted = counted_input(requests[0]) * prefix / max(1, len(texts[0])) if requests else 0.0
    return CallGroup(shared, counted, tuple(requests), whole)


def growing(requests: Sequence[ChatRequest]) -> list[list[int]]:
    """
    Return the places of *requests* that are worth asking one after the other on one server, the longest prompt first.

    Of each prompt in a group at least half stands at the start of the group's longest. Every place is in one group.
    """
    texts = [_prompt(request) for request in requests]
    groups: list[list[int]] = []
    for place in sorted(range(len(texts)), key=lambda place: -len(texts[place])):
        text = texts[place]
        found = (group for group in groups if 2 * _common_start(texts[group[0]], text) >= len(text))
        group = next(found, None)
        if group is None:
            groups.append([place])
        else:
            group.append(place)
    return groups


def _prompt(request: ChatRequest) -> str:
    return "".join(message.text for message in request.messages)


def _common_start(first: str, second: str) -> int:
    """Count the characters that both texts begin with."""
    ends = range(1, min(len(first), len(second)) + 1)
    return bisect_left(ends, True, key=lambda end: first[:end] != second[:end])


def pieces(sizes: Sequence[int], n_replicas: int) -> list[list[range]]:
    """
    Each group as the pieces that are sent apart: whole, unless one group would keep a replica busy alone.

    *sizes* holds the number of items of each group, and *n_replicas* answer.

    Returns:
        Shape (groups, pieces): ranges of item places.
    """
    longest = max(_SHORTEST_PIECE, -(-sum(sizes) // n_replicas)) if n_replicas > 1 else max(1, *sizes, 1)
    return [[range(start, min(start + longest, size)) for start in range(0, size, longest)] for size in sizes]


def replica_of(shared: str, piece: int, loads: Sequence[int]) -> int:
    """
    Return the replica for a *piece* of the group whose shared text has the key *shared*.

    Rendezvous hashing: a text keeps its replica beside any other groups, and each further piece goes to the next; a
    replica that has more than a quarter over its even share of *loads* (items given to each so far) is passed.
    """
    n = len(loads)
    ordered = sorted(range(n), key=lambda replica: sha256(f"{shared}/{replica}".encode()).digest())
    fullest = _FULLEST * (sum(loads) + _SHORTEST_PIECE * n) / n
    free = [replica for replica in ordered if loads[replica] <= fullest] or ordered
    return free[piece % len(free)]
