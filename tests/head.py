"""A Ray cluster on this machine as `ray start` makes it, for commands that speak to its dashboard."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from tests.places import ROOT

_BIN = Path(sys.executable).parent
_STARTS = 3
_HEAD_PORTS = ("port", "dashboard-port", "ray-client-server-port")
_NODE_PORTS = (
    "dashboard-agent-listen-port",
    "dashboard-agent-grpc-port",
    "metrics-export-port",
    "runtime-env-agent-port",
)


class NotStartedError(Exception):
    """A node ended before it ran, with what it said."""


@dataclass(frozen=True, kw_only=True)
class Head:
    """A cluster: where jobs are sent, and where it keeps its files."""

    address: str
    folder: Path

    def submit(self, *entrypoint: str, submission_id: str) -> subprocess.CompletedProcess[str]:
        """Send a command of Python with the repository as its working directory, and wait for its end."""
        options = ["--address", self.address, "--submission-id", submission_id, "--working-dir", str(ROOT)]
        return command("ray", "job", "submit", *options, "--", "python", *entrypoint)


def command(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command of this environment; a test reads the text that it prints."""
    return subprocess.run(
        [str(_BIN / name), *arguments], capture_output=True, text=True, timeout=900, check=False, env=environment()
    )


def environment() -> dict[str, str]:
    """Ours with this Python first on the path: a job's entrypoint says `python`, and inherits the path of the head."""
    path = os.pathsep.join([str(_BIN), os.environ["PATH"]])
    return os.environ | {"PATH": path, "PYTHONUNBUFFERED": "1"}


@contextmanager
def running_head(*, cpus: int, further_nodes: int = 0) -> Iterator[Head]:
    """
    A cluster on ports and in a folder of its own; at the end only its own processes are stopped.

    Args:
        cpus: Processors that each node says it has.
        further_nodes: Beside the head.
    """
    with ExitStack() as stack:
        yield _started(stack, cpus=cpus, further_nodes=further_nodes)


def _started(outer: ExitStack, *, cpus: int, further_nodes: int) -> Head:
    """Start the nodes into *outer*; a busy machine misses Ray's deadline of 30 s, and all are started again then."""
    for left in reversed(range(_STARTS)):
        with ExitStack() as stack:
            try:
                head = _start(stack, cpus=cpus, further_nodes=further_nodes)
            except NotStartedError as error:
                if left == 0:
                    pytest.fail(str(error))
            else:
                outer.push(stack.pop_all())
                return head
    raise AssertionError


def _start(stack: ExitStack, *, cpus: int, further_nodes: int) -> Head:
    ports = _free_ports(_HEAD_PORTS)
    folder = _folder_of_node(stack)
    dashboard = ("--dashboard-host", "127.0.0.1")
    stack.enter_context(_node("--head", "--temp-dir", folder, *dashboard, ports=ports, cpus=cpus))
    for _ in range(further_nodes):
        address = ("--address", f"127.0.0.1:{ports['port']}")
        stack.enter_context(_node(*address, "--temp-dir", _folder_of_node(stack), ports={}, cpus=cpus))
    return Head(address=f"http://127.0.0.1:{ports['dashboard-port']}", folder=Path(folder))


def _folder_of_node(stack: ExitStack) -> str:
    """
    Return a folder for the files of one node, as each machine has one.

    In a common one, a node that unpacks a job's working directory removes the one in which the job works on another.
    The path of a socket in it must stay below 108 characters.
    """
    return stack.enter_context(tempfile.TemporaryDirectory(prefix="lf", dir="/tmp", ignore_cleanup_errors=True))


@contextmanager
def _node(*options: str, ports: dict[str, int], cpus: int) -> Iterator[None]:
    own = ports | _free_ports(_NODE_PORTS)
    started = [str(_BIN / "ray"), "start", "--block", "--node-ip-address", "127.0.0.1", *options]
    started += ["--num-cpus", str(cpus), "--object-store-memory", "200000000"]
    started += ["--min-worker-port", "0", "--max-worker-port", "0"]
    started += [f"--{name}={port}" for name, port in own.items()]
    with subprocess.Popen(
        started, stdout=subprocess.PIPE, text=True, start_new_session=True, env=environment()
    ) as process:
        try:
            _wait_until_started(process)
            yield
        finally:
            _stop(process)


def _free_ports(names: Sequence[str]) -> dict[str, int]:
    """Ports that nothing listens on; all are held until all are known, so that they differ."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in names]
    ports = [held.getsockname()[1] for held in sockets]
    for held in sockets:
        held.close()
    return dict(zip(names, ports, strict=True))


def _wait_until_started(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    said = []
    for line in process.stdout:
        said.append(line)
        if "Ray runtime started" in line:
            return
    raise NotStartedError(f"the node did not start:\n{''.join(said)}")


def _stop(process: subprocess.Popen[str]) -> None:
    """
    End the node's process group, and those of its descendants that left it.

    At once: a group that is asked to end loses its control store first, and its head then waits half a minute for it.
    """
    if process.poll() is not None:
        return
    descendants = psutil.Process(process.pid).children(recursive=True)
    os.killpg(process.pid, signal.SIGKILL)
    for descendant in descendants:
        with suppress(psutil.NoSuchProcess):
            descendant.kill()
    psutil.wait_procs(descendants, timeout=20)
