"""A refusal, a failing server and a limit inside of a success mean the same, whichever client hears of them."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from email.utils import formatdate
from pathlib import Path
from time import time
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from aiohttp import web

from actors.chat.opening import open_chat
from actors.serving.endpoint import HandleAnswer
from longform.chat.own_systems import summary_request
from longform.records import Document, Query
from longform.settings.chat import ChatSettings

REQUEST = summary_request({}, Query("q", "h", "What?"), [Document("d", "h", 0, None, "A text.")], 3, repeat=0)
LIMIT = {"error": {"code": 429, "message": "Rate limit reached"}}
WAIT = {"error": {"code": 429, "message": "Rate limit reached, try again in 20s"}}
WORDS = {"error": {"type": "requests", "message": "Too many requests; retry after 2 minutes"}}
FIELD = {"error": {"code": 429, "details": [{"retryDelay": "34s"}]}}
AN_HOUR_S = 3600.0


class Case(NamedTuple):
    """An answer, and what it means."""

    status: int
    headers: dict[str, str]
    body: Any
    failure: str
    wait_s: float | None


IN_THE_BODY = {
    "a limit inside of a success": Case(200, {}, LIMIT, "http_429", None),
    "the same with a wait in words": Case(200, {}, WAIT, "http_429", 20.0),
    "the same without a status": Case(200, {}, WORDS, "http_429", 120.0),
    "the same with a wait in a field": Case(200, {}, FIELD, "http_429", 34.0),
    "another error inside of a success": Case(200, {}, {"error": {"message": "odd"}}, "provider_error", None),
}
ANSWERS = {
    "a refusal": Case(429, {}, LIMIT, "http_429", None),
    "seconds": Case(429, {"Retry-After": "7"}, LIMIT, "http_429", 7.0),
    "a date": Case(429, {"Retry-After": "in an hour"}, LIMIT, "http_429", AN_HOUR_S),
    "milliseconds": Case(429, {"retry-after-ms": "1500", "Retry-After": "2"}, LIMIT, "http_429", 1.5),
    "words": Case(429, {}, WAIT, "http_429", 20.0),
    "a header before words": Case(429, {"Retry-After": "7"}, WAIT, "http_429", 7.0),
    "a page of a gateway": Case(429, {"Retry-After": "7"}, "<html>", "http_429", 7.0),
    "an empty account": Case(429, {}, {"error": {"code": "insufficient_quota"}}, "insufficient_quota", None),
    "a failing server": Case(503, {"Retry-After": "5"}, {"error": {"message": "overloaded"}}, "http_503", 5.0),
    "a header beside a limit inside of a success": Case(200, {"Retry-After": "9"}, LIMIT, "http_429", 9.0),
    "a page in the place of a reply": Case(200, {}, "<html>", "bad_body", None),
    **IN_THE_BODY,
}

OF_LITELLM = ["openai/fake", "anthropic/claude-3-5-haiku-latest", "gemini/gemini-2.0-flash", "openrouter/a/b"]
CLIENTS = {
    "openai": {"provider": "openai", "model": "m"},
    "http": {"provider": "http", "model": "m"},
    **{name: {"provider": "litellm", "model": name} for name in OF_LITELLM},
}
SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in OF_LITELLM]  # litellm takes seconds to import


class Server:
    """Answers every request with what `case` says."""

    case: Case
    url: str

    def headers(self) -> dict[str, str]:
        later = formatdate(time() + AN_HOUR_S, usegmt=True)
        return {name: value.replace("in an hour", later) for name, value in self.case.headers.items()}

    def body(self) -> bytes:
        return (self.case.body if isinstance(self.case.body, str) else json.dumps(self.case.body)).encode()

    async def handle(self, _: web.Request) -> web.Response:
        kind = "text/html" if isinstance(self.case.body, str) else "application/json"
        return web.Response(body=self.body(), status=self.case.status, headers=self.headers(), content_type=kind)


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    server, app = Server(), web.Application()
    app.router.add_route("*", "/{path:.*}", server.handle)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    yield server
    await runner.cleanup()


async def check(settings: dict[str, Any], case: Case) -> None:
    chat = open_chat(ChatSettings.model_validate(settings))
    reply = await chat.complete(REQUEST)
    await chat.close()
    wait_s = reply.signals.retry_after_s
    assert (reply.text, reply.failure) == (None, case.failure)
    assert wait_s == (case.wait_s if case.wait_s != AN_HOUR_S else pytest.approx(AN_HOUR_S, abs=300))
    assert reply.seconds is not None


@pytest.mark.parametrize("case", ANSWERS.values(), ids=ANSWERS.keys())
@pytest.mark.parametrize("client", ["openai", "http", *SLOW])
async def test_over_http(server: Server, monkeypatch: pytest.MonkeyPatch, client: str, case: Case) -> None:
    monkeypatch.setenv("TEST_KEY", "sk-secret-8d1f")
    server.case = case
    await check({**CLIENTS[client], "base_url": server.url, "api_key_env": "TEST_KEY"}, case)


@pytest.mark.parametrize("client", ["openai", *SLOW])
async def test_a_sentence_about_a_limit_in_the_place_of_a_completion(
    server: Server, monkeypatch: pytest.MonkeyPatch, client: str
) -> None:
    monkeypatch.setenv("TEST_KEY", "sk-secret-8d1f")
    server.case = Case(200, {}, {"detail": "Too many requests; retry after 2 minutes"}, "http_429", 120.0)
    await check({**CLIENTS[client], "base_url": server.url, "api_key_env": "TEST_KEY"}, server.case)


@pytest.mark.parametrize("case", ANSWERS.values(), ids=ANSWERS.keys())
@pytest.mark.parametrize("client", ["openai", "http"])
async def test_by_the_handle_of_an_application(monkeypatch: pytest.MonkeyPatch, client: str, case: Case) -> None:
    server = Server()
    server.case = case

    class Application:
        def __init__(self, url: str) -> None:
            assert url == "serve://app/v1"

        async def post(self, *_: object) -> HandleAnswer:
            headers = {name.lower(): value for name, value in server.headers().items()}
            return HandleAnswer(case.status, headers, server.body())

    monkeypatch.setattr("actors.chat.posts.Application", Application)
    await check({**CLIENTS[client], "base_url": "serve://app/v1"}, case)


@pytest.mark.parametrize("case", IN_THE_BODY.values(), ids=IN_THE_BODY.keys())
async def test_in_this_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, case: Case) -> None:
    """llama.cpp's server states neither a status nor headers."""
    llama = SimpleNamespace(
        CommonParams=lambda: SimpleNamespace(model=SimpleNamespace()),
        Server=lambda _: SimpleNamespace(handle_chat_completions=lambda _: case.body),
    )
    monkeypatch.setitem(sys.modules, "xllamacpp", llama)
    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    await check({"provider": "llama_cpp", "model": str(tmp_path / "model.gguf")}, case)
