"""`evaluate --plan`: what it counts is what the run then asks, and it asks nothing itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from actors.ledger.ledger import Ledger
from actors.storage.folder import Folder
from jobs.command.calling import Calling
from jobs.evaluate import main
from jobs.evaluations.evaluation import Evaluation, evaluate
from jobs.spending.plan import PLAN, keep_plan, plan_words, span_words
from jobs.stages.cluster import Cluster
from longform.results.cells import table_rows
from longform.settings.experiment import Experiment
from tests.made.store import copied
from tests.results import value_of

CHAT = {"provider": "scripted", "model": "scripted", "script": "obedient", "context_window": 100_000}
EXPERIMENT: dict[str, Any] = {
    "name": "plan",
    "seed": 1,
    "retrievers": {"oracle": {"kind": "oracle"}, "bm25": {"kind": "bm25"}},
    "summarizers": {"scripted": {"kind": "chat", "chat": CHAT}, "offline": {"kind": "offline"}},
    "judges": {"scripted": {"kind": "chat", "chat": CHAT}},
    "systems": [{"retriever": ["oracle", "bm25"], "budget_tokens": 2000, "summarizer": ["scripted", "offline"]}],
    "resamples": 100,
}
STAGES = ("summarize scripted", "judge scripted")


class Story(NamedTuple):
    """Plans before anything, after a run of two queries, after the whole run, and of another run with its ledger."""

    first: dict[str, Any]
    second: dict[str, Any]
    last: dict[str, Any]
    elsewhere: dict[str, Any]
    results: dict[str, Any]
    called: dict[str, int]  # by the whole run, by stage
    stated: dict[str, int]  # input tokens, likewise
    run: Folder


@pytest.fixture(scope="module")
def story(bench: str, tmp_path_factory: pytest.TempPathFactory) -> Story:
    folder = tmp_path_factory.mktemp("planned")
    cluster = Cluster(address=None, workers=0)
    experiment = Experiment.model_validate(EXPERIMENT)

    def calling() -> Calling:
        return Calling("test", ledger=str(folder / "ledger"))

    def plan(out: str) -> dict[str, Any]:
        url = str(folder / out)
        evaluation = Evaluation(experiment, bench, url, cluster=cluster, calling=calling(), planning=True)
        return evaluation.spending()

    first = plan("run")
    two = {"limit": 2, "until": "judge", "cluster": cluster}
    evaluate(experiment, bench, str(folder / "run"), calling=calling(), **two)
    second = plan("run")
    whole = calling()
    results = evaluate(experiment, bench, str(folder / "run"), calling=whole, cluster=cluster)
    totals = Ledger.existing(str(folder / "ledger")).totals_by_stage([whole.job])
    return Story(
        first,
        second,
        plan("run"),
        plan("other"),
        results,
        {stage: found.calls for (stage, _), found in totals.items()},
        {stage: found.input_tokens for (stage, _), found in totals.items()},
        Folder(str(folder / "run")),
    )


def of_stages(plan: dict[str, Any], name: str) -> dict[str, Any]:
    return {stage["stage"]: stage[name] for stage in plan["stages"]}


def test_plan_counts_the_calls_that_the_run_makes(story: Story) -> None:
    assert of_stages(story.second, "calls") == story.called
    assert set(story.called) == set(STAGES)


def test_planned_input_is_within_3_per_cent_of_what_was_stated(story: Story) -> None:
    expected = of_stages(story.second, "input_tokens")

    for stage in STAGES:
        assert expected[stage]["expected"] == pytest.approx(story.stated[stage], rel=0.03)
        assert expected[stage]["low"] <= story.stated[stage] <= expected[stage]["high"]


def test_plan_before_any_call_says_what_it_assumes_and_holds_the_truth(story: Story) -> None:
    """Nobody knows yet how long the summaries will be: the interval has to."""
    _, judge = story.first["stages"]
    made = table_rows(story.results, "calls")[1]

    assert judge["calls"] == made["calls"]
    assert judge["input_tokens"]["low"] <= made["input_tokens"] <= judge["input_tokens"]["high"]
    assert sum(judge["assumed"].values()) == judge["calls"] // 2  # summaries of the offline one are there already
    assert any("words" in note for note in story.first["notes"])


def test_nothing_is_left_after_the_run(story: Story) -> None:
    assert story.last["total"]["calls"] == 0
    assert story.last["total"]["usd"] == {"low": 0, "expected": 0, "high": 0}


def test_what_failed_for_a_reason_that_may_pass_is_planned_again_with_what_is_made_from_it(
    story: Story, bench: str, tmp_path: Path
) -> None:
    run = Folder(copied(story.run.url, tmp_path / "run"))
    (row, *_) = (row for row in run.read("summaries").to_pylist() if row["summarizer"] == "scripted")
    failed = {**row, "text": None, "failure": "http_503", "cause": "http_503"}
    run.commit("summaries", [run.write_part("summaries", [failed], work_ids=[row["work_id"]])])

    calling, cluster = Calling("test", ledger=str(tmp_path / "ledger")), Cluster(address=None, workers=0)
    experiment = Experiment.model_validate(EXPERIMENT)
    plan = Evaluation(experiment, bench, run.url, cluster=cluster, calling=calling, planning=True).spending()

    verdicts = run.read("verdicts", columns=["summary_id"]).to_pylist()
    n_targets = sum(verdict["summary_id"] == row["summary_id"] for verdict in verdicts)
    assert n_targets
    assert of_stages(plan, "calls") == {"summarize scripted": 1, "judge scripted": n_targets}


def test_another_run_finds_all_calls_paid(story: Story) -> None:
    """The ledger knows the texts too, so that what the judge will be asked is known as well."""
    assert story.elsewhere["total"]["calls"] == 0
    answered = {row["stage"]: row["answered"] for row in table_rows(story.results, "calls")}
    assert of_stages(story.elsewhere, "paid_already") == answered


def test_report_sets_the_first_plan_beside_what_was_made(story: Story) -> None:
    """A plan made when all is done would compare nothing with all."""
    called, planned = (table_rows(story.results, name) for name in ("calls", "calls_planned"))
    for row, own, stage in zip(called, planned, story.first["stages"], strict=True):
        assert value_of(own["calls_planned"]) == stage["calls"] == own["calls_made"] == row["calls"]
    assert story.run.read_json(PLAN)["total"] == story.first["total"]
    assert "Calls and cost" in story.run.read_bytes("report/report.md").decode()


def test_plan_needs_no_key_and_no_server(
    bench: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    config = tmp_path / "plan.yaml"
    chat = {"model": "gpt-4o", "requests_per_minute": 12}
    parts = {"summarizers": {"gpt": {"kind": "chat", "chat": chat}}, "judges": {}}
    systems = [{"retriever": "bm25", "budget_tokens": 2000, "summarizer": "gpt"}]
    config.write_text(json.dumps(EXPERIMENT | parts | {"systems": systems}))
    command = [str(config), "--bench", bench, "--out", str(tmp_path / "run"), "--json"]

    assert main([*command, "--plan"]) == 0

    (stage,) = json.loads(capsys.readouterr().out)["stages"]
    assert stage["calls"] == 6
    assert stage["minutes"] == {"low": 0.5, "expected": 0.5, "high": 0.5}
    assert 0 < stage["usd"]["low"] < stage["usd"]["high"]
    assert not (tmp_path / "ledger").exists()
    assert main(command) == 2


def test_later_plan_of_the_same_work_leaves_the_estimate_that_was_spent_against(tmp_path: Path) -> None:
    run = Folder(str(tmp_path))

    keep_plan(run, {"work": "a", "n": 1}, [])
    keep_plan(run, {"work": "a", "n": 2}, [])
    assert run.read_json(PLAN)["n"] == 2  # nothing was called between them

    keep_plan(run, {"work": "a", "n": 3}, ["job"])
    assert run.read_json(PLAN)["n"] == 2

    keep_plan(run, {"work": "b", "n": 4}, ["job"])
    assert run.read_json(PLAN) == {"work": "b", "n": 4, "jobs_before": ["job"]}


@pytest.mark.parametrize(
    ("span", "words"),
    [
        pytest.param({"low": 1.0, "expected": 2000.0, "high": 3000.0}, "2,000 [1, 3,000]", id="all-three"),
        pytest.param({"low": 1.0, "expected": None, "high": 3.0}, "[1, 3]", id="no-middle"),
        pytest.param({"low": 2.0, "expected": 2.0, "high": 2.0}, "2", id="exact"),
        pytest.param(None, "unknown", id="unknown"),
    ],
)
def test_interval_in_words(span: dict[str, float | None] | None, words: str) -> None:
    assert span_words(span, "{:,.0f}") == words


def test_calls_that_may_follow_stand_beside_those_that_are_made() -> None:
    nothing = {"low": 0, "expected": 0, "high": 0}
    row = {"calls": 4, "calls_at_most": 25, "paid_already": 0} | dict.fromkeys(
        ("input_tokens", "output_tokens", "usd", "minutes"), nothing
    )
    words = plan_words({"stages": [{"stage": "s", "model": "m", **row}], "total": row, "notes": []})
    assert [" 4 [4, 25] " in line for line in words.splitlines()] == [False, True, True]


def test_plan_without_models_says_so() -> None:
    assert plan_words({"stages": []}) == "no model is called"
