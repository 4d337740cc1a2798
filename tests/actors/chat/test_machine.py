"""Commands on one machine share a limit, and a call that several need is paid once."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import signal
import socket
import sys
from asyncio.subprocess import PIPE, Process
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from threading import Thread
from typing import IO

import pytest

from actors.chat.governor import MachineGovernor
from actors.chat.machine import OneOfMachine
from actors.rehearsal.fake_provider import FakeProvider
from longform.quota.leases import Accepted, Lease, LeaseAsk, Left, QuotaLimits
from longform.rehearsal.settings import FakeSettings

NOTHING_TOLD = QuotaLimits()
A_MINUTE = 600.0
UNHURRIED = FakeSettings(delay_s=0.1, slow_share=0.0)
N = 20
_PATIENCE_S = 60.0  # for a line of a command, however busy the machine is

_COMMAND = """
import asyncio, json, sys
from actors.chat.model import CallContext
from actors.chat.opening import open_pool
from longform.chat.call import ChatRequest, Message
from longform.settings.chat import ChatSettings

async def run(name, topic, url, ledger, n, told):
    settings = ChatSettings(model="m", base_url=url, concurrency=int(n), **json.loads(told))
    pool = open_pool(settings, CallContext(job=name, stage="test", ledger=ledger))

    async def ask(number):
        reply = await pool.complete(ChatRequest(messages=(Message("user", f"{topic} {number}"),), max_tokens=20))
        print(reply.failure or "answered", flush=True)

    print("ready", flush=True)
    sys.stdin.readline()
    await asyncio.gather(*(ask(number) for number in range(int(n))))
    await pool.close()

asyncio.run(run(*sys.argv[1:]))
"""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a machine of this test's alone."""
    folder = tmp_path / "m"
    monkeypatch.setenv("LONGFORM_MACHINE", str(folder))
    return folder


class Command:
    """A process that makes `N` calls when it is told to begin."""

    def __init__(self, process: Process) -> None:
        self._process = process

    async def line(self) -> str:
        assert self._process.stdout is not None
        async with asyncio.timeout(_PATIENCE_S):
            return (await self._process.stdout.readline()).decode().strip()

    def begin(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(b"\n")

    async def hear(self, n: int = N) -> None:
        """Wait for *n* more answers."""
        for _ in range(n):
            assert await self.line() == "answered"

    async def kill(self) -> None:
        if self._process.returncode is None:
            self._process.send_signal(signal.SIGKILL)
        await self._process.communicate()


@asynccontextmanager
async def two_commands(
    fake: FakeProvider, folder: Path, *, shared: str = "", **told: float
) -> AsyncIterator[list[Command]]:
    """Yield two that are ready to begin: with a ledger and calls each, or *shared* ones."""
    commands = []
    try:
        for name in ("one", "two"):
            asked = shared or name
            options = [name, asked, fake.url, str(folder / asked), str(N), json.dumps(told)]
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-c", _COMMAND, *options, stdin=PIPE, stdout=PIPE
            )
            commands.append(Command(process))
        assert [await command.line() for command in commands] == ["ready", "ready"]
        yield commands
    finally:
        for command in commands:
            await command.kill()


async def test_two_commands_keep_within_one_limit(machine: Path, tmp_path: Path) -> None:
    async with FakeProvider(UNHURRIED) as fake, two_commands(fake, tmp_path, in_flight=4) as both:
        for command in both:
            command.begin()
        await asyncio.gather(*(command.hear() for command in both))
        assert fake.counters()["max_in_flight"] == 4


def domain_in(machine: Path) -> str:
    (name,) = (file.name for file in machine.iterdir() if file.is_socket())
    return name


async def test_when_the_first_is_killed_the_second_goes_on_in_its_place_and_loses_no_call(
    machine: Path, tmp_path: Path
) -> None:
    async with FakeProvider(UNHURRIED) as fake, two_commands(fake, tmp_path, in_flight=2) as (one, two):
        one.begin()
        await one.hear(1)
        two.begin()
        await two.hear(3)
        await one.kill()
        await two.hear(3)
        nobody = Asked()
        third = OneOfMachine(domain_in(machine), lambda: nobody.lease)
        assert third.lease(ask("third"), NOTHING_TOLD).limits.in_flight == 2
        await two.hear(N - 6)

    assert nobody.workers == []


async def test_a_call_that_two_commands_need_is_paid_once(machine: Path, tmp_path: Path) -> None:
    """They ask at one moment, and the second waits for the first one's receipt."""
    async with FakeProvider(UNHURRIED) as fake, two_commands(fake, tmp_path, shared="same") as both:
        for command in both:
            command.begin()
        await asyncio.gather(*(command.hear() for command in both))
        assert fake.counters()["accepted"] == N


def granted_in_two_minutes(clock: list[float], names: tuple[str, ...]) -> Counter[str]:
    """Let commands with no end of calls ask ten times a second, each a governor of its own; its calls are let in."""
    governors = {name: MachineGovernor(f"domain {len(names)}", None) for name in names}
    granted, last = Counter[str](), Counter[str]()
    for _ in range(1200):
        clock[0] += 0.1
        for name, governor in governors.items():
            news = {"left": (Left(0.1, 100.0),) * last[name], "accepted": (Accepted(0.1, 100.0, 100.0),) * last[name]}
            last[name] = governor.lease(ask(name, n=100)._replace(**news), QuotaLimits(A_MINUTE)).calls
            granted[name] += last[name]
    return granted


def test_two_together_get_as_many_calls_as_one_alone_and_half_each(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    (alone,) = granted_in_two_minutes(clock, ("alone",)).values()
    both = granted_in_two_minutes(clock, ("one", "two"))
    assert both.total() == pytest.approx(alone, rel=0.05)
    assert both["one"] == pytest.approx(alone / 2, rel=0.1)


# ---------------------------------------------------------------- who is the authority


class Asked:
    """An authority that keeps the names of workers that asked it."""

    def __init__(self) -> None:
        self.workers: list[str] = []

    def lease(self, ask: LeaseAsk, _: QuotaLimits) -> Lease:
        self.workers.append(ask.worker)
        return Lease(len(ask.sizes), 0.1, QuotaLimits(requests_per_minute=float(len(self.workers))))


def ask(worker: str, n: int = 1) -> LeaseAsk:
    return LeaseAsk(worker, f"job of {worker}", (100.0,) * n, n, 0)


def of_machine(asked: Asked, *, patience_s: float = 2.0) -> OneOfMachine:
    return OneOfMachine("domain", lambda: asked.lease, patience_s=patience_s)


def test_a_socket_of_a_process_that_ended_is_taken_over(machine: Path) -> None:
    machine.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(machine / "domain"))
    (machine / "domain.lock").touch()
    first, second = Asked(), Asked()
    one, two = of_machine(first), of_machine(second)
    one.lease(ask("a"), NOTHING_TOLD)
    assert two.lease(ask("b"), NOTHING_TOLD) == Lease(1, 0.1, QuotaLimits(requests_per_minute=2.0))
    assert (first.workers, second.workers) == (["a", "b"], [])


def in_the_way(machine: Path) -> str:
    machine.write_text("")
    return "File exists"


def nowhere(machine: Path) -> str:
    machine.symlink_to("/proc/none")
    return "File exists"


def open_to_others(machine: Path) -> str:
    machine.mkdir()
    machine.chmod(0o770)
    return "with drwxrwx---"


def a_link(machine: Path) -> str:
    (machine.parent / "other").mkdir(mode=0o700)
    machine.symlink_to("other")
    return "with lrwxrwxrwx"


def too_long_a_path(machine: Path) -> str:
    os.environ["LONGFORM_MACHINE"] = str(machine.parent / ("long" * 30))
    return "AF_UNIX path too long"


@pytest.mark.parametrize("spoil", [in_the_way, nowhere, open_to_others, a_link, too_long_a_path])
def test_without_a_folder_of_ones_own_each_leases_alone_and_says_it_once(
    machine: Path, caplog: pytest.LogCaptureFixture, spoil: Callable[[Path], str]
) -> None:
    reason = spoil(machine)
    first, second = Asked(), Asked()
    one, two = of_machine(first), of_machine(second)
    for worker in "abc":
        one.lease(ask(worker), NOTHING_TOLD)
        two.lease(ask(worker), NOTHING_TOLD)
    assert first.workers == second.workers == ["a", "b", "c"]
    assert [reason in message for message in caplog.messages] == [True]


def test_another_user_s_folder_is_refused(
    machine: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    machine.mkdir(mode=0o700)
    user = os.getuid()
    monkeypatch.setattr("os.getuid", lambda: user + 1)
    of_machine(Asked()).lease(ask("a"), NOTHING_TOLD)
    assert f"expected a folder of user {user + 1} with rights drwx------, found one of user {user}" in caplog.text
    assert list(machine.iterdir()) == []


@contextmanager
def silent(machine: Path) -> Iterator[tuple[IO[str], socket.socket]]:
    """Its process was stopped: yield its lock and its listener."""
    with (machine / "domain.lock").open("a") as lock, socket.socket(socket.AF_UNIX) as listener:
        fcntl.flock(lock, fcntl.LOCK_EX)
        listener.bind(str(machine / "domain"))
        listener.listen()
        yield lock, listener


@contextmanager
def of_another_version(_: Path) -> Iterator[None]:
    other = OneOfMachine("domain", lambda: lambda *_: "no lease")  # type: ignore[arg-type, return-value]
    other.lease(ask("a"), NOTHING_TOLD)
    yield


@pytest.mark.parametrize("authority", [silent, of_another_version])
def test_an_authority_that_does_not_answer_holds_nobody_up(
    machine: Path, caplog: pytest.LogCaptureFixture, authority: Callable[[Path], AbstractContextManager[object]]
) -> None:
    machine.mkdir(mode=0o700)
    asked = Asked()
    one = of_machine(asked, patience_s=0.1)
    with authority(machine):
        one.lease(ask("b"), NOTHING_TOLD)
        one.lease(ask("c"), NOTHING_TOLD)
    assert asked.workers == ["b", "c"]
    assert [message.startswith("limits are not shared") for message in caplog.messages] == [True]


def test_an_ask_on_the_way_when_the_authority_dies_is_answered_by_the_next(
    machine: Path, caplog: pytest.LogCaptureFixture
) -> None:
    machine.mkdir(mode=0o700)
    first, second = Asked(), Asked()

    def die_of_an_ask() -> None:
        line = listener.accept()[0]
        line.recv(1)
        lock.close()
        listener.close()
        line.close()

    with silent(machine) as (lock, listener):
        Thread(target=die_of_an_ask, daemon=True).start()
        one = of_machine(first, patience_s=60.0)
        one.lease(ask("a"), NOTHING_TOLD)
    of_machine(second).lease(ask("b"), NOTHING_TOLD)
    assert (first.workers, second.workers, caplog.messages) == (["a", "b"], [], [])
