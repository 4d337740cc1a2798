"""Rerankers through the main job: a cross-encoder in the process and behind an endpoint, and a chat model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, Callable
from pathlib import Path
from typing import Any

import pytest

from actors.ledger.ledger import Ledger
from actors.python_class import actor_of
from actors.retrieval.reranker import Reranker
from actors.storage.folder import Folder
from jobs.command.calling import Calling
from jobs.evaluations.evaluation import Evaluation, evaluate
from jobs.runs.stage_order import forget_passing_failures
from jobs.runs.unscored import unranked
from jobs.spending.prepay import open_requests
from jobs.stages.cluster import Cluster
from jobs.stages.rerank import VERSION
from longform.chat.call import ChatRequest
from longform.chat.failures import may_pass_later
from longform.keys import content_key
from longform.settings.experiment import Experiment
from longform.settings.retrievers import (
    ChatRerankerSettings,
    CrossEncoderRerankerSettings,
    EndpointRerankerSettings,
    RerankerSettings,
)
from serve.engine import Engine
from serve.http.access import Access
from serve.http.app import Backends, make_app
from serve.settings import ServedCrossEncoder
from serve.workers import CrossEncoderWorker
from tests.made.demo import railway
from tests.results import cells_of
from tests.scores import ONE_STEP
from tests.serving import Overloaded, running

pytestmark = pytest.mark.own_vectors


def test_reranked_list_is_a_system_of_its_own(tmp_path: Path, save_cross_encoder: Callable[..., str]) -> None:
    folder = save_cross_encoder(tmp_path / "model", n_labels=1)
    experiment = {
        "name": "reranked",
        "seed": 1,
        "retrievers": {"own+bm25": {"kind": "bm25"}},
        "rerankers": {"tiny": {"kind": "cross_encoder", "model": folder, "depth": 5}},
        "summarizers": {"offline": {"kind": "offline"}},
        "judges": {"offline": {"kind": "offline", "calibration": "people"}},
        "systems": [
            {"retriever": "own+bm25", "reranker": [None, "tiny"], "budget_tokens": 600, "summarizer": "offline"}
        ],
        "resamples": 100,
    }
    results = evaluate(
        Experiment.model_validate(experiment), railway(), str(tmp_path / "run"),
        cluster=Cluster(address=None, workers=0), calling=Calling("test", ledger=str(tmp_path / "ledger")), limit=2,
    )  # fmt: skip

    assert {cell["setting"] for cell in cells_of(results)} == {"own+bm25", "own+bm25+tiny"}
    rows = Folder(str(tmp_path / "run")).read("rankings").to_pylist()
    for query in {row["query_id"] for row in rows}:
        before, after = (
            [
                r["doc_id"]
                for r in sorted(rows, key=lambda r: r["rank"])
                if (r["query_id"], r["system"]) == (query, name)
            ]
            for name in ("own+bm25", "own+bm25+tiny")
        )
        assert sorted(before[:5]) == sorted(after[:5])
        assert before[5:] == after[5:]
    assert {row["score"] is None for row in rows if row["system"] == "own+bm25+tiny" and row["rank"] >= 5} == {True}


def test_endpoint_gives_the_order_of_the_same_model_in_the_process(
    tmp_path: Path, save_cross_encoder: Callable[..., str]
) -> None:
    """The application of serve/, asked at Jina's path and at Cohere's, the first of them through overload."""
    folder = save_cross_encoder(tmp_path / "model", n_labels=1)
    served = ServedCrossEncoder(kind="cross_encoder", model=folder, scores="logit")
    engine = Engine(CrossEncoderWorker("tiny", served, threads=1), served.batching)
    app = Overloaded(make_app(Backends(rerankers={"tiny": engine}), Access(bind="127.0.0.1")), 3)
    with running(app) as url:
        endpoint = {"kind": "endpoint", "model": "tiny", "depth": 5}
        experiment = {
            "name": "endpoints",
            "seed": 1,
            "retrievers": {"bm25": {"kind": "bm25"}},
            "rerankers": {
                "here": {"kind": "cross_encoder", "model": folder, "depth": 5},
                "jina": endpoint | {"url": f"{url}/v1/rerank"},
                "cohere": endpoint | {"url": f"{url}/v2/rerank"},
            },
            "summarizers": {"offline": {"kind": "offline"}},
            "systems": [
                {
                    "retriever": "bm25",
                    "reranker": ["here", "jina", "cohere"],
                    "budget_tokens": 600,
                    "summarizer": "offline",
                }
            ],
        }
        evaluate(
            Experiment.model_validate(experiment), railway(), str(tmp_path / "run"),
            cluster=Cluster(address=None, workers=0), calling=Calling("test", ledger=str(tmp_path / "ledger")), limit=2,
            until="rerank",
        )  # fmt: skip

    assert app.refused == 3
    rows = Folder(str(tmp_path / "run")).read("rankings").to_pylist()
    found = {
        name: {(r["query_id"], r["doc_id"]): (r["rank"], r["score"]) for r in rows if r["system"] == f"bm25+{name}"}
        for name in experiment["rerankers"]
    }
    assert {rank for rank, _ in found["here"].values()} >= set(range(10))
    for name in ("jina", "cohere"):
        assert {key: rank for key, (rank, _) in found[name].items()} == {
            k: rank for k, (rank, _) in found["here"].items()
        }
        for key, (_, score) in found[name].items():
            assert score == pytest.approx(found["here"][key][1], abs=ONE_STEP)


CHAT = {"provider": "scripted", "model": "s", "script": "obedient"}
BY_CHAT: dict[str, Any] = {
    "name": "by chat",
    "seed": 1,
    "retrievers": {"bm25": {"kind": "bm25"}, "gold": {"kind": "gold"}},
    "rerankers": {
        "asked": {"kind": "chat", "chat": CHAT, "depth": 4},
        "odd": {"kind": "chat", "chat": CHAT | {"script": "misbehaving", "attempts": 1}, "depth": 4},
        "top1": {"kind": "chat", "chat": CHAT, "scale": 10, "prompt": "rerank_oracle"},
    },
    "summarizers": {"written": {"kind": "chat", "chat": CHAT}},
    "systems": [
        {"retriever": "bm25", "reranker": [None, "asked"], "budget_tokens": 600, "summarizer": "written"},
        {"retriever": "gold", "reranker": "top1", "n_documents": 1, "budget_tokens": None, "summarizer": "written"},
    ],
}


def evaluation(folder: Path, bench: str, run: str = "run", **changes: Any) -> Evaluation:
    return Evaluation(
        Experiment.model_validate(BY_CHAT | changes), bench, str(folder / run),
        cluster=Cluster(address=None, workers=0), calling=Calling("test", ledger=str(folder / "ledger")), limit=2,
    )  # fmt: skip


def n_calls(folder: Path) -> dict[str, int]:
    ledger = Ledger.existing(str(folder / "ledger"))
    found = {str(stage): totals.calls for stage, totals in ledger.totals_by("stage").items()}
    ledger.close()
    return found


def test_scores_are_priced_before_and_asked_for_once(tmp_path: Path, bench: str) -> None:
    planned = {stage["stage"]: stage for stage in evaluation(tmp_path, bench).spending()["stages"]}
    assert planned["rerank asked"]["calls"] == 8
    assert planned["summarize written"]["calls"] > 0
    assert list(planned["rerank asked"]["assumed"].values()) == [8]

    first = evaluation(tmp_path, bench)
    first.through("rerank")
    made = n_calls(tmp_path)
    assert made == {name: planned[name]["calls"] for name in ("rerank asked", "rerank top1")}
    evaluation(tmp_path, bench, "another run").through("rerank")
    assert n_calls(tmp_path) == made

    rows = first.run.read("rankings").to_pylist()
    for query in {row["query_id"] for row in rows}:
        before, after = (ordered(rows, query, reranker) for reranker in (None, "asked"))
        assert {row["doc_id"] for row in before[:4]} == {row["doc_id"] for row in after[:4]}
        assert [row["doc_id"] for row in before[4:]] == [row["doc_id"] for row in after[4:]]
        scores = [row["score"] for row in after]
        assert scores[:4] == sorted(scores[:4], reverse=True)
        assert set(scores[4:]) == {None}


def test_a_batch_holds_the_calls_that_the_ledger_lacks(tmp_path: Path, bench: str) -> None:
    """Count what a provider's batch is made of: all of them before the run, none after it."""
    prepared = evaluation(tmp_path, bench)
    prepared.do("retrieve")
    (stage,) = (stage for stage in prepared.plan.stages if stage.name == "rerank asked")
    tasks = stage.tasks(prepared.run, prepared.plan.items(stage))
    chat = stage.chat
    assert chat is not None
    ledger = Ledger(str(tmp_path / "ledger"), job="before")
    assert len(listed(open_requests(stage, chat, tasks, ledger))) == 8
    ledger.close()
    prepared.do("rerank")
    ledger = Ledger.existing(str(tmp_path / "ledger"))
    assert listed(open_requests(stage, chat, tasks, ledger)) == []
    ledger.close()


def listed(requests: AsyncIterable[ChatRequest]) -> list[ChatRequest]:
    async def all_of_them() -> list[ChatRequest]:
        return [request async for request in requests]

    return asyncio.run(all_of_them())


def ordered(rows: list[dict[str, Any]], query: str, reranker: str | None) -> list[dict[str, Any]]:
    own = [
        row for row in rows if (row["query_id"], row["reranker"]) == (query, reranker) and row["retriever"] == "bm25"
    ]
    return sorted(own, key=lambda row: row["rank"])


def test_best_gold_document_alone_is_a_configuration(tmp_path: Path, bench: str) -> None:
    done = evaluation(tmp_path, bench, systems=[BY_CHAT["systems"][1]])
    done.through("pack")
    contexts = {row["query_id"]: row["doc_ids"] for row in done.run.read("contexts").to_pylist()}
    best = {
        row["query_id"]: row for row in done.run.read("rankings").to_pylist() if row["reranker"] and not row["rank"]
    }
    gold = {(qrel.query_id, qrel.doc_id) for qrel in done.benchmark.qrels if qrel.relevance > 0}
    assert len(contexts) == 2
    for query, doc_ids in contexts.items():
        assert doc_ids == [best[query]["doc_id"]]
        assert (query, doc_ids[0]) in gold
        assert 1 <= best[query]["score"] <= 10


def test_documents_without_a_score_are_told_and_those_that_may_pass_are_asked_again(tmp_path: Path, bench: str) -> None:
    systems = [{"retriever": "bm25", "reranker": "odd", "budget_tokens": 600, "summarizer": "written"}]
    done = evaluation(tmp_path, bench, systems=systems)
    done.through("rerank")
    rows = [row for row in done.run.read("rankings").to_pylist() if row["reranker"] == "odd"]
    failed = [row["failure"] for row in rows if row["failure"] is not None]
    assert failed
    assert all(row["score"] is None for row in rows if row["failure"] is not None)
    (told,) = unranked(done.run, done.plan)
    assert told.startswith(f"Reranker odd gave {len(failed)} of 8 documents no score (")
    assert all(f"{reason} {failed.count(reason)}" in told for reason in failed)

    (stage,) = (stage for stage in done.plan.stages if stage.name == "rerank odd")
    passing = {row["work_id"] for row in rows if row["failure"] is not None and may_pass_later(row["failure"])}
    assert passing
    forget_passing_failures(done.run, done.plan)
    assert {item.work_id for item in done.plan.items(stage)} - done.run.locate("rankings").keys() == passing


def identity(settings: RerankerSettings) -> dict[str, Any]:
    return settings.identity | actor_of(settings, Reranker).version(settings, None)


def test_keys_of_rerankings_that_ask_no_chat_model_do_not_move() -> None:
    cross = CrossEncoderRerankerSettings(kind="cross_encoder", model="tiny")
    served = EndpointRerankerSettings(kind="endpoint", url="http://127.0.0.1:1/v1/rerank", model="m")
    keys = [content_key("reranked", "r" * 20, "name", identity(one), "query", VERSION) for one in (cross, served)]
    assert keys == ["cf71c2d65550057ddb28", "5de7236019be45cb3792"]


def test_prompt_is_part_of_a_key_and_limits_are_not() -> None:
    plain = ChatRerankerSettings.model_validate(BY_CHAT["rerankers"]["asked"])
    limited = plain.model_copy(update={"chat": plain.chat.model_copy(update={"concurrency": 2})})
    other = plain.model_copy(update={"prompt": "rerank_oracle"})
    assert identity(limited) == identity(plain)
    assert identity(other)["prompts"] != identity(plain)["prompts"]
