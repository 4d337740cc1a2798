"""The benchmark that a run makes of its configuration: by whom, once, and noted in the run's record."""

from __future__ import annotations

from pathlib import Path

import pytest

from actors.storage.folder import Folder
from jobs.configs import read_experiment
from jobs.evaluate import main as evaluate
from jobs.evaluations.evaluation import benchmark_of
from jobs.results.run_status import run_status
from jobs.runs.record import read_record
from jobs.stages.cluster import Cluster
from longform.report.how_it_ran import flow_tables

SMALL = ["--limit", "1", "--set", "resamples=100", "--set", "retrievers=[bm25]"]


class Unstarted(Cluster):
    """A cluster that nobody may start."""

    def start(self) -> None:
        raise AssertionError("there is nothing to do on it")


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


@pytest.mark.ray
def test_workers_this_process_and_a_plan_make_the_same_bytes(ray_session: None, tmp_path: Path) -> None:
    experiment = read_experiment("demo")
    made_by = {"workers": Cluster(address=None, workers=2), "here": Cluster(address=None, workers=0), "plan": None}
    done = {name: benchmark_of(experiment, None, f"{tmp_path}/{name}", one)[1] for name, one in made_by.items()}

    workers, here, plan = (contents(tmp_path / name / "benchmark") for name in made_by)
    assert workers == here == plan
    assert len([name for name in here if name.startswith("haystacks/")]) == 2
    assert {name: [(one.name, one.pieces, one.workers) for one in reports] for name, reports in done.items()} == {
        "workers": [("synthesize", 2, 2)],
        "here": [("synthesize", 2, 0)],
        "plan": [("synthesize", 2, 0)],
    }


def test_what_stands_there_is_not_made_again_and_starts_no_ray(tmp_path: Path) -> None:
    experiment = read_experiment("demo")
    url, done = benchmark_of(experiment, None, f"{tmp_path}/run", Cluster(address=None, workers=0))
    before = contents(tmp_path)

    assert len(done) == 1
    assert benchmark_of(experiment, None, f"{tmp_path}/run", Unstarted(address=None, workers=2)) == (url, [])
    assert contents(tmp_path) == before


def test_a_plan_makes_it_without_ray(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Cluster, "start", Unstarted.start)

    offline = "systems=[{retriever: bm25, budget_tokens: 3500, summarizer: offline}]"
    assert evaluate(["demo", "--out", f"{tmp_path}/run", "--plan", "--workers", "2", "--set", offline]) == 0
    assert Folder(f"{tmp_path}/run/benchmark").has("benchmark.json")


def test_the_record_tells_of_it_first(tmp_path: Path) -> None:
    """The second call makes nothing, and what the first one did stays told."""
    url = f"{tmp_path}/run"
    assert evaluate(["demo", "--out", url, "--workers", "0", *SMALL]) == 0
    first = read_record(Folder(url))["stages"][0]
    assert evaluate(["demo", "--out", url, "--workers", "0", *SMALL]) == 0
    record = read_record(Folder(url))

    assert (first["name"], first["table"], first["wanted"], first["pieces"]) == ("synthesize", "haystacks", 2, 2)
    assert [(one["operator"], one["actors"]) for one in first["work"]] == [("synthesize", 1)]
    assert record["stages"][0] == first
    assert "synthesize" not in [stage["name"] for stage in record["last_call"]["stages"]]
    assert [stage["name"] for stage in run_status(url)["stages"]][:2] == ["synthesize", "retrieve"]
    (flow,) = flow_tables({"run": record})
    assert [row["operator"] for row in flow.rows][:2] == ["synthesize", "retrieve, pack, summarize offline"]
    assert flow.rows[1]["waited_for"] is None  # its benchmark was there before it began
