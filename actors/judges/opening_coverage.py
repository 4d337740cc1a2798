"""Any coverage judge by its definition, behind one call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from actors.chat.call_context import CallContext
from longform.settings.judges import AskedJudgeSettings, ChatJudgeSettings

Rows = list[dict[str, Any]]
AskJudge = Callable[[Sequence[Mapping[str, Any]]], Awaitable[Rows]]
"""Rows {work_id, summary_id, query_id, haystack_id, bullets} -> rows of `verdicts`, one for each insight."""


def make_judge(
    bench_url: str, name: str, definition: AskedJudgeSettings, *, prompts: str | None, context: CallContext
) -> AskJudge:
    """The judge *definition* describes; what it loads, it loads here."""
    if isinstance(definition, ChatJudgeSettings):
        from actors.chat.opening import Asking, open_pool
        from actors.judges.chat_coverage_targets import ChatCoverageJudge

        asking = Asking(chat=open_pool(definition.chat, context), prompts_folder=prompts)
        return ChatCoverageJudge(bench_url, name, definition, asking).judge
    from actors.judges import offline_coverage as offline_judge

    judge = offline_judge.OfflineJudge(bench_url, name=name, calibration=definition.calibration)

    async def ask(rows: Sequence[Mapping[str, Any]]) -> Rows:
        return judge.judge(rows)

    return ask
