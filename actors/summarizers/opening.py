"""Any summarizer by its definition, behind one call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from actors.chat.call_context import CallContext
from longform.settings.chat import ChatSummarizerSettings, PythonSummarizerSettings, SummarizerSettings
from longform.settings.methods import MethodSettings

Rows = list[dict[str, Any]]
AskSummarizer = Callable[[Sequence[Mapping[str, Any]]], Awaitable[Rows]]
"""Rows of `contexts` with n_requested, method and setting -> rows of `summaries`: one each, and what methods kept."""


def make_summarizer(
    bench_url: str,
    name: str,
    definition: SummarizerSettings,
    *,
    methods: Mapping[str, MethodSettings],
    prompts: str | None,
    context: CallContext,
    threads: int,
) -> AskSummarizer:
    """Open the summarizer that *definition* describes, and load its model here."""
    if isinstance(definition, ChatSummarizerSettings):
        from actors.chat.opening import Asking, open_pool
        from actors.summarizers.chat import ChatSummarizer

        asking = Asking(chat=open_pool(definition.chat, context), prompts_folder=prompts)
        return ChatSummarizer(bench_url, name, definition, asking, methods=methods).summarize
    if isinstance(definition, PythonSummarizerSettings):
        from actors.summarizers.python import PythonSummarizer

        return PythonSummarizer(bench_url, definition).summarize
    from actors.summarizers.offline import OfflineSummarizer

    summarizer = OfflineSummarizer(bench_url, max_words=definition.max_words, threads=threads)

    async def ask(rows: Sequence[Mapping[str, Any]]) -> Rows:
        return summarizer.summarize(rows)

    return ask
