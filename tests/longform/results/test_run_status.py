"""The status of a run: rates, time left, and advice."""

from __future__ import annotations

from typing import Any

import pytest

from longform.report.run_status import status_line, status_words
from longform.results.run_status import a_minute, next_step, seconds_left


def test_rate_and_time_left_follow_from_what_is_done() -> None:
    assert a_minute(30, 60) == 30
    assert seconds_left(30, 90, 60) == 120
    assert (a_minute(0, 60), seconds_left(0, 90, 60)) == (None, None), "unknown, and not endless"


@pytest.mark.parametrize(
    ("state", "code", "complete", "words"),
    [
        ("running", None, False, "--watch"),
        ("planned", None, False, "without --plan"),
        ("killed", None, False, "goes on where it stopped"),
        ("ended", 4, False, "a larger --max-cost"),
        ("ended", 3, True, "tries again what may pass"),
        ("ended", 130, False, "exit code 130"),
        ("ended", 0, False, "--until"),
        ("ended", 0, True, "the run is done"),
        ("unknown", None, False, "goes on where it stopped"),
    ],
)
def test_what_comes_next_follows_from_how_the_command_ended(
    state: Any, code: int | None, complete: bool, words: str
) -> None:
    assert words in next_step(state, code, "evaluate", "runs/x", complete=complete)


def status(**changes: Any) -> Any:
    stage = {
        "name": "judge j", "table": "verdicts", "unit": "summaries", "wanted": 90, "done": 30, "failed": 2,
        "failures": {"timeout": 2}, "under_way": True, "a_minute": 30.0, "seconds_left": 120.0,
    }  # fmt: skip
    found = {
        "run": "runs/x", "verb": "evaluate", "title": "x", "benchmark": "bench", "state": "running", "commands": [],
        "stages": [stage], "spend": None, "missing_ledgers": [], "report": None, "next": "nothing",
    }  # fmt: skip
    return {**found, **changes}


def test_words_tell_stages_rate_time_and_failures() -> None:
    words = status_words(status())

    assert "> judge j" in words
    assert "30 a minute" in words
    assert "2 min" in words
    assert "judge j: 2 rows failed: timeout 2" in words
    assert "no model was called" in words
    assert status_line(status()).count("\n") == 0


def test_spend_of_unknown_price_is_told() -> None:
    spend = {
        "calls": 5, "answered": 3, "failed": 2, "refused": 1, "open": 0, "reused": 4, "input_tokens": None,
        "cached_tokens": None, "output_tokens": None, "reasoning_tokens": None, "known_usd": 0.25, "n_unknown_usd": 1,
        "unsettled_usd": 0.0, "failures": {"refused": 1, "timeout": 1},
    }  # fmt: skip
    words = status_words(status(spend=spend))

    assert "$0.2500 and 1 calls of unknown price" in words
    assert "refusals (429): 1" in words
    assert "tokens: not stated" in words
    assert "failed calls: refused 1, timeout 1" in words
