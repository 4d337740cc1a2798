"""A second command makes again what failed for a passing reason, and nothing else."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from actors.rehearsal.fake_provider import fake_process
from actors.storage.folder import Folder
from jobs.calling import Calling
from jobs.cluster import Cluster
from jobs.evaluate import evaluate
from jobs.runs.plan import RunPlan
from jobs.runs.retry import forget_passing_failures
from jobs.stages.check import Checked
from jobs.stages.check import Source as Checks
from jobs.stages.judge import Judged
from jobs.stages.pack import Packed
from jobs.stages.score import score_work_id
from jobs.stages.split import unit_work_id
from jobs.stages.summarize import Source, Summarized
from jobs.synthesize import read_config, synthesize
from longform.chat.retries import may_pass
from longform.rehearsal.settings import FakeSettings
from longform.settings.experiment import Experiment

PACKED = Packed("q", "full", None, None, None, None, "given", None)
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


@pytest.mark.parametrize(("citing_judge", "twin_goes"), [("checker", True), ("both", True), (None, False)])
def test_twin_goes_with_a_failed_verdict_that_drove_its_citations(
    citing_judge: str | None, twin_goes: bool, tmp_path: Path
) -> None:
    """Its citations, all that follows from its text, and the mean of the verdict are made again; the rest stays."""
    run, units = Folder(str(tmp_path)), {name: unit_work_id(name) for name in ("summary", "twin")}
    plan = RunPlan(
        rankings={}, rerankings={}, contexts={}, units="bullets",
        summaries={Summarized("q", "full", "m"): Source("summary", "context", 3, "plain", PACKED)},
        repaired={"summary": "twin"}, repaired_by="by", citing_judge=citing_judge,
        asked={Judged("summary", "marks"): "verdicts"}, means={}, copied={"verdicts": "copies"},
        checks={
            Checked("summary", name): Checks(work_id, units["summary"], "context", "q")
            for name, work_id in (("checker", "check"), ("other", "others"), ("both", "means"))
        },
        support_means={"both": ("other", "checker")},
    )  # fmt: skip
    scores = {name: score_work_id(name, 0.5) for name in ("verdicts", "copies")}
    stays = ["verdicts", "copies", "others"]
    rows = {"summaries": ["summary", "twin"], "units": units.values(), "verdicts": [*stays, "means"]}
    for table, work_ids in {**rows, "scores": scores.values()}.items():
        run.commit(table, [run.write_part(table, [{"work_id": name}], work_ids=[name]) for name in work_ids])
    failed = {"work_id": "check", "failure": "http_503"}
    run.commit("verdicts", [run.write_part("verdicts", [failed], work_ids=["check"])])

    assert forget_passing_failures(run, plan, 0.5) == 1

    gone = {"twin", units["twin"], "copies", scores["copies"]} if twin_goes else set()
    everything = {*rows["summaries"], *units.values(), *scores.values(), *stays}
    assert {name for table in (*rows, "scores") for name in run.locate(table)} == everything - gone


@pytest.mark.slow
def test_what_may_pass_is_made_again_until_it_has_passed(ray_session: None, tmp_path: Path) -> None:
    """Rows made from a failed one are made again too; a reply cut at its limit is final."""
    bench, run, calling = str(tmp_path / "bench"), Folder(str(tmp_path / "run")), str(tmp_path / "ledger")
    synthesize(read_config("demo", ["haystacks=1"]), bench)
    with fake_process(FakeSettings(delay_s=0.005, slow_share=0, faults=FAULTS, seed=3)) as url:
        left, before = [], {}
        for _ in range(8):
            evaluate(
                experiment(url), bench, run.url,
                cluster=Cluster(address=None, workers=1), calling=Calling("test", ledger=calling), limit=3,
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
            cluster=Cluster(address=None, workers=1), calling=Calling("test", ledger=calling), limit=3,
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
