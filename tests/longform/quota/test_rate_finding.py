"""The pace of a quota nobody told: found from what is let in and what is refused."""

from __future__ import annotations

from math import inf

import pytest

from longform.quota.leases import QuotaLimits
from longform.quota.rate_finding import Amounts, Goodput, RateFinder


def run_at(finder: RateFinder, begin: float, end: float, per_s: float, tokens: float = 100.0) -> None:
    """Calls are let in at an even pace."""
    for i in range(round((end - begin) * per_s)):
        finder.goodput.add(begin + (i + 0.5) / per_s, 1.0, tokens)


def refuse(finder: RateFinder, sent: float, *, new: bool = True, hold_s: float = 0.1) -> None:
    finder.refused(sent, new=new, hold_s=hold_s)


def test_goodput_counts_a_span_and_forgets_what_was_refused() -> None:
    goodput = Goodput()
    goodput.spread(1.0, 0.1, 5, 500.0)
    goodput.add(1.5, 1.0, 70.0)
    goodput.add(1.5, -1.0, -70.0)
    assert goodput.between(0.9, 1.6) == pytest.approx(Amounts(5, 500))
    assert goodput.between(1.2, 1.6) == pytest.approx(Amounts(0, 0))


def test_goodput_stays_small() -> None:
    goodput = Goodput()
    for i in range(100_000):
        goodput.add(i / 100, 1.0, 1.0)
    assert len(goodput._bins) <= 2001


def test_unknown_pace_doubles_within_a_sixth_of_a_second_while_calls_wait() -> None:
    finder = RateFinder()
    first = finder.pace.requests
    for _ in range(15):
        finder.run(0.01, requests_bind=True, tokens_bind=False)
    assert finder.pace.requests == pytest.approx(2 * first)
    finder.run(0.1, requests_bind=False, tokens_bind=False)
    assert finder.pace.requests == pytest.approx(2 * first)


def test_first_refusal_cuts_to_what_the_last_second_let_in() -> None:
    finder = RateFinder(QuotaLimits(requests_per_minute=500 * 60))
    run_at(finder, 0, 1, per_s=50)
    refuse(finder, 1.0)
    assert 0.95 * 50 <= finder.pace.requests < 50


def test_further_refusals_of_an_event_do_not_cut_again() -> None:
    """A flood of refusals is one piece of news."""
    finder = RateFinder(QuotaLimits(requests_per_minute=500 * 60))
    run_at(finder, 0, 1, per_s=50)
    refuse(finder, 1.0)
    pace = finder.pace
    for _ in range(20):
        refuse(finder, 1.0, new=False)
    assert finder.pace == pace


def test_told_limit_is_never_passed_upwards() -> None:
    finder = RateFinder()
    finder.tell(QuotaLimits(requests_per_minute=600))
    run_at(finder, 0, 1, per_s=4)
    refuse(finder, 1.0)
    assert finder.pace.requests < 4
    for _ in range(10_000):
        finder.run(0.1, requests_bind=True, tokens_bind=True)
        assert finder.pace.requests < 10
    assert finder.pace.requests > 9.8


def test_probing_waits_longer_where_a_refusal_costs_a_long_hold() -> None:
    cheap, dear = RateFinder(QuotaLimits(6000.0)), RateFinder(QuotaLimits(6000.0))
    for finder, hold_s in ((cheap, 0.1), (dear, 1.0)):
        run_at(finder, 0, 1, per_s=50)
        refuse(finder, 1.0, hold_s=hold_s)
        for _ in range(200):
            finder.run(0.1, requests_bind=True, tokens_bind=False)
    assert dear.pace.requests < 50 < cheap.pace.requests


def test_resource_whose_goodput_repeats_is_the_one_that_counts() -> None:
    """A 429 does not say what was short: calls of other sizes tell."""
    finder = RateFinder(QuotaLimits(requests_per_minute=6000.0))
    run_at(finder, 0, 1, per_s=50, tokens=100)
    refuse(finder, 1.0)
    run_at(finder, 1, 7, per_s=46, tokens=5000 / 46)
    refuse(finder, 7.0)
    assert finder.pace.tokens < 5000
    assert finder.pace.requests > 46


def test_refusal_of_calls_leaves_a_token_limit_that_was_not_near() -> None:
    finder = RateFinder()
    finder.tell(QuotaLimits(requests_per_minute=3000, tokens_per_minute=1_000_000))
    before = finder.pace.tokens
    run_at(finder, 0, 1, per_s=49)
    refuse(finder, 1.0)
    assert finder.pace.tokens == before
    assert finder.found.tokens_per_minute is None


def test_silent_provider_teaches_no_limit() -> None:
    assert RateFinder().found == QuotaLimits()
    assert RateFinder().pace.tokens == inf


def test_what_a_predecessor_found_is_gone_on_from_until_something_is_found() -> None:
    finder = RateFinder()
    finder.go_on_from(QuotaLimits(requests_per_minute=1200))
    assert finder.pace.requests == pytest.approx(20)
    run_at(finder, 0, 1, per_s=10)
    refuse(finder, 1.0)
    finder.go_on_from(QuotaLimits(requests_per_minute=6000))
    assert finder.pace.requests < 20


def test_a_refusal_right_after_a_wait_halves_the_pace_at_most() -> None:
    """The second before it holds the wait, in which nobody could call: it shows less than the provider lets in."""
    finder = RateFinder(QuotaLimits(requests_per_minute=500 * 60))
    run_at(finder, 0, 1, per_s=200)
    refuse(finder, 1.0)
    first = finder.pace.requests
    finder.run(0.1, requests_bind=True, tokens_bind=False)
    run_at(finder, 1.9, 2.0, per_s=100)
    refuse(finder, 2.01)
    assert finder.pace.requests == pytest.approx(first / 2)


def test_calls_of_no_tokens_leave_the_pace_of_tokens_unknown() -> None:
    finder = RateFinder()
    run_at(finder, 0, 1, per_s=50, tokens=0.0)
    refuse(finder, 1.0)
    run_at(finder, 1, 2, per_s=50, tokens=0.0)
    refuse(finder, 2.0)
    assert finder.pace.tokens == inf
