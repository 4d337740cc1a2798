"""The status of a run in words, and advice."""

from __future__ import annotations

from typing import Any

import pytest

from longform.results.run_status import State, next_step, status_line, status_words


@pytest.mark.parametrize(
    ("state", "code", "complete", "words"),
    [
        ("running", None, False, "--watch"),
        ("planned", None, False, "without --plan"),
        ("killed", None, False, "nothing that is kept is done twice"),
        ("ended", 4, False, "a larger --max-cost"),
        ("ended", 3, True, "tries it again"),
        ("ended", 130, False, "exit code 130"),
        ("ended", 0, False, "--until"),
        ("ended", 0, True, "the run is done"),
        ("unknown", None, False, "nothing that is kept is done twice"),
    ],
)
def test_what_comes_next_follows_from_how_the_command_ended(
    state: Any, code: int | None, complete: bool, words: str
) -> None:
    assert words in next_step(state, code, "evaluate", "runs/x", {"timeout": 1}, open_calls=0, complete=complete)


@pytest.mark.parametrize(
    ("failures", "again", "lasts"),
    [
        ({"timeout": 2, "http_503": 1, "raised": 1}, True, ""),
        ({"length": 2, "http_400": 1}, False, "length 2, http_400 1"),
        ({"length": 2, "connection": 1}, True, "length 2"),
        ({"length": 2, "empty_reply": 1}, False, "cures length 2, which"),
        ({}, True, ""),
    ],
)
def test_what_no_try_cures_is_told_apart(failures: dict[str, int], again: bool, lasts: str) -> None:
    told = next_step("ended", 3, "evaluate", "runs/x", failures, open_calls=0, complete=True)
    assert ("the same command tries it again" in told) == again
    assert ("only another configuration" in told) == bool(lasts)
    assert lasts in told


@pytest.mark.parametrize("code", [0, 3])
def test_a_way_out_of_paid_replies_without_a_text_is_named(code: int) -> None:
    failures = {"empty_reply": 4, "bad_content_list": 1, "timeout": 2}
    told = next_step("ended", code, "evaluate", "runs/x", failures, open_calls=0, complete=True)
    assert "replies in which no text can be read (empty_reply 4, bad_content_list 1) are paid" in told
    assert "a --ledger of its own" in told
    assert "a --ledger" not in next_step("ended", code, "evaluate", "r", {"length": 2}, open_calls=0, complete=True)


@pytest.mark.parametrize(
    ("state", "code", "complete"), [("killed", None, False), ("ended", 1, False), ("ended", 0, True)]
)
def test_calls_in_flight_are_told_unless_all_is_done(state: State, code: int | None, complete: bool) -> None:
    words = next_step(state, code, "evaluate", "runs/x", {}, open_calls=1200, complete=complete)
    assert ("up to 1,200 calls that were in flight may be asked, and paid, again" in words) != complete


def status(**changes: Any) -> Any:
    stage = {
        "name": "judge j", "table": "verdicts", "unit": "summaries", "wanted": 90, "done": 30, "failed": 2,
        "failures": {"timeout": 2}, "under_way": True, "a_minute": 30.0, "seconds_left": 120.0,
    }  # fmt: skip
    found = {
        "run": "runs/x", "verb": "evaluate", "title": "x", "benchmark": "bench", "state": "running", "commands": [],
        "stages": [stage], "spend": None, "missing_ledgers": [], "report": None,
        "live_report": None, "live_report_reason": None, "next": "nothing",
    }  # fmt: skip
    return {**found, **changes}


def test_words_tell_stages_rate_time_and_failures() -> None:
    words = status_words(status())

    assert "> judge j" in words
    assert "30 a minute" in words
    assert "2 min" in words
    assert "judge j: 2 rows failed: timeout 2" in words
    assert "no chat model was called" in words
    assert status_line(status()).count("\n") == 0


def test_spend_of_unknown_price_is_told() -> None:
    spend = {
        "calls": 4, "attempts": 5, "answered": 3, "failed": 2, "refused": 1, "open": 0, "reused": 4,
        "input_tokens": None, "cached_tokens": None, "output_tokens": None, "reasoning_tokens": None,
        "known_usd": 0.25, "n_unknown_usd": 1,
        "unsettled_usd": 0.0, "failures": {"refused": 1, "timeout": 1},
    }  # fmt: skip
    words = status_words(status(spend=spend))

    assert "$0.2500 and 1 attempts of unknown price" in words
    assert "calls: 4 (5 attempts: 3 answered, 2 failed, 0 open)" in words
    assert "refusals (429): 1" in words
    assert "tokens: not stated" in words
    assert "failed attempts: refused 1, timeout 1" in words


def test_a_call_that_was_never_tried_again_is_no_attempt_more() -> None:
    spend = {
        "calls": 3, "attempts": 3, "answered": 3, "failed": 0, "refused": 0, "open": 0, "reused": 0,
        "input_tokens": None, "cached_tokens": None, "output_tokens": None, "reasoning_tokens": None,
        "known_usd": 0.25, "n_unknown_usd": 0, "unsettled_usd": 0.0, "failures": {},
    }  # fmt: skip
    assert "calls: 3 (3 answered, 0 failed, 0 open)" in status_words(status(spend=spend))


def test_the_live_report_is_named_with_what_it_shows_and_why_there_is_no_newer_one() -> None:
    so_far = {"judged": 5, "queries": 12, "waiting": [], "as_of": "noon", "goes_on": True}
    shown = "live report: runs/x/report/live/index.html (5 of 12 queries, as of noon)"

    assert shown in status_line(status(live_report=so_far))
    both = status_words(status(live_report=so_far, live_report_reason="the disk is full"))
    assert shown in both
    assert "no newer live report: the disk is full" in both
    assert "no live report: the disk is full" in status_line(status(live_report_reason="the disk is full"))
