"""Support of sentences by documents, judged by a chat model (Wan et al., sections 2.3 and 3.2, appendix D)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from actors.chat.matrix_executor import Group, MatrixExecutor, group_of
from actors.chat.opening import Asking
from actors.judges.prompt import JudgePrompt
from longform.chat.call import ChatReply, ChatRequest, call_id
from longform.errors import UsageError
from longform.judges.support_prompts import SupportGroup, SupportVerdict, in_place, open_cells, unjudged
from longform.judges.support_replies import parse_support, yes_probability
from longform.keys import content_key
from longform.settings.judges import ChatSupportJudgeSettings

_FIELDS = frozenset({"document", "sentence"})

ALTERNATIVES = 5
"""Likely tokens asked for in each place: what every provider that gives them at all gives."""


class ChatSupportJudge:
    """
    Asks the model once for each (document, sentence), a document's sentences as one group behind its text.

    A reply that cannot be read is answered once with the wish for a readable one, unless the release's reading is asked
    for, which reads nearly everything. What cannot be read then is unjudged, `reply` keeps it. A failed call is
    unjudged with the call's reason. P(yes) comes from the log probabilities of the answer's first word if `probability`
    says so, or says nothing and the model is known to give them; a reply without them has an answer and no probability.

    Args:
        name: For messages.
        settings: Model and prompt.
        asking: With what is asked.

    Raises:
        UsageError: The prompt cannot be used, or the model is known to give no log probabilities and they are wanted.
    """

    def __init__(self, name: str, settings: ChatSupportJudgeSettings, asking: Asking) -> None:
        self._settings = settings
        self._executor = MatrixExecutor(asking.chat, settings.chat)
        self._prompt = JudgePrompt(name, "support", _FIELDS, settings=settings, asking=asking)
        if settings.probability and asking.chat.accepted.logprobs is False:
            msg = (
                f"judge {name!r}: model {settings.chat.model!r} does not accept logprobs, which `probability: true` "
                "needs; leave it out, or name another model"
            )
            raise UsageError(msg)
        known = asking.chat.accepted.logprobs is True
        self._with_probability = known if settings.probability is None else settings.probability

    @property
    def prompt_version(self) -> str:
        return self._prompt.version

    async def judge(self, groups: Sequence[SupportGroup]) -> list[list[SupportVerdict]]:
        """Shape (groups, sentences). Equal cells are asked about once; what `settled` decides is not asked about."""
        cells = open_cells(groups)
        asked = [self._group(text, sentences) for text, sentences in cells.items()]
        replies = await self._executor.replies(asked)
        verdicts = await asyncio.gather(
            *(
                self._verdict(request, reply)
                for group, found in zip(asked, replies, strict=True)
                for request, reply in zip(group.requests, found, strict=True)
            )
        )
        places = [(text, sentence) for text, sentences in cells.items() for sentence in sentences]
        return in_place(groups, dict(zip(places, verdicts, strict=True)))

    def requests(self, text: str, sentences: Sequence[str]) -> list[ChatRequest]:
        """What is asked about a document that has text, one request a sentence."""
        return [self._request(text, sentence) for sentence in sentences]

    def _group(self, text: str, sentences: Sequence[str]) -> Group:
        return group_of(content_key(text), self.requests(text, sentences))

    def _request(self, text: str, sentence: str) -> ChatRequest:
        request = self._prompt.request(document=text, sentence=sentence)
        return replace(request, top_logprobs=ALTERNATIVES) if self._with_probability else request

    async def _verdict(self, request: ChatRequest, reply: ChatReply) -> SupportVerdict:
        verdict = self._read(request, reply)
        if reply.text is None or verdict.failure is None or self._settings.fidelity == "release":
            return verdict
        again = await self._prompt.again(request, reply.text)
        return verdict if again.reply.text is None else self._read(again.request, again.reply)

    def _read(self, request: ChatRequest, reply: ChatReply) -> SupportVerdict:
        called = call_id(self._settings.chat, request)
        if reply.text is None:
            return unjudged(reply.failure or "no_reply")._replace(call_id=called)
        answer, failure = parse_support(reply.text, fidelity=self._settings.fidelity)
        wanted = self._with_probability and answer is not None
        probability = yes_probability(reply.logprobs) if wanted else None
        return SupportVerdict(answer, probability, failure, reply=reply.text, call_id=called)
