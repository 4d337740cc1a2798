"""
Coverage of a benchmark's insights by summaries, judged by a chat model (SummHay, section 4).

Rows in: {work_id, summary_id, query_id, haystack_id, bullets}. Table out: `VERDICTS`, one row for each insight of each
row's query, in their order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from actors.chat.opening import Asking
from actors.judges.chat_coverage import AskedVerdict, ChatCoverage, CoverageGroup
from actors.storage.benchmark import Benchmark
from longform.chat.call import ChatRequest
from longform.records import Target
from longform.settings.judges import ChatJudgeSettings


class ChatCoverageJudge:
    """
    Asks about each (summary, insight) as `ChatCoverage` does.

    `reply` is what the model wrote last, read or not; `answer` is null where it is no verdict, with the reason in
    `failure`. `linked_unit` is null where nothing is covered or the bullet named does not exist.

    Args:
        bench_url: The benchmark folder that holds the insights.
        name: What the table calls this judge.
        settings: Model and prompt.
        asking: With what is asked.

    Raises:
        UsageError: The prompt cannot be used, before anything is asked.
    """

    def __init__(self, bench_url: str, name: str, settings: ChatJudgeSettings, asking: Asking) -> None:
        self._benchmark = Benchmark(bench_url)
        self._name = name
        self._coverage = ChatCoverage(name, settings, asking)

    async def judge(self, summary_rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        targets = [self._insights(row["query_id"]) for row in summary_rows]
        groups = [
            CoverageGroup(row["summary_id"], row["bullets"], [target.text for target in of])
            for row, of in zip(summary_rows, targets, strict=True)
        ]
        judged = await self._coverage.judge(groups)
        return [
            self._row(row, target, asked)
            for row, of, found in zip(summary_rows, targets, judged, strict=True)
            for target, asked in zip(of, found, strict=True)
        ]

    def requests(self, row: Mapping[str, Any]) -> list[ChatRequest]:
        """What is asked about a summary that has bullets, one request an insight."""
        return self._coverage.requests(row["bullets"], [target.text for target in self._insights(row["query_id"])])

    def _insights(self, query_id: str) -> list[Target]:
        return [target for target in self._benchmark.targets.get(query_id, []) if target.kind == "insight"]

    def _row(self, row: Mapping[str, Any], target: Target, asked: AskedVerdict) -> dict[str, Any]:
        return {
            "work_id": row["work_id"],
            "judge": self._name,
            "summary_id": row["summary_id"],
            "target_kind": "insight",
            "target_id": target.target_id,
            "mode": "full",
            "repeat": 0,
            "answer": asked.verdict.answer,
            "linked_unit": asked.verdict.linked_unit,
            "failure": asked.verdict.failure,
            "reply": asked.reply,
            "prompt_version": self._coverage.prompt_version,
            "call_id": asked.call_id,
        }
