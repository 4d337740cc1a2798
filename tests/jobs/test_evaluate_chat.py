"""Chat models through the main job, with the scripted model that ships: well-behaved, and not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from actors.storage.folder import Folder
from jobs.command.calling import Calling
from jobs.evaluate import main
from jobs.evaluations.evaluation import evaluate
from jobs.stages.cluster import Cluster
from jobs.synthesis.haystacks import read_config, synthesize
from longform.settings.experiment import Experiment
from tests.results import cells_of

CHANGES = ["haystacks=2"]


def experiment(script: str, **more: object) -> dict[str, object]:
    chat = {"provider": "scripted", "model": "scripted", "script": script, "attempts": 2}
    return {
        "name": "chat",
        "seed": 1,
        "retrievers": {"oracle": {"kind": "oracle"}},
        "summarizers": {"scripted": {"kind": "chat", "chat": chat}},
        "judges": {"scripted": {"kind": "chat", "chat": chat}, "offline": {"kind": "offline", "calibration": "people"}},
        "systems": [{"retriever": "oracle", "budget_tokens": 2000, "summarizer": "scripted"}],
        "resamples": 100,
    } | more


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> str:
    url = str(tmp_path_factory.mktemp("bench"))
    synthesize(read_config("demo", CHANGES), url)
    return url


def test_two_judges_score_the_same_summaries(bench: str, tmp_path: Path) -> None:
    results = evaluate(
        Experiment.model_validate(experiment("obedient")),
        bench,
        str(tmp_path),
        cluster=Cluster(address=None, workers=0),
        calling=Calling("test", ledger=str(tmp_path / "ledger")),
    )
    cells = {cell["judge"]: cell for cell in cells_of(results)}

    assert cells["scripted"]["unjudged_share"] == 0
    assert cells["scripted"]["n_insights"] == cells["offline"]["n_insights"]
    assert cells["scripted"]["coverage"] > 0
    assert {judge["judge"]: judge["card"] is None for judge in results["judges"]} == {
        "scripted": True,
        "offline": False,
    }


def test_misbehaving_model_leaves_rows_with_reasons_and_ends_with_3(
    bench: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A reply that cannot be read is null with its reason, beside every mean and in the exit code."""
    config = tmp_path / "chat.yaml"
    config.write_text(json.dumps(experiment("misbehaving")))

    assert main([str(config), "--bench", bench, "--out", str(tmp_path / "run"), "--json", "--workers", "0"]) == 3

    results = json.loads(capsys.readouterr().out)
    verdicts = Folder(str(tmp_path / "run")).read("verdicts").to_pylist()
    unreadable = [row for row in verdicts if row["answer"] is None]
    assert unreadable
    assert all(row["failure"] for row in unreadable)
    assert not any(row["failure"] for row in verdicts if row["answer"] is not None)
    cell = next(cell for cell in cells_of(results) if cell["judge"] == "scripted")
    of_failed = [
        row for row in unreadable if row["failure"].startswith("summary_failed") and row["judge"] == "scripted"
    ]
    assert cell["n_insights"] + cell["n_unjudged"] + len(of_failed) == results["run"]["benchmark"]["n_targets"]


def test_context_beyond_the_window_is_refused_before_the_call(bench: str, tmp_path: Path) -> None:
    chat = {"provider": "scripted", "model": "scripted", "script": "obedient", "context_window": 1500}
    config = experiment("obedient", summarizers={"scripted": {"kind": "chat", "chat": chat}})
    evaluate(
        Experiment.model_validate(config),
        bench,
        str(tmp_path),
        cluster=Cluster(address=None, workers=0),
        calling=Calling("test", ledger=str(tmp_path / "ledger")),
        until="summarize",
    )

    failures = Folder(str(tmp_path)).read("summaries")["failure"].to_pylist()
    assert all(failure.startswith("context_exceeds_window") for failure in failures)


def test_unknown_file_in_a_prompts_folder_is_refused(
    bench: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A misspelt file name would leave our wording in place without a word."""
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "judge_coverage3.md").write_text("x")
    config = tmp_path / "chat.yaml"
    config.write_text(json.dumps(experiment("obedient", prompts=str(tmp_path / "prompts"))))

    assert main([str(config), "--bench", bench, "--out", str(tmp_path / "run")]) == 2
    assert "judge_coverage3.md" in capsys.readouterr().err
