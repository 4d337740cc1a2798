"""Parts of the kill tests: a provider that counts, commands in sessions of their own, and their remains."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Protocol, Self
from urllib.request import urlopen

import psutil
import pytest
import yaml

from actors.ledger.ledger import Ledger
from actors.ledger.totals import Totals
from actors.storage.folder import Folder
from jobs.stages.starting_ray import started_in_time
from tests.places import ROOT

N_MOMENTS = int(os.environ.get("LONGFORM_SOAK", "1"))
WORKERS, CONCURRENCY = 2, 12
MOST_LEASED = CONCURRENCY + CONCURRENCY // 2 + 1  # a worker's calls that are leased or under way, as the pool has it
USD_A_TOKEN = 1e-6
PRICES = {"date": "2026-01-01", "models": {"fake": {"input": 1.0, "output": 1.0}}}  # dollars a million, all alike

_POLL_S = 0.1  # a poll lists all processes, or asks the provider
_PATIENCE_S = 900.0  # a machine with other work is no failure


def until(holds: Callable[[], bool], what: str, within_s: float = _PATIENCE_S) -> None:
    """Wait for what another process does."""
    ends = time.monotonic() + within_s
    while not holds():
        if time.monotonic() > ends:
            pytest.fail(f"not within {within_s} s: {what}")
        time.sleep(_POLL_S)


def moments(victim: str, *, first: int, last: int) -> list[int]:
    """Return moments to kill at: seeded numbers of calls that the provider has let in."""
    return random.Random(victim).sample(range(first, last + 1), N_MOMENTS)


class Fake:
    """A running fake provider."""

    def __init__(self, url: str) -> None:
        self.url = url

    def counters(self) -> dict[str, Any]:
        return dict(self._told("counters"))

    def served_again(self) -> list[dict[str, Any]]:
        """Each serving of a content after its first."""
        seen: Counter[str] = Counter()
        again = []
        for one in self._told("served"):
            seen[one["content"]] += 1
            again += [one] if seen[one["content"]] > 1 else []
        return again

    def reset(self) -> None:
        self._told("reset")

    def _told(self, path: str) -> Any:
        with urlopen(f"{self.url.removesuffix('/v1')}/{path}", timeout=300) as answer:
            return json.load(answer)


@dataclass(frozen=True, kw_only=True)
class Place:
    """A benchmark, an experiment and its prices; each run is a folder with a ledger beside it."""

    bench: str
    config: Path
    prices: Path

    @classmethod
    def make(cls, folder: Path, bench: str, experiment: dict[str, Any]) -> Place:
        config, prices = folder / "killed.yaml", folder / "prices.yaml"
        config.write_text(yaml.safe_dump(experiment))
        prices.write_text(yaml.safe_dump(PRICES))
        return cls(bench=bench, config=config, prices=prices)

    def arguments(self, folder: Path) -> list[str]:
        paths = ["--bench", self.bench, "--out", f"{folder}/run", "--ledger", f"{folder}/ledger"]
        return [str(self.config), *paths, "--prices", str(self.prices)]

    def command(self, folder: Path, until: str) -> list[str]:
        """A module and its arguments, but for `--workers`."""
        return ["jobs.evaluate", *self.arguments(folder), "--until", until]


class Runnable(Protocol):
    """A command to run."""

    def command(self, folder: Path, until: str) -> list[str]: ...


class Command:
    """
    `longform VERB` as a process that leads a session; leaving the context ends whatever of it is left.

    Args:
        place: The work to run.
        folder: Where its run, its ledger and what it says go.
        address: Address of the Ray to join; None: one of its own.
        until: The last stage to do.
        workers: Processes on Ray; 0: none, for a run that nobody disturbs, whose tables are the same.
    """

    def __init__(
        self,
        place: Runnable,
        folder: Path,
        *,
        address: str | None = None,
        until: str = "report",
        workers: int = WORKERS,
    ) -> None:
        self._said = folder / "said.txt"
        command = [sys.executable, "-m", *place.command(folder, until), "--workers", str(workers)]
        command += ["--ray-address", address] if address else []
        environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_ADDRESS")}
        environment |= {"OPENAI_API_KEY": "not-a-secret", "HF_HUB_OFFLINE": "1"}
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell in whose background the tests run; inherited
            signal.signal(signal.SIGINT, signal.default_int_handler)
        with self._said.open("a") as said:
            self._process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=said, stderr=said, start_new_session=True
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        kill_all(self.processes())
        self._process.wait()

    def processes(self) -> list[psutil.Process]:
        """All of its session, its Ray's among them, whoever their parent is by now."""
        return [process for process in psutil.process_iter() if self._owns(process) and lives(process)]

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def is_running(self) -> bool:
        return self._process.poll() is None

    def wait(self, within_s: float = _PATIENCE_S) -> int:
        """The exit code."""
        with suppress(subprocess.TimeoutExpired):
            return self._process.wait(within_s)
        pytest.fail(f"still running after {within_s} s:\n{self.said()}")

    def gone(self) -> None:
        """
        Wait until nothing of its session is left but Ray's two agents.

        For a minute they tell a control store that is gone, too, of their raylet's death; they call no model.
        """
        until(lambda: not self._left(), f"the end of {self._left()}")

    def _left(self) -> list[psutil.Process]:
        left = self.processes()
        agents = titled(left, "DashboardAgent", "RuntimeEnvAgent")
        return [process for process in left if process not in agents]

    def said(self) -> str:
        return self._said.read_text()

    def reach(self, fake: Fake, moment: int) -> None:
        """Wait until the provider has let *moment* calls in."""
        until(lambda: fake.counters()["accepted"] >= moment or not self.is_running(), f"call {moment}")
        assert self.is_running(), self.said()

    def _owns(self, process: psutil.Process) -> bool:
        with suppress(ProcessLookupError):
            return os.getsid(process.pid) == self._process.pid
        return False


def lives(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess):
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    return False


def titled(processes: Sequence[psutil.Process], *titles: str) -> list[psutil.Process]:
    """Ray's processes with one of *titles*, an actor's being its class; the oldest first."""
    beginnings = tuple(f"ray::{title}" for title in titles)
    found = []
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            if " ".join(process.cmdline()).startswith(beginnings):
                found.append((process.create_time(), process.pid, process))
    return [process for *_, process in sorted(found, key=lambda one: one[:2])]


def kill_all(processes: Sequence[psutil.Process]) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.kill()


class Bill(NamedTuple):
    """The provider's count of served calls, and the ledger's account of them."""

    n_let_in: int  # and refused
    n_again: int  # servings of what had been served before
    again_usd: float
    ledger: Totals


def bill(fake: Fake, folder: Path) -> Bill:
    counters, again = fake.counters(), fake.served_again()
    ledger = Ledger.existing(f"{folder}/ledger")
    try:
        totals = ledger.totals()
    finally:
        ledger.close()
    usd = sum(one["tokens"] for one in again) * USD_A_TOKEN
    return Bill(counters["accepted"] + counters["refused"], len(again), usd, totals)


def stages(folder: Path) -> list[dict[str, Any]]:
    """Return the last command's work, stage by stage."""
    return list(Folder(f"{folder}/run").read_json("run.json")["last_call"]["stages"])


class Node(NamedTuple):
    """A raylet with its workers, and a folder that dies with them."""

    ray: Any
    folder: Path

    def processes(self) -> list[psutil.Process]:
        return _processes(self.ray)


def _processes(node: Any) -> list[psutil.Process]:
    raylet = psutil.Process(node.all_processes["raylet"][0].process.pid)
    return [raylet, *raylet.children(recursive=True)]


class Nodes:
    """
    A cluster on one machine, its head without room for workers.

    Args:
        folder: Where each node has a folder of its own, for its ledger, its caches and its temporary files.
        n: Nodes beside the head.
        cpus: Processors of each.
    """

    def __init__(self, folder: Path, *, n: int, cpus: int) -> None:
        from ray.cluster_utils import Cluster

        self._folder, self._cpus = folder, cpus
        # not where the machine's other clusters are; the path of a socket in it must stay below 108 characters
        self._session = tempfile.TemporaryDirectory(prefix="lf", dir="/tmp", ignore_cleanup_errors=True)
        self._environment = pytest.MonkeyPatch()
        self._environment.setenv("RAY_TMPDIR", self._session.name)
        quick = {"health_check_period_ms": 500, "health_check_timeout_ms": 10_000, "health_check_failure_threshold": 5}
        # ours to shut down: its own reaper would end the process group of the tests
        head = {"num_cpus": 0, "include_dashboard": False, "_system_config": quick}
        self._cluster = started_in_time(
            lambda: Cluster(initialize_head=True, head_node_args=head, shutdown_at_exit=False)
        )
        self._nodes: list[Node] = []
        self._n_made = 0
        for _ in range(n):
            self.add()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._cluster.shutdown()
        self._environment.undo()
        self._session.cleanup()

    @property
    def address(self) -> str:
        return str(self._cluster.address)

    def add(self) -> None:
        folder = self._folder / f"node{self._n_made}"
        folder.mkdir()
        self._n_made += 1
        own = {"LONGFORM_LEDGER": f"{folder}/ledger", "XDG_CACHE_HOME": f"{folder}/cache", "TMPDIR": str(folder)}
        ray = started_in_time(lambda: self._cluster.add_node(num_cpus=self._cpus, env_vars=os.environ | own))
        self._nodes.append(Node(ray, folder))

    def titled(self, title: str) -> list[psutil.Process]:
        """The cluster's processes of an actor class, the oldest first."""
        nodes = [self._cluster.head_node, *(node.ray for node in self._nodes)]
        return titled([process for node in nodes for process in _processes(node)], title)

    def with_process(self, title: str) -> list[Node]:
        return [node for node in self._nodes if titled(node.processes(), title)]

    def kill(self, node: Node) -> None:
        """All at once, as when a machine loses its power."""
        kill_all(node.processes())
        shutil.rmtree(node.folder)
        self._nodes.remove(node)
        self._cluster.worker_nodes.remove(node.ray)
