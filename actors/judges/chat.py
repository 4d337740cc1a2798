"""A judge that prompts a chat model, of any kind (SummHay, section 4; Wan et al., sections 2.3 and 3.2, appendix D)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from actors.chat.matrix_executor import Group as Calls
from actors.chat.matrix_executor import MatrixExecutor, group_of
from actors.chat.opening import Asking
from actors.judges.prompt import JudgePrompt
from longform.chat.call import ChatReply, ChatRequest, call_id
from longform.errors import UsageError
from longform.judges.kind import Group, Kind, Verdict, Verdicts, unjudged
from longform.judges.pairs import in_place, open_groups
from longform.settings.judges import ChatJudgeSettings

ALTERNATIVES = 5
"""Likely tokens asked for in each place: what every provider that gives them at all gives."""


class ChatJudge:
    """
    Asks the model once for each pair, a text's items as one group behind the text.

    A reply that cannot be read is answered once with the wish for a readable one, unless the release's reading is asked
    for, which reads nearly everything. What cannot be read then is unjudged, `reply` keeps it. A failed call is
    unjudged with the call's reason. A number comes from the log probabilities of the answer if `probability` says so,
    or says nothing and the model is known to give them; a reply without them has an answer and no number.

    Args:
        kind: Of the judge.
        name: For messages.
        settings: Model and prompt.
        asking: With what is asked.

    Raises:
        UsageError: The prompt cannot be used, or the model is known to give no log probabilities and they are wanted.
    """

    def __init__(self, kind: Kind, name: str, settings: ChatJudgeSettings, asking: Asking) -> None:
        self._kind, self._settings = kind, settings
        self._executor = MatrixExecutor(asking.chat, settings.chat)
        self._prompt = JudgePrompt(kind, name, settings=settings, asking=asking)
        if settings.probability and asking.chat.accepted.logprobs is False:
            msg = (
                f"judge {name!r}: model {settings.chat.model!r} does not accept logprobs, which `probability: true` "
                "needs; leave it out, or name another model"
            )
            raise UsageError(msg)
        known = asking.chat.accepted.logprobs is True
        useful = "probability" not in settings.only_for or settings.task in settings.only_for["probability"]
        self._with_probability = useful and (known if settings.probability is None else settings.probability)

    async def ask(self, groups: Sequence[Group]) -> Verdicts:
        """Judge all pairs: shape (groups, items). Equal pairs are asked about once, settled ones never."""
        opened = open_groups(self._kind, groups)
        calls = [self._calls(group) for group in opened]
        replies = await self._executor.replies(calls)
        verdicts = await asyncio.gather(
            *(
                self._verdict(group, request, reply)
                for group, of, found in zip(opened, calls, replies, strict=True)
                for request, reply in zip(of.requests, found, strict=True)
            )
        )
        places = [(group.shared, item) for group in opened for item in group.items]
        return in_place(self._kind, groups, dict(zip(places, verdicts, strict=True)))

    def requests(self, groups: Sequence[Group]) -> list[ChatRequest]:
        """Make the requests for all pairs; a second request because a reply cannot be read is not known before."""
        opened = open_groups(self._kind, groups)
        return [self._request(group, item) for group in opened for item in group.items]

    def _calls(self, group: Group) -> Calls:
        return group_of(group.key, [self._request(group, item) for item in group.items])

    def _request(self, group: Group, item: str) -> ChatRequest:
        request = self._prompt.request(group, item)
        return replace(request, top_logprobs=ALTERNATIVES) if self._with_probability else request

    async def _verdict(self, group: Group, request: ChatRequest, reply: ChatReply) -> Verdict:
        """Return the verdict of the second reply if the first could not be read."""
        verdict = self._read(group, request, reply)
        if reply.text is None or verdict.failure is None or self._settings.fidelity == "release":
            return verdict
        again = await self._prompt.again(request, reply.text)
        return verdict if again.reply.text is None else self._read(group, again.request, again.reply)

    def _read(self, group: Group, request: ChatRequest, reply: ChatReply) -> Verdict:
        called = call_id(self._settings.chat, request)
        if reply.text is None:
            return unjudged(reply.failure or "no_reply")._replace(call_id=called)
        logprobs = reply.logprobs if self._with_probability else None
        verdict = self._kind.read(reply.text, logprobs, group, self._settings.fidelity)
        return verdict._replace(reply=reply.text, call_id=called)
