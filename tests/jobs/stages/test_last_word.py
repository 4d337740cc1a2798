"""A process that native code ends says what became of its work, and loses no line that was said before."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from jobs.command import interrupts
from jobs.stages.last_word import WORDS

LEVEL = "[2026] logging.cc:303: Set ray log level from environment variable RAY_BACKEND_LOG_LEVEL to 3"
BEGIN = "import os, signal; from jobs.stages.last_word import LastWord; from jobs.command import interrupts;"
HEARD = rf"""
with LastWord().hearing():
    os.write(2, b"{LEVEL}\n")
    os.write(2, b"what is wrong\n")
"""


def said_by(code: str) -> tuple[int, list[str]]:
    """The exit code of a Python process, and its lines on standard error, those of the process beside among them."""
    ended = subprocess.run([sys.executable, "-c", BEGIN + code], stderr=subprocess.PIPE, text=True, check=False)
    return ended.returncode, ended.stderr.splitlines()


def test_what_is_heard_is_passed_on_in_order_but_for_ray_s_log_level() -> None:
    assert said_by(f"{HEARD}os.write(2, b'later')") == (0, ["what is wrong", "later"])


def test_it_is_passed_on_while_it_is_heard_and_before_the_last_word_of_a_process_that_native_code_ends() -> None:
    assert said_by(f"{HEARD}    os._exit(1)") == (1, ["what is wrong", WORDS])


@pytest.mark.parametrize("end", ["os._exit(1)", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_a_process_that_is_ended_has_the_last_word(end: str) -> None:
    assert said_by(f"word = LastWord(); {end}")[1] == [WORDS]


@pytest.mark.parametrize("end", ["", "raise SystemExit(3)", "word.over(); os._exit(1)"])
def test_a_process_that_ends_by_itself_has_none(end: str) -> None:
    assert said_by(f"word = LastWord(); {end}")[1] == []


def test_a_process_that_a_signal_ends_at_once_has_said_why() -> None:
    signalled = "interrupts.end_at_once_while_loading('x'); os.kill(os.getpid(), signal.SIGTERM)"
    assert said_by(f"word = LastWord(); {signalled}") == (128 + signal.SIGTERM, [f"x: {interrupts.WORDS}"])


def test_ctrl_c_while_lines_pass_through_it_loses_none() -> None:
    """The terminal sends it to the whole group."""
    code, lines = said_by(f"os.setpgid(0, 0){HEARD}    os.killpg(0, signal.SIGINT)")
    assert (code != 0, lines[0], WORDS in lines) == (True, "what is wrong", False)
    assert lines[-1] == "KeyboardInterrupt"
