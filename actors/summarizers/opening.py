"""Any summarizer by its settings: the one place that knows which settings mean which class."""

from __future__ import annotations

from collections.abc import Mapping

from actors.chat.call_context import CallContext
from actors.chat.opening import Asking, check_chat, check_endpoint, open_pool, versions_of
from actors.python_class import check_class, class_version
from actors.storage.benchmark import Benchmark
from actors.summarizers.prompts import check_prompts, prompts_of
from actors.summarizers.summarizer import Summarizer
from longform import protocols
from longform.chat.own_systems import PROTOCOL
from longform.settings.chat import (
    ChatSummarizerSettings,
    HttpSummarizerSettings,
    OfflineSummarizerSettings,
    OwnSummarizerSettings,
    PythonSummarizerSettings,
    ShippedSummarizerSettings,
    SummarizerSettings,
)
from longform.settings.methods import MethodSettings
from longform.summaries import extractive

RELEASED = "released@1"
"""Version of looking a shipped summary up."""


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
            from actors.summarizers.chat import ChatSummarizer

            asking = Asking(chat=open_pool(settings.chat, context), prompts_folder=prompts)
            return ChatSummarizer(bench_url, name, settings, asking, methods=methods)
        case PythonSummarizerSettings(calls=None):
            from actors.summarizers.python import PythonSummarizer

            return PythonSummarizer(bench_url, settings)
        case PythonSummarizerSettings() | HttpSummarizerSettings():
            return _own(bench_url, settings, context)
        case ShippedSummarizerSettings():
            from actors.summarizers.shipped import ShippedSummarizer

            return ShippedSummarizer(bench_url, settings)
        case OfflineSummarizerSettings():
            from actors.summarizers.offline import OfflineSummarizer

            return OfflineSummarizer(bench_url, max_words=settings.max_words, threads=threads)


def _own(bench_url: str, settings: OwnSummarizerSettings, context: CallContext) -> Summarizer:
    from actors.summarizers.own import OwnSummarizer, class_chat

    asked = settings.asked_model
    assert asked is not None, "its calls go through the ledger"
    model = None
    if isinstance(settings, PythonSummarizerSettings):
        model = class_chat(settings, asked, Benchmark(bench_url))
    return OwnSummarizer(bench_url, settings, open_pool(asked, context, model))


def check_summarizer(settings: SummarizerSettings, benchmark: Benchmark, *, with_keys: bool) -> None:
    """
    Check that the summarizer can be used on *benchmark*; look for a model's key if *with_keys*.

    Raises:
        UsageError: Its class, its prompt, its model, its key or its texts are missing.
    """
    match settings:
        case ChatSummarizerSettings():
            check_prompts(settings)
            check_chat(settings.chat, with_key=with_keys)
        case PythonSummarizerSettings():
            check_class(settings, protocols.Summarizer)
        case HttpSummarizerSettings():
            check_endpoint(settings.asked_model, with_key=with_keys)
        case ShippedSummarizerSettings():
            from actors.summarizers.shipped import check_shipped

            check_shipped(settings, benchmark)
        case OfflineSummarizerSettings():
            pass


def summarizer_version(settings: SummarizerSettings, method: MethodSettings, prompts: str | None) -> str:
    """Return the version of what makes its summaries: its prompts under *method*, or its code."""
    match settings:
        case ChatSummarizerSettings():
            return versions_of(prompts_of(settings, method), prompts)
        case PythonSummarizerSettings():
            return class_version(settings)
        case HttpSummarizerSettings():
            return f"http@{PROTOCOL}"
        case ShippedSummarizerSettings():
            return RELEASED
        case OfflineSummarizerSettings():
            return extractive.VERSION
