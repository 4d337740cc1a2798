"""
A load on the pool: a fake provider in a process of its own, and workers on two simulated nodes of a Ray cluster.

Seconds run from the first call that reaches the provider to its last reply, by the provider's own clock. They stand
beside those of a perfect client: first come, first served, with the same limits and the same draws, computed.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import logging
import os
import random
import tempfile
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import psutil

from actors.chat.governor import NAMESPACE
from actors.chat.model import CallContext, ChatModel
from actors.chat.opening import open_chat, open_pool, quota_domain
from actors.ledger.keeper import NO_LIMIT, start_keeper
from actors.rehearsal.fake_provider import fake_process
from longform.chat.call import ChatReply, ChatRequest, Message
from longform.quota.leases import QuotaLimits
from longform.rehearsal.settings import FakeSettings
from longform.settings.chat import ChatSettings
from tests.actors.rehearsal.replies import fake_call
from tests.longform.rehearsal.perfect_client import perfect_makespan

WORKERS = 4
MEAN_TOKENS = 650
"""Tokens of a call, prompt and reply."""

_NODES = ("first", "second")
_FEWEST_TOKENS, _MOST_TOKENS = 400, 900
_CHARACTERS_A_TOKEN = 4
_MISCOUNTED = 0.03  # standard deviation of our token counts against the provider's
_OPEN_ROWS = 2  # times the calls in flight, as jobs hold


@dataclass(frozen=True, kw_only=True)
class Load:
    """
    Calls of one or several jobs that start together.

    Attributes:
        fake: Behaviour of the provider.
        told: Limits in the configuration.
        n: Calls, of all jobs together, dealt in turn.
        in_flight: Places of all workers together.
        jobs: How many workers each has.
        attempts: Most attempts of a call.
        timeout_s: Limit of one attempt.
    """

    fake: FakeSettings
    told: QuotaLimits = field(default_factory=QuotaLimits)
    n: int = 3000
    in_flight: int = 256
    jobs: tuple[int, ...] = (WORKERS,)
    attempts: int = 6
    timeout_s: float = 60.0

    def settings(self, url: str) -> ChatSettings:
        """Return the settings of the model that each worker asks."""
        return ChatSettings(
            model="fake",
            base_url=url,
            attempts=self.attempts,
            timeout_s=self.timeout_s,
            concurrency=self.in_flight // sum(self.jobs),
            requests_per_minute=self.told.requests_per_minute,
            tokens_per_minute=self.told.tokens_per_minute,
            in_flight=self.told.in_flight,
        )

    def requests(self) -> list[ChatRequest]:
        """Return requests of 400 to 900 tokens, all different, counted a few per cent wrong."""
        drawn = random.Random(self.fake.seed)
        return [_request(place, drawn) for place in range(self.n)]

    def perfect_s(self) -> float:
        """Seconds of the perfect client."""
        calls = [fake_call(request) for request in self.requests()]
        return perfect_makespan(self.fake, calls, in_flight=self.in_flight, deadline_s=self.timeout_s)


def _request(place: int, drawn: random.Random) -> ChatRequest:
    tokens = drawn.randint(_FEWEST_TOKENS, _MOST_TOKENS)
    text = f"{place}: {'word ' * tokens}"[: tokens * _CHARACTERS_A_TOKEN]
    counted = round(tokens * drawn.gauss(1, _MISCOUNTED))
    return ChatRequest(messages=(Message("user", text),), max_tokens=64, input_tokens=counted)


class Outcome(NamedTuple):
    """
    Attributes:
        seconds: From the first call to the last reply.
        perfect_s: Time of the perfect client.
        n: Calls that were to be made.
        refused: Requests that the provider did not let in.
        refused_late: Those after the first half of all requests that it let in.
        failures: Calls without an answer, by reason.
        lost: Calls with neither an answer nor a reason.
        served_again: Requests let in for a call that had been answered.
        cpu_ms: Time of workers, governor and keepers, a request that was let in.
        served: When each request was let in, and of which job it is.
    """

    seconds: float
    perfect_s: float
    n: int
    refused: int
    refused_late: int
    failures: Counter[str]
    lost: int
    served_again: int
    cpu_ms: float
    served: list[tuple[float, int]]

    @property
    def ratio(self) -> float:
        """Return the ratio to the perfect client's seconds; above 1 is slower."""
        return self.seconds / self.perfect_s

    @property
    def refused_share(self) -> float:
        """A call."""
        return self.refused / self.n

    @property
    def refused_late_share(self) -> float:
        """A call of the second half."""
        return 2 * self.refused_late / self.n


# ---------------------------------------------------------------- the cluster and its workers


class PoolWorker:
    """One worker process: it makes the calls dealt to it, some at once, as a stage's worker does."""

    async def open(self, settings: ChatSettings, context: CallContext | None) -> None:
        """Get ready; without a context the plain model is asked."""
        self._settings = settings
        self._model: ChatModel = open_chat(settings) if context is None else open_pool(settings, context)
        self._open_rows = settings.concurrency * (1 if context is None else _OPEN_ROWS)
        # what the first call would load is no part of its time
        importlib.import_module("aiohttp")
        importlib.import_module("longform.chat.completions")

    async def ask(self, requests: Sequence[ChatRequest]) -> list[str | None]:
        """The failure of each call; None: answered."""
        rows = asyncio.Semaphore(self._open_rows)

        async def reply(request: ChatRequest) -> ChatReply:
            async with rows:
                return await self._model.complete(request)

        return [one.failure for one in await asyncio.gather(*map(reply, requests))]

    async def close(self) -> None:
        await self._model.close()


@contextmanager
def two_nodes() -> Iterator[None]:
    """A Ray cluster of a head and two more simulated nodes, joined by this process."""
    os.environ.setdefault("RAY_AUTH_MODE", "disabled")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    os.environ.setdefault("RAY_DATA_DISABLE_PROGRESS_BARS", "1")
    os.environ.update(RAY_worker_niceness="0")  # with Ray's 15, whatever else the machine does stops the workers
    import ray
    from ray.cluster_utils import Cluster

    store = {"object_store_memory": 100_000_000}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False, **store})
    for name in _NODES:
        cluster.add_node(num_cpus=WORKERS, resources={name: WORKERS}, **store)
    try:
        ray.init(address=cluster.address, log_to_driver=False, logging_level="error")
        import ray.data  # its import sets its loggers up

        for name in ("ray", "ray.data"):
            logging.getLogger(name).setLevel(logging.ERROR)
        yield
    finally:
        ray.shutdown()
        cluster.shutdown()


def on_cluster(load: Load, *, plain: bool = False) -> Outcome:
    """
    The load on the cluster that runs.

    Args:
        load: Requests, and the provider that gets them.
        plain: Ask the model without a pool; only the workers' own places bound what is in flight.
    """
    return observed(load, partial(_ask_workers, load, plain=plain))


def in_process(load: Load, *, plain: bool = False) -> Outcome:
    """The same from one worker in this process, with its governor and keeper: no Ray runs."""
    return observed(load, partial(_ask_here, load, plain=plain))


def observed(load: Load, ask: Callable[[str], tuple[Sequence[str | None], float]]) -> Outcome:
    """
    Return the fake provider's view of *ask*, which takes its URL and gives each call's failure, and
    processor seconds.
    """
    with fake_process(load.fake) as url:
        failures, cpu_s = ask(url)
        return _outcome(load, failures, _get(url, "served"), _get(url, "refused"), cpu_s)


def _ask_here(load: Load, url: str, *, plain: bool) -> tuple[list[str | None], float]:
    async def ask(folder: str) -> tuple[list[str | None], float]:
        worker = PoolWorker()
        await worker.open(load.settings(url), None if plain else CallContext(job=folder, stage="bench", ledger=folder))
        requests = load.requests()
        before = process_time()
        failures = await worker.ask(requests)
        spent = process_time() - before
        await worker.close()
        return failures, spent

    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(ask(folder))


def _ask_workers(load: Load, url: str, *, plain: bool) -> tuple[list[str | None], float]:
    import ray

    settings = load.settings(url)
    with tempfile.TemporaryDirectory() as folder:
        jobs = [f"{Path(folder).name}-{number}" for number in range(len(load.jobs))]
        contexts = [CallContext(job=job, stage="bench", ledger=f"{folder}/{job}") for job in jobs]
        of_workers = [context for context, count in zip(contexts, load.jobs, strict=True) for _ in range(count)]
        others = [] if plain else [start_keeper(context.ledger, context.job, NO_LIMIT) for context in contexts]
        workers = [_worker(place) for place in range(len(of_workers))]
        ray.get([w.open.remote(settings, None if plain else c) for w, c in zip(workers, of_workers, strict=True)])
        if not plain:
            others.append(ray.get_actor(f"governor:{quota_domain(settings)}", namespace=NAMESPACE))
        hands, processes = _dealt(load), _processes([*workers, *others])
        before = _cpu_s(processes)
        told = ray.get([worker.ask.remote(hand) for worker, hand in zip(workers, hands, strict=True)])
        spent = _cpu_s(processes) - before
        ray.get([worker.close.remote() for worker in workers])
        for actor in [*workers, *others]:
            ray.kill(actor)
    return [failure for failures in told for failure in failures], spent


def _processes(actors: Sequence[Any]) -> list[psutil.Process]:
    import ray

    pids = ray.get([actor.__ray_call__.remote(lambda _: os.getpid()) for actor in actors])
    return [psutil.Process(pid) for pid in pids]


def _worker(place: int) -> Any:
    import ray

    node = _NODES[place % len(_NODES)]
    return ray.remote(PoolWorker).options(num_cpus=0.1, resources={node: 1}, max_concurrency=1000).remote()


def _dealt(load: Load) -> list[list[ChatRequest]]:
    """Each worker's calls: in turn over the jobs, and within a job in turn over its workers."""
    requests, n_jobs = load.requests(), len(load.jobs)
    of_jobs = [requests[number::n_jobs] for number in range(n_jobs)]
    return [calls[k::count] for calls, count in zip(of_jobs, load.jobs, strict=True) for k in range(count)]


def _cpu_s(processes: Sequence[psutil.Process]) -> float:
    """Processor seconds that they have taken so far."""
    return sum(sum(process.cpu_times()[:2]) for process in processes)


def _outcome(
    load: Load,
    failures: Sequence[str | None],
    served: Sequence[dict[str, Any]],
    refused: Sequence[float],
    cpu_s: float,
) -> Outcome:
    let_in = sorted(one["at_s"] for one in served)
    began = min([*let_in[:1], *refused])
    half = let_in[len(let_in) // 2]
    answers = Counter(one["content"] for one in served if one["outcome"] == "completed")
    n_jobs = len(load.jobs)
    job_of = {fake_call(request)[0]: place % n_jobs for place, request in enumerate(load.requests())}
    reasons = Counter(failure for failure in failures if failure is not None)
    return Outcome(
        seconds=max(one["done_s"] for one in served) - began,
        perfect_s=load.perfect_s(),
        n=load.n,
        refused=len(refused),
        refused_late=sum(when > half for when in refused),
        failures=reasons,
        lost=load.n - len(answers) - sum(reasons.values()),
        served_again=sum(answers.values()) - len(answers),
        cpu_ms=1000 * cpu_s / len(served),
        served=[(one["at_s"] - began, job_of[one["content"]]) for one in served],
    )


def _get(url: str, what: str) -> Any:
    with urllib.request.urlopen(f"{url.removesuffix('/v1')}/{what}") as response:
        return json.load(response)
