"""A real Serve, and nginx before it, under those who send no end, under too many callers, and without its ingress."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from typing import Any

import aiohttp
import httpx
import pytest

from tests.bench.served_load import Answer, deploy, item, on_serve, plain
from tests.half_sent import HALF_BODY, HALF_HEADERS, ends, held
from tests.nginx import gate

pytestmark = [pytest.mark.slow, pytest.mark.ray]

ATTACKER = "127.0.0.2"


@pytest.fixture(scope="module")
def served(ray_session: None) -> Iterator[str]:
    with on_serve() as url:
        deploy(unit_s=0.1, max_wait_s=2.0)
        yield url


@pytest.fixture(scope="module")
def gated(served: str) -> Iterator[str]:
    with gate(served, client_header_timeout="3s", client_body_timeout="3s") as url:
        yield url


async def met(url: str) -> int:
    """The status of one request of good will; one that is held up fails."""
    async with httpx.AsyncClient(timeout=15) as asked:
        return (await asked.post(f"{url}/v1/judge", json={"items": [item()]})).status_code


async def at_once(url: str, n: int) -> list[Answer]:
    """The answers to so many who ask at the same time."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        return list(await asyncio.gather(*(plain(session, url) for _ in range(n))))


async def test_half_sent_requests_hold_nobody_up_and_their_bodies_are_ended(served: str) -> None:
    """Ray's proxy does not end headers without an end, which cost it a file each."""
    async with held(served, HALF_HEADERS, 100), held(served, HALF_BODY, 300) as bodies:
        good = [await met(served) for _ in range(3)]
        found = await ends(bodies)
    assert good == [200] * 3
    assert set(found) == {"408", "429"}


async def test_nginx_ends_headers_too_and_bounds_the_requests_of_an_address(gated: str) -> None:
    async with (
        held(gated, HALF_HEADERS, 100, source=ATTACKER) as headers,
        held(gated, HALF_BODY, 300, source=ATTACKER) as bodies,
    ):
        good = [await met(gated) for _ in range(3)]
        found = [await ends(headers), await ends(bodies)]
    assert good == [200] * 3
    assert "open" not in found[0] + found[1]
    assert found[1]["429"] >= 300 - 64


async def test_nginx_closes_what_ray_says_of_itself_and_large_headers(gated: str, served: str) -> None:
    async with httpx.AsyncClient(timeout=30) as asked:
        closed = [await asked.get(f"{gated}/-/{path}") for path in ("routes", "healthz")]
        large = await asked.get(f"{gated}/v1/models", headers={"X-Large": "x" * 100_000})
        open_here = await asked.get(f"{served}/-/healthz")
    assert [answer.status_code for answer in closed] == [404, 404]
    assert (large.status_code, open_here.status_code) == (431, 200)


async def test_who_would_wait_too_long_is_told_when_to_come_again(served: str) -> None:
    """Two seconds of work are twenty requests; a hundred come at once."""
    answers = await at_once(served, 100)
    found = Counter(answer.status for answer in answers)
    assert all(answer.is_fair for answer in answers), found
    assert found[200] > 0
    assert found[429] > 0


async def test_an_ingress_that_dies_under_requests_costs_503_with_the_time_to_come_again(served: str) -> None:
    """A batch has four requests: when the first is answered, others are under way."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        asked = [asyncio.create_task(plain(session, served)) for _ in range(12)]
        await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
        kill_ingress()
        answers = await asyncio.gather(*asked)
    assert 503 in {answer.status for answer in answers} <= {200, 429, 503}
    assert all(answer.status == 200 or (answer.retry_after or "").isdigit() for answer in answers), answers


def kill_ingress() -> None:
    import ray

    names: list[dict[str, Any]] = ray.util.list_named_actors(all_namespaces=True)
    (ingress,) = [one for one in names if "#ingress#" in one["name"]]
    ray.kill(ray.get_actor(ingress["name"], namespace=ingress["namespace"]))
