"""The time that a request gives itself, from its header to the model."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx

from actors.serving.client import over_http
from actors.serving.messages import HeldBack
from serve.engine import Engine
from serve.http.app import Backends, ServedJudge
from serve.http.guard import HELD_BACK, post_by_handle
from serve.settings import Batching
from tests.serve.served import LengthItem, LengthJudge, client, local_app
from tests.serving import running

HELD = HeldBack("0" * 32, 12)


class Patient(Engine):
    """Never answers, and notes how long its caller waits."""

    def __init__(self) -> None:
        super().__init__(LengthJudge("length", threads=1), Batching())
        self.within_s: list[float | None] = []
        self.held: list[HeldBack | None] = []
        self.asked = asyncio.Event()

    async def ask(self, items: Any, *, within_s: float | None = None) -> Any:
        self.within_s.append(within_s)
        self.held.append(HELD_BACK.get())
        self.asked.set()
        await asyncio.Event().wait()


async def test_a_deadline_and_a_backlog_reach_the_model_and_the_deadline_ends_the_request() -> None:
    """By any header, by our client and by the handle."""
    patient = Patient()
    app = local_app(Backends(judges={"length": ServedJudge(patient, LengthItem)}))
    body = {"judge": "length", "items": [{"text": "a", "most_words": 1}]}
    with running(app) as url:
        async with httpx.AsyncClient(timeout=60, headers={"X-Request-Timeout": "1"}) as asked:
            stated = await asked.post(f"{url}/v1/judge", json=body)
        by_client = await over_http(url, timeout_s=1)("/v1/judge", body, HELD)
    by_handle = await post_by_handle(app, "/v1/judge", json.dumps(body).encode(), 1, HELD)
    assert (stated.status_code, by_handle.status) == (504, 504)
    assert "X-Request-Timeout" in stated.json()["error"]["message"]
    assert by_client.status in (503, 504)  # its own clock and the server's end at the same moment
    assert [left is not None and left <= 1 for left in patient.within_s] == [True] * 3
    assert patient.held == [None, HELD, HELD]


async def test_a_request_without_a_deadline_waits_for_the_model() -> None:
    patient = Patient()
    app = local_app(Backends(judges={"length": ServedJudge(patient, LengthItem)}))
    asked = asyncio.create_task(post_by_handle(app, "/v1/judge", b'{"items": [{"text": "a", "most_words": 1}]}'))
    await patient.asked.wait()
    asked.cancel()
    assert patient.within_s == [None]


async def test_a_backlog_that_is_none_is_refused_with_what_was_expected() -> None:
    async with client(local_app()) as asked:
        for said in ("12", "0" * 32, "0" * 32 + " -1", "0" * 32 + " 1e9", "x" * 32 + " 1"):
            answer = await asked.get("/v1/models", headers={"X-Request-Backlog": said})
            assert answer.status_code == 400
            assert "X-Request-Backlog: expected 32 hexadecimal digits" in answer.json()["error"]["message"]
