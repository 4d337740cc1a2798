"""Acknowledged records are there, and answered calls are never asked again."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from actors.ledger.ledger import RECORDS, Ledger
from longform.errors import LongformError, UsageError
from tests.actors.ledger.ledgers import answered, intent, refused

pytest_plugins = ["tests.s3_server"]


# ---------------------------------------------------------------- verdicts


def test_call_goes_once_and_is_finished_when_answered(ledger: Ledger) -> None:
    assert ledger.exchange([intent("a")], []) == ["go"]
    assert ledger.exchange([intent("b")], []) == ["busy"]
    assert ledger.exchange([intent("b")], [answered("a")]) == ["finished"]


def test_two_attempts_of_one_exchange_do_not_both_go(ledger: Ledger) -> None:
    assert ledger.exchange([intent("a"), intent("b"), intent("x", "other")], []) == ["go", "busy", "go"]


def test_failed_attempt_lets_the_next_one_go_and_is_no_answer(ledger: Ledger) -> None:
    ledger.exchange([intent("a")], [])

    assert ledger.exchange([intent("b")], [refused("a", reason="length")]) == ["go"]
    assert ledger.finished(["c"]) == {}


def test_a_call_that_is_tried_again_is_the_same_call(ledger: Ledger) -> None:
    ledger.exchange([intent("a"), intent("x", "other")], [])
    ledger.exchange([intent("b")], [refused("a", reason="connection")])

    assert (ledger.totals().calls, ledger.totals().different) == (3, 2)


def test_what_is_said_twice_changes_nothing(ledger: Ledger) -> None:
    """A keeper that starts again is asked again what it may have recorded."""
    ledger.exchange([intent("a")], [])
    said = ([intent("b"), intent("d", "d")], [refused("a")])
    first = ledger.exchange(*said)
    before = ledger.totals()

    assert ledger.exchange(*said) == first == ["go", "go"]
    assert ledger.totals() == before


def test_first_receipt_of_an_attempt_and_first_answer_of_a_call_stay(ledger: Ledger) -> None:
    """A judge's answer must not change under the rows that were made from it."""
    ledger.exchange([intent("a")], [])
    ledger.abandon(["a"])
    ledger.exchange([intent("b")], [])
    ledger.exchange([], [answered("b", text="first"), answered("b", text="again", usd=9.0), answered("a", text="late")])

    assert ledger.finished(["c"])["c"].text == "first"
    assert ledger.totals().known_usd == 0.5
    assert ledger.totals().answered == 2


def test_abandoned_attempt_is_not_waited_for_and_stays_unsettled(ledger: Ledger) -> None:
    ledger.exchange([intent("a")], [])
    ledger.abandon(["a"])

    assert ledger.exchange([intent("b")], [answered("b")]) == ["finished"]
    assert (ledger.totals().open, ledger.totals().unsettled_usd) == (1, 0.5)


def test_error_in_an_exchange_leaves_nothing_of_it(ledger: Ledger) -> None:
    with pytest.raises(ValueError, match="NaN"):
        ledger.exchange([intent("a"), intent("b", "d", deadline_s=float("nan"))], [answered("x")])

    assert ledger.totals().calls == 0
    assert ledger.finished(["c"]) == {}


def test_receipt_without_its_intent_is_kept(ledger: Ledger) -> None:
    """It was paid, whatever became of the folder meanwhile."""
    ledger.exchange([], [answered("a")])

    assert ledger.finished(["c"])["c"].text == "yes"
    assert ledger.totals().known_usd == 0.25


# ---------------------------------------------------------------- files


def test_file_that_is_no_ledger_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / RECORDS).write_bytes(b"not a database at all" * 100)

    with pytest.raises(LongformError, match=r"calls\.sqlite: expected a ledger"):
        Ledger(str(tmp_path), job="j")


def test_ledger_of_another_version_is_refused(tmp_path: Path) -> None:
    Ledger(str(tmp_path), job="j").close()
    with closing(sqlite3.connect(tmp_path / RECORDS)) as connection:
        connection.execute("PRAGMA user_version = 99")

    with pytest.raises(LongformError, match="found 99"):
        Ledger(str(tmp_path), job="j")


def test_reading_a_ledger_that_is_not_there_makes_none(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no ledger at"):
        Ledger.existing(str(tmp_path / "typo"))

    assert not (tmp_path / "typo").exists()


def test_ledger_leaves_no_unfinished_files(tmp_path: Path) -> None:
    Ledger(str(tmp_path), job="j").close()

    assert [path.name for path in tmp_path.iterdir()] == [RECORDS]


# ---------------------------------------------------------------- size


_FILL = """
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {rows})
INSERT INTO {into} FROM n
"""
_OPEN_AND_MEASURE = """
import sys, psutil
from actors.ledger.ledger import Ledger
used = lambda: psutil.Process().memory_full_info().uss
from longform.chat.ledger_rows import Intent
import sqlite3
before = used()
ledger = Ledger(sys.argv[1], job="resumed")
found = ledger.finished([f"call{n}" for n in range(1, 20_000, 2)])
verdicts = ledger.exchange([Intent(f"new{n}", f"call{n}", "s", "p", "m", 0, 0.1, 60.0) for n in range(32)], [])
totals = ledger.totals(job="resumed")
print(len(found), verdicts.count("finished"), totals.calls, (used() - before) / 1e6)
"""


@pytest.fixture
def fill(tmp_path: Path) -> Callable[[int], Path]:
    """Makes a ledger of so many answered calls, by SQLite's own means."""

    def make(rows: int) -> Path:
        folder = tmp_path / f"of-{rows}"
        Ledger(str(folder), job="j").close()
        attempts = (
            "attempts (attempt_id, call_id, job, stage, provider, model, repeat, asked_at, answered_at, state, "
            "input_tokens, output_tokens, cost_usd, reserved_usd, seconds) SELECT hex(randomblob(16)), "
            "'call' || i, 'old', 'judge', 'openai', 'm', 0, i, i, 'answered', 100, 10, 0.01, 0.02, 1.0"
        )
        answers = "answers (call_id, attempt_id, text) SELECT call_id, attempt_id, zeroblob(200) FROM attempts"
        with closing(sqlite3.connect(folder / RECORDS)) as connection, connection:
            connection.execute(_FILL.format(into=attempts, rows=rows))
            connection.execute(f"INSERT INTO {answers}")
        return folder

    return make


@pytest.mark.slow
def test_a_million_rows_open_and_resume_in_little_memory(fill: Callable[[int], Path]) -> None:
    command = [sys.executable, "-c", _OPEN_AND_MEASURE, str(fill(1_000_000))]
    found, finished, calls, megabytes = subprocess.run(command, capture_output=True, check=True).stdout.split()

    assert (int(found), int(finished), int(calls)) == (10_000, 31, 1)
    assert float(megabytes) < 50


_ON_SMALL_DISKS = """
import subprocess, sys
from actors.ledger.ledger import Ledger
from longform.chat.ledger_rows import Intent
from longform.errors import LongformError
disk = sys.argv[1]
for kilobytes in range(0, 240, 12):
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes + 4}k", "tmpfs", disk], check=True)
    try:
        Ledger(disk, job="j").close()
        print("opened")
    except LongformError as error:
        print("full" if "cannot be written: the disk is full; make room there" in str(error) else error)
    subprocess.run(["mount", "-o", "remount,size=60m", disk], check=True)
    ledger = Ledger(disk, job="j")
    print(ledger.exchange([Intent("a", "c", "s", "p", "m", 0, 0.5, 60.0)], []))
    ledger.close()
    subprocess.run(["umount", disk], check=True)
"""


def test_a_new_ledger_on_a_full_disk_says_so_and_goes_on_once_there_is_room(tmp_path: Path) -> None:
    own_mounts = ["unshare", "--user", "--map-root-user", "--mount"]
    if subprocess.run([*own_mounts, "true"], check=False, capture_output=True).returncode:
        pytest.skip("nothing may be mounted here")

    command = [*own_mounts, sys.executable, "-c", _ON_SMALL_DISKS, str(tmp_path)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()

    assert set(said[::2]) == {"full", "opened"}
    assert set(said[1::2]) == {"['go']"}
