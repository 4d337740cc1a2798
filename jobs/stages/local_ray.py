"""Starts a Ray of this process's own, again if the machine was too busy for Ray's deadline."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import psutil

from actors.terminal import say
from longform.halls import ROOT

Started = TypeVar("Started")

_STARTS = 4
_LEVEL_LINE = b"Set ray log level from environment variable"
# ray/_private/node.py gives a raylet 30 s to register, and no setting changes it
_TOO_SLOW = "timed out during startup"


def start_local_ray(**settings: Any) -> None:
    """
    Start a Ray that no other process joins; *settings* are those of `ray.init`.

    Raises:
        Exception: Whatever Ray raises if it does not start.
    """
    import ray

    os.environ.setdefault("RAY_prestart_worker_first_driver", "0")  # if one dies, or takes a minute, Ray waits for ever
    settings = {"job_config": _job_config(), "include_dashboard": False, "log_to_driver": False} | settings

    def start() -> None:
        with without_its_log_level():
            ray.init(address="local", logging_level="error", **settings)

    started_in_time(start)


def started_in_time(start: Callable[[], Started]) -> Started:
    """
    Return what *start* returns, which starts processes of Ray.

    A busy machine misses Ray's deadline for its own processes. They are ended then, and started again at most three
    times.

    Raises:
        Exception: Whatever Ray raises if it does not start.
    """
    for left in reversed(range(_STARTS)):
        before = _children()
        try:
            return start()
        except Exception as error:
            _end(_children() - before)
            if left == 0 or _TOO_SLOW not in str(error):
                raise
            say("Ray did not start within 30 s: the machine is busy; starting it again", file=sys.stderr)
    raise AssertionError(_STARTS)


def _job_config() -> Any:
    """
    Return a job configuration by which workers look for our packages before they look into the command's folder.

    Ray puts that folder in front of all others, and it may have a `jobs/` of its own.
    """
    from ray.job_config import JobConfig

    class OursFirst(JobConfig):  # type: ignore[misc]
        def _serialize(self) -> bytes:
            self._py_driver_sys_path.append(str(ROOT))  # the last one stands first
            serialized: bytes = super()._serialize()
            return serialized

    return OursFirst()


@contextmanager
def without_its_log_level() -> Iterator[None]:
    """Drop the line by which Ray's native code says on file descriptor 2 how much it logs; pass on all others."""
    with tempfile.TemporaryFile() as held:
        sys.stderr.flush()
        ours = os.dup(2)
        os.dup2(held.fileno(), 2)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(ours, 2)
            os.close(ours)
            held.seek(0)
            for line in held:
                if _LEVEL_LINE not in line:
                    os.write(2, line)


def _children() -> set[psutil.Process]:
    return set(psutil.Process().children(recursive=True))


def _end(processes: set[psutil.Process]) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(processes, timeout=20)
