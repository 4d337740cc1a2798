"""A second command makes again what failed for a passing reason, and nothing else."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from actors.rehearsal.fake_provider import fake_process
from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.command.calling import Calling
from jobs.evaluations.evaluation import evaluate
from jobs.runs.stage_order import forget_passing_failures, stages_of
from jobs.stages.cluster import Cluster
from jobs.stages.stage import Plan, Site
from longform.chat.failures import may_pass
from longform.rehearsal.settings import FakeSettings
from longform.settings.experiment import Experiment
from tests.made.demo import one_haystack

FAULTS = {"http_503": 0.2, "length": 0.15}


def experiment(url: str) -> Experiment:
    chat = {"model": "fake", "base_url": url, "attempts": 1, "requests_per_minute": 60_000}
    return Experiment.model_validate(
        {
            "name": "retried",
            "seed": 1,
            "retrievers": {"oracle": {"kind": "oracle"}},
            "summarizers": {"m": {"kind": "chat", "chat": chat}},
            "judges": {"j": {"kind": "chat", "chat": chat}},
            "systems": [{"retriever": "oracle", "budget_tokens": 600, "summarizer": "m"}],
            "resamples": 100,
        }
    )


def rows(run: Folder, table: str) -> dict[tuple[str, str], dict[str, object]]:
    return {(row["summary_id"], row.get("target_id", "")): row for row in run.read(table).to_pylist()}


def n_passing(run: Folder) -> int:
    failures = [row["failure"] for table in ("summaries", "verdicts") for row in rows(run, table).values()]
    return sum(failure is not None and may_pass(failure) for failure in failures)


@pytest.mark.parametrize(("citations", "twin_goes"), [("checker", True), ("both", True), ("matrix", False)])
def test_twin_goes_with_a_failed_verdict_that_drove_its_citations(
    citations: str, twin_goes: bool, tmp_path: Path
) -> None:
    """Its citations, all that follows from its text, and the mean of the verdict are made again; the rest stays."""
    run, bench = Folder(str(tmp_path / "run")), Folder(str(tmp_path / "bench"))
    bench.write_json("benchmark.json", {"dataset_hash": "d", "rows": {"documents": 1}})
    queries = [{"query_id": "q", "haystack_id": "h", "text": "?"}]
    bench.commit("queries", [bench.write_part("queries", queries, work_ids=["h"])])
    site = Site(run.url, bench.url, 1, Calling("test", ledger=str(tmp_path / "ledger")))
    plan = Plan(stages_of(judged(citations), site), Benchmark(bench.url))
    names = {stage.name: [item.work_id for item in plan.items(stage)] for stage in plan.stages}
    for stage in plan.stages:
        parts = [run.write_part(stage.table, [{"work_id": name}], work_ids=[name]) for name in names[stage.name]]
        run.commit(stage.table, parts)
    (failed,) = names["check checker"]
    rows = [{"work_id": failed, "failure": "http_503"}]
    run.commit("verdicts", [run.write_part("verdicts", rows, work_ids=[failed])])

    assert forget_passing_failures(run, plan) == 1

    (twin,), (copies,) = names["repair"], names["copy verdicts"]
    checks = [failed, *names["check both"]]
    gone = {*checks, *made_from(plan, *checks)} - {twin}
    if twin_goes:
        gone |= {twin, *names["split twins"], copies, *made_from(plan, copies, *names["split twins"])}
    assert len(made_from(plan, copies)) == len(["coverage", "classes"])
    there = {name for table in {stage.table for stage in plan.stages} for name in run.locate(table)}
    assert there == {name for work_ids in names.values() for name in work_ids} - gone


def made_from(plan: Plan, *work_ids: str) -> set[str]:
    """The work ids of what reads one of *work_ids* itself."""
    items = [item for stage in plan.stages for item in plan.items(stage)]
    return {item.work_id for item in items if any(source.work_id in work_ids for source in item.sources)}


def judged(citations: str) -> Experiment:
    """One summary of one query, under a judge and three support judges."""
    chat = {"provider": "scripted", "model": "scripted", "script": "obedient"}
    return Experiment.model_validate(
        {
            "name": "judged",
            "seed": 1,
            "retrievers": {"full": {"kind": "full"}},
            "summarizers": {"m": {"kind": "offline"}},
            "judges": {"marks": {"kind": "offline", "calibration": "people"}},
            "support_judges": {
                "checker": {"kind": "chat", "chat": chat},
                "other": {"kind": "offline"},
                "both": {"kind": "mean", "of": ["other", "checker"]},
            },
            "systems": [{"retriever": "full", "budget_tokens": None, "summarizer": "m"}],
            "citations": citations,
        }
    )


@pytest.mark.slow
def test_what_may_pass_is_made_again_until_it_has_passed(tmp_path: Path) -> None:
    """Rows made from a failed one are made again too; a reply cut at its limit is final."""
    bench, run, calling = one_haystack(), Folder(str(tmp_path / "run")), str(tmp_path / "ledger")
    with fake_process(FakeSettings(delay_s=0.005, slow_share=0, faults=FAULTS, seed=3)) as url:
        left, before = [], {}
        for _ in range(8):
            evaluate(
                experiment(url), bench, run.url,
                cluster=Cluster(address=None, workers=0), calling=Calling("test", ledger=calling), limit=3,
            )  # fmt: skip
            after = rows(run, "verdicts")
            good = {key: row for key, row in before.items() if row["answer"] is not None}
            assert {key: after[key] for key in good} == good
            left.append(n_passing(run))
            before = after
            if left[-1] == 0:
                break
        elsewhere = Folder(str(tmp_path / "elsewhere"))
        evaluate(
            experiment(url), bench, elsewhere.url,
            cluster=Cluster(address=None, workers=0), calling=Calling("test", ledger=calling), limit=3,
            until="summarize",
        )  # fmt: skip

    assert left[0] > 0
    assert left[-1] == 0
    found = [row["cost_usd"] for place in (run, elsewhere) for row in rows(place, "summaries").values()]
    assert set(found) == {None}, "the price is unknown, and stays so where the ledger has the reply"
    failures = Counter(str(row["failure"]) for row in rows(run, "verdicts").values() if row["failure"] is not None)
    assert set(failures) <= {"length", "summary_failed: length"}
    judged = {summary for summary, _ in rows(run, "verdicts")}
    assert judged == {summary for summary, _ in rows(run, "summaries")}
