from __future__ import annotations

from pathlib import Path

import pytest

from actors.chat import opening as chat
from actors.chat.call_context import CallContext
from actors.judges.opening_support import code_version, make_support_judge
from longform.errors import UsageError
from longform.judges.support_prompts import SupportGroup
from longform.settings.chat import ChatSettings
from longform.settings.judges import (
    ChatSupportJudgeSettings,
    CheckpointSupportJudgeSettings,
    OfflineSupportJudgeSettings,
)
from tests.actors.local_models.tiny_checkpoints import save_bert

GROUPS = [SupportGroup("d", "A bank cut the rate.", ("A bank cut the rate.", " ")), SupportGroup("e", "", ("A bee.",))]


@pytest.fixture
def context(tmp_path: Path) -> CallContext:
    return CallContext(job="test", stage="check", ledger=str(tmp_path / "ledger"))


@pytest.mark.parametrize("kind", ["offline", "checkpoint"])
async def test_a_local_judge_answers_shape_for_shape(kind: str, context: CallContext, tmp_path: Path) -> None:
    settings = (
        OfflineSupportJudgeSettings(kind="offline")
        if kind == "offline"
        else CheckpointSupportJudgeSettings(kind="checkpoint", model=save_bert(tmp_path / "bert", n_labels=2))
    )
    found = await make_support_judge("mine", settings, prompts=None, context=context, threads=1)(GROUPS)
    assert [len(row) for row in found] == [2, 1]
    assert found[0][0].probability is not None
    assert found[0][1].answer is None
    assert found[1][0].answer == "unsupported"


async def test_a_chat_judge_asks_the_model_of_its_pool(context: CallContext, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[CallContext] = []
    monkeypatch.setattr(chat, "open_pool", lambda settings, of: opened.append(of) or chat.open_chat(settings))
    scripted = ChatSettings(provider="scripted", model="scripted", script="obedient")
    settings = ChatSupportJudgeSettings(kind="chat", chat=scripted)
    found = await make_support_judge("mine", settings, prompts=None, context=context, threads=1)(GROUPS)
    assert opened == [context]
    assert (found[0][0].answer, found[0][0].reply) == ("supported", "Yes.")
    assert found[0][0].call_id is not None
    assert (found[1][0].answer, found[1][0].call_id) == ("unsupported", None)


def test_the_version_follows_the_weights(tmp_path: Path) -> None:
    two, three = (save_bert(tmp_path / str(n), n_labels=n) for n in (2, 3))
    versions = [
        code_version(CheckpointSupportJudgeSettings(kind="checkpoint", model=model)) for model in (two, three, two)
    ]
    assert versions[0] == versions[2] != versions[1]
    assert code_version(OfflineSupportJudgeSettings(kind="offline")).startswith("offline_support@1+")


def test_a_checkpoint_that_is_not_there_is_refused(context: CallContext) -> None:
    settings = CheckpointSupportJudgeSettings(kind="checkpoint", model="/no/such/checker")
    with pytest.raises(UsageError, match="expected a folder"):
        make_support_judge("mine", settings, prompts=None, context=context, threads=1)
