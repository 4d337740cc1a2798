"""The training job on a benchmark the project makes; and what ships against its own statements."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from actors.judges.opening import make_judge
from actors.local_models.checkpoints import CACHE_ENV, change_content, checkpoint_path
from jobs.synthesis.haystacks import read_config, synthesize
from lab.fits import reach_table
from lab.parsers import PAIRS
from lab.train import main
from longform.errors import UsageError
from longform.judges.cards import SUPPORT_CHECKER, judged_by, shipped_card
from longform.models import read_model
from longform.settings.named_judges import SHIPPED_CHECKER
from tests.places import ROOT
from tests.soak import ONLY_IN_SOAK

MODELS = ROOT / "longform" / "models"
MOST_BYTES = 8 * 2**20


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = str(tmp_path_factory.mktemp("train-checker") / "bench")
    synthesize(read_config("demo"), folder)
    return folder


# ---------------------------------------------------------------- what ships


def test_the_shipped_change_is_the_one_its_files_speak_of() -> None:
    file = MODELS / "checker.safetensors"
    content = change_content(file)
    assert file.stat().st_size <= MOST_BYTES
    assert read_model("checker")["content"] == content == read_model("reach_checker")["content"]
    card = shipped_card(SUPPORT_CHECKER)
    assert card is not None
    version = make_judge("checker", {"checker": SHIPPED_CHECKER}).version
    assert card["judged_by"] == judged_by("checker", {"checker": SHIPPED_CHECKER}, {"checker": version})
    assert card["threshold"] == SHIPPED_CHECKER.threshold == read_model("checker")["threshold"]


def test_the_shipped_recipe_is_the_one_of_the_job() -> None:
    from lab import checker
    from lab.checker_training import Recipe

    recipe = read_model("checker")["recipe"]
    stated = asdict(Recipe(seed=1))
    assert {name: recipe[name] for name in stated} == stated
    assert (recipe["version"], recipe["pairs"]) == (checker.VERSION, PAIRS)


def test_the_page_has_the_table_of_the_file() -> None:
    page = (ROOT / "docs" / "reach.md").read_text(encoding="utf-8")
    assert reach_table(read_model("reach_checker")["rows"]) in page


def test_the_shipped_checker_sees_what_words_do_not_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """
    Put together once, under the name of its content; changed numbers, another year and a denial are seen.

    A sentence cut down to a few words, as the third, it knows from one with an error, but says it is not supported.
    """
    from actors.judges.checkpoint import CheckpointJudge
    from longform.judges.kind import Group

    monkeypatch.setenv(CACHE_ENV, str(tmp_path))
    folder = checkpoint_path(SHIPPED_CHECKER.model)
    assert {path.name for path in (tmp_path / "checkpoints").iterdir()} == {Path(folder).name, "locks"}
    assert checkpoint_path(SHIPPED_CHECKER.model) == folder
    judge = CheckpointJudge("checker", SHIPPED_CHECKER.model_copy(update={"model": folder}), threads=1)
    text = (
        "The council of Harlow voted on Tuesday to close the swimming pool. Repairs would have cost 3.4 million euros, "
        "the treasurer said. The pool opened in 1987 and is used by four schools."
    )
    said = (
        "Repairs would have cost 3.4 million euros.",
        "Repairs would have cost 9.4 million euros.",
        "The pool opened in 1987.",
        "The pool opened in 1992.",
        "The council of Harlow voted to close the swimming pool.",
        "The council of Harlow did not vote to close the swimming pool.",
    )
    [verdicts] = judge.judge([Group("a", (text,), said)])
    values = [verdict.probability or 0.0 for verdict in verdicts]
    for right, wrong in zip(values[::2], values[1::2], strict=True):
        assert right > wrong
        assert SHIPPED_CHECKER.threshold > wrong
    assert min(values[0], values[4]) > SHIPPED_CHECKER.threshold


# ---------------------------------------------------------------- the job


def test_what_is_missing_is_said(bench: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["checker", bench, "--pairs", "0", "--out", str(tmp_path / "out")]) == 2
    assert "--pairs" in capsys.readouterr().err
    one = str(tmp_path / "one")
    synthesize(read_config("demo", ["haystacks=1"]), one)
    assert main(["checker", one, "--out", str(tmp_path / "out")]) == 2
    assert "several haystacks" in capsys.readouterr().err


def test_documents_that_people_labelled_are_never_trained_on(bench: str) -> None:
    from lab import checker

    everything = checker.read_corpus([bench], [])
    assert everything.trained
    assert set(everything.trained).isdisjoint(everything.kept)
    with pytest.raises(UsageError, match="found 0 and 0 documents"):
        checker.read_corpus([bench], [bench])


@ONLY_IN_SOAK
@pytest.mark.slow
def test_a_stopped_training_goes_on_to_the_same_weights(
    bench: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Interrupted behind its second saved state, and again: the weights of an undisturbed training, and one table."""
    from lab import checker, checker_training

    monkeypatch.setattr(checker_training, "_SAVE_EVERY", 2)
    command = ["checker", bench, "--pairs", "96", "--json", "--out"]
    assert main([*command, str(tmp_path / "whole")]) == 0
    whole = json.loads(capsys.readouterr().out)

    steps = iter(range(2))

    def interrupt(_: str) -> None:
        if next(steps, None) is None:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(checker, "_say", interrupt)
        assert main([*command, str(tmp_path / "halves")]) == 130
    assert (tmp_path / "halves" / "training.pt").is_file()
    capsys.readouterr()
    assert main([*command, str(tmp_path / "halves")]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again == whole
    contents = {change_content(tmp_path / name / "checker.safetensors") for name in ("whole", "halves")}
    assert len(contents) == 1
    figures = {row["measure"]: row["value"] for row in whole["reach"]}
    assert {name.partition(",")[0] for name in figures} == {"checker", "cosine"}
    assert all(np.isfinite(value) for value in figures.values())
