"""
Judging by a chat model as a plan that asks: about each pair once, and once more if a reply cannot be read.

A judge that samples is asked as often as it says, and its number is the mean of the answers that can be read.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

from longform.chat.asking import Asks, Name
from longform.chat.call import ChatReply, ChatRequest
from longform.judges.kind import (
    NO_PROBABILITY,
    Group,
    Kind,
    Verdict,
    Verdicts,
    in_place,
    open_groups,
    shared_of,
    unjudged,
)

_DIGITS = 6


class Pair(NamedTuple):
    """The name of a request."""

    text: str  # key of the shared text
    group: int  # index of its group
    item: int  # index in the group
    sample: int = 0  # number of the answer, from 0, if the judge samples
    again: bool = False  # the second request, about a reply that could not be read


class Questions(Protocol):
    """
    The requests of a judge, and the reading of its replies.

    The judge is asked `samples` times about each pair; None: once, and its answer is the verdict.
    """

    @property
    def samples(self) -> int | None: ...

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
        Pair(group.key, place, item, sample): request
        for place, group in enumerate(opened)
        for item, text in enumerate(group.items)
        for sample, request in enumerate(repeated(questions, group, text))
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
            unread = found[first].failure not in (None, NO_PROBABILITY) and reply.text is not None and not name.again
            if unread and (second := questions.again(request, reply.text or "")) is not None:
                once_more = replace(second, again=found[first].failure)
                new[name._replace(again=True)] = waiting[name._replace(again=True)] = once_more
    judged = {
        (shared_of(group), text): found[pair]
        if questions.samples is None
        else _mean(kind, [found[pair._replace(sample=sample)] for sample in range(questions.samples)])
        for place, group in enumerate(opened)
        for item, text in enumerate(group.items)
        for pair in [Pair(group.key, place, item)]
    }
    return in_place(kind, groups, judged)


def repeated(questions: Questions, group: Group, item: str) -> list[ChatRequest]:
    """Return the first requests about a pair: one, or a sample each, which differ by nothing but their number."""
    request, n = questions.request(group, item), questions.samples or 1
    return [replace(request, repeat=group.repeat * n + sample) for sample in range(n)]


def _mean(kind: Kind, samples: Sequence[Verdict]) -> Verdict:
    """Return the mean of the samples that can be read; `reply` has them all, `call_id` is that of the first."""
    numbers = [number for one in samples if (number := kind.number(one.answer, one.probability)) is not None]
    made = kind.by_number(round(sum(numbers) / len(numbers), _DIGITS), ()) if numbers else unjudged(_why(samples))
    return made._replace(reply=json.dumps([one.reply for one in samples]), call_id=samples[0].call_id)


def _why(samples: Sequence[Verdict]) -> str:
    return next(one.failure for one in samples if one.failure) or "no_reply"
