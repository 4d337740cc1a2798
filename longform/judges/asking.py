"""Judging by a chat model as a plan that asks: about each pair once, and once more if a reply cannot be read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from longform.chat.asking import Asks, Name
from longform.chat.call import ChatReply, ChatRequest
from longform.judges.kind import Group, Kind, Verdict, Verdicts
from longform.judges.pairs import in_place, open_groups, shared_of


class Pair(NamedTuple):
    """
    The name of a request.

    Attributes:
        text: Key of the shared text.
        group: Place of its group.
        item: Place of the item in the group.
        again: True for the second request, about a reply that could not be read.
    """

    text: str
    group: int
    item: int
    again: bool = False


class Questions(Protocol):
    """The requests of a judge, and the reading of its replies."""

    def request(self, group: Group, item: str) -> ChatRequest:
        """Ask about one pair."""
        ...

    def again(self, request: ChatRequest, unreadable: str) -> ChatRequest | None:
        """Ask once more, with what came; None: the judge is asked once."""
        ...

    def read(self, group: Group, request: ChatRequest, reply: ChatReply) -> Verdict:
        """Read a reply."""
        ...


def verdicts(kind: Kind, groups: Sequence[Group], questions: Questions) -> Asks[Verdicts]:
    """
    Judge all pairs: shape (groups, items). Equal pairs are asked about once, settled ones never.

    The verdict is that of the second reply if the first could not be read; without a second reply it stays unread.
    """
    opened = open_groups(kind, groups)
    found: dict[Pair, Verdict] = {}
    waiting: dict[Name, ChatRequest] = {
        Pair(group.key, place, item): questions.request(group, text)
        for place, group in enumerate(opened)
        for item, text in enumerate(group.items)
    }
    new = dict(waiting)
    while waiting:
        came = yield new
        new = {}
        for name, reply in came.items():
            assert isinstance(name, Pair), "its own names come back"
            request, group, first = waiting.pop(name), opened[name.group], name._replace(again=False)
            if not name.again or reply.text is not None:
                found[first] = questions.read(group, request, reply)
            unread = found[first].failure is not None and reply.text is not None and not name.again
            if unread and (second := questions.again(request, reply.text or "")) is not None:
                new[name._replace(again=True)] = waiting[name._replace(again=True)] = second
    judged = {(shared_of(opened[pair.group]), opened[pair.group].items[pair.item]): one for pair, one in found.items()}
    return in_place(kind, groups, judged)
