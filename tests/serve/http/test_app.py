"""The shape of each dialect, and what every answer says of itself."""

from __future__ import annotations

import base64
import math
from typing import Any

import numpy as np
import pytest
from prometheus_client.parser import text_string_to_metric_families

from actors.serving.messages import QueueFullError, UnavailableError
from serve.engine import Engine
from serve.http.app import Backends
from serve.settings import Batching
from tests.serve.served import CountingWorker, client, local_app, small_backends

DOCUMENTS = ["a b", "c", "b a", "a"]
"""They share with the query `a b` 2, 0, 2 and 1 words: the first and the third are a tie."""

BEST_FIRST = [0, 2, 3, 1]


def sigmoid(logit: float) -> float:
    return 1 / (1 + math.exp(-logit))


async def ask(path: str, body: Any, backends: Backends | None = None) -> Any:
    async with client(local_app(backends)) as asked:
        response = await asked.post(path, json=body)
    assert response.status_code == 200, response.text
    return response.json()


async def test_embeddings_come_in_order_as_numbers_or_bytes() -> None:
    plain = await ask("/v1/embeddings", {"input": ["a b c", "a"], "model": "vectors"})
    assert plain["object"] == "list"
    assert [(row["index"], row["embedding"]) for row in plain["data"]] == [(0, [0.5, 3.0]), (1, [0.5, 1.0])]
    assert plain["usage"] == {"prompt_tokens": 4, "total_tokens": 4, "cached_tokens": 0}
    packed = await ask("/v1/embeddings", {"input": "a b c", "encoding_format": "base64"})
    assert np.frombuffer(base64.b64decode(packed["data"][0]["embedding"]), "<f4").tolist() == [0.5, 3.0]


async def test_tei_gets_a_bare_list_of_what_it_asks_for() -> None:
    body = {"query": "a b", "texts": DOCUMENTS}
    found = await ask("/rerank", body)
    assert [row["index"] for row in found] == BEST_FIRST
    assert [row["score"] for row in found] == pytest.approx([sigmoid(n) for n in (2, 2, 1, 0)])
    raw = await ask("/rerank", {**body, "raw_scores": True, "return_text": True})
    assert [(row["score"], row["text"]) for row in raw] == [(2.0, "a b"), (2.0, "b a"), (1.0, "a"), (0.0, "c")]


@pytest.mark.parametrize("path", ["/rerank", "/v1/rerank", "/v2/rerank"])
async def test_cohere_jina_and_vllm_read_one_answer(path: str) -> None:
    documents = [DOCUMENTS[0], {"text": DOCUMENTS[1]}, *DOCUMENTS[2:]]
    body = {"query": "a b", "documents": documents, "model": "words", "top_n": 3, "return_documents": True}
    found = await ask(path, body)
    assert [row["index"] for row in found["results"]] == BEST_FIRST[:3]
    assert found["results"][0]["document"] == {"text": "a b"}
    assert found["results"][0]["relevance_score"] == pytest.approx(sigmoid(2))
    assert found["score_kind"] == "probability"
    assert found["usage"]["total_tokens"] == 14
    assert found["meta"]["billed_units"] == {"search_units": 1}
    assert found["id"].startswith("rerank-")


async def test_scores_that_crowd_at_one_keep_the_order_of_their_logits() -> None:
    """The sigmoid of 40 and of 41 is 1.0 both."""
    many = " ".join(f"w{n}" for n in range(41))
    body = {"query": many, "documents": [many.rsplit(" ", 1)[0], many]}
    found = await ask("/v1/rerank", body)
    assert [row["index"] for row in found["results"]] == [1, 0]
    assert {row["relevance_score"] for row in found["results"]} == {1.0}


async def test_a_score_kind_is_what_the_model_gives() -> None:
    for kind in ("logit", "cosine"):
        backends = Backends(rerankers={"words": Engine(CountingWorker(score_kind=kind), Batching())})
        found = await ask("/v1/rerank", {"query": "a b", "documents": ["a b"]}, backends)
        assert (found["score_kind"], found["results"][0]["relevance_score"]) == (kind, 2.0)
        async with client(local_app(backends)) as asked:
            response = await asked.post("/rerank", json={"query": "a b", "texts": ["a b"]})
        stated = "probability" if kind == "logit" else "cosine"
        assert response.headers["x-score-kind"] == stated


async def test_pairs_are_scored_in_order() -> None:
    one_to_many = await ask("/score", {"text_1": "a b", "text_2": DOCUMENTS})
    assert [row["score"] for row in one_to_many["data"]] == pytest.approx([sigmoid(n) for n in (2, 0, 2, 1)])
    aliased = await ask("/score", {"queries": ["a", "b"], "documents": ["a", "c"]})
    assert [row["score"] for row in aliased["data"]] == pytest.approx([sigmoid(1), sigmoid(0)])


async def test_what_was_cut_is_said() -> None:
    long = "a " * 20
    found = await ask("/v1/rerank", {"query": "a", "documents": ["b", long]})
    assert {row["index"]: row["truncated"] for row in found["results"]} == {0: False, 1: True}
    vectors = await ask("/v1/embeddings", {"input": [long, "b"]})
    assert [row["truncated"] for row in vectors["data"]] == [True, False]
    async with client(local_app()) as asked:
        refused = await asked.post("/rerank", json={"query": "a", "texts": ["b", long]})
        allowed = await asked.post("/rerank", json={"query": "a", "texts": ["b", long], "truncate": True})
    assert (refused.status_code, allowed.status_code) == (413, 200)
    assert "texts [1]: longer than the model's window of 8 tokens" in refused.json()["error"]["message"]
    assert [row["truncated"] for row in allowed.json()] == [True, False]


async def test_a_judge_says_who_it_is_and_what_it_remembered() -> None:
    item = {"text": "three words here", "most_words": 3}
    async with client(local_app()) as asked:
        first = (await asked.post("/v1/judge", json={"judge": "length", "items": [item]})).json()
        items = [{**item, "most_words": 2}, item]
        second = (await asked.post("/v1/judge", json={"judge": "length", "items": items})).json()
    assert (first["judge"], first["task"], first["card"], first["card_reason"]) == (
        "length",
        "length",
        None,
        "a test's judge",
    )
    (verdict,) = first["results"][0]["verdicts"]
    assert (verdict["answer"], verdict["from_cache"], first["from_cache"]) == ("short", False, False)
    long, again = (result["verdicts"][0] for result in second["results"])
    assert (long["answer"], long["from_cache"]) == ("long", False)
    assert (again["answer"], again["from_cache"], again["call_id"]) == ("short", True, verdict["call_id"])
    read = {"prompt_tokens": 32, "total_tokens": 32, "cached_tokens": 16}
    assert second["usage"] == {**read, "completion_tokens": 0, "estimated": True}
    assert first["id"] != second["id"]


async def test_equal_units_are_computed_once() -> None:
    worker = CountingWorker()
    backends = Backends(rerankers={"words": Engine(worker, Batching())})
    async with client(local_app(backends)) as asked:
        for texts in (["a", "b", "a"], ["b", "c"]):
            await asked.post("/rerank", json={"query": "q", "texts": texts})
    assert worker.batches == [[("q", "a"), ("q", "b")], [("q", "c")]]


async def test_a_text_that_units_share_is_counted_once() -> None:
    """A long document with many sentences would else be split into batches of one, and read in each."""
    worker = CountingWorker("judge", None)
    worker.about = worker.about._replace(window=None)
    asked = Engine(worker, Batching(batch_tokens=300))
    await asked.ask([{"query": "long " * 200, "texts": ["a", "b", "c"]}, {"query": "other " * 160, "texts": ["a"]}])
    assert [len(batch) for batch in worker.batches] == [3, 1]


async def test_a_full_queue_is_429_and_too_large_a_request_413() -> None:
    backends = small_backends(queue_tokens=10)

    class Full(Engine):
        async def ask(self, items: Any, *, within_s: float | None = None) -> Any:
            raise QueueFullError(6.2)

    full = Backends(rerankers={"words": Full(CountingWorker(), Batching())}, embeddings=backends.embeddings)
    async with client(local_app(full)) as asked:
        refused = await asked.post("/rerank", json={"query": "a", "texts": ["a"]})
        large = await asked.post("/v1/embeddings", json={"input": [f"{n}" * 30 for n in range(9)]})
    assert (refused.status_code, refused.headers["retry-after"], large.status_code) == (429, "7", 413)


async def test_what_is_not_served_is_not_found() -> None:
    async with client(local_app()) as asked:
        unknown = await asked.post("/v1/rerank", json={"query": "a", "documents": ["a"], "model": "other"})
        nowhere = await asked.get("/nowhere")
    assert (unknown.status_code, nowhere.status_code) == (404, 404)
    assert "expected one of ['words']" in unknown.json()["error"]["message"]


async def test_the_descriptions() -> None:
    async with client(local_app()) as asked:
        await asked.post("/rerank", json={"query": "a", "texts": ["a", "b"]})
        health, models, info, metrics = [
            await asked.get(path) for path in ("/health", "/v1/models", "/info", "/metrics")
        ]
    assert health.json() == {"status": "ok"}
    assert [(row["id"], row["kind"]) for row in models.json()["data"]] == [
        ("vectors", "embedding"),
        ("words", "rerank"),
        ("length", "judge"),
        ("echo", "chat"),
    ]
    assert info.json()["models"]["words"]["window"] == 8
    assert metrics.headers["content-type"].startswith("text/plain; version=0.0.4")
    samples = {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(metrics.text)
        for sample in family.samples
        if sample.name != "longform_request_seconds_total"
    }
    assert samples == {
        ("longform_requests_total", "", "/rerank", "200"): 1,
        ("longform_requests_total", "", "/health", "200"): 1,
        ("longform_requests_total", "", "/v1/models", "200"): 1,
        ("longform_requests_total", "", "/info", "200"): 1,
        ("longform_requests_in_flight",): 1,
        ("longform_model_units_total", "words"): 2,
        ("longform_model_cached_units_total", "words"): 0,
        ("longform_model_tokens_total", "words"): samples["longform_model_tokens_total", "words"],
    }


async def test_health_is_of_the_models() -> None:
    backends = small_backends()

    class Ill(Engine):
        async def problem(self) -> str | None:
            return "its weights at /secret/path are gone"

    ill = Backends(embeddings=backends.embeddings, rerankers={"words": Ill(CountingWorker(), Batching())})
    async with client(local_app(ill)) as asked:
        response = await asked.get("/health")
    assert response.status_code == 503
    assert "secret" not in response.text


async def test_a_model_that_cannot_be_reached_is_503() -> None:
    class Away(Engine):
        async def ask(self, items: Any, *, within_s: float | None = None) -> Any:
            raise UnavailableError("replica at 10.0.0.7 died")

    backends = Backends(rerankers={"words": Away(CountingWorker(), Batching())})
    async with client(local_app(backends)) as asked:
        response = await asked.post("/rerank", json={"query": "a", "texts": ["a"]})
    assert (response.status_code, response.headers["retry-after"]) == (503, "1")
    assert "10.0.0.7" not in response.text


async def test_the_published_schema_has_the_items_of_all_judges() -> None:
    async with client(local_app()) as asked:
        schema = (await asked.get("/openapi.json")).json()["components"]["schemas"]
    (item,) = schema["JudgeRequest"]["properties"]["items"]["items"]["anyOf"]
    assert set(item["properties"]) == {"text", "most_words"}
    assert "card" in schema["JudgeAnswer"]["properties"]
