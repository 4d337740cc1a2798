"""Which insights some bullets cover, judged by a chat model (SummHay, section 4)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from actors.chat.matrix_executor import MatrixExecutor, group_of
from actors.chat.opening import Asking
from actors.judges.prompt import JudgePrompt
from longform.chat.call import ChatReply, ChatRequest, call_id
from longform.judges.coverage_prompts import CoverageVerdict, coverage_schema, numbered_bullets, parse_coverage
from longform.settings.judges import ChatJudgeSettings

_FIELDS = frozenset({"bullets", "insight"})


class CoverageGroup(NamedTuple):
    """One summary's bullets with the insights to be looked for in them: a row of the matrix."""

    key: str  # of the summary; calls of one key go to one replica
    bullets: Sequence[str]
    insights: Sequence[str]


class AskedVerdict(NamedTuple):
    """
    Attributes:
        verdict: What was read.
        reply: What the model wrote last, read or not; None: nothing was asked, or the call failed.
        call_id: Of the call that gave the reply; None: nothing was asked.
    """

    verdict: CoverageVerdict
    reply: str | None
    call_id: str | None


_NOTHING_SAID = AskedVerdict(CoverageVerdict("none", None, failure=None, link_failure=None), None, None)


class ChatCoverage:
    """
    Asks the model once for each (summary, insight), a summary's insights as one group behind its bullets.

    A reply that cannot be read is answered once with the wish for a readable one. A summary without bullets covers
    nothing, and is not asked about.

    Args:
        name: For messages.
        settings: Model and prompt.
        asking: With what is asked.

    Raises:
        UsageError: The prompt cannot be used, before anything is asked.
    """

    def __init__(self, name: str, settings: ChatJudgeSettings, asking: Asking) -> None:
        self._executor = MatrixExecutor(asking.chat, settings.chat)
        self._settings = settings.chat
        self._prompt = JudgePrompt(
            name, "coverage", _FIELDS, settings=settings, asking=asking, json_schema=coverage_schema()
        )

    @property
    def prompt_version(self) -> str:
        return self._prompt.version

    async def judge(self, groups: Sequence[CoverageGroup]) -> list[list[AskedVerdict]]:
        """Shape (groups, insights)."""
        asked = [group for group in groups if group.bullets]
        matrix = [group_of(group.key, self.requests(group.bullets, group.insights)) for group in asked]
        replies = await self._executor.replies(matrix)
        judged = await asyncio.gather(
            *(
                self._verdicts(len(group.bullets), calls.requests, found)
                for group, calls, found in zip(asked, matrix, replies, strict=True)
            )
        )
        found = iter(judged)
        return [next(found) if group.bullets else [_NOTHING_SAID for _ in group.insights] for group in groups]

    def requests(self, bullets: Sequence[str], insights: Sequence[str]) -> list[ChatRequest]:
        """What is asked about a summary that has bullets, one request an insight."""
        return [self._request(bullets, insight) for insight in insights]

    def _request(self, bullets: Sequence[str], insight: str) -> ChatRequest:
        return self._prompt.request(bullets=numbered_bullets(bullets), insight=insight)

    async def _verdicts(
        self, n_bullets: int, requests: Sequence[ChatRequest], replies: Sequence[ChatReply]
    ) -> list[AskedVerdict]:
        pairs = zip(requests, replies, strict=True)
        return await asyncio.gather(*(self._verdict(n_bullets, request, reply) for request, reply in pairs))

    async def _verdict(self, n_bullets: int, request: ChatRequest, reply: ChatReply) -> AskedVerdict:
        """That of the second reply where the first could not be read."""
        first = self._read(n_bullets, request, reply)
        if reply.text is None or first.verdict.failure is None:
            return first
        again = await self._prompt.again(request, reply.text)
        return self._read(n_bullets, again.request, again.reply) if again.reply.text else first

    def _read(self, n_bullets: int, request: ChatRequest, reply: ChatReply) -> AskedVerdict:
        if reply.text is None:
            verdict = CoverageVerdict(None, None, failure=reply.failure, link_failure=None)
        else:
            verdict = parse_coverage(reply.text, n_bullets)
        return AskedVerdict(verdict, reply.text, call_id(self._settings, request))
