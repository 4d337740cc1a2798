"""Dense retrieval through the main job: by an encoder here, and by the same one behind an endpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from actors.local_models.checkpoints import MINILM
from actors.storage.folder import Folder
from jobs.command.calling import Calling
from jobs.evaluations.evaluation import evaluate
from jobs.files.vectors import Vectors
from jobs.stages.cluster import Cluster
from jobs.stages.retrieve import definition
from longform.keys import content_key
from longform.settings.experiment import Experiment
from longform.settings.retrievers import EncoderRetrieverSettings
from serve.engine import Engine
from serve.http.access import Access
from serve.http.app import Backends, make_app
from serve.settings import ServedEncoder
from serve.workers import EmbeddingWorker
from tests.jobs.planted_bench import bench
from tests.serving import Overloaded, running

pytestmark = pytest.mark.own_vectors


class Counting:
    """Counts the requests that reach an application."""

    def __init__(self, app: Any) -> None:
        self._app, self.n = app, 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.n += 1
        await self._app(scope, receive, send)


def test_an_endpoint_ranks_as_the_same_encoder_here_and_is_asked_once(tmp_path: Path) -> None:
    served = ServedEncoder(model=MINILM)
    engine = Engine(EmbeddingWorker("minilm", served, threads=1), served.batching)
    counting = Counting(make_app(Backends(embeddings={"minilm": engine}), Access(bind="127.0.0.1")))
    app, small = Overloaded(counting, 2), bench(tmp_path, n=2)
    pooled = {"pooling": "mean", "chunk_tokens": 20, "query_prefix": "query: "}
    with running(app) as url:
        far = {"kind": "embeddings", "url": f"{url}/v1/embeddings", "model": "minilm", "batch_texts": 16}
        retrievers = {
            "here": {"kind": "encoder", "model": MINILM, "pooling": "whole", "query_prefix": "query: "},
            "far": far | {"pooling": "whole", "query_prefix": "query: "},
            "pooled": far | pooled,
        }
        rows = ranked(small, tmp_path / "run", retrievers)
        n_asked = counting.n
        ranked(small, tmp_path / "another run", retrievers)

    assert app.refused == 2
    assert counting.n == n_asked > 0
    found = {
        name: [(row["query_id"], row["rank"], row["doc_id"]) for row in rows if row["system"] == name]
        for name in retrievers
    }
    assert found["far"] == found["here"]
    assert sorted(found["pooled"]) != sorted(found["far"])
    assert {one[:2] for one in found["pooled"]} == {one[:2] for one in found["far"]}


def ranked(url: str, run: Path, retrievers: dict[str, Any]) -> list[dict[str, Any]]:
    experiment = {
        "name": "dense",
        "seed": 1,
        "retrievers": retrievers,
        "summarizers": {"offline": {"kind": "offline"}},
        "systems": [{"retriever": list(retrievers), "budget_tokens": 600, "summarizer": "offline"}],
    }
    with Vectors(url, 10_000_000) as vectors:
        evaluate(
            Experiment.model_validate(experiment), url, str(run), cluster=Cluster(address=None, workers=0),
            calling=Calling("test", ledger=str(run.parent / "ledger")), limit=2, until="retrieve", vectors=vectors,
        )  # fmt: skip
    return sorted(Folder(str(run)).read("rankings").to_pylist(), key=lambda row: (row["query_id"], row["rank"]))


def test_rankings_of_local_encoders_have_the_keys_they_always_had() -> None:
    settings = EncoderRetrieverSettings(kind="encoder", model="some/model", pooling="mean", query_prefix="query: ")
    identity = definition({"dense": settings}, "dense") | {"made_by": []}
    assert content_key(identity) == "c5aaf2a310b2125d5d5f"
