"""Failures that another attempt may mend, and the wait before it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.chat.failures import backoff_s, may_pass


@pytest.mark.parametrize(
    "failure", ["http_429", "http_500", "http_503", "http_529", "timeout", "connection", "bad_body"]
)
def test_overload_and_accidents_may_pass(failure: str) -> None:
    assert may_pass(failure)


@pytest.mark.parametrize(
    "failure",
    ["http_400", "http_401", "http_404", "insufficient_quota", "length", "content_filter", "refusal", "empty_reply",
     "context_exceeds_window: 9 input + 1 output tokens > 8", "unsupported_logprobs"],
)  # fmt: skip
def test_what_will_be_said_again_or_was_paid_is_final(failure: str) -> None:
    assert not may_pass(failure)


@given(st.integers(1, 60), st.floats(0, 1))
def test_waits_stay_between_an_eighth_of_a_second_and_half_a_minute(n_failed: int, draw: float) -> None:
    assert 0.125 <= backoff_s(n_failed, draw) <= 30.0


def test_waits_double_and_spread_over_their_upper_half() -> None:
    assert [backoff_s(n, 1.0) for n in (1, 2, 3)] == [0.25, 0.5, 1.0]
    assert backoff_s(3, 0.0) == 0.5


def test_what_the_server_told_is_the_least() -> None:
    assert backoff_s(1, 0.5, told_s=7.0) == 7.0
    assert backoff_s(6, 1.0, told_s=0.1) == 8.0
