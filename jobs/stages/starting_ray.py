"""
Starts a Ray of this process's own, again if the machine was too busy for Ray's deadline, or joins one; says why not.

If the command is a job that was submitted to a cluster, it says, too, that the folder it brought there is large.
"""

from __future__ import annotations

import logging
import os
import shutil
import signal
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import psutil

from actors.terminal import say
from jobs.stages.last_word import LastWord
from longform.errors import LongformError
from longform.halls import ROOT

Started = TypeVar("Started")

LARGE_BYTES = 20_000_000  # the code is under 13 MB; every node fetches and unpacks the whole package
_STARTS = 4
FIRST_WORD_S, NEXT_WORD_S = 2.0, 10.0  # of a Ray that starts
# ray/_private/node.py gives a raylet 30 s to register, and no setting changes it
_TOO_SLOW = "timed out during startup"
_ANSWERS_WITHIN_S = 10.0
_SETTINGS = b"\4"  # the kind of frame with which either side of HTTP/2, and of gRPC, begins
_HTTP_2 = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + _SETTINGS + bytes(5)
_RAY_WRITES_BYTES = 50_000_000  # sessions of an hour have left 2 to 10 MB of logs
_OBJECT_STORE_BYTES = 200_000_000  # tasks carry ids and receipts, never texts


class ClusterError(LongformError):
    """Ray could not be started or joined; nothing was done."""


def start_or_join(address: str | None, *, cpus: int) -> bool:
    """
    Join the Ray at *address*, or start one with so many processors; return False if this process has one already.

    Raises:
        ClusterError: It does not start, or nobody answers at the address.
    """
    os.environ.setdefault("RAY_DATA_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # it warns of every actor pool's arguments
    import ray

    _notices_on_stderr()
    if ray.is_initialized():
        return False
    what = f"joining the Ray at {address}" if address else f"starting Ray with {cpus} processors"
    with our_handler_of_sigterm(), _telling(what):
        try:
            _join(address) if address else _start(cpus)
        except ClusterError:
            raise
        except Exception as error:
            raise ClusterError(_why_not(address, error)) from error
    import ray.data  # its import sets its loggers up

    for name in ("ray", "ray.data"):
        logging.getLogger(name).setLevel(logging.ERROR)
    return True


def _join(address: str) -> None:
    import ray

    _check_answers(address)
    with LastWord().hearing():
        ray.init(address=address, log_to_driver=False, logging_level="error")
    if words := large_package(ray.get_runtime_context().runtime_env, Path.cwd()):
        say(words, file=sys.stderr)


def _start(cpus: int) -> None:
    _check_room()
    os.environ.setdefault("RAY_AUTH_MODE", "disabled")  # ours alone, on loopback
    start_local_ray(num_cpus=cpus, object_store_memory=_OBJECT_STORE_BYTES)


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
        with LastWord().hearing():
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
        before = set(psutil.Process().children(recursive=True))
        try:
            return start()
        except Exception as error:
            _end_those_since(before)
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
def _telling(what: str) -> Iterator[None]:
    """Say after two seconds of the `with` what is waited for, and every ten seconds that it still is."""
    since, over = time.monotonic(), threading.Event()

    def tell() -> None:
        wait_s = FIRST_WORD_S
        while not over.wait(wait_s):
            wait_s = NEXT_WORD_S
            say(f"{what}, {time.monotonic() - since:.0f} s so far", file=sys.stderr, flush=True)

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _end_those_since(before: set[psutil.Process]) -> None:
    processes = set(psutil.Process().children(recursive=True)) - before
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(processes, timeout=20)


@contextmanager
def our_handler_of_sigterm() -> Iterator[None]:
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
    """Ask for a connection, and for gRPC on it: Ray itself tries for eight minutes at a place that has none."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        with socket.create_connection((host, int(port)), timeout=_ANSWERS_WITHIN_S) as there:
            there.sendall(_HTTP_2)
            if os.environ.get("RAY_USE_TLS", "0") == "0" and there.recv(9)[3:4] != _SETTINGS:
                raise ConnectionError("a server listens there that is no Ray: it speaks no gRPC")


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


# ---------------------------------------------------------------- the working folder that a submitted job brought


def large_package(runtime_env: Any, folder: Path) -> str | None:
    """Return the words for a job whose package, unpacked in *folder*, is large; None for another job or process."""
    if not runtime_env.get("working_dir"):
        return None
    sizes = _sizes(folder)
    total = sum(sizes.values())
    if total <= LARGE_BYTES:
        return None
    largest = ", ".join(f"{name} {size / 1e6:.1f} MB" for name, size in sizes.most_common(3))
    return (
        f"the package of this job is {total / 1e6:.1f} MB unpacked, and every node fetches it; the largest in it: "
        f"{largest}. Keep what is not code on s3://, or name it in .rayignore"
    )


def _sizes(folder: Path) -> Counter[str]:
    """
    Return the bytes of each entry of *folder*, with all that stands below it, less what Python has compiled since.

    Other processes of the node use the same folder: a file that goes meanwhile counts nothing.
    """
    sizes: Counter[str] = Counter()
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for path in (Path(place, name) for name in files):
            with suppress(FileNotFoundError):
                sizes[path.relative_to(folder).parts[0]] += path.lstat().st_size
    return sizes
