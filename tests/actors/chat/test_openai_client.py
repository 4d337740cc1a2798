"""Requests to a chat server, and the outcome of one attempt: a reply, or a failure with its reason."""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
from aiohttp import web

from actors.chat.openai_client import OpenAIChat
from actors.chat.opening import check_chat
from actors.chat.posts import proxy_of
from actors.serving.endpoint import HandleAnswer
from longform.chat.answers import http_failure
from longform.chat.call import NOTHING_HEARD, ChatRequest, Message, Signals, TokenLogprobs, Usage
from longform.errors import UsageError
from longform.judges.kinds.coverage import COVERAGE
from longform.settings.chat import ChatSettings
from tests.completion import completion

KEY = "sk-secret-8d1f"
REQUEST = ChatRequest(messages=(Message("system", "be brief"), Message("user", "hello")), max_tokens=50)
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Server:
    """A server on a port of its own that answers as `handler` says and keeps what it was sent."""

    def __init__(self) -> None:
        self.handler: Handler = answer()
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.in_flight = 0
        self.url = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(await request.json())
        self.keys.append(request.headers.get("Authorization"))
        self.in_flight += 1
        try:
            return await self.handler(request)
        finally:
            self.in_flight -= 1


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    server = Server()
    app = web.Application()
    app.router.add_post("/v1/chat/completions", server.handle)
    runner = web.AppRunner(app, shutdown_timeout=1, handler_cancellation=True)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    yield server
    await runner.cleanup()


@pytest.fixture
async def ask(server: Server, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Any]:
    monkeypatch.setenv("TEST_KEY", KEY)
    opened = []

    async def ask(request: ChatRequest = REQUEST, **settings: Any) -> Any:
        model = settings.pop("model", "m")
        chat = OpenAIChat(ChatSettings(model=model, base_url=server.url, api_key_env="TEST_KEY", **settings))
        opened.append(chat)
        return await chat.complete(request)

    yield ask
    for chat in opened:
        await chat.close()


def answer(body: Any = None, *, status: int = 200) -> Handler:
    async def handler(_: web.Request) -> web.Response:
        return web.json_response(completion() if body is None else body, status=status)

    return handler


async def test_a_reply_comes_back_with_the_model_that_answered(server: Server, ask: Any) -> None:
    reply = await ask()
    assert (reply.text, reply.failure, reply.finish_reason, reply.model) == ("hi there", None, "stop", "m-2026")
    assert reply.usage == Usage()
    assert reply.cost_usd is None
    assert server.keys == [f"Bearer {KEY}"]


async def test_what_is_none_is_not_sent(server: Server, ask: Any) -> None:
    """Newer models reject parameters that older ones take, `temperature` first."""
    await ask()
    messages = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hello"}]
    assert server.requests == [{"model": "m", "messages": messages, "max_tokens": 50}]


async def test_parameters_are_sent_under_the_names_the_api_has(server: Server, ask: Any) -> None:
    schema = COVERAGE.schema
    await ask(ChatRequest(messages=REQUEST.messages, max_tokens=5, temperature=0.0, json_schema=schema, top_logprobs=2))
    sent = server.requests[0]
    assert (sent["temperature"], sent["logprobs"], sent["top_logprobs"]) == (0.0, True, 2)
    assert sent["response_format"]["type"] == "json_schema"
    assert sent["response_format"]["json_schema"]["strict"] is True
    assert sent["response_format"]["json_schema"]["schema"] == schema


async def test_a_reasoning_model_gets_its_limit_under_its_own_name(server: Server, ask: Any) -> None:
    await ask(ChatRequest(messages=REQUEST.messages, max_tokens=5, reasoning_effort="low"), model="o3-mini")
    sent = server.requests[0]
    assert sent["max_completion_tokens"] == 5
    assert sent["reasoning_effort"] == "low"
    assert "max_tokens" not in sent


async def test_sampling_is_sent_and_repeats_have_seeds_of_their_own(server: Server, ask: Any) -> None:
    """One seed for all repeats would bring the same text each time."""
    for repeat in range(2):
        drawn = replace(REQUEST, top_p=0.9, seed=7, extra_body={"top_k": 20, "guided": {"a": [1]}}, repeat=repeat)
        await ask(drawn)
    assert [sent["seed"] for sent in server.requests] == [7, 8]
    assert {(sent["top_p"], sent["top_k"], sent["guided"]["a"][0]) for sent in server.requests} == {(0.9, 20, 1)}
    assert all("extra_body" not in sent for sent in server.requests)


@pytest.mark.parametrize("status", [400, 401, 429, 500, 503])
async def test_an_http_error_is_its_status_after_one_attempt(server: Server, ask: Any, status: int) -> None:
    server.handler = answer({"error": {"message": f"bad key {KEY}"}}, status=status)
    reply = await ask()
    assert (reply.text, reply.failure) == (None, f"http_{status}")
    assert len(server.requests) == 1
    assert KEY not in repr(reply)


async def test_a_call_that_outlasts_its_deadline_is_a_timeout(server: Server, ask: Any) -> None:
    async def hang(_: web.Request) -> web.Response:
        await asyncio.Event().wait()
        raise AssertionError

    server.handler = hang
    assert (await ask(timeout_s=0.2)).failure == "timeout"


async def test_a_body_that_trickles_without_end_is_a_timeout(server: Server, ask: Any) -> None:
    """Each chunk comes in good time, so that a limit on reads alone would wait for ever."""

    async def trickle(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        while True:
            await response.write(b" ")
            await asyncio.sleep(0.01)  # the pace of the server, nothing waits for it

    server.handler = trickle
    assert (await ask(timeout_s=0.2)).failure == "timeout"


async def test_no_server_is_a_connection_failure(unused_tcp_port: int) -> None:
    chat = OpenAIChat(ChatSettings(model="m", base_url=f"http://127.0.0.1:{unused_tcp_port}/v1"))
    reply = await chat.complete(REQUEST)
    await chat.close()
    assert reply.failure == "connection"


async def test_a_server_that_hangs_up_is_a_connection_failure(server: Server, ask: Any) -> None:
    async def hang_up(request: web.Request) -> web.Response:
        assert request.transport is not None
        request.transport.close()
        return web.Response()

    server.handler = hang_up
    assert (await ask()).failure == "connection"


@pytest.mark.parametrize("content_type", ["application/json", "text/html"])
async def test_a_page_in_place_of_a_reply_is_bad(server: Server, ask: Any, content_type: str) -> None:
    """The client library hands such a body on as if it were a reply."""

    async def page(_: web.Request) -> web.Response:
        return web.Response(body=b"<html>It works!</html>", content_type=content_type)

    server.handler = page
    assert (await ask()).failure == "bad_body"


async def test_usage_comes_in_four_classes_that_do_not_overlap(server: Server, ask: Any) -> None:
    """A cached or reasoning token counted twice is priced twice."""
    usage = {
        "prompt_tokens": 1000,
        "prompt_tokens_details": {"cached_tokens": 768},
        "completion_tokens": 90,
        "completion_tokens_details": {"reasoning_tokens": 64},
        "total_tokens": 1090,
    }
    server.handler = answer(completion() | {"usage": usage})
    reply = await ask()
    assert reply.usage == Usage(input_tokens=232, cached_tokens=768, output_tokens=26, reasoning_tokens=64)
    assert sum(reply.usage) == usage["total_tokens"]


async def test_logprobs_come_with_their_alternatives(server: Server, ask: Any) -> None:
    top = [{"token": "4", "logprob": -0.1}, {"token": "5", "logprob": -2.5}]
    stated = {"content": [{"token": "4", "logprob": -0.1, "bytes": [52], "top_logprobs": top}]}
    server.handler = answer(completion(logprobs=stated))
    reply = await ask(ChatRequest(messages=REQUEST.messages, max_tokens=1, top_logprobs=2))
    assert reply.logprobs == (TokenLogprobs("4", -0.1, (("4", -0.1), ("5", -2.5))),)


async def test_as_many_are_in_flight_as_were_asked(server: Server) -> None:
    """A transport's own limit on connections would hold calls back where nobody sees it."""
    full = asyncio.Event()

    async def hold(_: web.Request) -> web.Response:
        if server.in_flight == 256:
            full.set()
        await full.wait()
        return web.json_response(completion())

    server.handler = hold
    chat = OpenAIChat(ChatSettings(model="m", base_url=server.url, timeout_s=300))
    replies = await asyncio.gather(*(chat.complete(REQUEST) for _ in range(256)))
    assert {reply.failure for reply in replies} == {None}
    await chat.close()


@pytest.mark.parametrize("status", [200, 429, 503])
async def test_what_headers_say_of_limits_comes_with_the_reply(server: Server, ask: Any, status: int) -> None:
    async def limited(_: web.Request) -> web.Response:
        headers = {"Retry-After": "3", "x-ratelimit-limit-requests": "600", "x-ratelimit-reset-tokens": "20ms"}
        return web.json_response(completion(), status=status, headers=headers)

    server.handler = limited
    signals = (await ask()).signals
    assert signals == Signals(retry_after_s=3.0, requests_per_minute=600.0, reset_tokens_s=0.02)


async def test_without_such_headers_nothing_is_heard(ask: Any) -> None:
    assert (await ask()).signals == NOTHING_HEARD


LLAMA_CPP = "the request exceeds the available context size (4096 tokens), try increasing it"
VLLM = "This model's maximum context length is 16384 tokens. However, you requested 122946 tokens"
QUOTA = "You exceeded your current quota, please check your plan and billing details."


@pytest.mark.parametrize(
    ("status", "error", "failure"),
    [
        (400, {"code": "context_length_exceeded", "type": "invalid_request_error"}, "context_exceeds_window"),
        (400, {"code": 400, "message": LLAMA_CPP, "type": "exceed_context_size_error"}, "context_exceeds_window"),
        (400, {"code": 400, "message": VLLM, "type": "BadRequestError"}, "context_exceeds_window"),
        (400, {"message": "prompt is too long: 208310 tokens > 200000 maximum"}, "context_exceeds_window"),
        (400, {"message": "max_tokens is too large", "code": "invalid_value"}, "http_400"),
        (400, {"message": None, "code": 7}, "http_400"),
        (429, {"code": "insufficient_quota", "type": "insufficient_quota", "message": QUOTA}, "insufficient_quota"),
        (429, {"code": "rate_limit_exceeded", "type": "requests"}, "http_429"),
        (500, {"code": "context_length_exceeded"}, "http_500"),
    ],
)
async def test_an_error_that_will_not_pass_is_told_from_one_that_may(
    server: Server, ask: Any, status: int, error: dict[str, Any], failure: str
) -> None:
    """An empty account answers 429 as a limit does, and waiting for it would never end."""
    server.handler = answer({"error": error}, status=status)
    assert (await ask()).failure == failure
    assert http_failure(status, error) == failure


async def test_a_request_that_exceeds_the_window_is_never_sent(server: Server, ask: Any) -> None:
    request = ChatRequest(messages=REQUEST.messages, max_tokens=50, input_tokens=951)
    reply = await ask(request, context_window=1000, max_tokens=50)
    assert reply.failure == "context_exceeds_window: 951 input + 50 output tokens > 1000"
    assert server.requests == []


async def test_a_request_goes_to_the_replica_it_names(server: Server) -> None:
    """Calls that share a text are sent to the server that has read it."""
    elsewhere = server.url.replace("127.0.0.1", "localhost")
    chat = OpenAIChat(ChatSettings(model="m", replicas=(server.url, f"{elsewhere}/none")))
    found = [(await chat.complete(replace(REQUEST, replica=place))).failure for place in (0, 1, 0)]
    await chat.close()
    assert found == [None, "http_404", None]


async def test_one_model_serves_one_event_loop_after_another(server: Server) -> None:
    """A client is bound to the loop it first ran on; on another it would fail or hang."""
    chat = OpenAIChat(ChatSettings(model="m", base_url=server.url))
    for _ in range(2):
        reply = await asyncio.to_thread(lambda: asyncio.run(chat.complete(REQUEST)))
        assert reply.text == "hi there"


async def test_half_a_surrogate_pair_is_sent_as_an_escape(server: Server, ask: Any) -> None:
    """A text cut between two code units is no UTF-8, and must not end its row with an error."""
    reply = await ask(ChatRequest(messages=(Message("user", "cut \ud83d, né"),), max_tokens=5))
    assert reply.failure is None
    assert server.requests[0]["messages"] == [{"role": "user", "content": "cut \ud83d, né"}]


async def test_the_environment_s_proxy_is_asked(server: Server, ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server stands in for the proxy: it is asked for a host that does not exist."""
    monkeypatch.setenv("http_proxy", server.url.removesuffix("/v1"))
    monkeypatch.delenv("no_proxy", raising=False)
    chat = OpenAIChat(ChatSettings(model="m", base_url="http://no.such.host.invalid/v1", api_key_env="TEST_KEY"))
    reply = await chat.complete(REQUEST)
    await chat.close()
    assert reply.text == "hi there"


async def test_a_host_of_no_proxy_is_asked_itself(server: Server, ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://no.such.host.invalid:3128")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert (await ask()).text == "hi there"


@pytest.mark.parametrize(("stated", "asked"), [("proxy:3128", "http://proxy:3128"), ("http://p:1", "http://p:1")])
def test_a_proxy_may_be_named_without_its_scheme(monkeypatch: pytest.MonkeyPatch, stated: str, asked: str) -> None:
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setenv("https_proxy", stated)
    assert proxy_of("https://api.somebody.invalid/v1") == asked


def test_a_proxy_that_is_none_of_http_is_said_before_the_first_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("all_proxy", "socks5://proxy:1080")
    with pytest.raises(UsageError, match=r"expected .*, found socks5://; set no_proxy=127\.0\.0\.1"):
        check_chat(ChatSettings(model="m", base_url="http://127.0.0.1:1/v1"))


async def test_a_connection_closed_between_two_calls_fails_neither(server: Server, ask: Any) -> None:
    """A server closes what is idle; its word may arrive after the next call has left."""
    taken: list[asyncio.Transport] = []

    async def close_if_kept(request: web.Request) -> web.Response:
        transport = request.transport
        assert isinstance(transport, asyncio.Transport)
        if transport in taken:
            transport.abort()
        taken.append(transport)
        return web.json_response(completion())

    server.handler = close_if_kept
    chat = OpenAIChat(ChatSettings(model="m", base_url=server.url))
    replies = [await chat.complete(REQUEST) for _ in range(2)]
    await chat.close()
    assert [reply.failure for reply in replies] == [None, None]
    assert len(server.requests) == 3


async def test_a_kept_connection_that_breaks_in_the_body_is_a_failure(server: Server) -> None:
    """Some of the answer has come: the server has done the work, and the pool counts what it asks again."""

    async def half(request: web.Request) -> web.StreamResponse:
        if len(server.requests) == 1:
            return web.json_response(completion())
        response = web.StreamResponse(headers={"Content-Length": "100"})
        await response.prepare(request)
        await response.write(b"{")
        assert request.transport is not None
        request.transport.close()
        return response

    server.handler = half
    chat = OpenAIChat(ChatSettings(model="m", base_url=server.url))
    failures = [(await chat.complete(REQUEST)).failure for _ in range(2)]
    await chat.close()
    assert failures == [None, "connection"]
    assert len(server.requests) == 2


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
async def test_a_body_compressed_against_our_wish_is_read(server: Server, ask: Any, coding: str) -> None:
    async def compressed(request: web.Request) -> web.Response:
        assert request.headers["Accept-Encoding"] == "identity"
        packed = (gzip if coding == "gzip" else zlib).compress(json.dumps(completion()).encode())
        return web.Response(body=packed, headers={"Content-Encoding": coding, "Content-Type": "application/json"})

    server.handler = compressed
    assert (await ask()).text == "hi there"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_not_followed_and_its_host_is_named(server: Server, ask: Any, status: int) -> None:
    """Another host would be sent the documents, or write the reply."""

    async def moved(_: web.Request) -> web.Response:
        location = server.url.replace("127.0.0.1", "localhost")
        return web.Response(status=status, headers={"Location": f"{location}/chat/completions?key=secret"})

    server.handler = moved
    reply = await ask()
    assert (reply.text, reply.failure) == (None, f"http_{status}")
    assert "a redirect to http://localhost:" in (reply.detail or "")
    assert "secret" not in (reply.detail or "")
    assert len(server.requests) == 1


@pytest.mark.parametrize("status", [400, 500])
async def test_an_error_that_nobody_can_read_is_its_status(server: Server, ask: Any, status: int) -> None:
    async def deep(_: web.Request) -> web.Response:
        return web.Response(body=b"[" * 200_000, status=status, content_type="application/json")

    server.handler = deep
    assert (await ask()).failure == f"http_{status}"


async def test_a_body_in_the_encoding_that_its_headers_name_is_read(server: Server, ask: Any) -> None:
    async def latin(_: web.Request) -> web.Response:
        body = json.dumps(completion(message={"content": "é"}), ensure_ascii=False).encode("latin-1")
        return web.Response(body=body, headers={"Content-Type": 'application/json; charset="ISO-8859-1"'})

    server.handler = latin
    assert (await ask()).text == "é"


async def test_a_limit_inside_of_a_success_is_a_refusal_with_its_wait(server: Server, ask: Any) -> None:
    server.handler = answer({"choices": None, "error": {"code": 429, "message": "Try again in 20s"}})
    reply = await ask()
    assert (reply.failure, reply.signals.retry_after_s) == ("http_429", 20.0)


async def test_an_application_of_the_cluster_is_told_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    class Application:
        def __init__(self, url: str) -> None:
            asked.append(url)

        async def post(self, path: str, body: bytes, timeout_s: float) -> HandleAnswer:
            asked.append((path, json.loads(body)["model"], timeout_s))
            return HandleAnswer(200, {"retry-after": "2"}, json.dumps(completion()).encode())

    monkeypatch.setattr("actors.chat.posts.Application", Application)
    reply = await OpenAIChat(ChatSettings(model="m", base_url="serve://app/v1", timeout_s=7)).complete(REQUEST)
    assert (reply.text, reply.signals.retry_after_s) == ("hi there", 2.0)
    assert asked == ["serve://app/v1", ("/v1/chat/completions", "m", 7.0)]
