"""
Serving under load: many callers, ten times too many, a replica that dies, a new version, replicas that come and go.

A judge that sleeps stands for the model, so that its capacity is known; the rest is a real Serve, over HTTP.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from statistics import median

from tests.bench.measure import Figure, Spread
from tests.bench.served_load import (
    Ask,
    closed_loop,
    deploy,
    deploy_encoder,
    embedded,
    kill,
    on_serve,
    open_loop,
    patient,
    plain,
    rate,
    replicas_until,
    until_quick,
)

_UNIT_S = 0.05
_SLOW_UNIT_S = 0.2  # ten times its capacity is 50 requests a second, which two busy cores can ask
_WAITING = 20
_MANY, _FEW = 64, 4
_WINDOW_S = 10.0
_ROUNDS = 3
_OVERLOADED = 400
_MOST_S = 120.0


def figures() -> list[Figure]:
    import ray

    os.environ.setdefault("RAY_AUTH_MODE", "disabled")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray.init(
        address="local",
        num_cpus=8,
        object_store_memory=200_000_000,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="error",
    )
    try:
        with on_serve() as url:
            return [*_callers(url), *_overload(url), _killed(url), _redeployed(url), _scaled(url)]
    finally:
        ray.shutdown()


def _callers(url: str) -> list[Figure]:
    deploy(unit_s=_UNIT_S)
    paced = _many_and_few("a paced judge", url, plain, f"one replica of {1 / _UNIT_S:g} requests/s")
    deploy_encoder()
    return [paced, _many_and_few("MiniLM", url, embedded, "one replica, a text of forty words a request")]


def _many_and_few(what: str, url: str, ask: Ask, note: str) -> Figure:
    many, few = [], []
    for _ in range(_ROUNDS):
        few.append(asyncio.run(rate(url, callers=_FEW, seconds=_WINDOW_S, ask=ask)))
        many.append(asyncio.run(rate(url, callers=_MANY, seconds=_WINDOW_S, ask=ask)))
    ratio = Spread.of([ours / reference for ours, reference in zip(many, few, strict=True)])
    name = f"Serving {what}, {_MANY} callers against {_FEW}"
    return Figure(name, median(many), median(few), "requests/s", ratio, 0.8, note)


def _overload(url: str) -> list[Figure]:
    deploy(unit_s=_SLOW_UNIT_S, waiting=_WAITING)
    answers = asyncio.run(open_loop(url, per_s=10 / _SLOW_UNIT_S, n=_OVERLOADED))
    recovered_s = asyncio.run(until_quick(url, most_s=_MOST_S))
    statuses = dict(sorted(Counter(answer.status for answer in answers).items()))
    fair = sum(answer.is_fair for answer in answers) / len(answers)
    return [
        Figure("Serving ten times its capacity, 200 or 429", fair, None, "share", None, 1.0, f"answers {statuses}"),
        Figure("Serving after that, until quick", recovered_s, None, "seconds", None, 10.0, "", at_most=True),
    ]


def _killed(url: str) -> Figure:
    deploy(unit_s=_UNIT_S, num_replicas=2)
    places = asyncio.run(patient(url, callers=8, each=25, meanwhile=kill))
    note = f"of {len(places)} with our client; {len(set(places) - {None})} processes answered"
    return Figure("Serving, lost with a killed replica", places.count(None), None, "requests", None, 0.0, note, True)


def _redeployed(url: str) -> Figure:
    deploy(unit_s=_UNIT_S)

    async def run() -> list[int]:
        new = asyncio.create_task(asyncio.to_thread(deploy, unit_s=_UNIT_S / 2))
        answers = await closed_loop(url, callers=8, until=new.done)
        await new
        return [answer.status for answer in answers]

    statuses = Counter(asyncio.run(run()))
    lost = statuses.total() - statuses[200]
    note = f"of {statuses.total()} with a plain client, by status {dict(statuses)}"
    return Figure("Serving, lost in a redeployment", lost, None, "requests", None, 0.0, note, at_most=True)


def _scaled(url: str) -> Figure:
    scaling = {
        "min_replicas": 1,
        "max_replicas": 2,
        "target_ongoing_requests": 4,
        "upscale_delay_s": 0,
        "downscale_delay_s": 1,
        "metrics_interval_s": 1,
        "look_back_period_s": 2,
    }
    deploy(unit_s=_UNIT_S, autoscaling_config=scaling)
    seen = [
        asyncio.run(replicas_until(url, wanted, callers=callers, most_s=_MOST_S))
        for wanted, callers in ((1, 1), (2, 32), (1, 0))
    ]
    note = "1 replica, 2 under 32 callers, 1 after them"
    return Figure("Serving, replicas that come and go", sum(seen), None, "of 3 seen", None, 3.0, note)
