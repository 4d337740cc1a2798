"""A key that an endpoint repeats in its replies is stored nowhere."""

from __future__ import annotations

import io
import logging
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from actors.authority import Local
from actors.chat.model import CallContext
from actors.chat.opening import check_chat, open_pool
from actors.chat.prepayment import Prepayment
from actors.chat.provider_batches import ProviderBatches
from actors.ledger.keeper import LedgerKeeper
from actors.rehearsal.fake_provider import FakeProvider
from actors.secret_values import RedactingFormatter
from actors.serving.client import RefusedError, Reply, ServedClient
from longform.chat.call import ChatRequest, Message
from longform.redaction import MARK
from longform.rehearsal.settings import FakeSettings
from longform.settings.chat import ChatSettings
from tests.actors.rehearsal.replies import echoing
from tests.actors.summarizers.batch_bench import one_by_one

KEY = "sk-a-key-that-must-not-be-seen-4711"
REQUEST = ChatRequest(messages=(Message("user", "hello"),), max_tokens=50, top_logprobs=2)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hold the key, in a process without Ray even if another file has started one."""
    monkeypatch.setenv("A_KEY_OF_MY_OWN", KEY)
    monkeypatch.setattr("ray.is_initialized", lambda: False)


def chat(url: str, **more: Any) -> ChatSettings:
    return ChatSettings(model="m", base_url=url, api_key_env="A_KEY_OF_MY_OWN", **more)


def holding_the_key(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]


@pytest.mark.parametrize("echo", ["content", "model", "base64"])
async def test_the_ledger_and_the_reply_hold_a_mark_in_its_place(echo: Any, tmp_path: Path) -> None:
    context = CallContext(job=f"echo-{echo}", stage="test", ledger=str(tmp_path / "ledger"))
    async with FakeProvider(
        FakeSettings(key=KEY, delay_s=0.0, slow_share=0.0), reply=partial(echoing, KEY, echo)
    ) as fake:
        pool = open_pool(chat(fake.url), context)
        reply = await pool.complete(REQUEST)
        again = await pool.complete(REQUEST)
        await pool.close()

    assert MARK in f"{reply.text} {reply.model}"
    assert KEY not in repr(reply)
    assert (again.text, again.model, again.logprobs) == (reply.text, reply.model, reply.logprobs)
    assert holding_the_key(tmp_path) == []


async def test_a_batch_holds_it_no_more_than_a_call(tmp_path: Path) -> None:
    context = CallContext(job="echo-batch", stage="test", ledger=str(tmp_path / "ledger"))
    async with FakeProvider(FakeSettings(key=KEY), reply=partial(echoing, KEY, "content")) as fake:
        settings = chat(fake.url, batch=True)
        batches = ProviderBatches(settings)
        prepaid = Prepayment(
            settings,
            context,
            keeper=Local(LedgerKeeper(context.ledger, "echo-batch")),
            batches=batches,
            price=None,
            log=io.StringIO(),
            first_look_s=0.01,
        )
        assert await prepaid.answer(lambda: one_by_one([REQUEST])) == 1
        await batches.close()
    assert holding_the_key(tmp_path) == []


async def test_a_served_judge_and_its_errors_are_read_without_it() -> None:
    check_chat(chat("http://127.0.0.1:1/v1"))  # reads the key

    async def send(_path: str, body: Any, _held: Any) -> Reply:
        if body["judge"] == "refuses":
            return Reply(403, f"no token {KEY} here")
        return Reply(200, {"results": [{"verdicts": [{"reply": f"yes {KEY}"}]}], "card": None})

    client = ServedClient(send)
    answer = await client.judge("mine", [])
    assert answer["results"][0]["verdicts"] == [{"reply": f"yes {MARK}"}]
    with pytest.raises(RefusedError) as error:
        await client.judge("refuses", [])
    assert KEY not in str(error.value)


def test_a_log_line_and_its_traceback_are_written_without_it() -> None:
    check_chat(chat("http://127.0.0.1:1/v1"))  # reads the key
    lines = io.StringIO()
    handler = logging.StreamHandler(lines)
    handler.setFormatter(RedactingFormatter())
    try:
        int(KEY)
    except ValueError:
        handler.emit(logging.makeLogRecord({"msg": "sent %s", "args": (KEY,), "exc_info": sys.exc_info()}))
    assert KEY not in lines.getvalue()
    assert lines.getvalue().count(MARK) >= 2


def test_a_short_key_is_said_to_stay(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setenv("A_SHORT_KEY", "sesame")
    check_chat(ChatSettings(model="m", base_url="https://host/v1", api_key_env="A_SHORT_KEY"))
    assert "A_SHORT_KEY has 6 characters" in caplog.text
    assert "sesame" not in caplog.text


@pytest.mark.parametrize("place", ["base_url", "replicas"])
def test_a_url_with_a_password_is_refused_unseen(place: str) -> None:
    url = "http://me:a-password@host/v1"
    stated: dict[str, Any] = {"base_url": url} if place == "base_url" else {"replicas": (url,)}
    with pytest.raises(ValidationError, match="read from environment variables") as error:
        ChatSettings(model="m", **stated)
    assert "a-password" not in str(error.value)
