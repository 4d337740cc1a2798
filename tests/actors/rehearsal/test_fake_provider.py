from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest

from actors.chat.openai_client import OpenAIChat
from actors.rehearsal.fake_provider import FakeProvider, fake_process, parse_options
from actors.rehearsal.fake_replies import OTHER_PROMPT, Reply, completion
from longform import prompts
from longform.chat.call import ChatReply, ChatRequest, Message
from longform.judges.kind import Verdict
from longform.judges.kinds.coverage import COVERAGE, numbered_bullets, parse_coverage
from longform.rehearsal.settings import ALL_FAULTS, FAULTS, FakeSettings, draw_fate
from longform.settings.chat import ChatSettings
from tests.actors.rehearsal.replies import PrefixCache, fake_call
from tests.longform.rehearsal.windows import Window

if TYPE_CHECKING:
    import openai

QUICK: dict[str, Any] = {"delay_s": 0.0}


def request(text: str, **settings: Any) -> ChatRequest:
    return ChatRequest(messages=(Message("user", text),), **{"max_tokens": 100} | settings)


@asynccontextmanager
async def asking(reply: Reply = completion, **settings: Any) -> AsyncIterator[tuple[FakeProvider, OpenAIChat]]:
    async with FakeProvider(FakeSettings(**QUICK | settings), reply=reply) as fake:
        chat = OpenAIChat(ChatSettings(model="m", base_url=fake.url, timeout_s=300))
        yield fake, chat
        await chat.close()


async def ask(chat: OpenAIChat, *texts: str) -> list[ChatReply]:
    return await asyncio.gather(*(chat.complete(request(text)) for text in texts))


def client(fake: FakeProvider) -> openai.AsyncOpenAI:
    import openai

    return openai.AsyncOpenAI(base_url=fake.url, api_key="none", max_retries=0)


# ---------------------------------------------------------------- replies


async def test_it_does_the_tasks_of_our_prompts() -> None:
    prompt = prompts.load_prompt("judge_coverage_3")
    text = prompt.render(bullets=numbered_bullets(["Cats sleep. [1]", "Dogs bark. [2]"]), insight="Dogs bark.")
    async with asking() as (_, chat):
        reply = await chat.complete(request(text, json_schema=COVERAGE.schema))
    assert parse_coverage(reply.text or "", n_bullets=2) == Verdict("full", None, linked_unit=1)


async def test_any_other_prompt_gets_a_fixed_text_and_usage() -> None:
    async with asking() as (fake, chat):
        (reply,) = await ask(chat, "x" * 400)
    assert (reply.text, reply.model, reply.finish_reason) == (OTHER_PROMPT, "m", "stop")
    assert reply.usage[:3] == (100, None, len(OTHER_PROMPT) // 4)
    counters = fake.counters()
    assert (counters["prompt_tokens"], counters["completion_tokens"]) == (100, len(OTHER_PROMPT) // 4)


async def test_content_and_charge_of_a_call_are_known_without_asking() -> None:
    asked = [request("x" * 400), request("y", json_schema=COVERAGE.schema), request("z", max_tokens=3)]
    async with asking() as (fake, chat):
        for one in asked:
            await chat.complete(one)
    assert [(one.content, one.tokens) for one in fake.served] == [fake_call(one) for one in asked]


async def test_a_reply_above_the_output_limit_is_cut() -> None:
    async with asking() as (_, chat):
        reply = await chat.complete(request("x", max_tokens=3))
    assert (reply.failure, reply.usage.output_tokens) == ("length", 3)


async def test_logprobs_come_for_every_token_with_alternatives() -> None:
    async with asking() as (_, chat):
        reply = await chat.complete(request("x", top_logprobs=4))
    assert reply.logprobs is not None
    assert "".join(token.token for token in reply.logprobs) == reply.text
    for token in reply.logprobs:
        assert len(token.top) == len(dict(token.top)) == 4
        assert token.top[0] == (token.token, token.logprob)
        assert [logprob for _, logprob in token.top] == sorted((logprob for _, logprob in token.top), reverse=True)


async def test_a_schema_is_kept() -> None:
    schema = {
        "type": "object",
        "required": ["score", "why"],
        "properties": {"score": {"type": "integer", "minimum": 1}, "why": {"type": "string"}},
    }
    async with asking() as (_, chat):
        reply = await chat.complete(request("x", json_schema=schema))
    assert json.loads(reply.text or "") == {"score": 1, "why": "x"}


async def test_cached_tokens_are_those_of_the_longest_prefix_that_was_answered_before() -> None:
    """In blocks of 64 tokens, as for a server that keeps what it has read."""
    shared = "shared " * 200
    async with asking(PrefixCache(1000)) as (fake, chat):
        first, second, third = [(await ask(chat, text))[0].usage for text in (shared + "a", shared + "b", "c" + shared)]
    assert (first.cached_tokens, second.cached_tokens, third.cached_tokens) == (0, 5 * 64, 0)
    assert (second.input_tokens or 0) + 5 * 64 == len(shared + "b") // 4
    assert fake.counters()["cached_tokens"] == 5 * 64


# ---------------------------------------------------------------- limits


async def test_what_exceeds_the_limit_is_refused_at_once_and_does_not_count() -> None:
    async with asking(requests_per_minute=60, limit_headers=True, retry_after_ms=True) as (fake, chat):
        replies = await ask(chat, *(str(n) for n in range(40)))
    refused = [reply for reply in replies if reply.failure == "http_429"]
    counters = fake.counters()
    assert 1 <= counters["accepted"] < 40
    assert counters["refused"] == len(refused) == 40 - counters["accepted"]
    for reply in refused:
        assert 0 < (reply.signals.retry_after_s or 0) <= 1 + 0.002
    assert {reply.signals.requests_per_minute for reply in replies} == {60.0}


async def test_tokens_of_prompt_and_reply_are_charged() -> None:
    """A call is 60,000 of prompt and 8 of reply: of 360,000 a minute, the sixth does not fit."""
    async with asking(tokens_per_minute=360_000, limiter=Window, window_s=60) as (fake, chat):
        replies = [(await ask(chat, "x" * 240_000))[0].failure for _ in range(7)]
    assert replies == [None] * 5 + ["http_429"] * 2
    assert fake.counters()["accepted"] == 5


# ---------------------------------------------------------------- faults


@pytest.mark.parametrize(("fault", "failure"), [*ALL_FAULTS.items()])
async def test_each_fault_is_the_failure_it_stands_for(fault: str, failure: str) -> None:
    async with FakeProvider(FakeSettings(faults={fault: 1.0}, **QUICK)) as fake:
        deadline_s = 1.0 if failure == "timeout" else 300
        chat = OpenAIChat(ChatSettings(model="m", base_url=fake.url, timeout_s=deadline_s))
        (reply,) = await ask(chat, "hello")
        await chat.close()
    assert reply.failure == failure
    assert fake.counters()["faults"] == dict.fromkeys(ALL_FAULTS, 0) | {fault: 1}


async def test_faults_follow_from_content_and_attempt_and_not_from_arrival() -> None:
    faults = {"http_500": 0.4, "empty": 0.2}
    texts = [str(n % 20) for n in range(60)]
    async with asking(faults=faults) as (fake, chat):
        ran = [(await ask(chat, text))[0].failure for text in texts]
        assert fake.counters()["served_again"] == 40
        fake.reset()
        again = [(await ask(chat, text))[0].failure for text in reversed(texts)]
    expected = [
        FAULTS.get(draw_fate(FakeSettings(faults=faults), fake_call(request(text))[0], n // 20).fault or "")
        for n, text in enumerate(texts)
    ]
    assert ran == expected
    assert sorted(map(str, again)) == sorted(map(str, expected))


async def test_a_client_that_leaves_is_not_counted_as_served() -> None:
    async with FakeProvider(FakeSettings(delay_s=60)) as fake:
        chat = OpenAIChat(ChatSettings(model="m", base_url=fake.url, timeout_s=1.0))
        (reply,) = await ask(chat, "hello")
        await chat.close()
        async with aiohttp.ClientSession() as session:  # by its answers the server has seen the other one leave
            for _ in range(5):
                counters = await (await session.get(fake.url.replace("/v1", "/counters"))).json()
    assert reply.failure == "timeout"
    assert (counters["accepted"], counters["gone"], counters["completed"]) == (1, 1, 0)
    assert (counters["prompt_tokens"], counters["in_flight"], counters["max_in_flight"]) == (0, 0, 1)


# ---------------------------------------------------------------- what it will not take


@pytest.mark.parametrize(
    ("settings", "failure"),
    [
        ({"context_window": 110}, "context_exceeds_window"),
        ({"refused_parameters": ("max_tokens",)}, "http_400"),
        ({"key": "sk-1"}, "http_401"),
    ],
)
async def test_what_it_does_not_take_is_refused_as_openai_does(settings: dict[str, Any], failure: str) -> None:
    async with asking(**settings) as (fake, chat):
        assert (await ask(chat, "x" * 400))[0].failure == failure
        assert fake.counters()["accepted"] == 0


@pytest.mark.parametrize("body", ["", "[]", "{}", '{"messages": []}', '{"messages": [{"role": "user", "content": 7}]}'])
async def test_a_body_that_is_no_request_is_a_400(body: str) -> None:
    async with asking() as (fake, _), aiohttp.ClientSession() as session:
        async with session.post(f"{fake.url}/chat/completions", data=body) as response:
            assert response.status == 400
        assert fake.counters()["bad_requests"] == 1


async def test_the_models_are_listed() -> None:
    async with asking() as (fake, _), client(fake) as api:
        assert [model.id async for model in api.models.list()] == ["fake"]


# ---------------------------------------------------------------- batches


def line(n: int) -> dict[str, Any]:
    body = {"model": "m", "messages": [{"role": "user", "content": f"question {n}"}], "max_tokens": 50}
    return {"custom_id": f"call-{n}", "method": "POST", "url": "/v1/chat/completions", "body": body}


async def submitted(api: openai.AsyncOpenAI, lines: list[dict[str, Any]]) -> Any:
    content = "\n".join(json.dumps(line) for line in lines).encode()
    file = await api.files.create(file=("in.jsonl", content), purpose="batch")
    made = await api.batches.create(
        input_file_id=file.id, endpoint="/v1/chat/completions", completion_window="24h", metadata={"job": "j"}
    )
    assert made.status == "validating"
    return made


async def lines_of(api: openai.AsyncOpenAI, file_id: str | None) -> list[dict[str, Any]]:
    if file_id is None:
        return []
    return [json.loads(line) for line in (await api.files.content(file_id)).text.splitlines()]


async def test_a_batch_comes_back_by_item() -> None:
    async with asking(batch_failed_share=0.4) as (fake, _), client(fake) as api:
        batch = await api.batches.retrieve((await submitted(api, [line(n) for n in range(20)])).id)
        replies, errors = await lines_of(api, batch.output_file_id), await lines_of(api, batch.error_file_id)
    assert batch.status == "completed"
    assert batch.metadata == {"job": "j"}
    assert batch.request_counts is not None
    assert (batch.request_counts.completed, batch.request_counts.failed) == (len(replies), len(errors))
    assert {one["custom_id"] for one in replies + errors} == {f"call-{n}" for n in range(20)}
    assert 0 < len(errors) < 20
    assert {one["response"]["status_code"] for one in replies} == {200}
    assert {one["response"]["body"]["choices"][0]["message"]["content"] for one in replies} == {OTHER_PROMPT}
    assert {one["response"]["status_code"] for one in errors} == {500}


async def test_a_batch_may_expire_half_done() -> None:
    async with asking(batch_done_share=0.5) as (fake, _), client(fake) as api:
        batch = await api.batches.retrieve((await submitted(api, [line(n) for n in range(20)])).id)
        replies, errors = await lines_of(api, batch.output_file_id), await lines_of(api, batch.error_file_id)
        counters = fake.counters()["batch"]
    assert batch.status == "expired"
    assert [one["custom_id"] for one in replies] == [f"call-{n}" for n in range(10)]
    assert [one["custom_id"] for one in errors] == [f"call-{n}" for n in range(10, 20)]
    assert {(one["response"], one["error"]["code"]) for one in errors} == {(None, "batch_expired")}
    assert (counters["items"], counters["made_again"]) == (10, 0)


async def test_a_cancelled_batch_keeps_what_is_done() -> None:
    async with asking(batch_s=3600) as (fake, _), client(fake) as api:
        batch = await submitted(api, [line(0)])
        assert (await api.batches.retrieve(batch.id)).status == "in_progress"
        assert (await api.batches.cancel(batch.id)).status == "cancelling"
        ended = await api.batches.retrieve(batch.id)
        (error,) = await lines_of(api, ended.error_file_id)
    assert (ended.status, ended.output_file_id, error["error"]["code"]) == ("cancelled", None, "batch_cancelled")


async def test_a_file_that_is_no_batch_fails_by_its_lines() -> None:
    async with asking() as (fake, _), client(fake) as api:
        batch = await api.batches.retrieve((await submitted(api, [line(0), line(0), {"custom_id": "x"}])).id)
    assert batch.status == "failed"
    assert batch.errors is not None
    assert [(fault.line, fault.code) for fault in batch.errors.data or []] == [
        (2, "duplicate_custom_id"),
        (3, "invalid_json_line"),
    ]


async def test_batches_and_files_can_be_found_again() -> None:
    """A process that died after it submitted one must not submit it twice."""
    import openai

    async with asking() as (fake, _), client(fake) as api:
        batch = await submitted(api, [line(0)])
        assert [one.id async for one in api.batches.list()] == [batch.id]
        assert batch.input_file_id in [one.id async for one in api.files.list()]
        with pytest.raises(openai.NotFoundError):
            await api.batches.retrieve("batch_77")


# ---------------------------------------------------------------- a process of its own


async def test_in_a_process_of_its_own_it_tells_what_it_served() -> None:
    with fake_process(FakeSettings(requests_per_minute=1, **QUICK)) as url:
        chat = OpenAIChat(ChatSettings(model="m", base_url=url))
        await ask(chat, *"abcde")
        await chat.close()
        place = url.removesuffix("/v1")
        async with aiohttp.ClientSession() as session:
            counters = await (await session.get(f"{place}/counters")).json()
            served = await (await session.get(f"{place}/served")).json()
            refused = await (await session.get(f"{place}/refused")).json()
            await session.post(f"{place}/reset")
            after = await (await session.get(f"{place}/counters")).json()
    assert counters["accepted"] == counters["completed"] == len(served)
    assert counters["accepted"] + counters["refused"] == 5
    assert len(refused) == counters["refused"] > 0
    assert {one["content"] for one in served} < {fake_call(request(text))[0] for text in "abcde"}
    assert (after["accepted"], after["refused"]) == (0, 0)


def test_every_setting_has_its_option() -> None:
    options = (
        "--port 80 --requests-per-minute 3000 --window-s 60 --retry-after wrong --retry-after-ms --slow-factor 5 "
        "--fault http_500=0.05 --fault hang=0.01 --seed 3 --refused-parameters temperature seed --key-env K "
        "--context-window 100 --batch-done-share 0.5"
    )
    settings, port = parse_options(options.split(), {"K": "sk-1"})
    assert port == 80
    assert settings == FakeSettings(
        requests_per_minute=3000.0,
        window_s=60.0,
        retry_after="wrong",
        retry_after_ms=True,
        slow_factor=5.0,
        faults={"http_500": 0.05, "hang": 0.01},
        seed=3,
        refused_parameters=("temperature", "seed"),
        key="sk-1",
        context_window=100,
        batch_done_share=0.5,
    )
    assert "sk-1" not in repr(settings)
    assert parse_options([], {}) == (FakeSettings(), 0)
