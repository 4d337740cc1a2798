"""
The model of `tests.bench.capacity` against runs that are made: each figure measured, and beside it what was computed.

A run judges summaries by calls to the fake provider, by the shipped command with workers on Ray: with its ledger on a
disk, with run and ledger on an S3 server, and with a task a call and a limit that binds. Seconds of processes are of
processors. LONGFORM_BENCH_SHARE is the share of the calls.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import yaml

from actors.ledger.ledger import Ledger
from actors.rehearsal.fake_provider import fake_process
from actors.storage.folder import Folder
from jobs.files.write_benchmark import write_benchmark
from longform.formats.rows import HaystackRows
from longform.records import Document, Qrel, Query, Target
from longform.rehearsal.settings import FakeSettings
from tests.bench import capacity
from tests.bench.commit_log import environment_of
from tests.bench.measure import Figure, Spread
from tests.places import ROOT
from tests.s3_requests import Requests, counted, reads, writes
from tests.s3_server import BUCKET, binary, running_s3_server

_SHARE = float(os.environ.get("LONGFORM_BENCH_SHARE", "1"))
_QUERIES_A_HAYSTACK = 50
_WATCH_S = 0.5
_PRICES = {"date": "2026-01-01", "models": {"fake": {"input": 1.0, "output": 1.0}}}  # dollars a million tokens
_ROLES: Mapping[str, str] = {
    "keeper": "ray::LedgerKeeper",
    "governor": "ray::MachineGovernor",
    "workers": "ray::MapWorker",
}
"""Parts of a run, and how Ray's titles of their processes begin."""


class Shape(NamedTuple):
    """
    A run that is made.

    Attributes:
        name: In the table.
        run: Calls, workers and tasks; the hours are found out.
        reply_s: Seconds of a reply of the provider.
        per_minute: Requests that the provider lets in, and the configuration tells; None: no limit.
        on_s3: Run and ledger, not the benchmark's source.
    """

    name: str
    run: capacity.Run
    reply_s: float
    per_minute: float | None = None
    on_s3: bool = False

    @property
    def predicted(self) -> capacity.Run:
        """Return the run with the hours that it should take."""
        run, write_s = self.run, capacity.LOCAL_PUT_S if self.on_s3 else capacity.DISK_S
        seconds = capacity.seconds(run, self.reply_s, write_s, self.per_minute)
        return run._replace(hours=seconds / 3600)


def _shapes() -> Iterator[Shape]:
    of_eights = capacity.Run(8 * round(2000 * _SHARE), 0, 2, 64)
    yield Shape("disk", of_eights, 0.5)
    if binary() is not None:
        yield Shape("S3", of_eights, 0.5, on_s3=True)
    yield Shape("limit, a call a task", capacity.Run(round(6000 * _SHARE), 0, 8, 16, 1), 0.5, per_minute=6000)


class Taken(NamedTuple):
    """
    Time, processors, memory, requests and dollars of a run.

    Attributes:
        seconds: From the first call to the last reply.
        calls: Calls that the provider let in.
        processors: Seconds of each part meanwhile.
        memory: Bytes that each part held at most, and those that the driver's grew by.
        requests: To S3.
        steps: Objects of the ledger on S3.
        ledger: Bytes.
        usd: Cost of calls, by the ledger.
        planned_usd: The least, by `--plan`.
    """

    seconds: float
    calls: int
    processors: Mapping[str, float]
    memory: Mapping[str, float]
    requests: Requests
    steps: int
    ledger: int
    usd: float
    planned_usd: float


def figures() -> list[Figure]:
    return [figure for shape in _shapes() for figure in _compared(shape, _made(shape))]


def _compared(shape: Shape, taken: Taken) -> Iterator[Figure]:
    run, memory = shape.predicted, taken.memory
    seconds, steps = run.hours * 3600, capacity.ledger_steps(run)
    note = f"{taken.calls:,} calls, load {os.getloadavg()[0]:.1f}"
    yield _line(shape, "time", "s", taken.seconds, seconds, note)
    yield _line(shape, "workers", "s", taken.processors["workers"], run.calls * capacity.WORKER_CALL_S)
    yield _line(shape, "driver", "s", taken.processors["driver"], capacity.driver_load(run) * seconds)
    yield _line(shape, "governor", "s", taken.processors["governor"], capacity.governor_load(run) * seconds)
    keeper_s = steps * (capacity.S3_CLIENT_S if shape.on_s3 else 0) + capacity.keeper_s(run)
    yield _line(shape, "keeper", "s", taken.processors["keeper"], keeper_s)
    yield _line(shape, "driver's memory", "MB", memory["driver"] / 1e6, capacity.DRIVER_BYTES / 1e6)
    yield _line(shape, "  grew", "MB", memory["driver grew"] / 1e6, run.tasks * capacity.TASK_BYTES / 1e6)
    yield _line(shape, "keeper's memory", "MB", memory["keeper"] / 1e6, capacity.KEEPER_BYTES / 1e6)
    yield _line(shape, "ledger", "MB", taken.ledger / 1e6, run.calls * capacity.LEDGER_BYTES / 1e6)
    yield _line(shape, "calls", "USD", taken.usd, taken.planned_usd, "the least, by --plan")
    if shape.on_s3:
        yield _line(shape, "S3 writes", "requests", writes(taken.requests), capacity.s3_writes(run), _said(taken))
        yield _line(shape, "  of the ledger", "requests", taken.steps, steps)
        yield _line(shape, "S3 reads", "requests", reads(taken.requests), run.tasks * capacity.PART_READS)
        usd = writes(taken.requests) * capacity.WRITE_USD + reads(taken.requests) * capacity.READ_USD
        yield _line(shape, "S3", "USD", usd, capacity.s3_usd(run))


def _said(taken: Taken) -> str:
    return ", ".join(f"{method} {count:,}" for method, count in sorted(taken.requests.items()))


def _line(  # noqa: PLR0917  columns of a line
    shape: Shape, name: str, unit: str, measured: float, computed: float, note: str = ""
) -> Figure:
    ratio = Spread.of([measured / computed]) if computed else None
    return Figure(f"{shape.name}: {name}", measured, computed, unit, ratio, None, note)


# ---------------------------------------------------------------- a run


def _made(shape: Shape) -> Taken:
    """Do all before the judge, and then the judge while it is watched."""
    with ExitStack() as stack:
        place = stack.enter_context(tempfile.TemporaryDirectory())
        at, requests = place, Requests()
        if shape.on_s3:
            server = stack.enter_context(running_s3_server(Path(place)))
            endpoint, requests = stack.enter_context(counted(server["AWS_ENDPOINT_URL"]))
            own = {**server, "AWS_ENDPOINT_URL": endpoint, "XDG_CACHE_HOME": f"{place}/cache"}
            stack.enter_context(environment_of(own))
            at = f"s3://{BUCKET}/check"
        fake = FakeSettings(delay_s=shape.reply_s, slow_share=0, requests_per_minute=shape.per_minute)
        url = stack.enter_context(fake_process(fake))
        return _judged(shape, url, Path(place), at, requests)


def _judged(shape: Shape, url: str, place: Path, at: str, requests: Requests) -> Taken:
    command = _command(shape, url, place, at)
    subprocess.run(
        [*command, "--ledger", f"{place}/before", "--until", "split", "--workers", "0"], check=True, **_QUIET
    )
    judge = [*command, "--ledger", f"{at}/ledger", "--until", "judge"]
    plan = subprocess.run([*judge, "--plan", "--json"], check=True, stdout=subprocess.PIPE, cwd=ROOT).stdout
    requests.clear()
    with subprocess.Popen([*judge, "--workers", str(shape.run.workers)], **_QUIET) as process:
        watch = _watched(process, lambda: int(_told(url, "counters")["accepted"]), shape.run.calls)
    assert process.returncode == 0
    seen, served = Requests(requests), _told(url, "served")
    sizes = Folder(at).sizes("ledger")
    ledger = Ledger.existing(f"{at}/ledger")
    try:
        usd = ledger.totals().known_usd
    finally:
        ledger.close()
    return Taken(
        seconds=max(one["done_s"] for one in served) - min(one["at_s"] for one in served),
        calls=len(served),
        processors=watch.processors,
        memory=watch.memory,
        requests=seen,
        steps=len(sizes),
        ledger=sum(sizes.values()),
        usd=usd,
        planned_usd=_least_usd(json.loads(plan)),
    )


_QUIET: Mapping[str, Any] = {"stdout": subprocess.DEVNULL, "cwd": ROOT}


def _least_usd(plan: Any) -> float:
    """Return the plan's lower end: nothing tells it yet how long replies are."""
    return float(plan["total"]["usd"]["low"])


def _told(url: str, what: str) -> Any:
    with urllib.request.urlopen(f"{url.removesuffix('/v1')}/{what}") as response:
        return json.load(response)


def _command(shape: Shape, url: str, place: Path, at: str) -> list[str]:
    """Return the command without ledger, workers and end; the benchmark that it needs is written."""
    os.environ.setdefault("OPENAI_API_KEY", "not-a-secret")
    chat = {"model": "fake", "base_url": url, "concurrency": shape.run.in_flight}
    chat |= {} if shape.per_minute is None else {"requests_per_minute": shape.per_minute}
    experiment = {
        "name": "check",
        "seed": 1,
        "retrievers": {"bm25": {"kind": "bm25"}},
        "summarizers": {
            "scripted": {"kind": "chat", "chat": {"provider": "scripted", "model": "scripted", "script": "obedient"}}
        },
        "judges": {"chat": {"kind": "chat", "chat": chat}},
        "systems": [{"retriever": "bm25", "budget_tokens": 300, "summarizer": "scripted"}],
        "resamples": 100,
    }
    (place / "check.yaml").write_text(yaml.safe_dump(experiment))
    (place / "prices.yaml").write_text(yaml.safe_dump(_PRICES))
    queries = round(shape.run.tasks)
    haystacks = (
        _haystack(number, min(_QUERIES_A_HAYSTACK, queries - number * _QUERIES_A_HAYSTACK), shape.run.calls_a_task)
        for number in range(ceil(queries / _QUERIES_A_HAYSTACK))
    )
    write_benchmark(f"{at}/bench", haystacks, sources=[{"name": "made", "sha256": ""}])
    paths = [str(place / "check.yaml"), "--bench", f"{at}/bench", "--out", f"{at}/run"]
    return [sys.executable, "-m", "jobs.evaluate", *paths, "--prices", str(place / "prices.yaml")]


def _haystack(number: int, queries: int, targets: int) -> HaystackRows:
    """Return rows of which no two have a text in common, so that no call is another's."""
    name = f"haystack {number}"
    documents = [
        Document(f"{name} {place}", name, place, None, f"The river of {name} rose {place} feet. " * 10)
        for place in range(3)
    ]
    asked = [
        Query(f"{name} query {place}", name, f"Which river of {name} rose in year {place}?") for place in range(queries)
    ]
    told = [
        Target(
            f"{query.query_id} {place}",
            "insight",
            query.query_id,
            name,
            place,
            None,
            f"It rose in {query.text} {place}",
        )
        for query in asked
        for place in range(targets)
    ]
    qrels = [Qrel(target.query_id, target.target_id, documents[0].doc_id, 1) for target in told]
    return HaystackRows(name, documents, asked, told, qrels)


# ---------------------------------------------------------------- watching it


class _Watch(NamedTuple):
    processors: dict[str, float]
    memory: dict[str, float]


class _Look(NamedTuple):
    seconds: dict[int, float]  # of the processor, by process
    memory: dict[str, float]  # of the largest process of each part
    roles: dict[int, str]


def _watched(process: subprocess.Popen[bytes], calls: Callable[[], int], most: int) -> _Watch:
    """Watch a command until it ends; what is counted begins with its first call and ends with its last."""
    looks: list[_Look] = []
    while process.poll() is None:
        if (made := calls()) > 0 and (made < most or len(looks) < 2):
            looks.append(_look(process.pid))
        time.sleep(_WATCH_S)
    first, last = looks[0], looks[-1]
    spent = dict.fromkeys(["driver", *_ROLES, "others"], 0.0)
    for pid, seconds in last.seconds.items():
        spent[last.roles[pid]] += seconds - first.seconds.get(pid, 0.0)
    memory = {role: max(look.memory.get(role, 0.0) for look in looks) for role in spent}
    return _Watch(spent, memory | {"driver grew": last.memory["driver"] - first.memory["driver"]})


def _look(driver: int) -> _Look:
    found = _Look({}, {}, {})
    root = psutil.Process(driver)
    for process in [root, *root.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            role = "driver" if process.pid == driver else _role(" ".join(process.cmdline()))
            times, memory = process.cpu_times(), process.memory_info().rss
            found.roles[process.pid] = role
            found.seconds[process.pid] = times.user + times.system
            found.memory[role] = max(found.memory.get(role, 0.0), memory)
    return found


def _role(title: str) -> str:
    return next((role for role, beginning in _ROLES.items() if title.startswith(beginning)), "others")
