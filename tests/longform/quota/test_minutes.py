"""Counts of a minute, and how headers correct them."""

from __future__ import annotations

import pytest

from longform.quota.minutes import Minute


def minute(limit: float, *left: tuple[float, float]) -> Minute:
    found = Minute()
    found.limit = limit
    for when, amount in left:
        found.take(when, amount)
    return found


def test_what_left_counts_for_a_minute_and_a_little() -> None:
    counted = minute(100, (0.0, 60), (10.0, 40))
    counted.pass_to(20.0)
    assert counted.wait_s(1) == pytest.approx(40.5)
    assert counted.wait_s(61) == pytest.approx(50.5)
    counted.pass_to(60.5)
    assert (counted.wait_s(60), counted.used) == (0, 40)


def test_an_amount_above_the_limit_leaves_when_nothing_counts() -> None:
    counted = minute(100, (0.0, 1))
    counted.pass_to(1.0)
    assert counted.wait_s(500) == pytest.approx(59.5)
    counted.pass_to(61.0)
    assert counted.wait_s(500) == 0


def test_a_correction_belongs_to_when_the_call_left() -> None:
    counted = minute(100, (0.0, 50), (30.0, 50))
    counted.take(5.0, -20)
    counted.pass_to(60.5)
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


def test_what_left_since_the_call_is_not_yet_part_of_what_its_headers_say_is_left() -> None:
    counted = minute(100, (0.0, 90), (2.0, 5))
    counted.pass_to(3.0)
    counted.heed(3.0, 1.0, 50, None)
    assert counted.spare == pytest.approx(45)
