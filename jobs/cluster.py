"""Start or join Ray: once a command, and only where there is work for it."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
import threading
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from jobs.job_package import large_package

_OBJECT_STORE_BYTES = 200_000_000  # tasks carry ids and receipts, never texts


class Cluster:
    """
    Where stages run: the Ray this process has joined, the one at *address* or RAY_ADDRESS, else a local one of its own.

    A local one is always new (a plain `ray.init()` would join whatever runs on the machine) and ends with the `with`.

    Attributes:
        workers: Processes a stage may use.
        cpus: Of each.
    """

    def __init__(self, *, address: str | None, workers: int, cpus: float = 1) -> None:
        self.workers, self.cpus = workers, cpus
        self._address = address or os.environ.get("RAY_ADDRESS")
        self._started_here = False

    @property
    def is_named(self) -> bool:
        """Whether it is a Ray that somebody else has started."""
        return bool(self._address)

    def start(self) -> None:
        """Make sure that Ray runs; the second call does nothing."""
        os.environ.setdefault("RAY_DATA_DISABLE_PROGRESS_BARS", "1")
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # it warns of every actor pool's arguments
        import ray

        _notices_on_stderr()
        if ray.is_initialized():
            return
        on_sigterm = signal.getsignal(signal.SIGTERM)
        if self._address:
            ray.init(address=self._address, log_to_driver=False, logging_level="error")
            if words := large_package(ray.get_runtime_context().runtime_env, Path.cwd()):
                print(words, file=sys.stderr)
        else:
            os.environ.setdefault("RAY_AUTH_MODE", "disabled")  # ours alone, on loopback
            ray.init(
                address="local",
                num_cpus=max(2, int(self.workers * self.cpus)),
                include_dashboard=False,
                object_store_memory=_OBJECT_STORE_BYTES,
                log_to_driver=False,
                logging_level="error",
            )
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, on_sigterm)  # Ray puts a handler in its place that aborts
        self._started_here = True
        import ray.data  # its import sets its loggers up

        for name in ("ray", "ray.data"):
            logging.getLogger(name).setLevel(logging.ERROR)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._started_here:
            import ray

            ray.shutdown()


@cache
def _notices_on_stderr() -> None:
    """Ray prints notices of the cluster among the results of a command, `log_to_driver=False` or not."""
    from ray._private import worker

    prints = worker.print_to_stdstream

    def on_stderr(data: dict[str, Any], ignore_prefix: bool) -> None:  # Ray's own signature
        prints(data | {"is_err": True}, ignore_prefix)

    worker.print_to_stdstream = on_stderr


def add_cluster_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--workers", type=int, default=2, help="processes a stage may use")
    parser.add_argument("--ray-address", help="a running cluster; default: RAY_ADDRESS, else one of its own")


def cluster_of(arguments: argparse.Namespace) -> Cluster:
    return Cluster(address=arguments.ray_address, workers=arguments.workers)
