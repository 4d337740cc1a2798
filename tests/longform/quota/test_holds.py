"""Holds: times in which no call may leave."""

from __future__ import annotations

from itertools import pairwise

import pytest

from longform.quota.holds import Hold


def test_two_seconds_are_obeyed_to_the_letter() -> None:
    hold = Hold()
    assert hold.refused(10.0, 9.9, 2.0)
    assert hold.leave(11.999) == 0
    hold.accepted(11.0, 10.5)
    assert hold.leave(11.999) == 0
    assert hold.leave(12.0) is None


@pytest.mark.parametrize("asked", [None, 0.0, 0.001])
def test_without_a_usable_header_the_own_wait_doubles_until_a_call_is_accepted(asked: float | None) -> None:
    """A header of nothing must not make anybody hammer."""
    hold, now, waits = Hold(), 0.0, []
    for _ in range(6):
        hold.refused(now, now, asked)
        waits.append(hold.until - now)
        now = hold.until
        if hold.leave(now) == 1:
            hold.canary_left(now)
    assert waits[:3] == pytest.approx([0.1, 0.2, 0.4])
    assert all(later >= earlier for earlier, later in pairwise(waits))
    hold.accepted(now + 0.2, now)
    assert hold.leave(now + 0.2) is None


def test_long_wait_that_is_contradicted_ends_and_is_not_believed_again() -> None:
    hold = Hold()
    hold.refused(0.0, -0.01, 30.0)
    assert (hold.leave(1.9), hold.leave(2.0)) == (0, 1)
    hold.canary_left(2.0)
    assert hold.leave(2.1) == 0
    hold.accepted(2.2, 2.0)
    assert hold.leave(2.2) is None
    hold.refused(9.0, 8.9, 30.0)
    assert hold.until - 9.0 <= 0.2


def test_calls_sent_before_a_hold_do_not_contradict_it() -> None:
    hold = Hold()
    hold.refused(0.0, -0.01, 30.0)
    hold.accepted(0.5, -0.005)
    assert hold.leave(0.5) == 0


def test_true_wait_of_a_minute_costs_a_few_canaries() -> None:
    hold, canaries = Hold(), 0
    hold.refused(0.0, -0.01, 60.0)
    for tick in range(6000):
        now = tick / 100
        if hold.leave(now):
            canaries += 1
            hold.canary_left(now)
            hold.refused(now, now, 60.0 - now)
    assert canaries <= 4
    assert hold.leave(60.01) is None


def test_refusals_of_calls_sent_before_the_hold_ends_are_no_news() -> None:
    hold = Hold()
    assert hold.refused(0.0, -0.01, 1.0)
    assert not hold.refused(0.2, 0.1, 1.0)
    assert hold.until == pytest.approx(1.2)
    assert hold.refused(2.0, 1.9, 1.0)


def test_nothing_left_until_a_reset_holds_without_a_refusal() -> None:
    hold = Hold()
    hold.wait_out(0.0, 1.5)
    assert (hold.leave(1.4), hold.leave(1.5)) == (0, None)
    assert not hold.closed
