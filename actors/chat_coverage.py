"""Which insights some bullets cover, judged by a chat model (SummHay, section 4)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import NamedTuple

from actors.chat import REPAIR_PROMPT, asked_again, load_prompt, prompt_request, token_counter
from actors.chat_model import ChatModel
from actors.matrix_executor import MatrixExecutor, group_of
from longform.chat import ChatReply, ChatRequest, call_id
from longform.errors import UsageError
from longform.judge_settings import ChatJudge as Settings
from longform.judging import CoverageVerdict, coverage_schema, numbered_bullets, parse_coverage

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
        chat: The model.
        prompts_folder: A folder whose files replace our prompts of the same name.
        count_tokens: Tokens of a text, for the check against the model's window; None: cl100k.

    Raises:
        UsageError: The prompt cannot be used, before anything is asked.
    """

    def __init__(
        self,
        name: str,
        settings: Settings,
        *,
        chat: ChatModel,
        prompts_folder: str | None = None,
        count_tokens: Callable[[str], int] | None = None,
    ) -> None:
        self.chat = chat
        self._executor = MatrixExecutor(chat, settings.chat)
        self._settings = settings.chat
        self._prompt = load_prompt(settings.prompt, prompts_folder)
        self._repair_prompt = load_prompt(REPAIR_PROMPT, prompts_folder)
        if self._prompt.fields != _FIELDS:
            msg = f"judge {name!r}: prompt {settings.prompt!r} is not one for coverage, with {sorted(_FIELDS)}"
            raise UsageError(msg)
        self._schema = coverage_schema() if chat.accepted.json_schema else None
        self._count_tokens = token_counter(chat.accepted, count_tokens)

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
        text = self._prompt.render(bullets=numbered_bullets(bullets), insight=insight)
        return prompt_request(self._settings, text, count_tokens=self._count_tokens, json_schema=self._schema)

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
        again = asked_again(request, reply.text, self._repair_prompt.render())
        second = await self.chat.complete(again)
        return self._read(n_bullets, again, second) if second.text else first

    def _read(self, n_bullets: int, request: ChatRequest, reply: ChatReply) -> AskedVerdict:
        if reply.text is None:
            verdict = CoverageVerdict(None, None, failure=reply.failure, link_failure=None)
        else:
            verdict = parse_coverage(reply.text, n_bullets)
        return AskedVerdict(verdict, reply.text, call_id(self._settings, request))
