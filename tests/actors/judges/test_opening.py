from __future__ import annotations

from pathlib import Path

import pytest

from actors.chat.model import CallContext
from actors.chat.opening import open_chat
from actors.judges.opening import make_judge
from longform.errors import UsageError
from longform.judges.kind import Group
from longform.settings.chat import ChatSettings
from longform.settings.judges import (
    ChatJudgeSettings,
    CheckpointJudgeSettings,
    JudgeSettings,
    OfflineJudgeSettings,
)
from tests.actors.local_models.tiny_checkpoints import save_bert

GROUPS = [Group("d", ("A bank cut the rate.",), ("A bank cut the rate.", " ")), Group("e", ("",), ("A bee.",))]


@pytest.fixture
def context(tmp_path: Path) -> CallContext:
    return CallContext(job="test", stage="check", ledger=str(tmp_path / "ledger"))


def version_of(settings: JudgeSettings) -> str:
    return make_judge("mine", {"mine": settings}).version.work


@pytest.mark.parametrize("kind", ["offline", "checkpoint"])
async def test_a_local_judge_answers_shape_for_shape(kind: str, context: CallContext, tmp_path: Path) -> None:
    settings = (
        OfflineJudgeSettings(kind="offline", task="support")
        if kind == "offline"
        else CheckpointJudgeSettings(kind="checkpoint", task="support", model=save_bert(tmp_path / "bert", n_labels=2))
    )
    found = await make_judge("mine", {"mine": settings}).open(context, 1).ask(GROUPS)
    assert [len(row) for row in found] == [2, 1]
    assert found[0][0].probability is not None
    assert found[0][1].answer is None
    assert found[1][0].answer == "unsupported"


async def test_a_chat_judge_asks_the_model_of_its_pool(context: CallContext, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[CallContext] = []
    monkeypatch.setattr("actors.judges.chat.open_pool", lambda chat, of: opened.append(of) or open_chat(chat))
    scripted = ChatSettings(provider="scripted", model="scripted", script="obedient")
    settings = ChatJudgeSettings(kind="chat", task="support", chat=scripted)
    found = await make_judge("mine", {"mine": settings}).open(context, 1).ask(GROUPS)
    assert opened == [context]
    assert (found[0][0].answer, found[0][0].reply) == ("supported", "Yes.")
    assert found[0][0].call_id is not None
    assert (found[1][0].answer, found[1][0].call_id) == ("unsupported", None)


def test_the_version_follows_the_weights(tmp_path: Path) -> None:
    two, three = (save_bert(tmp_path / str(n), n_labels=n) for n in (2, 3))
    made = [CheckpointJudgeSettings(kind="checkpoint", task="support", model=model) for model in (two, three, two)]
    versions = [version_of(settings) for settings in made]
    assert versions[0] == versions[2] != versions[1]
    assert version_of(OfflineJudgeSettings(kind="offline", task="support")).startswith("offline_support@3+")


def test_a_checkpoint_that_is_not_there_is_refused() -> None:
    settings = CheckpointJudgeSettings(kind="checkpoint", task="support", model="/no/such/checker")
    with pytest.raises(UsageError, match="expected a folder"):
        make_judge("mine", {"mine": settings})
