"""The page that follows a call names files and names that are there, and says of each failure what the code does."""

from __future__ import annotations

import re

import pytest

from jobs.stages import accounts
from longform.chat.failures import REFUSED, backoff_s, may_pass, may_pass_later
from longform.settings.chat import ChatSettings
from tests.places import ROOT

PAGE = (ROOT / "docs" / "calls.md").read_text()
NAMED = re.findall(r"`(\w+)` of `([a-z_/]+\.py)`", PAGE)
HEAD, _, *ROWS = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("|")]
REASONS = [(found[1], row[1], row[5]) for row in ROWS if (found := re.search(r"`(\w+)`", row[3] + row[4]))]


def test_the_table_is_read() -> None:
    assert HEAD[1] == "is it asked again?"
    assert HEAD[5] == "the same command"
    assert {len(row) for row in ROWS} == {len(HEAD)}
    assert len(REASONS) >= 9
    assert len(NAMED) >= len(ROWS)


@pytest.mark.parametrize("path", sorted(set(re.findall(r"(?:longform|actors|jobs)/[a-z_/]+\.py", PAGE))))
def test_each_file_is_there(path: str) -> None:
    assert (ROOT / path).is_file()


@pytest.mark.parametrize(("name", "file"), NAMED)
def test_each_name_is_defined_in_its_file(name: str, file: str) -> None:
    source = (ROOT / file).read_text()
    assert re.search(rf"(def|class) {name}\b|^{name}\b.* = ", source, re.MULTILINE), f"{name} is not defined in {file}"


@pytest.mark.parametrize(("reason", "asked", "later"), REASONS)
def test_a_reason_is_asked_again_as_the_table_says(reason: str, asked: str, later: str) -> None:
    assert asked.startswith("all tries") == (may_pass(reason) and reason != REFUSED)
    assert (later == "asks again") == may_pass_later(reason)
    assert (later == "leaves it") == (not may_pass_later(reason))


@pytest.mark.parametrize(
    ("words", "file"),
    [
        ("refuses the key in ", "longform/chat/server_standing.py"),
        ("does not know the path of base_url, or the model", "longform/chat/server_standing.py"),
        ("could not be reached", "longform/chat/server_standing.py"),
        ("times in the last minute", "jobs/command/calling.py"),
        ("asks to wait until ", "jobs/command/calling.py"),
        ("attempts of model ", "jobs/command/calling.py"),
        ("only another configuration cures ", "longform/results/run_status.py"),
        ("it was killed", "longform/results/run_status.py"),
        ("the budget is reached", "jobs/stages/accounts.py"),
        ("expected this process to end by itself", "jobs/stages/last_word.py"),
        ("the disk is full", "actors/storage/errors.py"),
    ],
)
def test_what_a_reader_sees_is_said_there(words: str, file: str) -> None:
    assert words in PAGE
    assert words in (ROOT / file).read_text()


def test_numbers_are_those_of_the_code() -> None:
    chat = ChatSettings(model="m")
    waits = [sum(backoff_s(n, draw) for n in range(1, chat.attempts)) for draw in (0.0, 1.0)]
    assert (f"attempts` of a call, {chat.attempts} unless set" in PAGE, [*map(round, waits)]) == (True, [4, 8])
    assert "30 s at\n  most" in PAGE
    assert max(backoff_s(n, 1.0) for n in range(1, 50)) == 30.0
    assert f"`timeout_s` ({chat.timeout_s:g})" in PAGE
    assert f"`patience_s`, {chat.patience_s:g} unless" in PAGE
    assert f"every {accounts.RECEIPTS_A_COMMIT} parts" in PAGE
