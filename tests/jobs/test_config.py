"""A configuration that is shown in full reads back to the same experiment."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jobs.config import main
from jobs.configs import preset_names, read_experiment
from jobs.configs.shown import shown_in_full


@pytest.mark.parametrize("preset", preset_names())
def test_every_preset_reads_back(preset: str, tmp_path: Path) -> None:
    experiment = read_experiment(preset)
    (tmp_path / "mine.yaml").write_text(shown_in_full(experiment), encoding="utf-8")

    assert read_experiment(str(tmp_path / "mine.yaml")) == experiment


def test_changes_and_texts_that_yaml_reads_otherwise_come_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changes = ["name='yes: #1'", 'judge={model: "1e3", extra_body: {a: "x\\ny", b: 1e-05}}', "compare_with=null"]
    words = [word for change in changes for word in ("--set", change)]

    assert main(["demo", *words]) == 0

    said = capsys.readouterr().out
    (tmp_path / "mine.yaml").write_text(said, encoding="utf-8")
    assert read_experiment(str(tmp_path / "mine.yaml")) == read_experiment("demo", changes)
    assert "resamples: 2000  # default 2000; of the bootstrap behind intervals" in said
    assert "    kind: bm25  # required; BM25 over stemmed words" in said


def test_json_is_what_a_run_stores(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == read_experiment("demo").model_dump(mode="json")
