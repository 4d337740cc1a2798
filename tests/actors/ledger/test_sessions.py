"""Nobody asks what another process, machine or thread is asking, and nobody waits for the dead."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from itertools import takewhile
from pathlib import Path

import psutil
import pytest

from actors.ledger.entry import Session, this_host, this_session
from actors.ledger.ledger import Ledger
from tests.actors.ledger.ledgers import intent

pytest_plugins = ["tests.s3_server"]

_ASK_AND_WAIT = """
import sys
from actors.ledger.ledger import Ledger
from longform.chat.ledger_rows import Intent, Receipt
from longform.chat.call import ChatReply
ledger = Ledger(sys.argv[1], job="killed")
ledger.exchange([Intent("a", "c", "s", "p", "m", 0, 0.5, 0.0), Intent("b", "paid", "s", "p", "m", 0, 0.5, 0.0)], [])
ledger.exchange([], [Receipt("b", "paid", ChatReply(text="kept", failure=None))])
print("acknowledged", flush=True)
sys.stdin.read()
"""


def test_killed_process_keeps_what_was_acknowledged_and_no_call_busy(tmp_path: Path) -> None:
    """Its deadline does not matter: on one machine it is known whether a process lives. A zombie does not."""
    command = [sys.executable, "-c", _ASK_AND_WAIT, str(tmp_path)]
    ledger = Ledger(str(tmp_path), job="next")
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"acknowledged\n"
        assert ledger.exchange([intent("b")], []) == ["busy"]

        child.send_signal(signal.SIGKILL)
        process = psutil.Process(child.pid)
        while process.status() != psutil.STATUS_ZOMBIE:
            pass
        assert ledger.exchange([intent("b2")], []) == ["go"]

    assert ledger.finished(["paid"])["paid"].text == "kept"
    assert ledger.totals(job="killed").open == 1


def test_process_number_used_again_is_another_session(tmp_path: Path) -> None:
    host, pid, started = this_session()
    Ledger(str(tmp_path), job="old", session=Session(host, pid, started - 100)).exchange([intent("a")], [])

    assert Ledger(str(tmp_path), job="new").exchange([intent("b")], []) == ["go"]


@pytest.mark.parametrize(("deadline_s", "verdict"), [(60.0, "busy"), (-1.0, "go")])
def test_session_of_another_machine_lives_until_the_deadline(tmp_path: Path, deadline_s: float, verdict: str) -> None:
    elsewhere = Session("elsewhere", 1, 0.0)
    Ledger(str(tmp_path), job="there", session=elsewhere).exchange([intent("a", deadline_s=deadline_s)], [])

    assert Ledger(str(tmp_path), job="here").exchange([intent("b")], []) == [verdict]


@pytest.mark.parametrize("ahead_s", [0.0, 50.0, 86_400.0, 1e8])
def test_a_clock_that_was_ahead_lets_nobody_wait_longer_than_a_call_lasts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ahead_s: float
) -> None:
    clock = [1e9 + ahead_s]
    monkeypatch.setattr("time.time", lambda: clock[0])
    elsewhere = Session("elsewhere", 1, 0.0)
    Ledger(str(tmp_path), job="there", session=elsewhere).exchange([intent("a", deadline_s=60.0)], [])
    ledger = Ledger(str(tmp_path), job="here")

    said = []
    for clock[0] in (1e9 + 1, 1e9 + 59, 1e9 + 62):
        said += ledger.exchange([intent("b")], [])

    assert said == ["busy", "busy", "go"]


def test_intent_said_again_by_a_new_session_is_that_sessions(tmp_path: Path) -> None:
    """A keeper died, its successor takes the worker's call over: another job must still wait for it."""
    dead = Session(this_host(), 2**22 + 1, 0.0)
    Ledger(str(tmp_path), job="j", session=dead).exchange([intent("a")], [])
    successor = Ledger(str(tmp_path), job="j")

    assert successor.exchange([intent("a")], []) == ["go"]
    assert Ledger(str(tmp_path), job="other").exchange([intent("b")], []) == ["busy"]


_ASK_ALL = """
import sys
from actors.ledger.ledger import Ledger
from longform.chat.ledger_rows import Intent
name, url = sys.argv[1:]
ledger = Ledger(url, job=name)
calls = [f"c{n}" for n in range(200)]
for at in range(0, 200, 8):
    asked = [Intent(name + c, c, "s", "p", "m", 0, None, 60.0) for c in calls[at : at + 8]]
    for intent, verdict in zip(asked, ledger.exchange(asked, [])):
        if verdict == "go":
            print(intent.call_id)
print("asked", flush=True)
sys.stdin.read()
"""


def test_of_two_processes_one_makes_each_call(tmp_path: Path) -> None:
    """Both open a new ledger at the same moment, and neither ends before the other has asked."""
    children = [
        subprocess.Popen(
            [sys.executable, "-c", _ASK_ALL, name, str(tmp_path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("one", "two")
    ]
    one, two = (_lines_until_asked(child) for child in children)
    for child in children:
        child.communicate()

    assert one | two == {f"c{n}" for n in range(200)}
    assert not one & two


def _lines_until_asked(child: subprocess.Popen[str]) -> set[str]:
    assert child.stdout is not None
    lines = takewhile(lambda line: line != "asked\n", child.stdout)
    return {line.strip() for line in lines}


def test_threads_may_share_a_ledger(ledger: Ledger) -> None:
    went: list[str] = []

    def ask(name: str) -> None:
        asked = [intent(f"{name}{n}", f"c{n}") for n in range(20)]
        verdicts = [ledger.exchange([one], [])[0] for one in asked]
        went.extend(one.call_id for one, verdict in zip(asked, verdicts, strict=True) if verdict == "go")

    threads = [threading.Thread(target=ask, args=(name,)) for name in "xyz"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(went) == sorted(f"c{n}" for n in range(20))
