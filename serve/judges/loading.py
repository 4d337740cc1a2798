"""Load the judge of a configuration's entry: the one place that knows every kind."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping

from actors.judges.opening import make_judge
from longform.errors import UsageError
from longform.settings.strict import Strict
from serve.judges.items import JudgeWorker, common_item, item_of, served_card
from serve.judges.mean import MeanWorker
from serve.judges.workers import KindWorker
from serve.settings import ServedJudge, ServedKind, ServedOther


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
    if isinstance(settings, ServedKind):
        if not settings.judge.members:
            return KindWorker(name, settings, threads=threads, ledger=ledger)
        loaded = {one: load_judge(one, judges, threads=threads, ledger=ledger) for one in settings.judge.members}
        ours = {one: entry.judge for one, entry in judges.items() if isinstance(entry, ServedKind)}
        mean, members = make_judge(name, ours), {one: make_judge(one, ours) for one in settings.judge.members}
        return MeanWorker(name, mean, loaded, card=served_card(settings, mean, members))
    make = _imported(name, settings)
    try:
        worker = make(name, threads=threads, **settings.settings)
    except (TypeError, ValueError) as error:
        raise UsageError(f"judge {name!r}: {settings.make} does not take these settings: {error}") from error
    if not isinstance(worker, JudgeWorker):
        raise UsageError(f"judge {name!r}: expected {settings.make} to make a judge with item, about, split and run")
    return worker


def item_type(name: str, judges: Mapping[str, ServedJudge]) -> type[Strict]:
    """
    The type of one item of a judge's requests, without loading it.

    Raises:
        UsageError: It cannot be found.
    """
    settings = judges[name]
    if isinstance(settings, ServedKind):
        members = settings.judge.members
        return common_item([item_type(one, judges) for one in members]) if members else item_of(settings)
    found = getattr(_imported(name, settings), "item", None)
    if not (isinstance(found, type) and issubclass(found, Strict)):
        raise UsageError(f"judge {name!r}: expected an attribute `item` of {settings.make}, the type of its items")
    return found


def _imported(name: str, settings: ServedOther) -> Callable[..., JudgeWorker]:
    module, _, attribute = settings.make.partition(":")
    try:
        make: Callable[..., JudgeWorker] = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise UsageError(f"judge {name!r}: cannot import {settings.make}: {error}") from error
    return make
