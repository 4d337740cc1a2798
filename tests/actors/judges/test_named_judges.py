"""Published judges with weights of one's own, in small, and without any."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from actors.judges.checkpoint import ByCheckpoint, CheckpointJudge
from actors.judges.lexical import ByWords
from actors.local_models.checkpoint_scorer import own_weights
from longform.errors import UsageError
from longform.judges.kind import Group
from longform.settings.judges import CheckpointJudgeSettings, OfflineJudgeSettings
from longform.settings.named_judges import PUBLISHED_JUDGES, SHIPPED_CHECKER
from tests.actors.local_models.tiny_checkpoints import save_bert, save_byte_level, save_t5

CHECKPOINTS = {name: one for name, one in PUBLISHED_JUDGES.items() if isinstance(one, CheckpointJudgeSettings)}
TEXT = "The bank cut a rate. The fed did fade. A cab did bad deed."


def save(name: str, folder: Path) -> str:
    """Write a checkpoint of a few kilobytes of the family that *name* has."""
    if name == "minicheck-roberta":
        return save_byte_level(folder)
    return save_bert(folder, n_labels=2, eos=True) if name == "minicheck-deberta" else save_t5(folder)


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_a_family_judges_with_its_conventions(name: str, tmp_path: Path) -> None:
    """Weights of other size, so that chunks are smaller; the rest is as the name says."""
    settings = CHECKPOINTS[name].model_copy(update={"model": save(name, tmp_path / "weights"), "chunk_tokens": 20})
    ((first, second),) = CheckpointJudge(name, settings, threads=1).judge(
        [Group("h", TEXT, ("The bank cut a rate.", "A cab did fade."))]
    )
    for verdict in (first, second):
        assert verdict.failure is None
        assert verdict.probability is not None
        assert 0 < verdict.probability < 1
        assert verdict.answer == ("supported" if verdict.probability > 0.5 else "unsupported")
    assert first.probability != second.probability


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_without_a_hub_it_says_how_to_name_weights_of_ones_own(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    settings = CHECKPOINTS[name].model_copy(update={"model": "nobody/has-this-model"})
    with pytest.raises(UsageError, match=r"in a folder or at s3://, name it as '\{task: support, .*model: FOLDER"):
        CheckpointJudge(name, settings, threads=1)


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_what_it_says_is_the_same_judge_with_other_weights(name: str) -> None:
    written = yaml.safe_load(own_weights(CHECKPOINTS[name]).split("'")[1])
    assert CheckpointJudgeSettings.model_validate(written) == CHECKPOINTS[name].model_copy(update={"model": "FOLDER"})


def test_weights_that_are_missing_are_found_before_anything_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(UsageError, match=r"cannot load model 'nobody/has-this-model'.*; if you have its weights"):
        ByCheckpoint.check(CHECKPOINTS["minicheck-roberta"].model_copy(update={"model": "nobody/has-this-model"}))
    ByCheckpoint.check(SHIPPED_CHECKER)
    ByWords.check(OfflineJudgeSettings(kind="offline", task="support"))
