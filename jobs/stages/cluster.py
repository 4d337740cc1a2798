"""Start or join Ray: once a command, and only if there is work for it."""

from __future__ import annotations

import argparse
import logging
import os
import shutil
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from actors.terminal import say
from jobs.stages.inbox import Inbox
from jobs.stages.job_package import large_package
from jobs.stages.local_ray import start_local_ray, without_its_log_level
from longform.errors import LongformError, UsageError

_WORKERS = 2  # unless told
_START_S = 12.0  # Ray, and workers that load their models
_HAND_OVER_S = 5.0  # the latter alone
_ANSWERS_WITHIN_S = 10.0
_RAY_WRITES_BYTES = 50_000_000  # sessions of an hour have left 2 to 10 MB of logs
_OBJECT_STORE_BYTES = 200_000_000  # tasks carry ids and receipts, never texts


class ClusterError(LongformError):
    """Ray could not be started or joined; nothing was done."""


class Cluster:
    """
    The Ray on which stages run: the one this process has joined, the one at *address* or RAY_ADDRESS, else a local one
    of its own.

    A local one is always new (a plain `ray.init()` would join any Ray on the machine) and ends with the `with`.

    A stage uses so many *workers*, of *cpus* each; 0: none but the command's own; None: a Ray of its own is started for
    stages that are done sooner on it, and each stage is begun without.
    """

    def __init__(self, *, address: str | None, workers: int | None, cpus: float = 1) -> None:
        self._address = address or os.environ.get("RAY_ADDRESS")
        self.workers, self.cpus = workers or _WORKERS, cpus
        self.lacks_ray = not self._address and find_spec("ray") is None
        self.in_process = workers == 0 or (workers is None and self.lacks_ray)
        self.measures = workers is None and not self._address  # a stage begins here, and goes on where it ends sooner
        self.inbox = Inbox()
        self._started_here = False
        self._begun: Future[None] | None = None
        # Ray's processes end with the thread that started them, so this one lasts as long as the command
        self._starter = ThreadPoolExecutor(1, "ray")

    def ends_sooner(self, rest_s: float, *, cores: int) -> bool:
        """Return whether *rest_s* seconds on *cores* of one process are done sooner on Ray, its start included."""
        sooner = rest_s * (1 - cores / self.workers) > (_HAND_OVER_S if self._started_here else _START_S)
        if sooner and self.lacks_ray:
            _tell_of_ray()
        return sooner and not self.lacks_ray

    @property
    def is_named(self) -> bool:
        """Return whether it is a Ray that was started elsewhere."""
        return bool(self._address)

    def prepare(self) -> None:
        """
        Begin to start Ray beside what the command does until `start`.

        Nothing is begun if stages may turn out to run without, or if Ray runs elsewhere.
        """
        if not (self.in_process or self.measures or self.is_named or self._begun):
            import ray.data  # noqa: F401  # before another thread does: half of it is seen by the one that comes second
            from ray._private import utils, worker  # noqa: F401

            self._begun = self._starter.submit(self._start)

    def start(self) -> None:
        """
        Make sure that Ray runs; the second call does nothing.

        Raises:
            ClusterError: It does not start, or nobody answers at the address.
        """
        if self._begun is None:
            self._start()
        else:
            with _our_handler_of_sigterm():
                self._begun.result()

    def n_with_gpus(self, gpus: float) -> int:
        """Return how many workers that each ask for so many GPUs the cluster has room for; for none, its workers."""
        if not gpus:
            return self.workers
        import ray

        nodes = (node["Resources"].get("GPU", 0.0) for node in ray.nodes() if node["Alive"])
        return max(1, sum(int(found / gpus + 1e-9) for found in nodes))

    def has_gpus(self) -> bool:
        """Return whether a node of the cluster, which runs, has a GPU."""
        import ray

        return bool(ray.cluster_resources().get("GPU"))

    def check_gpus(self, gpus: float, who: str) -> None:
        """
        Make sure that a worker can have so many GPUs.

        Raises:
            UsageError: No node of the cluster has as many, or, without workers, this process sees none.
            ClusterError: As of `start`.
        """
        wanted = f"{who} asks for num_gpus {gpus:g}"
        if self.in_process:
            import torch

            if (n := torch.cuda.device_count()) < gpus:
                raise UsageError(f"{wanted}, and this process sees {n} GPUs; leave `resources` out to use processors")
            return
        self.start()
        import ray

        nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
        if max((node.get("GPU", 0.0) for node in nodes), default=0.0) < gpus:
            has = "; ".join(f"{node.get('CPU', 0):g} CPU, {node.get('GPU', 0):g} GPU" for node in nodes)
            raise UsageError(
                f"{wanted}, and no node of this cluster has as many: it has {has}; join one that has by --ray-address, "
                "or leave `resources` out to use processors"
            )

    def start_for_calls(self) -> None:
        """
        Start Ray before the first model call if stages may run there: what all of them ask must be where all reach it.

        Raises:
            ClusterError: As of `start`.
        """
        if not self.in_process:
            self.start()

    def _start(self) -> None:
        os.environ.setdefault("RAY_DATA_DISABLE_PROGRESS_BARS", "1")
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # it warns of every actor pool's arguments
        import ray

        _notices_on_stderr()
        if ray.is_initialized():
            return
        with _our_handler_of_sigterm():
            try:
                self._init()
            except ClusterError:
                raise
            except Exception as error:
                raise ClusterError(_why_not(self._address, error)) from error
        self._started_here = True
        import ray.data  # its import sets its loggers up

        for name in ("ray", "ray.data"):
            logging.getLogger(name).setLevel(logging.ERROR)

    def _init(self) -> None:
        import ray

        if self._address:
            _check_answers(self._address)
            with without_its_log_level():
                ray.init(address=self._address, log_to_driver=False, logging_level="error")
            if words := large_package(ray.get_runtime_context().runtime_env, Path.cwd()):
                say(words, file=sys.stderr)
            return
        _check_room()
        os.environ.setdefault("RAY_AUTH_MODE", "disabled")  # ours alone, on loopback
        start_local_ray(num_cpus=max(2, int(self.workers * self.cpus)), object_store_memory=_OBJECT_STORE_BYTES)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._begun is not None:
            wait([self._begun])
        if self._started_here:
            import ray

            ray.shutdown()


@cache
def _tell_of_ray() -> None:
    told = "stages run in this process, and would end sooner on Ray: pip install 'longform[ray]'; --workers 0 is silent"
    say(told, file=sys.stderr)


@contextmanager
def _our_handler_of_sigterm() -> Iterator[None]:
    """Keep Ray from putting handlers in our place: they end the process without our word and with another exit code."""
    from ray._private import utils

    ours, set_handler = signal.getsignal(signal.SIGTERM), utils.set_sigterm_handler
    utils.set_sigterm_handler = lambda _: None
    try:
        yield
    finally:
        utils.set_sigterm_handler = set_handler
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, ours)  # Ray's native code has put one there, too, which aborts


def _check_room() -> None:
    """Refuse to start Ray on a full disk: its workers would die and start again without end."""
    from ray._common.utils import get_default_system_temp_dir

    folder = get_default_system_temp_dir()
    free = shutil.disk_usage(folder).free
    if free < _RAY_WRITES_BYTES:
        raise ClusterError(
            f"Ray was not started: {folder}, where it writes, has {free / 1e6:.1f} MB left and Ray needs "
            f"{_RAY_WRITES_BYTES / 1e6:.0f} MB; make room there, or name another folder by RAY_TMPDIR; the same "
            "command goes on afterwards"
        )


def _check_answers(address: str) -> None:
    """Ask for a connection: Ray itself tries for eight minutes at a place where nobody listens."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host, int(port)), timeout=_ANSWERS_WITHIN_S).close()


def _why_not(address: str | None, error: Exception) -> str:
    said = " ".join(f"{type(error).__name__}: {error}".split())[:500]
    if address:
        return (
            f"the Ray at {address} cannot be joined; look whether it runs, and at --ray-address and RAY_ADDRESS. "
            f"The answer: {said}"
        )
    return (
        "Ray did not start; see whether the machine is overloaded and whether there is room in Ray's folder "
        f"(RAY_TMPDIR, by default /tmp), or join one that runs with --ray-address. The answer: {said}"
    )


@cache
def _notices_on_stderr() -> None:
    """Ray prints notices of the cluster among the results of a command, `log_to_driver=False` or not."""
    from ray._private import worker

    prints = worker.print_to_stdstream

    def on_stderr(data: dict[str, Any], ignore_prefix: bool) -> None:  # Ray's own signature
        prints(data | {"is_err": True}, ignore_prefix)

    worker.print_to_stdstream = on_stderr


def cluster_of(arguments: argparse.Namespace) -> Cluster:
    return Cluster(address=arguments.ray_address, workers=arguments.workers)
