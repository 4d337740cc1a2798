"""Chat models behind the application: completions with log probabilities, and a judge that prompts one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from actors.chat.opening import Asking, open_chat
from actors.judges.chat import ChatJudge
from actors.ledger.ledger import Ledger
from longform.errors import UsageError
from longform.judges.kind import Group
from longform.judges.kinds import KINDS
from longform.settings.endpoints import OF_SERVED
from longform.settings.judges import ChatJudgeSettings
from serve.chat_workers import sent
from serve.deployments import load_engine, load_worker
from serve.engine import Engine
from serve.http.answers import item_of
from serve.http.app import Backends, ServedJudge
from serve.http.schemas import CompletionRequest
from serve.judges.items import NO_CARD, judge_item
from serve.settings import Batching, Settings, parse_settings
from tests.serve.served import EchoChat, client, local_app

SCRIPTED = {"provider": "scripted", "model": "scripted", "script": "obedient", "max_tokens": 100}
DOCUMENT = "The bank raised its rate on Monday. Shops were closed. The mayor spoke of 12 new schools."
SENTENCES = ("The bank raised its rate on Monday.", "Whales sing at night in the sea.")
ASKED = {"judge": "asked", "items": [{"document": DOCUMENT, "sentences": SENTENCES}]}
SAID = [{"role": "user", "content": "a b c"}]


def test_further_fields_that_a_configuration_may_ask_of_a_served_model_are_taken() -> None:
    assert CompletionRequest.model_fields.keys() >= OF_SERVED


def judge_settings(ledger: Path | None, **chat: Any) -> Settings:
    judge = {"kind": "chat", "chat": SCRIPTED | chat}
    entry = {"task": "support", "judge": judge}
    return parse_settings({"judges": {"asked": entry}, "ledger": None if ledger is None else str(ledger)})


async def judged(ledger: Path) -> Any:
    engine = load_engine(judge_settings(ledger), "judges", "asked")
    async with client(local_app(Backends(judges={"asked": ServedJudge(engine, judge_item("support"))}))) as asked:
        response = await asked.post("/v1/judge", json=ASKED)
    assert response.status_code == 200, response.text
    return response.json()


async def test_a_chat_judge_is_one_entry_and_its_calls_are_in_the_ledger(tmp_path: Path) -> None:
    """A second replica finds the calls of the first, and makes none."""
    first, second = await judged(tmp_path), await judged(tmp_path)
    (told,), (again,) = first["results"], second["results"]
    assert [verdict["answer"] for verdict in told["verdicts"]] == ["supported", "unsupported"]
    assert [verdict["from_ledger"] for verdict in told["verdicts"]] == [False, False]
    assert [verdict["from_ledger"] for verdict in again["verdicts"]] == [True, True]
    assert [v["call_id"] for v in told["verdicts"]] == [v["call_id"] for v in again["verdicts"]]
    assert [v["reply"] for v in told["verdicts"]] == [v["reply"] for v in again["verdicts"]]
    assert (first["card"], first["card_reason"], first["usage"]["estimated"]) == (None, NO_CARD, False)
    totals = Ledger.existing(str(tmp_path)).totals()
    assert (totals.calls, totals.answered, totals.known_usd) == (2, 2, 0.0)


OF_RESPONSES = {
    "reference": ("summary", "references", {"probability": True}),
    "key_point": ("response", "key_points", {}),
    "misses": ("response", "key_points", {}),
    "errors": ("summary", "references", {}),
}
"""Task of a judge -> the fields of an item, and how the judge is set."""


@pytest.mark.parametrize("task", OF_RESPONSES)
async def test_served_and_in_the_process_a_chat_judge_says_the_same(task: str, tmp_path: Path) -> None:
    shared, items, how = OF_RESPONSES[task]
    judge = {"kind": "chat", "chat": SCRIPTED, **how}
    settings = parse_settings({"judges": {"asked": {"task": task, "judge": judge}}, "ledger": str(tmp_path / "served")})
    served = ServedJudge(load_engine(settings, "judges", "asked"), judge_item(task))
    shown = "What did the mayor say?" if KINDS[task].shows_query else ""
    item = {shared: DOCUMENT, items: SENTENCES, **({"query": shown} if shown else {})}
    body = {"judge": "asked", "items": [item]}
    async with client(local_app(Backends(judges={"asked": served}))) as asked:
        answered = (await asked.post("/v1/judge", json=body)).json()

    own = ChatJudgeSettings.model_validate({"task": task, **judge})
    asking = Asking(chat=open_chat(own.chat))
    group = Group("k", (DOCUMENT,), SENTENCES, query=shown)
    ((*expected,),) = await ChatJudge(KINDS[task], "asked", own, asking).ask([group])
    found = answered["results"][0]["verdicts"]
    assert [one["answer"] for one in found] == [one.answer for one in expected]
    assert len({one.answer for one in expected}) == 2, "else equal answers would say nothing"
    assert [one["probability"] for one in found] == [one.probability for one in expected]
    assert (answered["card"], answered["card_reason"]) == (None, NO_CARD)


def test_a_judge_that_costs_money_or_has_no_ledger_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="what costs money is asked by a job"):
        judge_settings(tmp_path, provider="openai", model="gpt-4o", script=None)
    own = {"kind": "chat", "chat": {"model": "open-model", "base_url": "http://127.0.0.1:8000/v1"}}
    entry = {"task": "support", "judge": own, "paid": False}
    assert parse_settings({"judges": {"own": entry}, "ledger": "ledger"}).judges["own"]
    for wrong in ({"paid": True}, {"judge": {**own, "chat": {"model": "gpt-4o"}}}):
        with pytest.raises(UsageError, match="or one's own server, with `base_url` and `paid: false`, found openai"):
            parse_settings({"judges": {"own": entry | wrong}, "ledger": "ledger"})
    with pytest.raises(UsageError, match=r"expected a `ledger` for the calls of \['asked'\]"):
        judge_settings(None)


def test_what_the_model_is_asked_is_what_the_request_says() -> None:
    request = CompletionRequest.model_validate({"messages": SAID, "temperature": 0, "logprobs": True, "stop": "x"})
    body = sent(item_of(request), 50)
    assert body == {
        "messages": SAID,
        "max_tokens": 50,
        "temperature": 0,
        "stop": ["x"],
        "logprobs": True,
        "top_logprobs": 1,  # llama.cpp reads 0 as none at all
    }


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param({"stream": True}, id="stream"),
        pytest.param({"n": 2}, id="several"),
        pytest.param({"top_logprobs": 2}, id="likely-tokens-without-logprobs"),
        pytest.param({"logprobs": True, "top_logprobs": 21}, id="too-many-likely-tokens"),
        pytest.param({"max_tokens": 2, "max_completion_tokens": 2}, id="two-limits"),
        pytest.param({"max_tokens": 0}, id="no-tokens"),
        pytest.param({"stop": ["a"] * 5}, id="too-many-stops"),
        pytest.param({"response_format": {"type": "json_schema"}}, id="no-schema"),
        pytest.param({"presence_penalty": 1}, id="unknown"),
        pytest.param({"messages": []}, id="nothing-said"),
    ],
)
async def test_what_cannot_be_done_is_refused(wrong: dict[str, Any]) -> None:
    worker = EchoChat()
    async with client(local_app(Backends(chats={"echo": Engine(worker, Batching())}))) as asked:
        response = await asked.post("/v1/chat/completions", json={"messages": SAID} | wrong)
    assert (response.status_code, worker.asked) == (422, [])


async def test_a_schema_without_an_end_is_refused() -> None:
    schema: dict[str, Any] = {}
    for _ in range(100):
        schema = {"properties": schema}
    wanted = {"type": "json_schema", "json_schema": {"name": "a", "schema": schema}}
    async with client(local_app()) as asked:
        response = await asked.post("/v1/chat/completions", json={"messages": SAID, "response_format": wanted})
    assert (response.status_code, "nested at most 64 deep" in response.text) == (422, True)


@pytest.mark.slow
async def test_a_local_file_answers_with_log_probabilities(small_model: str) -> None:
    """It is small: what it says is worth nothing, that it says it in this form is."""
    settings = parse_settings({"chats": {"small": {"model": small_model, "context_window": 512}}})
    backends = Backends(chats={"small": Engine(load_worker(settings, "chats", "small"), Batching())})
    body = {"messages": SAID, "max_tokens": 2, "temperature": 0, "logprobs": True, "top_logprobs": 2}
    schema = {
        "type": "object",
        "properties": {"a": {"enum": ["yes"]}},
        "required": ["a"],
        "additionalProperties": False,
    }
    form = {"type": "json_schema", "json_schema": {"name": "a", "schema": schema}}
    wrong = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "nonsense"}}}
    async with client(local_app(backends)) as asked:
        first, again, plain, formed, long, refused = [
            await asked.post("/v1/chat/completions", json=body | other, timeout=300)
            for other in (
                {},
                {},
                {"logprobs": False, "top_logprobs": None, "temperature": None},
                {"response_format": form, "max_tokens": 20},
                {"messages": [{"role": "user", "content": "word " * 2000}]},
                {"response_format": wrong},
            )
        ]
    (choice,) = first.json()["choices"]
    tokens = choice["logprobs"]["content"]
    assert (choice["finish_reason"], len(tokens)) == ("length", 2)
    assert "".join(token["token"] for token in tokens) == choice["message"]["content"]
    assert all(token["logprob"] <= 0 and len(token["top_logprobs"]) == 2 for token in tokens)
    assert again.json()["choices"] == first.json()["choices"]
    assert (first.json()["from_cache"], again.json()["from_cache"], plain.json()["from_cache"]) == (False, True, False)
    assert plain.json()["choices"][0]["logprobs"] is None
    assert json.loads(formed.json()["choices"][0]["message"]["content"]) == {"a": "yes"}
    assert refused.status_code == 400
    assert (long.status_code, "context window" in long.text) == (400, True)
