"""The application that ships, on a real Ray Serve: each path once, and a checkpoint that is not there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from actors.chat.openai_client import OpenAIChat
from actors.local_models.checkpoints import MINILM
from actors.retrieval.reranker import EndpointReranker, Means
from actors.serving.client import ServedClient, over_handle, over_http
from longform.chat.call import ChatRequest, Message
from longform.errors import UsageError
from longform.settings.chat import ChatSettings
from longform.settings.retrievers import EndpointRerankerSettings
from tests.bench.served_load import on_serve

pytestmark = [pytest.mark.slow, pytest.mark.ray]


@pytest.fixture(scope="module")
def served(ray_session: None, small_model: str) -> Iterator[str]:
    """The URL of serve/config.yaml's application with a chat model beside it; what is started here is stopped."""
    from ray import serve

    from serve.deployments import build

    (application,) = yaml.safe_load(Path("serve/config.yaml").read_text())["applications"]
    application["args"]["chats"] = {"smollm2": {"model": small_model}}
    with on_serve() as url:
        try:
            serve.run(build(application["args"]), name=application["name"], route_prefix="/")
        except RuntimeError as error:
            found = serve.status().applications[application["name"]].deployments
            raise AssertionError({name: one.message for name, one in found.items()}) from error
        yield url


def test_each_path_answers_on_a_real_serve(served: str) -> None:
    bodies: dict[str, dict[str, Any]] = {
        "/v1/embeddings": {"input": ["a bank", "a rate"]},
        "/rerank": {"query": "a bank", "texts": ["a fox", "the bank"]},
        "/v1/rerank": {"query": "a bank", "documents": ["a fox", "the bank"]},
        "/v2/rerank": {"query": "a bank", "documents": ["a fox", "the bank"], "model": "minilm-cosine"},
        "/score": {"text_1": "a bank", "text_2": ["a fox", "the bank"]},
        "/v1/judge": {"judge": "offline-support", "items": [{"document": "The bank rose.", "sentences": ["It rose."]}]},
    }
    with httpx.Client(base_url=served, timeout=600) as asked:
        answers = {path: asked.post(path, json=body) for path, body in bodies.items()}
        answers |= {path: asked.get(path) for path in ("/health", "/v1/models", "/info", "/metrics", "/openapi.json")}
        again = asked.post("/v1/judge", json=bodies["/v1/judge"])
        wrong = asked.post("/rerank", json={"query": "a", "texts": ["b"], "model": "other"})
    assert {path: answer.status_code for path, answer in answers.items()} == dict.fromkeys(answers, 200)
    assert [row["index"] for row in answers["/rerank"].json()] == [1, 0]
    assert len(answers["/v1/embeddings"].json()["data"][0]["embedding"]) == 384
    assert answers["/v1/judge"].json()["card"].startswith("support against people")
    assert (answers["/v1/judge"].json()["from_cache"], again.json()["from_cache"]) == (False, True)
    assert wrong.status_code == 404


async def test_clients_ask_by_url_and_by_handle_alike(served: str) -> None:
    from ray import serve

    items = [{"document": "The bank raised its rate. It rained.", "sentences": ["It rained.", "Foxes bark."]}]
    handle = serve.get_deployment_handle("judges-offline-support", "longform")
    by_handle = await ServedClient(over_handle(handle)).judge("offline-support", items)
    by_url = await ServedClient(over_http(served)).judge("offline-support", items)
    found = [[(v["answer"], v["probability"]) for v in one["results"][0]["verdicts"]] for one in (by_handle, by_url)]
    assert found[0] == found[1]
    assert found[0][0][0] == "supported"
    assert by_handle["card"] == by_url["card"]


SAY_YES = ChatRequest(messages=(Message("user", "Say yes."),), max_tokens=200, temperature=0.0)


async def test_a_stage_may_name_the_application_in_place_of_a_url(served: str) -> None:
    texts = ["a fox", "the bank of the river", "a bank"]
    orders, replies = [], []
    for place in (served, "serve://longform"):
        reranker = EndpointRerankerSettings(kind="endpoint", url=f"{place}/v1/rerank", model="minilm-cosine")
        orders.append(await EndpointReranker(reranker, Means()).rerank("a bank", texts))
        chat = OpenAIChat(ChatSettings(model="smollm2", base_url=f"{place}/v1"))
        replies.append(await chat.complete(SAY_YES))
        await chat.close()
    assert orders[0] == orders[1]
    assert orders[1][0].place == 2
    assert replies[0].text == replies[1].text
    assert replies[0].text
    assert replies[1].usage == replies[0].usage


async def test_an_application_that_is_not_there_is_named(served: str) -> None:
    chat = OpenAIChat(ChatSettings(model="m", base_url="serve://other/v1"))
    with pytest.raises(UsageError, match="expected an application 'other' of Ray Serve"):
        EndpointReranker(EndpointRerankerSettings(kind="endpoint", url="serve://other/v1/rerank", model="m"), Means())
    with pytest.raises(UsageError, match="expected an application 'other' of Ray Serve"):
        await chat.complete(SAY_YES)


def test_a_checkpoint_that_is_not_there_fails_with_the_reason(served: str) -> None:
    from ray import serve

    from serve.deployments import build

    wrong = build({"embeddings": {"minilm": {"model": MINILM}, "gone": {"model": "/no/such/model"}}})
    with pytest.raises(RuntimeError):
        serve.run(wrong, name="wrong", route_prefix="/wrong")
    status = serve.status().applications["wrong"]
    assert status.status == "DEPLOY_FAILED"
    assert "expected a folder" in status.deployments["embeddings-gone"].message
    serve.delete("wrong")
