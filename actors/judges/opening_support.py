"""Any support judge by its definition, behind one call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from actors.chat.call_context import CallContext
from actors.local_models.checkpoints import checkpoint_content
from actors.local_models.encoder import MINILM
from longform.judges import lexical_support
from longform.judges.support_prompts import SupportGroup, SupportVerdict
from longform.models import models_version
from longform.settings.judges import (
    AskedSupportJudgeSettings,
    ChatSupportJudgeSettings,
    CheckpointSupportJudgeSettings,
    LocalSupportJudgeSettings,
)

CHECKPOINT_VERSION = "1"
"""Changes with any change of how a checkpoint is read."""

Verdicts = list[list[SupportVerdict]]
AskSupport = Callable[[Sequence[SupportGroup]], Awaitable[Verdicts]]
"""Groups -> verdicts, shape (groups, sentences)."""


def make_support_judge(
    name: str, settings: AskedSupportJudgeSettings, *, prompts: str | None, context: CallContext, threads: int
) -> AskSupport:
    """
    The judge that *settings* describe; what it loads, it loads here.

    Args:
        name: For messages.
        settings: Of the configuration.
        prompts: A folder whose prompt files replace ours of the same name.
        context: On whose behalf a chat model is called.
        threads: Of a local model.

    Raises:
        UsageError: It cannot judge: a model, a prompt or a key is missing, or does not fit.
    """
    if isinstance(settings, ChatSupportJudgeSettings):
        from actors.chat.opening import Asking, open_pool
        from actors.judges.chat_support import ChatSupportJudge as Chat

        return Chat(name, settings, Asking(chat=open_pool(settings.chat, context), prompts_folder=prompts)).judge
    judge = _local(name, settings, threads)

    async def ask(groups: Sequence[SupportGroup]) -> Verdicts:
        return judge(groups)

    return ask


def code_version(settings: LocalSupportJudgeSettings) -> str:
    """
    Changes with all that can change a local judge's verdicts beside its settings: code, fitted model, checkpoint.

    Raises:
        UsageError: There is no such checkpoint.
    """
    if isinstance(settings, CheckpointSupportJudgeSettings):
        return f"checkpoint_support@{CHECKPOINT_VERSION}+{checkpoint_content(settings.model)}"
    return f"offline_support@{lexical_support.VERSION}+{models_version('support_judge')} {MINILM}"


def _local(
    name: str, settings: LocalSupportJudgeSettings, threads: int
) -> Callable[[Sequence[SupportGroup]], Verdicts]:
    if isinstance(settings, CheckpointSupportJudgeSettings):
        from actors.judges.checkpoint import CheckpointSupportJudge as Checkpoint

        return Checkpoint(name, settings, threads=threads).judge
    from actors.judges.offline_support import OfflineSupportJudge as Offline

    return Offline(threads=threads).judge
