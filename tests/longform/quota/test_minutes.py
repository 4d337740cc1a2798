"""Counts of a minute, and how headers correct them."""

from __future__ import annotations

import pytest

from longform.quota.minutes import Minute


def minute(limit: float, *left: tuple[float, float]) -> Minute:
    found = Minute()
    found.limit = limit
    for when, amount in left:
        found.pass_to(when)
        found.lease(when, amount)
        found.leave(when, amount)
    return found


def test_what_left_counts_for_a_minute_and_a_little() -> None:
    counted = minute(100, (0.0, 60), (10.0, 40))
    counted.pass_to(20.0)
    assert counted.wait_s(1) == pytest.approx(41.0, abs=0.06)
    assert counted.wait_s(61) == pytest.approx(51.0, abs=0.06)
    counted.pass_to(61.1)
    assert (counted.wait_s(60), counted.used) == (0, 40)


def test_an_amount_above_the_limit_leaves_when_nothing_counts() -> None:
    counted = minute(100, (0.0, 1))
    counted.pass_to(1.0)
    assert counted.wait_s(500) == pytest.approx(60.0, abs=0.06)
    counted.pass_to(61.1)
    assert counted.wait_s(500) == 0


def test_a_call_counts_from_when_it_left_and_not_from_its_lease() -> None:
    """It may have waited for a place: counted from its lease, the next would leave too early."""
    counted = minute(100)
    counted.lease(0.0, 60)
    counted.pass_to(7.0)
    counted.leave(5.0, 60)
    counted.correct(5.01, 20)
    assert counted.used == 80
    counted.pass_to(65.9)
    assert counted.used == 80
    counted.pass_to(66.1)
    assert counted.used == 0


def test_what_was_refused_or_never_told_of_counts_no_more() -> None:
    counted = minute(100)
    counted.lease(0.0, 60)
    counted.lease(0.0, 30)
    counted.end(0.5, 60)
    assert counted.used == 30
    counted.leave(1.0, 30)
    counted.correct(1.02, -10)
    assert counted.used == 20
    counted.lease(2.0, 7)
    counted.pass_to(70.0)
    assert counted.used == 7
    counted.pass_to(122.0)
    assert counted.used == 0


def test_news_of_a_call_that_counts_no_more_changes_nothing() -> None:
    """A reply may take more than a minute: by then its lease is forgotten, and those since are others'."""
    counted = minute(100, (0.0, 60))
    counted.pass_to(70.0)
    counted.lease(70.0, 50)
    counted.correct(0.0, 40)
    counted.leave(3.0, 40)
    assert counted.used == 50


def test_headers_of_a_fixed_window_say_when_it_begins_anew() -> None:
    counted = minute(100, (40.0, 100))
    counted.heed(41.0, 40.5, 0, 19.0)
    counted.pass_to(41.0)
    assert counted.wait_s(1) == pytest.approx(19.2)


def test_headers_of_a_bucket_say_that_it_refills() -> None:
    counted = minute(600, (0.0, 100))
    counted.pass_to(0.5)
    counted.heed(0.5, 0.1, 500, 10.0)
    counted.pass_to(5.5)
    assert counted.used == pytest.approx(50)


def test_what_others_use_of_the_key_counts() -> None:
    counted = minute(100, (0.0, 10))
    counted.pass_to(1.0)
    counted.heed(1.0, 0.5, 40, None)
    assert counted.spare == 40


def test_an_old_reply_takes_nothing_away() -> None:
    """It may tell of the window before."""
    counted = minute(100, (0.0, 10))
    counted.pass_to(30.0)
    counted.heed(30.0, -20.0, 0, None)
    assert counted.spare == 90


def test_headers_of_an_earlier_call_are_no_news_of_others() -> None:
    """Workers tell of their replies in any order, and since the earlier one a window may have passed."""
    counted = minute(100, (0.0, 10))
    counted.pass_to(1.0)
    counted.heed(1.0, 0.5, 90, None)
    counted.heed(1.0, 0.4, 20, None)
    assert counted.spare == 90


def test_what_left_since_the_call_is_not_yet_part_of_what_its_headers_say_is_left() -> None:
    counted = minute(100, (0.0, 90), (2.0, 5))
    counted.pass_to(3.0)
    counted.heed(3.0, 1.0, 50, None)
    assert counted.spare == pytest.approx(45)
