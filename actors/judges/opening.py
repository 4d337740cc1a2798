"""Any judge by its definition: the one place that knows which settings mean which judge."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from actors.chat.call_context import CallContext
from actors.chat.opening import REPAIR_PROMPT, Asking, load_prompt
from actors.judges.backend import Backend, MeanJudge
from actors.judges.chat import ChatJudge
from actors.judges.kinds import kind_of, with_kind
from actors.local_models.checkpoints import check_checkpoint, checkpoint_content
from actors.local_models.weights import MINILM
from actors.python_class import check_class, class_version
from longform import protocols
from longform.errors import UsageError
from longform.judges import lexical_support
from longform.judges.cards import Version
from longform.judges.kind import Kind
from longform.judges.merged import MEAN_VERSION
from longform.keys import content_key
from longform.models import models_version
from longform.settings.judges import (
    ChatJudgeSettings,
    CheckpointJudgeSettings,
    JudgeSettings,
    MeanJudgeSettings,
    OfflineJudgeSettings,
    PythonJudgeSettings,
    ServedJudgeSettings,
)

READING_VERSION = "2"
"""Changes with any change of how the replies of chat models are read."""

LONG_TEXTS = "words first@1"
"""Changes with any change of what an offline judge of support reads of a long document."""

CHECKPOINT_VERSION = "2"
"""Changes with any change of how a checkpoint is read."""

Open = Callable[[CallContext, int], Backend]
"""Loads a judge: on whose behalf a chat model is called, and the threads of a local model."""


class Judge(NamedTuple):
    """
    A judge that is not loaded yet.

    Attributes:
        name: In the configuration, for messages.
        kind: What it judges.
        settings: Its definition.
        version: What makes its verdicts beside its settings.
        open: Loads it.
        asking: Makes it ask a model that is given; None: it asks no model.
    """

    name: str
    kind: Kind
    settings: JudgeSettings
    version: Version
    open: Open
    asking: Callable[[Asking], ChatJudge] | None = None


def make_judge(name: str, judges: Mapping[str, JudgeSettings], *, prompts: str | None = None) -> Judge:
    """
    Return the judge *name* of *judges*; nothing is loaded.

    Args:
        name: Of the judge.
        judges: How judges are made; those that a mean names are among them.
        prompts: A folder whose prompt files replace ours of the same name.

    Raises:
        UsageError: A prompt or a checkpoint is missing.
    """
    settings = judges[name]
    made = _made(name, kind_of(settings), judges, prompts)
    return made._replace(version=with_kind(made.version, settings))


def _made(name: str, kind: Kind, judges: Mapping[str, JudgeSettings], prompts: str | None) -> Judge:
    match settings := judges[name]:
        case ChatJudgeSettings():
            return _chat(name, kind, settings, prompts)
        case CheckpointJudgeSettings():
            return _checkpoint(name, kind, settings)
        case OfflineJudgeSettings():
            return _offline(name, kind, settings)
        case MeanJudgeSettings():
            members = [make_judge(member, judges, prompts=prompts) for member in settings.of]
            return _mean(name, kind, settings, members)
        case ServedJudgeSettings():
            return _served(name, kind, settings)
        case PythonJudgeSettings():
            return _python(name, kind, settings)


def check_judge(settings: JudgeSettings) -> None:
    """
    Find the weights that a judge reads, before anything is paid for.

    Raises:
        UsageError: They are not there; the message says how to name weights of one's own.
    """
    if not isinstance(settings, CheckpointJudgeSettings) or "/" not in settings.model:
        return  # a name without an owner is checked when it is loaded
    try:
        check_checkpoint(settings.model)
    except UsageError as error:
        from actors.local_models.checkpoint_scorer import own_weights

        raise UsageError(f"{error}; {own_weights(settings)}") from error


def make_judges(judges: Mapping[str, JudgeSettings], *, prompts: str | None = None) -> dict[str, Judge]:
    """Return all of *judges*, as `make_judge` says."""
    return {name: make_judge(name, judges, prompts=prompts) for name in judges}


def _chat(name: str, kind: Kind, settings: ChatJudgeSettings, prompts: str | None) -> Judge:
    versions = [load_prompt(prompt, prompts).version for prompt in (settings.prompt, REPAIR_PROMPT)]
    read = [] if settings.fidelity == "release" else [READING_VERSION]  # the reading of a release does not change

    def asking(asking: Asking) -> ChatJudge:
        return ChatJudge(kind, name, settings, asking)

    def opened(context: CallContext, _threads: int) -> Backend:
        from actors.chat.opening import open_pool

        return asking(Asking(chat=open_pool(settings.chat, context), prompts_folder=prompts))

    return Judge(name, kind, settings, Version(content_key(versions, *read), versions[0]), opened, asking)


def _checkpoint(name: str, kind: Kind, settings: CheckpointJudgeSettings) -> Judge:
    def opened(_context: CallContext, threads: int) -> Backend:
        from actors.judges.checkpoint import CheckpointJudge

        return CheckpointJudge(name, settings, threads=threads, kind=kind)

    version = f"checkpoint_support@{CHECKPOINT_VERSION}+{checkpoint_content(settings.model)}"
    return Judge(name, kind, settings, Version(version, version), opened)


def _offline(name: str, kind: Kind, settings: OfflineJudgeSettings) -> Judge:
    if settings.fitted_model is not None:
        return _offline_coverage(name, kind, settings, settings.fitted_model)

    def opened(_context: CallContext, threads: int) -> Backend:
        from actors.judges.lexical import LexicalJudge

        return LexicalJudge(threads=threads, kind=kind)

    version = f"offline_support@{lexical_support.VERSION}+{models_version('support_judge')} {MINILM}"
    return Judge(name, kind, settings, Version(f"{version} {LONG_TEXTS}", version), opened)


def _offline_coverage(name: str, kind: Kind, settings: OfflineJudgeSettings, model: str) -> Judge:
    from actors.judges.offline_coverage import OfflineCoverageJudge, version_of

    def opened(_context: CallContext, threads: int) -> Backend:
        return OfflineCoverageJudge(model=model, threads=threads)

    return Judge(name, kind, settings, version_of(model), opened)


def _served(name: str, kind: Kind, settings: ServedJudgeSettings) -> Judge:
    def opened(_context: CallContext, _threads: int) -> Backend:
        from actors.judges.served import ServedJudge, served_client

        client = served_client(settings.url, settings.judge, token_env=settings.token_env)
        return ServedJudge(kind, settings.judge, client, concurrency=settings.concurrency, version=settings.version)

    version = f"served {settings.judge} at {settings.url}{f' {settings.version}' if settings.version else ''}"
    return Judge(name, kind, settings, Version(version, version), opened)


def _python(name: str, kind: Kind, settings: PythonJudgeSettings) -> Judge:
    check_class(settings, protocols.Judge)

    def opened(_context: CallContext, _threads: int) -> Backend:
        from actors.judges.python import PythonJudge

        return PythonJudge(kind, settings)

    version = class_version(settings)
    return Judge(name, kind, settings, Version(version, f"{settings.class_}@{version}"), opened)


def _mean(name: str, kind: Kind, settings: MeanJudgeSettings, members: list[Judge]) -> Judge:
    def opened(context: CallContext, threads: int) -> Backend:
        found = {member.name: member.open(context, threads) for member in members}
        return MeanJudge(kind, found, bounds=settings.bounds)

    version = content_key(MEAN_VERSION, [member.version.work for member in members])
    return Judge(name, kind, settings, Version(version, f"{kind.mean}@{MEAN_VERSION}"), opened)
