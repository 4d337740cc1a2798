"""Any coverage judge by its definition, behind one call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from longform.configuration import ChatJudge, Judge

Rows = list[dict[str, Any]]
AskJudge = Callable[[Sequence[Mapping[str, Any]]], Awaitable[Rows]]
"""Rows {work_id, summary_id, query_id, haystack_id, bullets} -> rows of `verdicts`, one for each insight."""


def make_judge(bench_url: str, name: str, definition: Judge, *, prompts: str | None) -> AskJudge:
    """The judge *definition* describes; what it loads, it loads here."""
    if isinstance(definition, ChatJudge):
        from actors.chat_judge import ChatCoverageJudge

        return ChatCoverageJudge(bench_url, name, definition, prompts).judge
    from actors.offline_judge import OfflineJudge

    judge = OfflineJudge(bench_url, name=name)

    async def ask(rows: Sequence[Mapping[str, Any]]) -> Rows:
        return judge.judge(rows)

    return ask
