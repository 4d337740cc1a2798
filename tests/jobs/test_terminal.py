"""Names with control characters reach a terminal as escapes, whatever a verb prints."""

from __future__ import annotations

import ast
import io
import json
import logging
from typing import Any

import pytest

from actors.secret_values import RedactingFormatter
from jobs.command.parser import VerbParser
from jobs.command.run import Outcome, run_verb
from jobs.status import watch
from longform.errors import UsageError
from tests.jobs.test_status import told
from tests.places import ROOT

NAME = "\x1b[31mred\x9b2J\u202e"
SHOWN = "\\u001b[31mred\\u009b2J\\u202e"


def printed(capsys: pytest.CaptureFixture[str], work: Any, *options: str) -> str:
    capsys.readouterr()
    run_verb(VerbParser("x", "Says something."), work, list(options))
    return "".join(capsys.readouterr())


def test_words_show_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, lambda _: Outcome({"name": NAME}, f"system {NAME}\ntwo")) == f"system {SHOWN}\ntwo\n"


def test_json_holds_them(capsys: pytest.CaptureFixture[str]) -> None:
    said = printed(capsys, lambda _: Outcome({"name": NAME}, ""), "--json")

    assert NAME not in said
    assert json.loads(said) == {"name": NAME}


def test_errors_and_logs_show_them(capsys: pytest.CaptureFixture[str]) -> None:
    def fails(_: object) -> Outcome:
        raise UsageError(f"no system {NAME}")

    assert f"no system {SHOWN}" in printed(capsys, fails)
    record = logging.LogRecord("x", logging.WARNING, "x.py", 1, "no %s", (NAME,), None)
    assert RedactingFormatter().format(record) == f"no {SHOWN}"


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_watched_run_is_redrawn_by_our_code_and_by_no_title() -> None:
    states, out = iter(["running", "ended"]), Screen()
    watch(
        lambda: told(next(states)) | {"title": "a\x1b[2Jb"},
        every_s=5,
        as_json=False,
        out=out,
        wait=lambda _: None,
    )

    assert out.getvalue().count("\x1b[2J") == 2  # before the one status, and at the end
    assert "a\\u001b[2Jb" in out.getvalue()


def test_nothing_is_printed_past_the_one_place() -> None:
    """`command_line` prints its usage, `status` the code that clears the screen, a rehearsal its own address."""
    allowed = {"jobs/command_line.py", "jobs/status.py", "actors/rehearsal/own_system.py", "actors/terminal.py"}
    found = set()
    for room in ("actors", "jobs", "longform", "serve"):
        for path in (ROOT / room).rglob("*.py"):
            source = path.read_text()
            nodes = ast.walk(ast.parse(source)) if "print" in source else ()
            calls = [node.func for node in nodes if isinstance(node, ast.Call)]
            if any(isinstance(one, ast.Name) and one.id == "print" for one in calls):
                found.add(str(path.relative_to(ROOT)))

    assert found == allowed
