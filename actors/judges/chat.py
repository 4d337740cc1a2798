"""A judge that prompts a chat model, of any kind (SummHay, section 4; Wan et al., sections 2.3 and 3.2, appendix D)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from actors.chat.matrix_executor import MatrixExecutor
from actors.chat.model import CallContext
from actors.chat.opening import REPAIR_PROMPT, Asking, asked_again, load_prompt, open_pool, prompt_request
from actors.judges.opening import Judge, JudgeBackend
from longform.chat.asking import Asks, Name, carry_out
from longform.chat.call import ChatReply, ChatRequest, Shared, call_id
from longform.errors import UsageError
from longform.judges.cards import Version
from longform.judges.kind import NO_PROBABILITY, Group, Kind, Verdict, Verdicts, in_place, open_groups, unjudged
from longform.keys import content_key
from longform.settings.judges import ChatJudgeSettings

READING_VERSION = "2"
"""Changes with any change of how the replies of chat models are read."""

ALTERNATIVES = 5
"""Likely tokens asked for in each place: what every provider that gives them at all gives."""

_DIGITS = 6


class Pair(NamedTuple):
    """The name of a request."""

    text: str  # key of the shared text
    group: int  # index of its group
    item: int  # index in the group
    sample: int = 0  # number of the answer, from 0, if the judge samples
    again: bool = False  # the second request, about a reply that could not be read


class ChatJudge:
    """
    Asks the model once for each pair, a text's items as one group behind the text.

    A reply that cannot be read is answered once with the wish for a readable one, unless the release's reading is asked
    for, which reads nearly everything. What cannot be read then is unjudged, `reply` keeps it. A failed call is
    unjudged with the call's reason. A number comes from the log probabilities of the answer if `probability` says so,
    or says nothing and the model is known to give them; a reply without them has an answer and no number, or is
    unjudged if the kind is graded. With `samples` the judge is asked so many times, and the mean of its answers counts.

    Raises:
        UsageError: The prompt cannot be used or shows other fields than the kind's, or log probabilities are wanted of
            a model that is known to give none.
    """

    def __init__(self, kind: Kind, name: str, settings: ChatJudgeSettings, asking: Asking) -> None:
        self._kind, self._settings = kind, settings
        self._executor = MatrixExecutor(asking.chat, settings.chat)
        self._prompt, self._wish = asking.prompt(settings.prompt), asking.prompt(REPAIR_PROMPT).render()
        if self._prompt.fields != kind.prompt_fields:
            fields = sorted(kind.prompt_fields)
            raise UsageError(f"judge {name!r}: prompt {settings.prompt!r} is not one for {kind.task}, with {fields}")
        self._json_schema = kind.schema if asking.chat.accepted.json_schema else None
        self._count_tokens = asking.counter
        if settings.probability and asking.chat.accepted.logprobs is False:
            msg = (
                f"judge {name!r}: model {settings.chat.model!r} does not accept logprobs, which `probability: true` "
                f"needs; leave it out{' or set `samples`' if kind.graded else ''}, or name another model"
            )
            raise UsageError(msg)
        known = asking.chat.accepted.logprobs is True
        useful = "probability" not in settings.only_for or settings.task in settings.only_for["probability"]
        wanted = known if settings.probability is None else settings.probability
        self._with_probability = useful and wanted and settings.samples is None
        self.samples = settings.samples

    async def ask(self, groups: Sequence[Group]) -> Verdicts:
        return await carry_out(self.plan(groups), self._executor.answer)

    def plan(self, groups: Sequence[Group]) -> Asks[Verdicts]:
        return verdicts(self._kind, groups, self)

    def request(self, group: Group, item: str) -> ChatRequest:
        text, options = self._prompt.render(**self._kind.filled(group, item)), {"json_schema": self._json_schema}
        request = prompt_request(self._settings.chat, text, count_tokens=self._count_tokens, **options)
        top_logprobs = ALTERNATIVES if self._with_probability else None
        return replace(request, top_logprobs=top_logprobs, shared=Shared(group.key))

    def again(self, request: ChatRequest, unreadable: str) -> ChatRequest | None:
        """Ask once more, unless the judge samples, or reads as the release does, which reads nearly everything."""
        once = self._settings.fidelity == "release" or self.samples is not None
        return None if once else asked_again(request, unreadable, self._wish)

    def read(self, group: Group, request: ChatRequest, reply: ChatReply) -> Verdict:
        """Read a reply; that of a failed call is unjudged, with the call's reason."""
        called = call_id(self._settings.chat, request)
        if reply.text is None:
            return unjudged(reply.failure or "no_reply")._replace(call_id=called)
        logprobs = reply.logprobs if self._with_probability else None
        verdict = self._kind.read(reply.text, logprobs, group, self._settings.fidelity)
        if self._with_probability and self._kind.graded and verdict.answer is not None and verdict.probability is None:
            verdict = unjudged(NO_PROBABILITY)
        return verdict._replace(reply=reply.text, call_id=called)


def verdicts(kind: Kind, groups: Sequence[Group], judge: ChatJudge) -> Asks[Verdicts]:
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
        for sample, request in enumerate(repeated(judge, group, text))
    }
    new = dict(waiting)
    while waiting:
        came = yield new
        new = {}
        for name, reply in came.items():
            assert isinstance(name, Pair), "its own names come back"
            request, group, first = waiting.pop(name), opened[name.group], name._replace(again=False)
            if not name.again or reply.text is not None:
                found[first] = judge.read(group, request, reply)
            unread = found[first].failure not in (None, NO_PROBABILITY) and reply.text is not None and not name.again
            if unread and (second := judge.again(request, reply.text or "")) is not None:
                once_more = replace(second, again=found[first].failure)
                new[name._replace(again=True)] = waiting[name._replace(again=True)] = once_more
    n = judge.samples
    judged = [
        [
            found[pair] if n is None else _mean(kind, [found[pair._replace(sample=sample)] for sample in range(n)])
            for pair in (Pair(group.key, place, item) for item in range(len(group.items)))
        ]
        for place, group in enumerate(opened)
    ]
    return in_place(kind, groups, opened, judged)


def repeated(judge: ChatJudge, group: Group, item: str) -> list[ChatRequest]:
    """Return the first requests about a pair: one, or a sample each, which differ by nothing but their number."""
    request, n = judge.request(group, item), judge.samples or 1
    return [replace(request, repeat=group.repeat * n + sample) for sample in range(n)]


def _mean(kind: Kind, samples: Sequence[Verdict]) -> Verdict:
    """Return the mean of the samples that can be read; `reply` has them all, `call_id` is that of the first."""
    numbers = [number for one in samples if (number := kind.number(one.answer, one.probability)) is not None]
    if numbers:
        made = kind.by_number(round(sum(numbers) / len(numbers), _DIGITS), ())
    else:
        made = unjudged(next(one.failure for one in samples if one.failure) or "no_reply")
    return made._replace(reply=json.dumps([one.reply for one in samples]), call_id=samples[0].call_id)


class ByChat(Judge):
    settings: ChatJudgeSettings

    def _version(self) -> Version:
        names = (self.settings.prompt, REPAIR_PROMPT)
        versions = [load_prompt(name, self.prompts).version for name in names]
        read = [] if self.settings.fidelity == "release" else [READING_VERSION]  # a release's reading does not change
        return Version(content_key(versions, *read), versions[0])

    def open(self, context: CallContext, _threads: int, /) -> JudgeBackend:
        return self.asking(Asking(chat=open_pool(self.settings.chat, context), prompts_folder=self.prompts))

    def asking(self, asking: Asking) -> ChatJudge:
        return ChatJudge(self.kind, self.name, self.settings, asking)
