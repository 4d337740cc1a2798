"""Errors of wrong requests: the field, the expected and the received value."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from actors.serving.messages import About, UnavailableError
from serve.deployments import Replica
from serve.engine import Engine
from serve.http import app as application
from serve.http.app import Backends
from serve.judges.items import judge_item
from serve.settings import Batching
from tests.serve.served import CountingWorker, client, local_app

ITEM = {"text": "three words here", "most_words": 3}


async def told(method: str, path: str, **sent: Any) -> tuple[int, str]:
    """The status, and the message of the error."""
    async with client(local_app()) as asked:
        response = await asked.request(method, path, **sent)
    return response.status_code, response.json()["error"]["message"]


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        pytest.param("/v1/judge", [], "body: expected an object, found a list", id="list"),
        pytest.param("/v1/judge", {"items": []}, "body.items: expected at least 1 of it, found 0", id="no-items"),
        pytest.param("/v1/judge", {"items": "a"}, "body.items: expected a list, found a text", id="text"),
        pytest.param("/v1/judge", {"judge": None}, "body.items: is missing", id="missing"),
        pytest.param(
            "/v1/judge", {"items": [ITEM], "threshold": 1}, "body.threshold: is not known here", id="unknown-option"
        ),
        pytest.param(
            "/v1/judge",
            {"items": [ITEM, {"text": None}]},
            "items.1.text: expected a text, found null; items.1.most_words: is missing; "
            "items of judge 'length' have ['text', 'most_words']",
            id="item",
        ),
        pytest.param(
            "/v1/rerank",
            {"query": "a", "documents": ["a", {"title": "b"}]},
            "body.documents.1.object.text: is missing; body.documents.1.object.title: is not known here",
            id="document-without-text",
        ),
        pytest.param(
            "/v1/rerank",
            {"query": "a", "documents": ["a", None]},
            "body.documents.1: expected a text, or an object with `text`",
            id="no-document",
        ),
        pytest.param(
            "/v1/rerank",
            {"query": "a"},
            "body: expected either `texts` (TEI) or `documents` (Cohere, Jina, vLLM)",
            id="no-dialect",
        ),
        pytest.param(
            "/v1/embeddings", {"input": [[1, 2], "a"]}, "body.input.0: expected a text, found a list", id="token-ids"
        ),
        pytest.param(
            "/v1/embeddings",
            {"input": "a", "encoding_format": "hex"},
            "body.encoding_format: expected 'float' or 'base64'",
            id="choice",
        ),
        pytest.param(
            "/v1/chat/completions",
            {"messages": [{"role": "user", "content": "a"}], "top_logprobs": "many"},
            "body.top_logprobs: expected a whole number, found a text",
            id="number",
        ),
        pytest.param(
            "/v1/chat/completions",
            {"messages": [{"role": "user", "content": 5}]},
            "body.messages.0.content: expected a text, or a list of parts of type text",
            id="content",
        ),
    ],
)
async def test_a_wrong_field_is_named_with_what_was_expected_and_what_came(path: str, body: Any, message: str) -> None:
    assert await told("POST", path, json=body) == (422, message)


@pytest.mark.parametrize(
    ("content", "kind", "status", "message"),
    [
        pytest.param(
            b'{"items": []}',
            "application/x-www-form-urlencoded",
            422,
            "body: expected a JSON object; send it with `Content-Type: application/json`",
            id="no-header",
        ),
        pytest.param(
            b"{'items': 1}",
            "application/json",
            422,
            "body: expected JSON: Expecting property name enclosed in double quotes, at character 1",
            id="no-json",
        ),
        pytest.param(b"", "application/json", 422, "body: expected a JSON object, found nothing", id="empty"),
        pytest.param(
            b"[" * 100_000,
            "application/json",
            400,
            "body: expected JSON in UTF-8, found what cannot be read, or is nested too deep",
            id="deep",
        ),
    ],
)
async def test_a_body_that_is_no_json_object_is_told_so(content: bytes, kind: str, status: int, message: str) -> None:
    """The first is what `curl -d` sends without a header."""
    assert await told("POST", "/v1/judge", content=content, headers={"Content-Type": kind}) == (status, message)


async def test_a_wrong_path_or_method_is_told_the_right_ones() -> None:
    status, message = await told("POST", "/v1/rerank/", json={})
    assert (status, "'/v1/rerank'" in message) == (404, True)
    async with client(local_app()) as asked:
        refused = [await asked.request(method, "/v1/judge") for method in ("GET", "OPTIONS", "DELETE")]
        looked = [await asked.head(path) for path in ("/health", "/v1/models", "/v1/judge")]
    assert {(one.status_code, one.headers["allow"]) for one in refused} == {(405, "POST")}
    assert "expected POST for this path, found GET" in refused[0].text
    assert [one.status_code for one in looked] == [200, 200, 405]


async def test_the_schema_says_what_an_error_looks_like() -> None:
    async with client(local_app()) as asked:
        schema = (await asked.get("/openapi.json")).json()
    for path in ("/v1/judge", "/v1/rerank", "/v1/embeddings", "/health"):
        for operation in schema["paths"][path].values():
            assert operation["responses"].keys() == {"200", "default"}
            answer = operation["responses"]["default"]["content"]["application/json"]["schema"]
            assert answer == {"$ref": "#/components/schemas/ErrorAnswer"}


@pytest.mark.parametrize("away", [True, False])
async def test_the_problem_of_a_model_that_does_not_answer_is_said(away: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """`/health` sends people there."""
    monkeypatch.setattr(application, "_DESCRIBE_S", 0.01)

    class Dead(Engine):
        async def about(self) -> About:
            if away:
                raise UnavailableError("replica at 10.0.0.7 died")
            await asyncio.Event().wait()
            raise AssertionError("nobody ends the wait")

        async def problem(self) -> str | None:
            return "Serve says DEPLOY_FAILED"

    backends = Backends(rerankers={"words": Dead(CountingWorker(), Batching())})
    async with client(local_app(backends)) as asked:
        health, info = await asked.get("/health"), await asked.get("/info")
    assert (health.status_code, info.status_code) == (503, 200)
    described = info.json()["models"]["words"]
    assert (described["kind"], described["version"]) == ("rerank", None)
    assert (described["problem"], "did not answer" in described["reason"]) == ("Serve says DEPLOY_FAILED", True)


def test_an_empty_list_of_word_weights_is_not_taken_for_none() -> None:
    """If they are left out, the insights themselves weigh the words; an empty list is a mistake of the caller."""
    item = {"bullets": ["The tram opens."], "insights": ["The tram opens."]}
    assert judge_item("coverage", weighs_words=True).model_validate(item).haystack_insights is None
    with pytest.raises(ValueError, match="haystack_insights"):
        judge_item("coverage", weighs_words=True).model_validate(item | {"haystack_insights": []})


async def test_who_asks_by_a_handle_is_told_what_is_wrong_too() -> None:
    """Such a request has not passed the ingress."""
    judges = {"length": {"make": "tests.serve.served:LengthJudge"}}
    replica = Replica.func_or_class({"judges": judges}, "judges", "length")
    refused = await replica.ask([{"text": None, "most_words": 3}])
    assert (
        refused.message
        == "items.0.text: expected a text, found null; items of judge 'length' have ['text', 'most_words']"
    )
    found = await replica.ask([ITEM])
    assert found.answers[0][0].content[0]["answer"] == "short"
