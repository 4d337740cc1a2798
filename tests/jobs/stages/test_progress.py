"""The progress of a stage: counted in what people count, with its rate, the time left and what calls cost."""

from __future__ import annotations

import io
import threading
from pathlib import Path

import pytest

from actors.ledger.keeper import Spent
from jobs.calling import Calling
from jobs.stages import progress
from jobs.stages.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def silent() -> str:
    return ""


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
    shown = Progress("judge", "summaries", 40, io.StringIO(), silent)
    shown.step(done)
    shown.end(found=0)
    assert shown.words(elapsed) == words


def test_last_line_says_what_was_done_and_where() -> None:
    log = io.StringIO()
    shown = Progress("judge", "summaries", 3, log, silent)
    shown.step(3)
    shown.end(found=9, where="in this process")
    assert "3 summaries in 0.0 s in this process; 9 were done before" in log.getvalue()

    none = io.StringIO()
    Progress("judge", "summaries", 0, none, silent).end(found=9)
    assert none.getvalue().split(maxsplit=1)[1] == "9 summaries, done before\n"


@pytest.mark.parametrize("log", [io.StringIO(), Terminal()])
def test_it_comes_while_nothing_is_finished(log: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_LINE_INTERVAL_S", 0.001)
    monkeypatch.setattr(progress, "_BAR_INTERVAL_S", 0.001)
    asked = threading.Semaphore(0)

    def notice() -> str:
        asked.release()
        return "17 calls, at most $0.25"

    shown = Progress("summarize", "summaries", 8, log, notice)
    for _ in range(3):
        assert asked.acquire(timeout=60)
    shown.end(found=0)
    assert log.getvalue().count("17 calls, at most $0.25") >= 1
    assert "0/8 summaries" in log.getvalue()
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
