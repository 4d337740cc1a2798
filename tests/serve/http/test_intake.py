"""Requests that are never whole, or whose headers are no headers of a client of good will."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest

from longform.errors import UsageError
from serve.http.access import Access, Tokens
from serve.http.app import make_app
from serve.http.proxy import LIMITS_ENV, ProxyGuard, middlewares
from serve.settings import Limits
from tests.half_sent import HALF_BODY, ends, held
from tests.serve.served import client, local_app, small_backends
from tests.serving import running

RERANK = {"query": "a bank", "documents": ["a fox", "the bank"]}
UNFINISHED = 10
LIMITS = Limits(body_s=2, unfinished=UNFINISHED)


async def no_answer(scope: Any, receive: Any, send: Any) -> None:
    """End a request as Ray's proxy does if its ingress died under it."""


@pytest.fixture(scope="module", params=["application", "proxy"])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    app = local_app(limits=LIMITS) if request.param == "application" else ProxyGuard(local_app(), LIMITS)
    with running(app) as found:
        yield found


async def test_half_sent_bodies_are_ended_and_hold_nobody_up(url: str) -> None:
    """Beyond so many of one address they have less time; whole requests need none."""
    async with held(url, HALF_BODY, 5 * UNFINISHED) as connections, httpx.AsyncClient(timeout=60) as asked:
        good = [await asked.post(f"{url}/v1/rerank", json=RERANK) for _ in range(3)]
        found = await ends(connections)
    assert [answer.status_code for answer in good] == [200] * 3
    assert set(found) == {"408", "429"}
    assert found["429"] >= 4 * UNFINISHED


async def test_a_body_that_comes_slowly_but_in_time_is_answered(url: str) -> None:
    async def slowly() -> AsyncIterator[bytes]:
        for piece in (b'{"query": "a bank", ', b'"documents": ["a fox", ', b'"the bank"]}'):
            yield piece

    async with httpx.AsyncClient(timeout=60) as asked:
        answer = await asked.post(f"{url}/v1/rerank", content=slowly(), headers={"Content-Type": "application/json"})
    assert answer.status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param(b"X-Large: " + b"x" * 1_000_000 + b"\r\n", "431", id="a-megabyte"),
        pytest.param(b"".join(b"X-%d: x\r\n" % n for n in range(20_000)), "431", id="twenty-thousand"),
        pytest.param(b"Authorization: Bearer one\r\nauthorization: Bearer two\r\n", "400", id="two-tokens"),
        pytest.param(b"X-Fine: " + b"x" * 1000 + b"\r\nConnection: close\r\n", "200", id="fine"),
    ],
)
async def test_headers_have_a_sane_size_and_one_token(url: str, headers: bytes, status: str) -> None:
    """After a refusal the connection is closed, or this would wait."""
    async with held(url, b"GET /v1/models HTTP/1.1\r\nHost: h\r\n" + headers + b"\r\n", 1) as connections:
        assert await ends(connections) == {status: 1}


async def test_the_second_of_two_tokens_does_not_let_anybody_in() -> None:
    token = "alice-has-this-token"
    app = make_app(small_backends(), Access(bind="0.0.0.0", tokens=Tokens({"alice": token})))
    both = [("Authorization", "Bearer wrong"), ("Authorization", f"Bearer {token}")]
    async with client(app) as asked:
        answers = [await asked.get("/v1/models", headers=headers) for headers in (both, both[::-1], both[1:])]
    assert [answer.status_code for answer in answers] == [400, 400, 200]


@pytest.mark.parametrize(("address", "status"), [("127.0.0.1", 200), ("10.0.0.7", 404)])
@pytest.mark.parametrize("path", ["/-/routes", "/-/healthz"])
async def test_what_ray_says_of_itself_it_says_to_its_own_machine(path: str, address: str, status: int) -> None:
    async def ray(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"{}"})

    transport = httpx.ASGITransport(ProxyGuard(ray, Limits()), client=(address, 1))
    async with httpx.AsyncClient(transport=transport, base_url="http://served") as asked:
        assert (await asked.get(path)).status_code == status


async def test_callers_do_not_switch_off_what_ray_keeps_for_them() -> None:
    found: list[bytes] = []

    async def ray(scope: Any, receive: Any, send: Any) -> None:
        found.extend(name for name, _ in scope["headers"] if name.startswith(b"x-"))
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"{}"})

    async with client(ProxyGuard(ray, Limits())) as asked:
        headers = {"X-Request-Disconnect-Disabled": "?1", "X-Request-Timeout-Seconds": "0", "X-Request-Timeout": "5"}
        await asked.get("/", headers=headers)
    assert found == [b"x-request-timeout"]


def test_a_request_that_ray_gives_up_is_told_when_to_come_again() -> None:
    with running(ProxyGuard(no_answer, Limits())) as url:
        answer = httpx.post(f"{url}/v1/rerank", json=RERANK)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert answer.json()["error"]["type"] == "unavailable_error"


def test_a_proxy_reads_its_limits_from_its_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMITS_ENV, '{"body_bytes": 5}')
    (one,) = middlewares()
    assert one.kwargs["limits"].body_bytes == 5
    monkeypatch.setenv(LIMITS_ENV, '{"body": 5}')
    with pytest.raises(UsageError, match=f"{LIMITS_ENV}: expected a JSON object of limits; body"):
        middlewares()


@pytest.mark.parametrize("stated", ["soon", "-1", "0", "nan", "inf", ""])
async def test_a_deadline_is_a_number_of_seconds(stated: str) -> None:
    async with client(local_app()) as asked:
        answer = await asked.post("/v1/rerank", json=RERANK, headers={"X-Request-Timeout": stated})
    assert answer.status_code == 400
    assert "X-Request-Timeout: expected seconds" in answer.json()["error"]["message"]
