"""
Each part of the control plane alone, with simulated workers: what its code costs, and so up to where one process goes.

Rates are a second of the part's own processor time, from calls of the real objects in this process; one figure of each
part goes through its Ray actor, and those of serving through its proxy and its ingress. Notes have the wall time if a
part also waits for a disk or a server.

LONGFORM_BENCH_SHARE is the share of the sizes below.
"""

from __future__ import annotations

import asyncio
import io
import os
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import cycle, islice
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import psutil

from actors.authority import Remote, actor_of
from actors.chat.governor import Governor
from actors.ledger.entry import this_session
from actors.ledger.keeper import Budget, LedgerKeeper
from actors.storage.folder import Folder
from jobs.stages.accounts import RECEIPTS_A_COMMIT
from jobs.stages.cluster import Cluster
from jobs.stages.items import Worker
from jobs.stages.runner import PlainStage, Task, run_stage
from jobs.stages.stations import TaskReceipt
from longform.chat.call import ChatReply, Usage
from longform.chat.ledger_rows import Intent, Receipt
from longform.chat.server_standing import Server
from longform.quota.leases import Accepted, LeaseAsk, QuotaLimits
from tests.bench.commit_log import environment_of
from tests.bench.measure import Figure
from tests.bench.served_load import DEPLOYMENT, closed_loop, deploy, of_items, on_serve
from tests.s3_server import BUCKET, binary, running_s3_server

_SHARE = float(os.environ.get("LONGFORM_BENCH_SHARE", "1"))
_LEASES = round(10_000 * _SHARE)
_CALLS = round(16_000 * _SHARE)  # of one ledger
_S3_CALLS = round(3_200 * _SHARE)
_COMMITS = round(1_024 * _SHARE)
_MANY_COMMITS = 30_000  # that stand in a table: 240,000 parts
_TASKS = round(400 * _SHARE)  # of a stage on Ray
_WORKERS = (10, 100, 500)
_A_LEASE = 16  # calls
_A_MESSAGE = (1, 16, 64)  # calls
_UNDER_WAY = 6_400  # calls, on a hundred nodes, 64 each
_ASKERS = 8  # connections to an actor
_A_REQUEST = (1, 16, 64)  # items
_CALLERS = 16  # of a served judge
_SERVED_S = 6.0 * _SHARE
_LIMIT = QuotaLimits(requests_per_minute=10_000_000 / 60)  # ten million calls an hour
_NO_LIMIT = QuotaLimits(requests_per_minute=1e8)  # that binds
_SERVER = Server("http://127.0.0.1", "bench", "BENCH_KEY", timeout_s=60.0, patience_s=600.0)
_TEXT = '{"coverage": "PARTIAL_COVERAGE", "bullet_id": 3}'


class Cost(NamedTuple):
    """Seconds of some work of one part."""

    processor: float
    wall: float


def figures() -> list[Figure]:
    found = [*_governor(), *_keeper_on_disk(), *_driver()]
    if binary() is not None:
        with tempfile.TemporaryDirectory() as place, running_s3_server(Path(place)) as server:
            found += _on_s3({**server, "XDG_CACHE_HOME": f"{place}/cache"})
    return found + _through_actors()


def _on_s3(environment: Mapping[str, str]) -> list[Figure]:
    with environment_of(environment):
        return [*_keeper_on_s3(), _commits(f"s3://{BUCKET}/run", "on S3", _COMMITS // 4)]


def spent(work: Callable[[], object]) -> Cost:
    processor, wall = time.process_time(), time.perf_counter()
    work()
    return Cost(time.process_time() - processor, time.perf_counter() - wall)


def _rate(name: str, items: int, unit: str, cost: Cost, note: str) -> Figure:
    """Return how many items a second of processor time a part does; nothing is wanted of it but to be known."""
    return Figure(
        name, items / cost.processor, None, unit, None, None, f"{note}; {items / cost.wall:,.0f} of wall time"
    )


# ---------------------------------------------------------------- the governor


def _governor() -> Iterator[Figure]:
    for workers in _WORKERS:
        governor = Governor("bench", None)
        asks = _Asks(workers)
        cost = spent(lambda: asks.ask(governor, _LEASES, _LIMIT))  # noqa: B023 - called at once
        note = f"a limit that binds; {asks.leased / _LEASES:.1f} calls a lease"
        yield _rate(f"governor, {workers} workers", _LEASES, "leases/s", cost, note)
    governor, asks = Governor("bench", None), _Asks(_WORKERS[1])
    cost = spent(lambda: asks.ask(governor, _LEASES, _NO_LIMIT))
    note = f"all calls granted, {asks.leased / _LEASES:.1f} a lease"
    yield _rate(f"governor, {_WORKERS[1]} workers", _LEASES, "leases/s", cost, note)


class _Asks:
    """Simulated workers, one after the other: each has calls that wait, and was answered what it was leased."""

    def __init__(self, workers: int) -> None:
        self.leased = 0
        self._asks = [
            LeaseAsk(f"worker {number}", "bench", (500.0,) * _A_LEASE, waiting=100, in_flight=0)
            for number in range(workers)
        ]

    def next(self, number: int) -> LeaseAsk:
        return self._asks[number % len(self._asks)]

    def heard(self, number: int, calls: int) -> None:
        self.leased += calls
        place = number % len(self._asks)
        accepted = (Accepted(0.5, 500.0, 480.0),) * calls
        self._asks[place] = self._asks[place]._replace(in_flight=0, accepted=accepted)

    def ask(self, governor: Governor, leases: int, told: QuotaLimits) -> None:
        for number in range(leases):
            self.heard(number, governor.lease(self.next(number), told).calls)


# ---------------------------------------------------------------- the ledger's keeper


def _keeper_on_disk() -> Iterator[Figure]:
    for size in _A_MESSAGE:
        with tempfile.TemporaryDirectory() as place:
            yield _exchanges(f"keeper on a disk, {size} calls a message", place, _CALLS, size, "written durably")
            if size == _A_MESSAGE[-1]:
                yield _lookups(place)
    with tempfile.TemporaryDirectory() as place:
        keeper = LedgerKeeper(place, "bench", Budget(max_usd=1e6), this_session())
        for intents in _groups(_calls(_UNDER_WAY, "under way"), _A_MESSAGE[-1]):
            keeper.exchange("worker 0", intents, [])
        messages = list(_messages(_calls(_CALLS), _A_MESSAGE[1]))
        cost = spent(lambda: _exchange(keeper, messages))
        note = f"{_A_MESSAGE[1]} calls a message, {_UNDER_WAY:,} under way"
        yield _rate("keeper on a disk, with a budget", len(messages), "exchanges/s", cost, note)


def _exchanges(name: str, url: str, calls: int, size: int, note: str) -> Figure:
    keeper = LedgerKeeper(url, "bench", driver=this_session())
    messages = list(_messages(_calls(calls), size))
    cost = spent(lambda: _exchange(keeper, messages))
    return _rate(name, len(messages), "exchanges/s", cost, f"{calls / cost.processor:,.0f} calls/s, {note}")


def _lookups(place: str) -> Figure:
    keeper = LedgerKeeper(place, "bench", driver=this_session())
    ids = [intent.call_id for intent in _calls(_CALLS)]
    cost = spent(lambda: keeper.finished(ids, "judge"))
    size = sum(file.stat().st_size for file in Path(place).glob("calls.sqlite")) / _CALLS
    return _rate("keeper on a disk, lookups", _CALLS, "calls/s", cost, f"all found; {size:,.0f} bytes a call")


def _keeper_on_s3() -> Iterator[Figure]:
    for size in _A_MESSAGE[1:]:
        url = f"s3://{BUCKET}/ledger-{size}"
        yield _exchanges(f"keeper on S3, {size} calls a message", url, _S3_CALLS, size, "a PUT each, on this machine")


Message = tuple[Sequence[Intent], Sequence[Receipt]]


def _calls(count: int, stage: str = "judge") -> Iterator[Intent]:
    for number in range(count):
        key = sha256(f"{stage} {number}".encode()).hexdigest()
        yield Intent(key[::-1][:32], key[:32], stage, "openai", "bench", 0, 0.001, 60.0, 900.0)


def _groups(intents: Iterator[Intent], size: int) -> Iterator[list[Intent]]:
    while group := list(islice(intents, size)):
        yield group


def _messages(intents: Iterator[Intent], size: int) -> Iterator[Message]:
    """Give what workers say of their calls: the next ones, with the receipts of those before."""
    before: Sequence[Intent] = ()
    for group in _groups(intents, size):
        yield group, [_receipt(intent) for intent in before]
        before = group
    yield (), [_receipt(intent) for intent in before]


def _receipt(intent: Intent) -> Receipt:
    usage = Usage(900, 0, 20, 0)
    reply = ChatReply(text=_TEXT, failure=None, finish_reason="stop", model="bench-1", usage=usage, cost_usd=5e-4)
    return Receipt(intent.attempt_id, intent.call_id, reply, _SERVER)


def _exchange(keeper: LedgerKeeper, messages: Sequence[Message]) -> None:
    workers = cycle(f"worker {number}" for number in range(_WORKERS[1]))
    for (intents, receipts), worker in zip(messages, workers, strict=False):
        admissions = keeper.exchange(worker, intents, receipts)
        assert admissions.count("go") == len(intents)


# ---------------------------------------------------------------- the driver


def _driver() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as place:
        yield _commits(place, "on a disk", _COMMITS)
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "verdicts" / "_commits").mkdir(parents=True)
        for number in range(_MANY_COMMITS):
            (Path(place) / "verdicts" / "_commits" / f"{number:06d}-before.json").touch()
        commits = 31 - _MANY_COMMITS % 32  # before the next checkpoint, which would read them
        yield _commits(place, f"on a disk, beside {_MANY_COMMITS:,} commits", commits)


def _commits(url: str, where: str, commits: int) -> Figure:
    """Run the driver's loop over receipts that are all there, of parts that nobody wrote."""
    count = commits * RECEIPTS_A_COMMIT
    made = [_task_receipt(number) for number in range(count)]
    with patch("jobs.stages.runner.receipts", lambda *_: iter(made)):
        cost = spent(lambda: _run(url, _tasks(count), workers=0))
    note = f"{RECEIPTS_A_COMMIT} receipts a commit"
    return _rate(f"driver, receipts, {where}", count, "receipts/s", cost, note)


def _task_receipt(number: int) -> TaskReceipt:
    key = sha256(str(number).encode()).hexdigest()[:32]
    now = time.time()
    return {
        "stage": "bench", "path": f"verdicts/part-{key}.parquet", "rows": 8, "work_ids": [key], "error": "",
        "words": "", "began": now, "ended": now, "worker": "host/1",
    }  # fmt: skip


def _tasks(count: int) -> list[Task]:
    return [Task(work_ids=(f"{number}",), payload={"number": number}) for number in range(count)]


def _run(url: str, tasks: Sequence[Task], *, workers: int) -> None:
    stage = PlainStage(name="bench", table="verdicts", make_worker=_make_worker)
    cluster = Cluster(address=None, workers=workers)
    run_stage(Folder(url), stage, len(tasks), tasks, cluster=cluster, log=io.StringIO())


def _make_worker() -> Worker[Mapping[str, int]]:
    return lambda payload: [
        {"work_id": f"{payload['number']}", "judge": "bench", "summary_id": f"{payload['number']}", "answer": "full"}
    ]


# ---------------------------------------------------------------- through actors


def _through_actors() -> list[Figure]:
    with tempfile.TemporaryDirectory() as place, Cluster(address=None, workers=2) as cluster:
        cluster.start()
        return [
            asyncio.run(_governor_actor()),
            asyncio.run(_keeper_actor(f"{place}/ledger")),
            _stage_on_ray(f"{place}/run"),
            *_ingress(),
        ]


async def _governor_actor() -> Figure:
    asks = _Asks(_WORKERS[1])

    async def say(door: Remote[Governor], number: int) -> None:
        asks.heard(number, (await door.ask(Governor.lease, asks.next(number), _LIMIT)).calls)

    cost = await _crowd(actor_of(Governor).remote("bench", None), say, _LEASES)
    return _rate(f"governor's actor, {_WORKERS[1]} workers", _LEASES, "leases/s", cost, f"{_ASKERS} connections")


async def _keeper_actor(url: str) -> Figure:
    messages = list(_messages(_calls(_CALLS), _A_MESSAGE[1]))

    async def say(door: Remote[LedgerKeeper], number: int) -> None:
        await door.ask(LedgerKeeper.exchange, f"worker {number % _WORKERS[1]}", *messages[number])

    actor = actor_of(LedgerKeeper).remote(url, "bench", Budget(), this_session())
    cost = await _crowd(actor, say, len(messages))
    note = f"{_A_MESSAGE[1]} calls a message, {_ASKERS} connections"
    return _rate("keeper's actor on a file", len(messages), "exchanges/s", cost, note)


async def _crowd(actor: Any, say: Callable[[Remote[Any], int], Awaitable[None]], count: int) -> Cost:
    """Return what *count* messages over some connections cost the actor's process."""
    doors: list[Remote[Any]] = [Remote(lambda: actor, patience_s=60.0) for _ in range(_ASKERS)]
    numbers = iter(range(count))

    async def speak(door: Remote[Any]) -> None:
        for number in numbers:  # whoever is free says the next
            await say(door, number)

    process = psutil.Process(await actor.process_id.remote())
    processor, wall = _processor_seconds(process), time.perf_counter()
    await asyncio.gather(*map(speak, doors))
    cost = Cost(_processor_seconds(process) - processor, time.perf_counter() - wall)
    for door in doors:
        await door.close()
    return cost


def _processor_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _stage_on_ray(url: str) -> Figure:
    tasks = _tasks(_TASKS)
    _run(f"{url}/warm", tasks[:20], workers=2)
    cost = spent(lambda: _run(f"{url}/stage", tasks, workers=2))
    return _rate("driver of a stage on Ray", _TASKS, "receipts/s", cost, "2 workers, a part of one row each")


# ---------------------------------------------------------------- serving


def _ingress() -> Iterator[Figure]:
    """Ask a judge that takes no time, through one proxy and one replica of the ingress."""
    with on_serve() as url:
        deploy(unit_s=0.0)
        for items in _A_REQUEST:
            _answered(url, items)  # a start
            before = _serving_seconds()
            answered, wall = _answered(url, items)
            spent = {part: seconds - before[part] for part, seconds in _serving_seconds().items()}
            cost = Cost(spent["proxy"] + spent["ingress"], wall)
            parts = ", ".join(f"{part} {1000 * seconds / answered:.2f}" for part, seconds in spent.items())
            note = f"{_CALLERS} callers; ms a request: {parts}"
            yield _rate(f"serving, {items} items a request", answered, "requests/s", cost, note)


def _answered(url: str, items: int) -> tuple[int, float]:
    """Return the requests answered, and the seconds they took."""
    began = time.perf_counter()
    answers = asyncio.run(
        closed_loop(url, callers=_CALLERS, until=lambda: time.perf_counter() - began > _SERVED_S, ask=of_items(items))
    )
    assert all(answer.status == 200 for answer in answers)
    return len(answers), time.perf_counter() - began


def _serving_seconds() -> dict[str, float]:
    """Return the processor seconds so far of the proxy, of the ingress, and of the judge's replica."""
    found = dict.fromkeys(_SERVING, 0.0)
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            title = " ".join(process.cmdline())
            for part, name in _SERVING.items():
                if title.startswith("ray::") and name in title:
                    found[part] += _processor_seconds(process)
    return found


_SERVING: Mapping[str, str] = {"proxy": "ProxyActor", "ingress": "ServeReplica:load:ingress", "judge": DEPLOYMENT}
"""Parts of a served application, and what Ray calls their processes."""
