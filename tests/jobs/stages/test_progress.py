"""The progress of a stage: counted in what people count, with its rate, the time left and what calls cost."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from actors.ledger.keeper import LedgerKeeper, Spent
from jobs.command.calling import Calling, time_words
from jobs.stages import progress
from jobs.stages.progress import Line, Progress
from longform.chat.call import Signals, failed
from longform.chat.ledger_rows import Intent, Receipt
from longform.chat.server_standing import Server


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("done", "elapsed", "words"),
    [
        (0, 12, "0/40 summaries, 12 s so far, none done yet"),
        (10, 20, "10/40 summaries, 20 s so far, 30 a minute, 60 s left"),
        (20, 1, "20/40 summaries, 1 s so far, 20 a second, 1 s left"),
        (40, 10, "40/40 summaries, 10 s so far, 240 a minute, 0 s left"),
    ],
)
def test_words_count_and_foretell(done: int, elapsed: float, words: str) -> None:
    assert Line("judge", "summaries", 40, found=0, done=done).words(elapsed) == words


def test_last_lines_say_what_was_done_and_where(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress.time, "time", lambda: 100.0)
    log = io.StringIO()
    stages = [Line("split", "texts", 0, found=9), Line("judge", "summaries", 3, found=9), Line("score", "cells", 2, 0)]
    shown = Progress(stages, log, str)
    shown.step("score", 1, {}, since=99.0, where="in this process")
    shown.step("judge", 3, {}, since=98.0, where="in this process")
    shown.end("in this process")
    assert [" ".join(line.split()) for line in log.getvalue().splitlines()] == [
        "split 9 texts, done before",
        "judge 3 summaries in 2.0 s in this process; 9 were done before",
        "score 1 cells in 1.0 s in this process",
    ]


def test_what_failed_is_counted_apart_and_by_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress.time, "time", lambda: 100.0)
    log, line = io.StringIO(), Line("write", "summaries", 12, found=0)
    shown = Progress([line], log, str)
    shown.step("write", 8, {"bad_body": 7, "http_500": 1}, since=98.0, where="")
    assert line.words(4) == "8/12 summaries, 4 s so far, 120 a minute, 2 s left; 8 failed: bad_body 7, http_500 1"
    shown.step("write", 4, {"bad_body": 4}, since=98.0, where="in this process")
    told = "write 0 of 12 summaries in 2.0 s in this process; 12 failed: bad_body 11, http_500 1"
    assert " ".join(log.getvalue().split()) == told
    shown.end("")


@pytest.mark.parametrize("done", [0, 1])
@pytest.mark.parametrize("log_of", [io.StringIO, Terminal])
def test_it_comes_while_nothing_is_finished(
    log_of: Callable[[], io.StringIO], done: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It tells of each stage that is under way, or of the first."""
    monkeypatch.setattr(progress, "_LINE_INTERVAL_S", 0.001)
    monkeypatch.setattr(progress, "_NOTICE_INTERVAL_S", 0.001)
    monkeypatch.setattr(progress, "_BAR_INTERVAL_S", 0.001)
    asked = threading.Semaphore(0)

    def notice() -> str:
        asked.release()
        return "17 calls, at most $0.25"

    log = log_of()
    shown = Progress([Line("write", "summaries", 8, 0, done), Line("judge", "cells", 5, 0, done)], log, notice)
    for _ in range(3):
        assert asked.acquire(timeout=60)
    shown.end("")
    assert log.getvalue().count("17 calls, at most $0.25") >= 1
    assert f"{done}/8 summaries" in log.getvalue()
    assert (f"{done}/5 cells" in log.getvalue()) == (done > 0)
    assert ("\r" in log.getvalue()) == log.isatty()


def test_calls_and_their_cost_are_told(tmp_path: Path) -> None:
    calling = Calling("evaluate", ledger=str(tmp_path))
    assert calling.notice() == ""
    calling.start()
    assert calling.notice() == "0 calls"


@pytest.mark.parametrize(
    ("spent", "words"), [(Spent(1200, 0.305), "1,200 calls, at most $0.30"), (Spent(3, 0.0), "3 calls")]
)
def test_dollars_are_told_where_prices_are_known(spent: Spent, words: str) -> None:
    assert spent.words() == words


def test_a_long_wait_is_told_once_as_soon_as_it_is_heard(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Server("http://host/v1", "m", "A_KEY", timeout_s=400, patience_s=300)
    keeper = LedgerKeeper(str(tmp_path), "evaluate", clock=lambda: 0.0)
    monkeypatch.setattr("jobs.command.calling.start_keeper", lambda *_: keeper)
    calling = Calling("evaluate", ledger=str(tmp_path))
    calling.start()
    keeper.exchange("w", [Intent("a", "c", "judge j", "openai", "m", 0, None, 400.0)], [])
    refused = replace(failed("http_429"), signals=Signals(retry_after_s=100_000.0))
    keeper.exchange("w", [], [Receipt("a", "c", refused, server)])
    for _ in range(2):
        calling.notice()
    said = capsys.readouterr().err
    assert said.count("http://host/v1 asks to wait until ") == 1
    assert "if nothing is let in for 300 s (`patience_s`) the command ends" in said


@pytest.mark.parametrize(
    ("wait_s", "words"),
    [(60.0, "18:01"), (6 * 3600.0, "tomorrow 00:00"), (86_400.0, "tomorrow 18:00"), (200_000.0, "2027-01-18 01:33")],
)
def test_a_time_is_named_as_people_do(wait_s: float, words: str) -> None:
    assert time_words(wait_s, datetime(2027, 1, 15, 18, 0, tzinfo=UTC)) == words


@pytest.mark.parametrize("wait_s", [1e12, 1e308, float("inf")])
def test_a_time_beyond_all_dates_is_named_too(wait_s: float) -> None:
    assert time_words(wait_s, datetime(2027, 1, 15, 18, 0, tzinfo=UTC)) == "2058-09-23 19:46"
