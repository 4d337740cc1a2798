"""A cross-encoder from a user's folder, in the process and behind an endpoint, through the main job."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from actors.storage.folder import Folder
from jobs.calling import Calling
from jobs.cluster import Cluster
from jobs.evaluate import evaluate
from jobs.synthesize import read_config, synthesize
from longform.settings.experiment import Experiment
from serve.engine import Engine
from serve.http.access import Access
from serve.http.app import Backends, make_app
from serve.settings import ServedCrossEncoder
from serve.workers import CrossEncoderWorker
from tests.scores import ONE_STEP
from tests.serving import Overloaded, running


def test_reranked_list_is_a_system_of_its_own(tmp_path: Path, save_cross_encoder: Callable[..., str]) -> None:
    folder = save_cross_encoder(tmp_path / "model", n_labels=1)
    synthesize(read_config("demo", ["haystacks=1", "topics=[railway]"]), str(tmp_path / "bench"))
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
        Experiment.model_validate(experiment), str(tmp_path / "bench"), str(tmp_path / "run"),
        cluster=Cluster(address=None, workers=0), calling=Calling("test", ledger=str(tmp_path / "ledger")), limit=2,
    )  # fmt: skip

    assert {cell["setting"] for cell in results["cells"]} == {"own+bm25", "own+bm25+tiny"}
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
    synthesize(read_config("demo", ["haystacks=1", "topics=[railway]"]), str(tmp_path / "bench"))
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
            Experiment.model_validate(experiment), str(tmp_path / "bench"), str(tmp_path / "run"),
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
