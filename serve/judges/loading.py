"""Load the judge of a configuration's entry: the one place that knows every kind."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from longform.errors import UsageError
from longform.settings.judges import ChatJudgeSettings, ChatSupportJudgeSettings
from longform.settings.strict import Strict
from serve.judges.chat import ChatCoverageWorker, ChatSupportWorker
from serve.judges.items import CoverageItem, InsightsItem, JudgeWorker, SupportItem, common_item
from serve.judges.mean import MeanWorker
from serve.judges.workers import CoverageWorker, SupportWorker
from serve.settings import ServedCoverage, ServedJudge, ServedOther, ServedSupport, asks_a_chat, mean_of


def load_judge(name: str, judges: Mapping[str, ServedJudge], *, threads: int, ledger: str | None = None) -> JudgeWorker:
    """
    The judge of an entry, loaded.

    Args:
        name: Of the entry.
        judges: All entries; those that a mean names are among them.
        threads: Of a local model.
        ledger: Where a chat model's calls are written; only a judge of kind `chat` needs it.

    Raises:
        UsageError: It cannot be found, loaded, or is no judge.
    """
    settings = judges[name]
    if mean := mean_of(settings):
        members = {member: load_judge(member, judges, threads=threads, ledger=ledger) for member in mean.of}
        return MeanWorker(name, mean, members)
    if asks_a_chat(settings):
        assert ledger is not None, "the settings saw to it"
        return _chat_judge(name, settings, ledger)
    if isinstance(settings, ServedSupport):
        return SupportWorker(name, settings, threads=threads)
    if isinstance(settings, ServedCoverage):
        return CoverageWorker(name, settings, threads=threads)
    make = _imported(name, settings)
    try:
        worker = make(name, threads=threads, **settings.settings)
    except (TypeError, ValueError) as error:
        raise UsageError(f"judge {name!r}: {settings.make} does not take these settings: {error}") from error
    if not isinstance(worker, JudgeWorker):
        raise UsageError(f"judge {name!r}: expected {settings.make} to make a judge with item, about, split and run")
    return worker


def _chat_judge(name: str, settings: ServedJudge, ledger: str) -> JudgeWorker:
    if isinstance(settings, ServedCoverage):
        assert isinstance(settings.judge, ChatJudgeSettings)
        return ChatCoverageWorker(name, settings, settings.judge, ledger=ledger)
    assert isinstance(settings, ServedSupport)
    assert isinstance(settings.judge, ChatSupportJudgeSettings)
    return ChatSupportWorker(name, settings, settings.judge, ledger=ledger)


def item_type(name: str, judges: Mapping[str, ServedJudge]) -> type[Strict]:
    """
    The type of one item of a judge's requests, without loading it.

    Raises:
        UsageError: It cannot be found.
    """
    settings = judges[name]
    if mean := mean_of(settings):
        return common_item([item_type(member, judges) for member in mean.of])
    if isinstance(settings, ServedSupport):
        return SupportItem
    if isinstance(settings, ServedCoverage):
        return InsightsItem if asks_a_chat(settings) else CoverageItem
    found = getattr(_imported(name, settings), "item", None)
    if not (isinstance(found, type) and issubclass(found, Strict)):
        raise UsageError(f"judge {name!r}: expected an attribute `item` of {settings.make}, the type of its items")
    return found


def _imported(name: str, settings: ServedOther) -> Any:
    module, _, attribute = settings.make.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"judge {name!r}: cannot import {settings.make}: {error}") from error
