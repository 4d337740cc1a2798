"""The arithmetic of expected waits: by hand, and for all queues."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serve.batching import LONGEST_S, SHORTEST_S, ServiceRate, expected_wait_s, may_join, retry_after_s

SECONDS = st.floats(0, 1e4)
TOKENS = st.integers(0, 10**6)
BATCHES = st.lists(st.tuples(st.integers(1, 10**5), SECONDS), max_size=20)


def measured(*batches: tuple[int, float]) -> ServiceRate:
    rate = ServiceRate()
    for tokens, seconds in batches:
        rate.learn(tokens, seconds)
    return rate


def test_a_wait_is_work_by_rate() -> None:
    rate = measured((100, 2.0), (300, 6.0))  # 50 tokens a second, both times
    assert expected_wait_s(rate, waiting_tokens=0, running_tokens=0, running_s=0) == 0
    assert expected_wait_s(rate, waiting_tokens=500, running_tokens=0, running_s=0) == pytest.approx(10)
    assert expected_wait_s(rate, waiting_tokens=500, running_tokens=100, running_s=0.5) == pytest.approx(11.5)


def test_recent_batches_count_most_and_large_ones_more_than_small_ones() -> None:
    slower = measured(*[(100, 1.0)] * 20, *[(100, 2.0)] * 5).seconds_a_token(0, 0.0)
    assert 0.018 < slower < 0.02
    one_small = measured(*[(1000, 10.0)] * 3, (1, 1.0)).seconds_a_token(0, 0.0)
    assert 0.01 < one_small < 0.011


def test_nothing_measured_is_no_wait_until_the_first_batch_takes_its_time() -> None:
    unknown = ServiceRate()
    assert expected_wait_s(unknown, waiting_tokens=900, running_tokens=100, running_s=0) == 0
    # after 4 s the first batch has done at most its 100 tokens, so that the 900 behind it take at least 36 s
    assert expected_wait_s(unknown, waiting_tokens=900, running_tokens=100, running_s=4) == pytest.approx(36)


def test_a_batch_that_hangs_makes_the_wait_longer() -> None:
    rate = measured((100, 1.0))
    waits = [expected_wait_s(rate, waiting_tokens=100, running_tokens=100, running_s=s) for s in (0.0, 1.0, 10.0, 99.0)]
    assert waits == pytest.approx([2.0, 1.0, 10.0, 99.0])


@pytest.mark.parametrize(
    ("wait_s", "own_s", "within_s", "joins"),
    [
        pytest.param(20.0, 500.0, None, True, id="own-work-is-no-wait"),
        pytest.param(20.1, 0.0, None, False, id="too-long"),
        pytest.param(3.0, 2.0, 5.0, True, id="in-time"),
        pytest.param(3.0, 2.1, 5.0, False, id="too-late-for-its-deadline"),
        pytest.param(0.0, 99.0, 5.0, True, id="an-idle-replica-tries"),
    ],
)
def test_who_may_join(wait_s: float, own_s: float, within_s: float | None, joins: bool) -> None:
    assert may_join(wait_s, own_s, max_wait_s=20.0, within_s=within_s) is joins


@given(BATCHES, TOKENS, TOKENS, TOKENS, SECONDS)
def test_more_work_never_waits_less(batches: list[tuple[int, float]], a: int, b: int, running: int, s: float) -> None:
    running_s = s if running else 0.0
    rate = measured(*batches)
    less, more = sorted((a, b))
    waits = [
        expected_wait_s(rate, waiting_tokens=tokens, running_tokens=running, running_s=running_s)
        for tokens in (less, more)
    ]
    assert 0 <= waits[0] <= waits[1]
    assert all(SHORTEST_S <= retry_after_s(wait) <= LONGEST_S for wait in waits)


@given(BATCHES, SECONDS, st.floats(0.1, 100))
def test_a_replica_with_nobody_in_it_takes_everyone(
    batches: list[tuple[int, float]], own_s: float, within_s: float
) -> None:
    wait_s = expected_wait_s(measured(*batches), waiting_tokens=0, running_tokens=0, running_s=0.0)
    assert may_join(wait_s, own_s, max_wait_s=0.1, within_s=within_s)
