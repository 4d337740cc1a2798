"""Repaired twins and means of judges through the main job: what is copied, what is asked, that it resumes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from actors.storage.benchmark import MANIFEST
from actors.storage.folder import Folder
from jobs.command.calling import Calling
from jobs.evaluate import main
from jobs.evaluations.evaluation import evaluate
from jobs.evaluations.stored import aggregate
from jobs.stages.cluster import Cluster
from longform.repair.twins import LABEL, METHOD
from longform.results.cells import table_rows
from longform.settings.experiment import Experiment
from tests.made.store import copied
from tests.results import cells_of
from tests.tampering import change_commit

CLUSTER = Cluster(address=None, workers=0)
TABLES = ("summaries", "units", "verdicts", "scores")
OF_THE_TWIN = ("work_id", "summary_id")


def calling(url: str) -> Calling:
    return Calling("test", ledger=f"{url}-ledger")


def chat(script: str) -> dict[str, object]:
    return {"kind": "chat", "chat": {"provider": "scripted", "model": "scripted", "script": script, "attempts": 2}}


CONFIG: dict[str, Any] = {
    "name": "repair",
    "seed": 1,
    "retrievers": {"oracle": {"kind": "oracle"}},
    "summarizers": {"scripted": chat("obedient")},
    "judges": {
        "both": {"kind": "mean", "of": ["second", "first"]},
        "first": chat("obedient"),
        "second": chat("misbehaving"),
    },
    "systems": [{"retriever": "oracle", "budget_tokens": 2000, "summarizer": "scripted"}],
    "resamples": 100,
    "unjudged_threshold": 1,
    "citations": "matrix",
}


@pytest.fixture(scope="module")
def finished(bench: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Folder, dict[str, Any]]:
    out = str(tmp_path_factory.mktemp("run"))
    return Folder(out), evaluate(Experiment.model_validate(CONFIG), bench, out, cluster=CLUSTER, calling=calling(out))


def contents(run: Folder, table: str) -> list[str]:
    rows = run.read(table).drop_columns([c for c in ("seconds",) if c in run.read(table).column_names])
    return sorted(json.dumps(row, sort_keys=True) for row in rows.to_pylist())


def twins_of(run: Folder) -> dict[str, str]:
    """Original summary id -> its twin's."""
    rows = run.read("summaries").to_pylist()
    return {row["parents"][0]: row["summary_id"] for row in rows if row["method"] == METHOD}


def test_every_summary_has_a_twin_that_differs_in_citations_only(finished: tuple[Folder, dict[str, Any]]) -> None:
    run, _ = finished
    rows = {row["summary_id"]: row for row in run.read("summaries").to_pylist()}
    twins = twins_of(run)

    assert len(rows) == 2 * len(twins) > 0
    for original, twin in twins.items():
        assert rows[twin]["summarizer"] == f"{rows[original]['summarizer']}, {LABEL}"
        assert len(rows[twin]["text"].split("\n")) == len(rows[original]["text"].split("\n"))
    assert any(rows[twin]["text"] != rows[original]["text"] for original, twin in twins.items())


def test_judges_are_asked_about_originals_only_and_twins_have_the_same_verdicts(
    finished: tuple[Folder, dict[str, Any]],
) -> None:
    """No call is paid twice, not even for the copies: they keep the id of the call that their answer came from."""
    run, results = finished
    twins = twins_of(run)
    verdicts: dict[str, list[dict[str, Any]]] = {}
    for row in run.read("verdicts").to_pylist():
        said = {name: value for name, value in row.items() if name not in OF_THE_TWIN}
        verdicts.setdefault(row["summary_id"], []).append(said)
    wanted = {stage["name"]: stage["wanted"] for stage in results["run"]["stages"]}

    assert wanted["judge first"] == wanted["judge second"] == wanted["repair"] == len(twins)
    assert wanted["copy verdicts"] == 3 * len(twins)
    for original, twin in twins.items():
        assert sorted(map(str, verdicts[twin])) == sorted(map(str, verdicts[original])) != []


def test_coverage_is_that_of_the_original_and_the_report_holds_both(finished: tuple[Folder, dict[str, Any]]) -> None:
    run, results = finished
    cells = {(cell["judge"], cell["summarizer"]): cell for cell in cells_of(results)}
    page, markdown = (run.read_bytes(f"report/{name}").decode() for name in ("citations.html", "report.md"))

    for judge in CONFIG["judges"]:
        before, after = cells[judge, "scripted"], cells[judge, f"scripted, {LABEL}"]
        (row,) = (one for one in table_rows(results, "repair") if (one["judge"], one["measure"]) == (judge, "joint"))
        assert after["coverage"] == before["coverage"] is not None
        assert (row["before"], row["after"]) == pytest.approx((before["joint"], after["joint"]))
    assert table_rows(results, "repair_examples")
    assert 'id="repair"' in page
    assert "## Citations before and after repair" in markdown


def test_judges_stand_in_the_order_of_the_configuration(finished: tuple[Folder, dict[str, Any]]) -> None:
    """A mean named first is worked out last, and still heads the report."""
    judges = finished[1]["judges"]

    assert [row["judge"] for row in judges] == ["both", "first", "second"]
    assert judges[0]["scale"] == "mean of second and first"


def test_mean_follows_from_its_members_and_is_null_where_one_is(finished: tuple[Folder, dict[str, Any]]) -> None:
    by_judge: dict[str, dict[tuple[str, str], dict[str, Any]]] = {}
    for row in finished[0].read("verdicts").to_pylist():
        by_judge.setdefault(row["judge"], {})[row["summary_id"], row["target_id"]] = row
    counts = {"full": 1.0, "partial": 0.5, "none": 0.0}

    assert by_judge["both"].keys() == by_judge["first"].keys()
    for key, mean in by_judge["both"].items():
        first, second = by_judge["first"][key], by_judge["second"][key]
        if second["answer"] is None:
            assert (mean["answer"], mean["failure"]) == (None, f"second: {second['failure']}")
        else:
            assert mean["probability"] == (counts[first["answer"]] + counts[second["answer"]]) / 2
    assert {row["answer"] is None for row in by_judge["both"].values()} == {True, False}


def test_second_call_redoes_nothing_and_scores_can_be_aggregated_again(
    finished: tuple[Folder, dict[str, Any]], bench: str
) -> None:
    run, results = finished
    again = evaluate(Experiment.model_validate(CONFIG), bench, run.url, cluster=CLUSTER, calling=calling(run.url))

    made_again = {stage["name"] for stage in again["run"]["last_call"]["stages"] if stage["rows"]}
    # the misbehaving judge's overloads may have passed, and what follows from its verdicts is made again with them
    assert made_again <= {"judge second", "judge both", "copy verdicts", "score"}
    assert again["tables"]["repair"] == results["tables"]["repair"]
    aggregated = aggregate(run.url, [], cluster=CLUSTER)
    assert aggregated["tables"]["repair"] == results["tables"]["repair"]


def test_run_that_was_killed_at_any_stage_ends_with_the_same_rows(
    finished: tuple[Folder, dict[str, Any]], bench: str, tmp_path: Path
) -> None:
    shutil.copytree(finished[0].url, tmp_path / "run")
    run = Folder(str(tmp_path / "run"))
    for table in TABLES:
        commits = sorted((tmp_path / "run" / table / "_commits").iterdir())
        for commit in commits[1:]:
            commit.unlink()
        change_commit(commits[0], lambda body: body.update(parts=body["parts"][:1]))
    assert run.read("verdicts").num_rows < finished[0].read("verdicts").num_rows

    again = evaluate(
        Experiment.model_validate(CONFIG),
        bench,
        run.url,
        cluster=CLUSTER,
        calling=calling(run.url),
    )

    for table in TABLES:
        assert contents(run, table) == contents(finished[0], table), table
    assert again["tables"]["repair"] == finished[1]["tables"]["repair"]


def test_repair_costs_a_finished_run_its_own_work_only(
    finished: tuple[Folder, dict[str, Any]], bench: str, tmp_path: Path
) -> None:
    """Repair that is added later finds the summaries and judgements that are there."""
    plain = {**CONFIG, "citations": "written", "judges": {"first": CONFIG["judges"]["first"]}}
    config = tmp_path / "plain.yaml"
    config.write_text(json.dumps(plain))
    run = str(tmp_path / "run")
    before = evaluate(Experiment.model_validate(plain), bench, run, cluster=CLUSTER, calling=calling(run), limit=2)

    assert "repair" not in before
    few = ["--limit", "2", "--workers", "0"]
    assert main([str(config), "--bench", bench, "--out", run, *few, "--citations", "matrix"]) == 0

    rows = {stage["name"]: stage["rows"] for stage in Folder(run).read_json("run.json")["last_call"]["stages"]}
    assert (rows["summarize scripted"], rows["judge first"], rows["repair"]) == (0, 0, 2)
    assert rows["copy verdicts"] > 0


def test_repair_without_documents_is_refused_before_any_work(
    bench: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copied(bench, tmp_path / "bench")
    without_documents = Folder(str(tmp_path / "bench"))
    manifest = without_documents.read_json(MANIFEST)
    manifest["rows"]["documents"] = 0
    without_documents.write_json(MANIFEST, manifest)
    config = tmp_path / "c.yaml"
    config.write_text(json.dumps(CONFIG))

    assert main([str(config), "--bench", str(tmp_path / "bench"), "--out", str(tmp_path / "run")]) == 2
    assert "documents to find support in" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
