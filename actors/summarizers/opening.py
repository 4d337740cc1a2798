"""Any summarizer by its settings: the one place that knows which settings mean which class."""

from __future__ import annotations

from collections.abc import Mapping

from actors.chat.call_context import CallContext
from actors.summarizers.summarizer import Summarizer
from longform.settings.chat import (
    ChatSummarizerSettings,
    OfflineSummarizerSettings,
    PythonSummarizerSettings,
    SummarizerSettings,
)
from longform.settings.methods import MethodSettings


def make_summarizer(
    bench_url: str,
    name: str,
    settings: SummarizerSettings,
    *,
    methods: Mapping[str, MethodSettings],
    prompts: str | None,
    context: CallContext,
    threads: int,
) -> Summarizer:
    """Open the summarizer that *settings* describe, and load its model here."""
    match settings:
        case ChatSummarizerSettings():
            from actors.chat.opening import Asking, open_pool
            from actors.summarizers.chat import ChatSummarizer

            asking = Asking(chat=open_pool(settings.chat, context), prompts_folder=prompts)
            return ChatSummarizer(bench_url, name, settings, asking, methods=methods)
        case PythonSummarizerSettings():
            from actors.summarizers.python import PythonSummarizer

            return PythonSummarizer(bench_url, settings)
        case OfflineSummarizerSettings():
            from actors.summarizers.offline import OfflineSummarizer

            return OfflineSummarizer(bench_url, max_words=settings.max_words, threads=threads)
