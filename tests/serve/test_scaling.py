"""`longform evaluate` gives served judges and rerankers a second replica while it holds requests back, no longer."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from actors.storage.folder import Folder
from jobs.evaluate import main as evaluate
from jobs.ingest import ingest
from tests.bench.served_load import on_serve
from tests.jobs.killing import until
from tests.serve.gated import COVERAGE

pytestmark = [pytest.mark.slow, pytest.mark.ray]

APPLICATION = "scaled"
SCALED = {
    "policy": {"policy_function": "serve.backlog:with_backlog"},
    "min_replicas": 1,
    "max_replicas": 2,
    "target_ongoing_requests": 2,  # a worker has one in flight: a second replica is for those that it holds back
    "upscale_delay_s": 0,
    "downscale_delay_s": 5,
    "look_back_period_s": 2,
}
PLACES = ("url", "handle")
"""The ways to ask a judge and a reranker; each has its deployment."""

DEPLOYMENTS = [f"{kind}-{kind[:-1]}-{place}" for kind in ("rerankers", "judges") for place in PLACES]
PATIENCE_S = 240.0
TEXTS = (
    "The dam was closed in May. Farmers asked for water.",
    "Repairs went on all summer at the dam. Swans nest by the harbour.",
    "The mayor spoke of trams. A new bridge opens in June.",
)
QUERIES = 12
"""Three systems' summaries of each fill three requests of 16 texts."""


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder, url = tmp_path_factory.mktemp("files"), str(tmp_path_factory.mktemp("bench"))
    insights = [" ".join(text.split()[:5]) for text in TEXTS]
    files = {
        "documents": [{"haystack": "town", "doc_id": f"d{n}", "text": text} for n, text in enumerate(TEXTS)],
        "queries": [{"query_id": f"q{n}", "haystack": "town", "text": f"What of {n} dams?"} for n in range(QUERIES)],
        "insights": [
            {"insight_id": f"i{n}-{place}", "query_id": f"q{n}", "text": text, "doc_ids": [f"d{place}"]}
            for n in range(QUERIES)
            for place, text in enumerate(insights)
        ],
    }
    for name, rows in files.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    ingest("jsonl", [str(folder)], url)
    return url


@pytest.fixture
def gates(tmp_path: Path) -> dict[str, Path]:
    return {name: tmp_path / name for name in DEPLOYMENTS}


@pytest.fixture
def served(ray_session: None, gates: Mapping[str, Path]) -> Iterator[str]:
    """The URL of an application whose models wait for their gates."""
    from ray import serve

    from serve.deployments import application

    entries: dict[str, dict[str, Any]] = {"rerankers": {}, "judges": {}}
    for deployment, gate in gates.items():
        kind, _, name = deployment.partition("-")
        made = {"rerankers": "GatedReranker", "judges": "GatedJudge"}[kind]
        entries[kind][name] = {"make": f"tests.serve.gated:{made}", "settings": {"gate": str(gate)}}
    options = {"autoscaling_config": SCALED, "ray_actor_options": {"num_cpus": 0.1}}
    with on_serve() as url:
        made_of = application(entries, dict.fromkeys(DEPLOYMENTS, options))
        serve.run(made_of, name=APPLICATION, route_prefix="/")
        yield url


def config(folder: Path, url: str) -> str:
    places = {"url": url, "handle": f"serve://{APPLICATION}"}
    rerankers = {
        place: {"kind": "endpoint", "url": f"{at}/v1/rerank", "model": f"reranker-{place}", "in_flight": 1}
        for place, at in places.items()
    }
    judges = {
        place: {"kind": "served", "task": "coverage", "url": at, "judge": f"judge-{place}", "concurrency": 1}
        for place, at in places.items()
    }
    system = {"retriever": "bm25", "budget_tokens": 1000, "summarizer": "offline"}
    content = {
        "name": "scaled",
        "seed": 1,
        "retrievers": {"bm25": {"kind": "bm25"}},
        "rerankers": rerankers,
        "summarizers": {"offline": {"kind": "offline"}},
        "judges": {"here": {**COVERAGE, "task": "coverage"}, **judges},
        "systems": [system, *({**system, "reranker": place} for place in PLACES)],
        "resamples": 100,
    }
    path = folder / "scaled.yaml"
    path.write_text(json.dumps(content))
    return str(path)


def n_running(deployment: str) -> int:
    from ray import serve

    states = serve.status().applications[APPLICATION].deployments[deployment].replica_states
    return int(states.get("RUNNING", 0))


@contextmanager
def opening(gates: Mapping[str, Path]) -> Iterator[set[str]]:
    """Open the gate of each deployment that has two replicas, and give those; at the end, or without patience, all."""
    doubled: set[str] = set()
    done, ends = threading.Event(), time.monotonic() + PATIENCE_S

    def watch() -> None:
        while not done.wait(0.2) and time.monotonic() < ends and len(doubled) < len(gates):
            for name in gates.keys() - doubled:
                if n_running(name) == 2:
                    doubled.add(name)
                    gates[name].touch()
        for gate in gates.values():
            gate.touch()

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield doubled
    finally:
        done.set()
        watching.join()


def test_a_second_replica_comes_for_the_backlog_and_goes_after_it(
    bench: str, served: str, gates: Mapping[str, Path], tmp_path: Path
) -> None:
    run = tmp_path / "run"
    assert [n_running(name) for name in DEPLOYMENTS] == [1] * 4
    with opening(gates) as doubled:
        named = ["--bench", bench, "--out", str(run), "--workers", "1", "--ray-address", "auto"]
        for until_step in (["--until", "split"], []):  # the summaries come to the judges at once
            assert evaluate([config(tmp_path, served), *named, *until_step]) in (0, 3)
    assert doubled == set(DEPLOYMENTS)

    verdicts = Folder(str(run)).read("verdicts").to_pylist()
    of_judge = {
        judge: {(row["summary_id"], row["target_id"]): row["answer"] for row in verdicts if row["judge"] == judge}
        for judge in ("here", *PLACES)
    }
    assert of_judge["url"] == of_judge["handle"] == of_judge["here"]
    assert len(of_judge["here"]) == 3 * QUERIES * len(TEXTS)
    assert None not in of_judge["here"].values()

    rankings = [row for row in Folder(str(run)).read("rankings").to_pylist() if row["reranker"]]
    orders = {
        place: {(row["query_id"], row["doc_id"]): row["rank"] for row in rankings if row["reranker"] == place}
        for place in PLACES
    }
    assert orders["url"] == orders["handle"]
    assert len(orders["url"]) == QUERIES * len(TEXTS)

    until(
        lambda: all(n_running(name) == 1 for name in DEPLOYMENTS), "each deployment has one replica again", PATIENCE_S
    )
