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
from actors.chat import load_prompt, open_chat, prompt_request, token_counter
from longform.chat import ChatReply, ChatRequest, call_id
from longform.configuration import ChatJudge as Settings
from longform.errors import UsageError
from longform.judging import CoverageVerdict, coverage_schema, numbered_bullets, parse_coverage
from longform.records import Target

_FIELDS = frozenset({"bullets", "insight"})


class ChatCoverageJudge:
    """
    Asks the model once for each (summary, insight), all of a call at once within the model's concurrency.

    `reply` is what the model wrote, read or not; `answer` is null where it is no verdict, with the reason in
    `failure`. `linked_unit` is null where nothing is covered or the bullet named does not exist. A summary without
    bullets covers nothing, and is not asked about.

    Args:
        bench_url: The benchmark folder that holds the insights.
        name: What the table calls this judge.
        settings: Model and prompt.
        prompts_folder: A folder whose files replace our prompts of the same name.
        count_tokens: Tokens of a text, for the check against the model's window; None: cl100k.

    Raises:
        UsageError: The model or the prompt cannot be used, before anything is asked.
    """

    def __init__(
        self,
        bench_url: str,
        name: str,
        settings: Settings,
        prompts_folder: str | None = None,
        *,
        count_tokens: Callable[[str], int] | None = None,
    ) -> None:
        self.chat = open_chat(settings.chat)
        self._benchmark = Benchmark(bench_url)
        self._name = name
        self._settings = settings.chat
        self._prompt = load_prompt(settings.prompt, prompts_folder)
        if self._prompt.fields != _FIELDS:
            msg = f"judge {name!r}: prompt {settings.prompt!r} is not one for coverage, with {sorted(_FIELDS)}"
            raise UsageError(msg)
        self._schema = coverage_schema() if self.chat.accepted.json_schema else None
        self._count_tokens = token_counter(self.chat.accepted, count_tokens)

    async def judge(self, summary_rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        pairs = [(row, target) for row in summary_rows for target in self._insights(row["query_id"])]
        return list(await asyncio.gather(*(self._judge_pair(row, target) for row, target in pairs)))

    def _insights(self, query_id: str) -> list[Target]:
        return [target for target in self._benchmark.targets.get(query_id, []) if target.kind == "insight"]

    async def _judge_pair(self, row: Mapping[str, Any], target: Target) -> dict[str, Any]:
        if not row["bullets"]:
            # Nothing is said, so nothing is covered; there is nothing to ask.
            return self._row(row, target, CoverageVerdict("none", None, failure=None, link_failure=None))
        request = self._request(row["bullets"], target.text)
        reply = await self.chat.complete(request)
        verdict = _verdict(reply, len(row["bullets"]))
        asked = {"reply": reply.text, "call_id": call_id(self._settings, request)}
        return self._row(row, target, verdict) | asked

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
