"""Load on a real Serve: what is deployed, who calls, and what is done to it meanwhile."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import time
import uuid
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import aiohttp

from actors.local_models.checkpoints import MINILM
from actors.serving.client import ServedClient, over_http
from longform.errors import LongformError

DEPLOYMENT = "judges-paced"
_APPLICATION = "load"
_TEXT_TOKENS = 10  # what an item below is counted as
_BATCH = 4  # units of one batch
_FORTY_WORDS = "the council heard that the old bridge needs new bearings before winter and " * 3
_STARTS = 4  # of Serve, until it is given up
_QUICK_S = 2.0
"""An answer that took no longer waited behind nothing much."""


class Answer(NamedTuple):
    """`status` 0: nothing came back. `place` is the replica's process."""

    status: int
    retry_after: str | None
    place: str | None
    seconds: float

    @property
    def is_fair(self) -> bool:
        """The request was met, or was told when to come again."""
        return self.status == 200 or (self.status == 429 and (self.retry_after or "").isdigit())


@contextmanager
def on_serve() -> Iterator[str]:
    """Serve on a Ray that runs already; the URL. What is started here is stopped."""
    from ray import serve

    try:
        yield f"http://127.0.0.1:{_start_serve()}"
    finally:
        serve.shutdown()


def _start_serve() -> int:
    """Start Serve on a free port and return it; what a busy machine does not start in Ray's minute is tried again."""
    from ray import serve

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    for starts_left in reversed(range(_STARTS)):
        try:
            serve.start(proxy_location="HeadOnly", http_options={"host": "127.0.0.1", "port": port})
            break
        except TimeoutError:  # of the proxy; Ray's GetTimeoutError is one, too
            serve.shutdown()
            if not starts_left:
                raise
    return port


def deploy(*, unit_s: float, waiting: int = 1000, max_wait_s: float = 600.0, **options: Any) -> None:
    """
    The paced judge, up and running; the present one is replaced.

    Args:
        unit_s: Time that a request takes.
        waiting: Requests that may wait in a replica.
        max_wait_s: None of them longer.
        options: Options of Serve.
    """
    from ray import serve

    from serve.deployments import application

    batching = {
        "batch_tokens": _BATCH * _TEXT_TOKENS,
        "queue_tokens": waiting * _TEXT_TOKENS,
        "max_wait_s": max_wait_s,
        "cache_entries": 0,
    }
    judge = {"make": "tests.bench.paced:PacedJudge", "settings": {"unit_s": unit_s}, "batching": batching}
    made = application({"judges": {"paced": judge}}, {DEPLOYMENT: {"ray_actor_options": {"num_cpus": 0.1}, **options}})
    serve.run(made, name=_APPLICATION, route_prefix="/")


def deploy_encoder() -> None:
    """One replica of the packaged encoder; the present application is replaced."""
    from ray import serve

    from serve.deployments import application

    encoder = {"model": MINILM, "batching": {"cache_entries": 0}}
    serve.run(application({"embeddings": {"minilm": encoder}}, {}), name=_APPLICATION, route_prefix="/")


def n_running() -> int:
    """Replicas of the judge."""
    from ray import serve

    states = serve.status().applications[_APPLICATION].deployments[DEPLOYMENT].replica_states
    return int(states.get("RUNNING", 0))


def item() -> dict[str, str]:
    """One that nobody asked before."""
    return {"text": uuid.uuid4().hex}


# ---------------------------------------------------------------- callers

Ask = Callable[[aiohttp.ClientSession, str], Awaitable[Answer]]
"""One request to the application at a URL."""


async def plain(session: aiohttp.ClientSession, url: str) -> Answer:
    """One request to the paced judge, asked once."""
    return await _asked(session, f"{url}/v1/judge", {"items": [item()]})


async def embedded(session: aiohttp.ClientSession, url: str) -> Answer:
    """One request for the vector of a text of some forty words, asked once."""
    return await _asked(session, f"{url}/v1/embeddings", {"input": f"{uuid.uuid4().hex} {_FORTY_WORDS}"})


async def _asked(session: aiohttp.ClientSession, address: str, request: dict[str, Any]) -> Answer:
    started = time.monotonic()
    try:
        async with session.post(address, json=request) as response:
            body = await response.json() if response.status == 200 else {}
            place = body["results"][0]["verdicts"][0]["answer"] if "results" in body else None
            return Answer(response.status, response.headers.get("Retry-After"), place, time.monotonic() - started)
    except (aiohttp.ClientError, TimeoutError, OSError):
        return Answer(0, None, None, time.monotonic() - started)


def of_items(count: int) -> Ask:
    """One request to the paced judge with so many items, asked once."""

    async def ask(session: aiohttp.ClientSession, url: str) -> Answer:
        return await _asked(session, f"{url}/v1/judge", {"items": [item() for _ in range(count)]})

    return ask


async def closed_loop(url: str, *, callers: int, until: Callable[[], bool], ask: Ask = plain) -> list[Answer]:
    """Each caller asks again as soon as it was answered."""
    found: list[Answer] = []

    async def caller(session: aiohttp.ClientSession) -> None:
        while not until():
            found.append(await ask(session, url))

    async with _session() as session:
        await asyncio.gather(*(caller(session) for _ in range(callers)))
    return found


async def rate(url: str, *, callers: int, seconds: float, ask: Ask = plain) -> float:
    """Requests answered a second, after as long a start."""
    began = time.monotonic()
    times: list[float] = []

    async def caller(session: aiohttp.ClientSession) -> None:
        while time.monotonic() - began < 2 * seconds:
            answer = await ask(session, url)
            if answer.status == 200:
                times.append(time.monotonic() - began)

    async with _session() as session:
        await asyncio.gather(*(caller(session) for _ in range(callers)))
    return sum(seconds <= at < 2 * seconds for at in times) / seconds


async def open_loop(url: str, *, per_s: float, n: int) -> list[Answer]:
    """So many requests at a steady rate, whether or not the earlier ones are answered."""
    began = time.monotonic()

    async def arrive(session: aiohttp.ClientSession, place: int) -> Answer:
        await asyncio.sleep(max(0.0, place / per_s - (time.monotonic() - began)))
        return await plain(session, url)

    async with _session() as session:
        return list(await asyncio.gather(*(arrive(session, place) for place in range(n))))


async def until_quick(url: str, *, most_s: float) -> float:
    """Seconds until a request is answered at once; *most_s* if none is."""
    began = time.monotonic()
    async with _session() as session:
        while time.monotonic() - began < most_s:
            answer = await plain(session, url)
            if answer.status == 200 and answer.seconds < _QUICK_S:
                return time.monotonic() - began
            await asyncio.sleep(0.1)
    return most_s


async def patient(
    url: str, *, callers: int, each: int, meanwhile: Callable[[str], Awaitable[None]]
) -> list[str | None]:
    """
    The places that answered callers with our client, None for a request that failed.

    *meanwhile* is done to the place that gave an answer, once a third of them is there.
    """
    client = ServedClient(over_http(url))
    found: list[str | None] = []
    done: list[asyncio.Task[None]] = []

    async def caller() -> None:
        for _ in range(each):
            try:
                answer = await client.judge("paced", [item()])
                found.append(answer["results"][0]["verdicts"][0]["answer"])
            except LongformError:
                found.append(None)
            place = found[-1]
            if place and not done and len(found) >= callers * each / 3:
                done.append(asyncio.ensure_future(meanwhile(place)))

    await asyncio.gather(*(caller() for _ in range(callers)))
    await asyncio.gather(*done)
    return found


async def kill(place: str) -> None:
    os.kill(int(place), signal.SIGKILL)


async def replicas_until(url: str, wanted: int, *, callers: int, most_s: float) -> bool:
    """Return whether so many replicas ran within *most_s* under so many callers."""
    began = time.monotonic()
    reached = asyncio.Event()

    async def watch() -> None:
        while time.monotonic() - began < most_s and not reached.is_set():
            if await asyncio.to_thread(n_running) == wanted:
                reached.set()
            await asyncio.sleep(0.2)

    watching = asyncio.create_task(watch())
    await closed_loop(url, callers=callers, until=watching.done)
    await watching
    return reached.is_set()


def _session() -> aiohttp.ClientSession:
    return aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=300), connector=aiohttp.TCPConnector(limit=0))
