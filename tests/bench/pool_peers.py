"""
Alternatives to the pool, on one load: a client with a semaphore, litellm's Router, Ray's HTTP processor.

The provider lets in 100 calls a second from a bucket, and says how long to wait when it refuses. Each peer is told what
it has a setting for, and keeps 64 calls in flight if it has none.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from time import process_time
from typing import Any

from longform.chat.call import ChatRequest
from longform.quota.leases import QuotaLimits
from longform.rehearsal.settings import FakeSettings
from tests.bench.measure import Figure, Spread
from tests.bench.pool_load import Load, Outcome, observed, on_cluster

_PER_MINUTE = 6000.0
_IN_FLIGHT = 64
_RETRIES = 5
_ANSWERED = None
Failures = Sequence[str | None]
Client = Callable[[Load, str], Coroutine[Any, Any, Failures]]


def figures() -> list[Figure]:
    """On the cluster that runs."""
    fake = FakeSettings(requests_per_minute=_PER_MINUTE)
    load = Load(fake=fake, told=QuotaLimits(_PER_MINUTE), n=1000, in_flight=_IN_FLIGHT)
    pool = on_cluster(load)
    peers: Mapping[str, Callable[[str], tuple[Failures, float]]] = {
        "openai client, semaphore": partial(_in_a_process, _semaphore, load),
        "litellm Router, semaphore": partial(_in_a_process, _router, load),
        "Ray Data HTTP processor": partial(_ray_processor, load),
    }
    found = [(name, observed(load, peer)) for name, peer in peers.items()]
    alone = Figure(
        "Pool, answers a second", _rate(pool), load.n / pool.perfect_s, "calls/s", None, None, _told(pool, "perfect")
    )
    return [alone, *(_against(pool, name, peer) for name, peer in found)]


def _against(pool: Outcome, name: str, peer: Outcome) -> Figure:
    ratio = _rate(pool) / _rate(peer)
    return Figure(
        f"  to {name}", _rate(pool), _rate(peer), "calls/s", Spread(ratio, ratio, ratio), None, _told(peer, name)
    )


def _rate(outcome: Outcome) -> float:
    """Answers a second."""
    return (outcome.n - outcome.lost - sum(outcome.failures.values())) / outcome.seconds


def _told(outcome: Outcome, whose: str) -> str:
    without = outcome.lost + sum(outcome.failures.values())
    return f"{whose}: {outcome.refused_share:.2f} refusals a call, {without} of {outcome.n} without an answer"


# ---------------------------------------------------------------- clients of one process


def _in_a_process(client: Client, load: Load, url: str) -> tuple[Failures, float]:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        return process.submit(_run, client, load, url).result()


def _run(client: Client, load: Load, url: str) -> tuple[Failures, float]:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    before = process_time()
    failures = asyncio.run(client(load, url))
    return failures, process_time() - before


async def _semaphore(load: Load, url: str) -> Failures:
    from openai import AsyncOpenAI, DefaultAioHttpClient

    async with AsyncOpenAI(
        base_url=url, api_key="none", max_retries=_RETRIES, http_client=DefaultAioHttpClient()
    ) as client:
        return await _all_of(load, partial(client.chat.completions.create, model="fake"))


async def _router(load: Load, url: str) -> Failures:
    from litellm import Router

    parameters = {"model": "openai/fake", "api_base": url, "api_key": "none", "rpm": int(_PER_MINUTE)}
    router = Router([{"model_name": "fake", "litellm_params": parameters}], num_retries=_RETRIES)
    return await _all_of(load, partial(router.acompletion, model="fake"))


async def _all_of(load: Load, ask: Callable[..., Coroutine[Any, Any, Any]]) -> Failures:
    places = asyncio.Semaphore(_IN_FLIGHT)

    async def one(request: ChatRequest) -> str | None:
        async with places:
            try:
                await ask(messages=_messages(request), max_tokens=request.max_tokens)
            except Exception as error:  # noqa: BLE001  # whatever a peer raises is a call without an answer
                return type(error).__name__
        return _ANSWERED

    return await asyncio.gather(*map(one, load.requests()))


def _messages(request: ChatRequest) -> list[dict[str, str]]:
    return [{"role": message.role, "content": message.text} for message in request.messages]


# ---------------------------------------------------------------- Ray's


def _ray_processor(load: Load, url: str) -> tuple[Failures, float]:
    """Processor seconds are not told: its workers are many and short-lived."""
    import ray
    from ray.data.llm import HttpRequestProcessorConfig, build_processor

    config = HttpRequestProcessorConfig(
        url=f"{url}/chat/completions", concurrency=4, batch_size=_IN_FLIGHT // 4, max_retries=_RETRIES
    )
    process = build_processor(config, preprocess=_row, postprocess=_answer)
    rows = [
        {"body": {"model": "fake", "max_tokens": one.max_tokens, "messages": _messages(one)}} for one in load.requests()
    ]
    try:
        told = process(ray.data.from_items(rows)).take_all()
    except ray.exceptions.RayError as error:
        return [type(error).__name__] * load.n, float("nan")
    return [_ANSWERED if row["answered"] else "no choices" for row in told], float("nan")


def _row(row: dict[str, Any]) -> dict[str, Any]:
    return {"payload": row["body"]}


def _answer(row: dict[str, Any]) -> dict[str, Any]:
    return {"answered": "choices" in row["http_response"]}
