import json
import logging
from typing import Any

import pytest
from aiohttp import web

from actors.chat.litellm_client import LitellmChat
from actors.rehearsal.fake_provider import FakeProvider
from actors.rehearsal.fake_replies import Reply, completion
from longform.chat.call import ChatReply, ChatRequest, Message, Signals, Usage
from longform.errors import UsageError
from longform.rehearsal.settings import FAULTS, FakeSettings
from longform.settings.chat import ChatSettings
from tests.actors.rehearsal.replies import PrefixCache

pytestmark = pytest.mark.slow  # litellm takes seconds to import

KEY = "sk-secret-8d1f"
REQUEST = ChatRequest(messages=(Message("user", "hello"),), max_tokens=50)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_KEY", KEY)
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def litellm_chat(model: str = "openai/fake", **settings: Any) -> LitellmChat:
    return LitellmChat(ChatSettings(provider="litellm", model=model, **{"api_key_env": "TEST_KEY"} | settings))


async def ask(
    request: ChatRequest = REQUEST, reply: Reply = completion, **settings: Any
) -> tuple[ChatReply, dict[str, Any]]:
    async with FakeProvider(FakeSettings(**{"delay_s": 0.0, "key": KEY} | settings), reply=reply) as fake:
        patience_s = 2 if "hang" in settings.get("faults", {}) else 300
        found = await litellm_chat(base_url=fake.url, timeout_s=patience_s).complete(request)
        return found, fake.counters()


async def test_a_reply_comes_back_whole() -> None:
    asked = ChatRequest(messages=REQUEST.messages, max_tokens=50, temperature=0.0, top_logprobs=2)
    reply, _ = await ask(asked, PrefixCache(5), requests_per_minute=600, limit_headers=True)
    assert (reply.text, reply.failure, reply.finish_reason) == ("This is the reply of a fake model.", None, "stop")
    assert reply.usage == Usage(input_tokens=1, cached_tokens=0, output_tokens=8)
    assert "".join(token.token for token in reply.logprobs or ()) == reply.text
    assert {len(token.top) for token in reply.logprobs or ()} == {2}
    assert reply.signals == Signals(requests_per_minute=600.0, remaining_requests=9.0, reset_requests_s=0.1)
    assert reply.seconds


@pytest.mark.parametrize("name", ["top_p", "seed", "top_k"])
async def test_sampling_and_further_fields_reach_the_provider(name: str) -> None:
    asked = ChatRequest(messages=REQUEST.messages, max_tokens=50, top_p=0.9, seed=7, extra_body={"top_k": 20})
    assert (await ask(asked, refused_parameters=(name,)))[0].failure == "http_400"
    assert (await ask(asked))[0].failure is None


async def test_a_schema_is_sent() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    reply, _ = await ask(ChatRequest(messages=REQUEST.messages, max_tokens=50, json_schema=schema))
    assert json.loads(reply.text or "") == {"a": 0}


@pytest.mark.parametrize(("fault", "failure"), [*FAULTS.items()])
async def test_each_fault_is_the_same_failure_as_of_the_openai_client(fault: str, failure: str) -> None:
    """After one attempt: whoever retries stands above."""
    reply, counters = await ask(faults={fault: 1.0})
    assert reply.failure == failure
    assert counters["accepted"] == 1


@pytest.mark.parametrize(
    ("settings", "failure"),
    [
        ({"key": "another"}, "http_401"),
        ({"context_window": 10}, "context_exceeds_window"),
        ({"refused_parameters": ("max_tokens",)}, "http_400"),
    ],
)
async def test_what_a_provider_refuses_is_the_same_too(
    settings: dict[str, Any], failure: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        reply, _ = await ask(**settings)
    assert reply.failure == failure
    printed = capfd.readouterr()
    assert KEY not in repr(reply) + printed.out + printed.err + caplog.text


async def test_a_refusal_says_when_to_come_back() -> None:
    async with FakeProvider(FakeSettings(requests_per_minute=1, retry_after_ms=True, delay_s=0.0)) as fake:
        chat = litellm_chat(base_url=fake.url)
        await chat.complete(REQUEST)
        reply = await chat.complete(REQUEST)
    assert reply.failure == "http_429"
    assert 1 < (reply.signals.retry_after_s or 0) <= 60


@pytest.mark.parametrize("model", ["openai/fake", "anthropic/claude-3-5-haiku-latest", "gemini/gemini-2.0-flash"])
async def test_a_redirect_is_not_followed_and_its_host_is_named(unused_tcp_port: int, model: str) -> None:
    asked = []

    async def moved(request: web.Request) -> web.Response:
        asked.append(request.path)
        raise web.HTTPTemporaryRedirect("http://localhost/elsewhere?key=secret")

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", moved)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", unused_tcp_port).start()
    reply = await litellm_chat(model, base_url=f"http://127.0.0.1:{unused_tcp_port}/v1").complete(REQUEST)
    await runner.cleanup()
    assert reply.failure == "http_307"
    assert reply.detail == "http_307, a redirect to http://localhost, which is not followed"
    assert len(asked) == 1


@pytest.mark.parametrize("model", ["openai/fake", "anthropic/claude-3-5-haiku-latest"])
async def test_no_server_is_a_connection_failure(unused_tcp_port: int, model: str) -> None:
    chat = litellm_chat(model, base_url=f"http://127.0.0.1:{unused_tcp_port}/v1")
    assert (await chat.complete(REQUEST)).failure == "connection"


async def test_what_the_model_is_known_to_lack_is_never_sent() -> None:
    asked = ChatRequest(messages=REQUEST.messages, max_tokens=50, top_logprobs=2)
    chat = litellm_chat("anthropic/claude-3-5-haiku-latest")
    assert (await chat.complete(asked)).failure == "unsupported_logprobs"


def test_a_key_is_the_provider_s_own_unless_one_is_named() -> None:
    """The default name is OpenAI's, and its key must not go to another provider."""
    with pytest.raises(UsageError, match="needs ANTHROPIC_API_KEY"):
        LitellmChat(ChatSettings(provider="litellm", model="anthropic/claude-3-5-haiku-latest"))
    with pytest.raises(UsageError, match="environment variable NOT_SET"):
        litellm_chat(api_key_env="NOT_SET")


def test_a_provider_that_litellm_does_not_know_is_an_error_before_the_first_call() -> None:
    with pytest.raises(UsageError, match="expected a name with its provider"):
        litellm_chat("nobody-knows-me")
