"""
The check stage of `evaluate` with a served judge, by URL and by `serve://`, against the same judge in its workers.

Two replicas, or two workers that hold the judge, of one thread each. Wall time from the first task, when every worker
is there and has its model, to the end of the last one.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from jobs.command.calling import Calling
from jobs.evaluations.evaluation import Evaluation
from jobs.stages.cluster import Cluster
from jobs.stages.judge import AskJudge
from longform.settings.experiment import Experiment
from longform.settings.judges import JudgeSettings
from longform.settings.named_judges import SHIPPED_JUDGES
from tests.bench.inputs import make_benchmark
from tests.bench.measure import Figure, Pairs
from tests.bench.pool_load import two_nodes
from tests.bench.served_load import on_serve
from tests.bench.worker_clocks import seconds_of

_APPLICATION = "judging"
_WORKERS = 2
_ROUNDS = 2
_TARGET = 0.7
_SAME = 1e-4  # probabilities
_QUERIES = {"offline": 4, "checker": 2}
_BUDGET_TOKENS = {"offline": 15_000, "checker": 2_000}
_KEYS = ("summary_id", "target_id", "unit_index", "text_index")


def figures() -> list[Figure]:
    """
    Raises:
        AssertionError: Two ways differ in a verdict.
    """
    found: list[Figure] = []
    with tempfile.TemporaryDirectory() as place, two_nodes(), on_serve() as url:
        bench = str(Path(place) / "bench")
        source = make_benchmark(bench)
        for judge in _QUERIES:
            _deploy(judge)
            found += _of_judge(Path(place), bench, judge, {"URL": url, "handle": f"serve://{_APPLICATION}"}, source)
    return found


def _deploy(judge: str) -> None:
    from ray import serve

    from serve.deployments import application

    entry = {
        "task": "support",
        "judge": SHIPPED_JUDGES[judge].model_dump(mode="json", exclude={"task"}),
        "batching": {"cache_entries": 0},
    }
    options = {"num_replicas": _WORKERS, "ray_actor_options": {"num_cpus": 1}}
    made = application({"judges": {judge: entry}}, {f"judges-{judge}": options})
    serve.run(made, name=_APPLICATION, route_prefix="/")


def _of_judge(place: Path, bench: str, judge: str, addresses: dict[str, str], source: str) -> list[Figure]:
    served = {way: {"kind": "served", "task": "support", "url": url, "judge": judge} for way, url in addresses.items()}
    here: JudgeSettings = SHIPPED_JUDGES[judge]
    experiment = _experiment(
        _BUDGET_TOKENS[judge], {"here": here.model_dump(mode="json") | {"task": "support"}, **served}
    )
    evaluation = Evaluation(
        experiment,
        bench,
        str(place / judge),
        cluster=Cluster(address=None, workers=_WORKERS),
        calling=Calling("bench", ledger=str(place / "ledger")),
        limit=_QUERIES[judge],
    )
    evaluation.through("split")
    stages = {stage.judge: stage for stage in evaluation.plan.stages if isinstance(stage, AskJudge)}
    ways = {way: Pairs([], []) for way in addresses}
    for number in range(_ROUNDS):
        taken = {
            name: _seconds(evaluation, stage, place / f"clocks-{judge}-{number}-{name}")
            for name, stage in stages.items()
        }
        for way, pairs in ways.items():
            pairs.ours.append(taken[way])
            pairs.reference.append(taken["here"])
    rows = {name: _verdicts(evaluation, stage) for name, stage in stages.items()}
    for way in addresses:
        _assert_same(rows[way], rows["here"])
    note = f"{source}, {_QUERIES[judge]} queries; {_WORKERS} replicas, {_WORKERS} workers; verdicts equal"
    return [
        pairs.rates(
            f"evaluate, served {judge} by {way}", items=len(rows["here"]), unit="cells/s", target=_TARGET, note=note
        )
        for way, pairs in ways.items()
    ]


def _experiment(budget_tokens: int, judges: dict[str, Any]) -> Experiment:
    return Experiment.model_validate(
        {
            "name": "served",
            "seed": 1,
            "retrievers": {
                "oracle": {"kind": "oracle"},
                "bm25": {"kind": "bm25"},
                "random": {"kind": "random", "seed": 1},
            },
            "summarizers": {"offline": {"kind": "offline"}},
            "judges": judges,
            "systems": [
                {"retriever": ["oracle", "bm25", "random"], "budget_tokens": budget_tokens, "summarizer": "offline"}
            ],
        }
    )


def _seconds(evaluation: Evaluation, stage: AskJudge, clocks: Path) -> float:
    items = evaluation.plan.items(stage)
    evaluation.run.forget(
        stage.table, [item.work_id for item in items if item.work_id in evaluation.run.locate(stage.table)]
    )
    return seconds_of(stage, stage.tasks(evaluation.run, items), len(items), clocks=clocks, workers=_WORKERS)


def _verdicts(evaluation: Evaluation, stage: AskJudge) -> dict[tuple[Any, ...], dict[str, Any]]:
    work_ids = [item.work_id for item in evaluation.plan.items(stage)]
    rows = evaluation.run.read("verdicts", work_ids=work_ids).to_pylist()
    return {tuple(row[key] for key in _KEYS): row for row in rows}


def _assert_same(found: dict[tuple[Any, ...], dict[str, Any]], expected: dict[tuple[Any, ...], dict[str, Any]]) -> None:
    assert found.keys() == expected.keys()
    for key, row in found.items():
        assert row["failure"] == expected[key]["failure"], (key, row["failure"])
        assert row["answer"] == expected[key]["answer"], key
        if row["probability"] is not None:
            assert abs(row["probability"] - expected[key]["probability"]) <= _SAME, key
