"""
Coverage of insights by a summary, judged by a chat model (SummHay, section 4).

Rows in: {work_id, summary_id, query_id, haystack_id, bullets}. Table out: `VERDICTS`, one row for each insight of each
row's query, in their order.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from actors.benchmark import Benchmark
from actors.chat import REPAIR_PROMPT, asked_again, load_prompt, prompt_request, token_counter
from actors.chat_model import ChatModel
from actors.matrix_executor import MatrixExecutor, group_of
from longform.chat import ChatReply, ChatRequest, call_id
from longform.errors import UsageError
from longform.judge_settings import ChatJudge as Settings
from longform.judging import CoverageVerdict, coverage_schema, numbered_bullets, parse_coverage
from longform.records import Target

_FIELDS = frozenset({"bullets", "insight"})


class ChatCoverageJudge:
    """
    Asks the model once for each (summary, insight), a summary's insights as one group behind its bullets.

    A reply that cannot be read is answered once with the wish for a readable one. `reply` is what the model wrote last,
    read or not; `answer` is null where it is no verdict, with the reason in `failure`. `linked_unit` is null where
    nothing is covered or the bullet named does not exist. A summary without bullets covers nothing, and is not asked
    about.

    Args:
        bench_url: The benchmark folder that holds the insights.
        name: What the table calls this judge.
        settings: Model and prompt.
        chat: The model.
        prompts_folder: A folder whose files replace our prompts of the same name.
        count_tokens: Tokens of a text, for the check against the model's window; None: cl100k.

    Raises:
        UsageError: The prompt cannot be used, before anything is asked.
    """

    def __init__(
        self,
        bench_url: str,
        name: str,
        settings: Settings,
        *,
        chat: ChatModel,
        prompts_folder: str | None = None,
        count_tokens: Callable[[str], int] | None = None,
    ) -> None:
        self.chat = chat
        self._executor = MatrixExecutor(chat, settings.chat)
        self._benchmark = Benchmark(bench_url)
        self._name = name
        self._settings = settings.chat
        self._prompt = load_prompt(settings.prompt, prompts_folder)
        self._repair_prompt = load_prompt(REPAIR_PROMPT, prompts_folder)
        if self._prompt.fields != _FIELDS:
            msg = f"judge {name!r}: prompt {settings.prompt!r} is not one for coverage, with {sorted(_FIELDS)}"
            raise UsageError(msg)
        self._schema = coverage_schema() if chat.accepted.json_schema else None
        self._count_tokens = token_counter(chat.accepted, count_tokens)

    async def judge(self, summary_rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        asked = [row for row in summary_rows if row["bullets"]]
        groups = [group_of(row["summary_id"], self.requests(row)) for row in asked]
        replies = await self._executor.replies(groups)
        judged = await asyncio.gather(
            *(
                self._rows(row, group.requests, answers)
                for row, group, answers in zip(asked, groups, replies, strict=True)
            )
        )
        found = dict(zip((row["summary_id"] for row in asked), judged, strict=True))
        return [out for row in summary_rows for out in found.get(row["summary_id"]) or self._nothing_said(row)]

    def requests(self, row: Mapping[str, Any]) -> list[ChatRequest]:
        """What is asked about a summary that has bullets, one request an insight."""
        return [self._request(row["bullets"], target.text) for target in self._insights(row["query_id"])]

    def _insights(self, query_id: str) -> list[Target]:
        return [target for target in self._benchmark.targets.get(query_id, []) if target.kind == "insight"]

    async def _rows(
        self, row: Mapping[str, Any], requests: Sequence[ChatRequest], replies: Sequence[ChatReply]
    ) -> list[dict[str, Any]]:
        judged = (self._read(row, request, reply) for request, reply in zip(requests, replies, strict=True))
        targets = self._insights(row["query_id"])
        return [
            self._row(row, target, verdict) | {"reply": reply.text, "call_id": call_id(self._settings, request)}
            for target, (request, reply, verdict) in zip(targets, await asyncio.gather(*judged), strict=True)
        ]

    async def _read(
        self, row: Mapping[str, Any], request: ChatRequest, reply: ChatReply
    ) -> tuple[ChatRequest, ChatReply, CoverageVerdict]:
        """The verdict, with the request and reply that gave it: the second ones where the first could not be read."""
        verdict = _verdict(reply, len(row["bullets"]))
        if reply.text is None or verdict.failure is None:
            return request, reply, verdict
        again = asked_again(request, reply.text, self._repair_prompt.render())
        second = await self.chat.complete(again)
        return (again, second, _verdict(second, len(row["bullets"]))) if second.text else (request, reply, verdict)

    def _nothing_said(self, row: Mapping[str, Any]) -> list[dict[str, Any]]:
        # Nothing is said, so nothing is covered; there is nothing to ask.
        verdict = CoverageVerdict("none", None, failure=None, link_failure=None)
        return [self._row(row, target, verdict) for target in self._insights(row["query_id"])]

    def _request(self, bullets: Sequence[str], insight: str) -> ChatRequest:
        text = self._prompt.render(bullets=numbered_bullets(bullets), insight=insight)
        return prompt_request(self._settings, text, count_tokens=self._count_tokens, json_schema=self._schema)

    def _row(self, row: Mapping[str, Any], target: Target, verdict: CoverageVerdict) -> dict[str, Any]:
        return {
            "work_id": row["work_id"],
            "judge": self._name,
            "summary_id": row["summary_id"],
            "target_kind": "insight",
            "target_id": target.target_id,
            "mode": "full",
            "repeat": 0,
            "answer": verdict.answer,
            "linked_unit": verdict.linked_unit,
            "failure": verdict.failure,
            "prompt_version": self._prompt.version,
        }


def _verdict(reply: ChatReply, n_bullets: int) -> CoverageVerdict:
    if reply.text is None:
        return CoverageVerdict(None, None, failure=reply.failure, link_failure=None)
    return parse_coverage(reply.text, n_bullets)
