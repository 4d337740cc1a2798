"""The time that a request gives itself, from its header to the model."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx

from actors.serving.client import over_http
from serve.engine import Engine
from serve.http.app import Backends, ServedJudge
from serve.http.guard import post_by_handle
from serve.settings import Batching
from tests.serve.served import LengthItem, LengthJudge, local_app
from tests.serving import running


class Patient(Engine):
    """Never answers, and notes how long its caller waits."""

    def __init__(self) -> None:
        super().__init__(LengthJudge("length", threads=1), Batching())
        self.within_s: list[float | None] = []
        self.asked = asyncio.Event()

    async def ask(self, items: Any, *, within_s: float | None = None) -> Any:
        self.within_s.append(within_s)
        self.asked.set()
        await asyncio.Event().wait()


async def test_a_deadline_reaches_the_model_and_ends_the_request() -> None:
    """By any header, by our client and by the handle."""
    patient = Patient()
    app = local_app(Backends(judges={"length": ServedJudge(patient, LengthItem)}))
    body = {"judge": "length", "items": [{"text": "a", "most_words": 1}]}
    with running(app) as url:
        async with httpx.AsyncClient(timeout=60, headers={"X-Request-Timeout": "1"}) as asked:
            stated = await asked.post(f"{url}/v1/judge", json=body)
        by_client = await over_http(url, timeout_s=1)("/v1/judge", body)
    by_handle = await post_by_handle(app, "/v1/judge", json.dumps(body).encode(), 1)
    assert (stated.status_code, by_handle.status) == (504, 504)
    assert "X-Request-Timeout" in stated.json()["error"]["message"]
    assert by_client.status in (503, 504)  # its own clock and the server's end at the same moment
    assert [left is not None and left <= 1 for left in patient.within_s] == [True] * 3


async def test_a_request_without_a_deadline_waits_for_the_model() -> None:
    patient = Patient()
    app = local_app(Backends(judges={"length": ServedJudge(patient, LengthItem)}))
    asked = asyncio.create_task(post_by_handle(app, "/v1/judge", b'{"items": [{"text": "a", "most_words": 1}]}'))
    await patient.asked.wait()
    asked.cancel()
    assert patient.within_s == [None]
