"""A signal ends a command with one line and the exit code of a shell, whenever it comes."""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from jobs.command.interrupts import Interrupted, Interruptible
from jobs.command.parser import VerbParser
from jobs.command.run import Outcome, run_verb
from tests.places import ROOT

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
LINE = "interrupted; the same command goes on from what is kept"
LOADING = 'import signal\nprint("loading", flush=True)\nsignal.pause()\n'
"""Stands in for a library that takes seconds to load."""


@pytest.fixture(autouse=True)
def _as_in_a_terminal() -> None:
    """Undo what a shell does to its background, in which tests may run; processes inherit it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.parametrize("number", CODES)
@pytest.mark.parametrize("command", [["jobs.command_line", "evaluate"], ["jobs.evaluate"]])
def test_signal_while_modules_load_is_one_line(number: signal.Signals, command: list[str], tmp_path: Path) -> None:
    (tmp_path / "pyarrow.py").write_text(LOADING)
    paths = os.pathsep.join([str(tmp_path), str(ROOT)])
    with subprocess.Popen(
        [sys.executable, "-m", *command, "demo", "--out", str(tmp_path / "run")],
        env=os.environ | {"PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "loading\n"
        process.send_signal(number)
        _, said = process.communicate()

    assert process.returncode == CODES[number]
    assert said.endswith(f": {LINE}\n")
    assert said.count("\n") == 1


@pytest.mark.parametrize("number", CODES)
def test_signal_at_work_is_one_line_and_leaves_handlers_as_they_were(
    number: signal.Signals, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where a library puts an error of its own in the place of ours."""

    def library(_: argparse.Namespace) -> Outcome:
        try:
            signal.raise_signal(number)
        except BaseException as error:
            raise ValueError("the library's own") from error
        raise AssertionError("the signal did not come")

    handlers = [signal.getsignal(one) for one in CODES]

    assert run_verb(VerbParser("x", None), library, []) == CODES[number]
    assert capsys.readouterr().err == f"longform x: {LINE}\n"
    assert [signal.getsignal(one) for one in CODES] == handlers


def test_signal_in_a_task_that_nobody_waits_for_is_one_line_too(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    async def interrupted() -> None:
        signal.raise_signal(signal.SIGTERM)

    async def failing() -> None:
        raise ValueError("a fault of ours")

    async def waiting() -> None:
        tasks = [asyncio.ensure_future(failing()), asyncio.ensure_future(interrupted())]
        await asyncio.sleep(0)
        raise AssertionError(f"the signal did not come: {tasks}")

    def work(_: argparse.Namespace) -> Outcome:
        asyncio.new_event_loop().run_until_complete(waiting())
        raise AssertionError("the signal did not come")

    assert run_verb(VerbParser("x", None), work, []) == CODES[signal.SIGTERM]
    gc.collect()
    assert capsys.readouterr().err == f"longform x: {LINE}\n"
    assert "a fault of ours" in caplog.text, "asyncio tells others when they are collected"
    assert "Interrupted" not in caplog.text


def test_signal_in_a_step_of_an_event_loop_raises_behind_it() -> None:
    """A step that breaks off half-way leaves a future that nobody sets."""
    done = list[str]()

    async def step() -> None:
        signal.raise_signal(signal.SIGINT)
        done.append("the rest of it")

    with pytest.raises(Interrupted), Interruptible("x"):
        asyncio.run(step())
    assert done == ["the rest of it"]


SWALLOWS = """
import signal
from jobs.command.interrupts import Interruptible

with Interruptible("x", closing_s=0.2):
    said = False
    while True:
        try:
            if not said:
                said = True
                print("ready", flush=True)
            signal.pause()
        except KeyboardInterrupt:
            pass
"""


@pytest.mark.parametrize("number", CODES)
@pytest.mark.timeout(60)
def test_process_that_swallows_a_signal_is_ended(number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SWALLOWS],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        _, said = process.communicate()

    assert (process.returncode, said) == (CODES[number], f"x: {LINE}\n")


def test_ray_that_does_not_start_or_answer_is_one_sentence(
    unused_tcp_port: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of its own that takes too long, and one where nobody listens."""
    import ray

    from jobs.stages.cluster import Cluster

    there = f"127.0.0.1:{unused_tcp_port}"

    def late(**_: object) -> None:
        raise Exception("The current node timed out during startup.")  # noqa: TRY002  # as Ray does

    def said(address: str | None) -> str:
        def work(_: argparse.Namespace) -> Outcome:
            with Cluster(address=address, workers=1) as cluster:
                cluster.start()
            return Outcome({}, "")

        assert run_verb(VerbParser("x", None), work, []) == 1
        *before, last = capsys.readouterr().err.splitlines()
        assert all(line.startswith("Ray did not start within 30 s") for line in before)
        return last

    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", late)

    assert said(None).startswith("longform x: Ray did not start; see whether the machine is overloaded")
    assert f"the Ray at {there} cannot be joined; look whether it runs" in said(there)


ABORTS = """
import ctypes, sys
libc = ctypes.CDLL(None)
libc.__cxa_atexit(libc.abort, None, None)
sys.argv = ["longform", *sys.argv[1:]]
from jobs.command_line import main
sys.exit(main())
"""
"""Stands in for a native library whose destructors abort when the process ends."""


@pytest.mark.parametrize(("words", "code"), [(["status", "{}"], 2), (["list", "presets"], 0)])
def test_a_command_that_is_done_ends_with_its_own_code_whatever_native_libraries_do(
    words: list[str], code: int, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ABORTS, *(word.format(tmp_path) for word in words)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert done.stdout or done.stderr
