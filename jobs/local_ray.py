"""Starts a Ray of this process's own, again if the machine was too busy for Ray's deadline."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any

import psutil

_STARTS = 4
_TOO_SLOW = (
    "timed out during startup"  # ray/_private/node.py gives a raylet 30 s to register, and no setting changes it
)


def start_local_ray(**settings: Any) -> None:
    """
    Start a Ray that no other process joins; *settings* are those of `ray.init`.

    A busy machine misses Ray's deadline for its own processes. They are ended then, and started again at most three
    times.

    Raises:
        Exception: Whatever Ray raises if it does not start.
    """
    import ray

    for left in reversed(range(_STARTS)):
        before = _children()
        try:
            ray.init(address="local", include_dashboard=False, log_to_driver=False, logging_level="error", **settings)
        except Exception as error:
            _end(_children() - before)
            if left == 0 or _TOO_SLOW not in str(error):
                raise
            print("Ray did not start within 30 s: the machine is busy; starting it again", file=sys.stderr)
        else:
            return


def _children() -> set[psutil.Process]:
    return set(psutil.Process().children(recursive=True))


def _end(processes: set[psutil.Process]) -> None:
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(processes, timeout=20)
