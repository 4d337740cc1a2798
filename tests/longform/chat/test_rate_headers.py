from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.chat.answers import read_signals
from longform.chat.call import NOTHING_HEARD, Signals

NOW = 1_800_000_000.0
WAITS = st.floats(0, 1e6)


def waits(**headers: str) -> Signals:
    return read_signals({name.replace("_", "-"): value for name, value in headers.items()}, now=NOW)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        ("0", 0.0),
        ("1.5", 1.5),
        (" 3 ", 3.0),
        (formatdate(NOW + 90, usegmt=True), 90.0),
        (formatdate(NOW, usegmt=True), 0.0),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str, seconds: float) -> None:
    assert waits(retry_after=value).retry_after_s == seconds


@pytest.mark.parametrize(
    "value",
    [
        "",
        "-1",
        "nan",
        "inf",
        "1e3",
        "1e309",
        "²",
        "1000000001",  # a time that is past
        "soon",
        "٣",
        formatdate(NOW - 1, usegmt=True),
        "Wed, 99 Oct 2099 07:28:00 GMT",
        "9" * 400,
        "Fri, 01 Jan 0001 00:00:00 +2359",
    ],
)
def test_a_wait_that_makes_no_sense_is_unknown(value: str) -> None:
    """A past date read as 0 would send a refused client back at once."""
    assert waits(retry_after=value) == NOTHING_HEARD


def test_milliseconds_are_finer_than_seconds_and_go_first() -> None:
    assert waits(retry_after="1", retry_after_ms="320").retry_after_s == 0.32
    assert waits(retry_after="1", retry_after_ms="?").retry_after_s == 1.0


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("20ms", 0.02), ("1s", 1.0), ("6m0s", 360.0), ("1h2m", 3720.0), ("2m59.56s", 179.56), ("1d", 86400.0), ("4", 4.0)],
)
def test_openai_writes_waits_in_units(value: str, seconds: float) -> None:
    assert waits(x_ratelimit_reset_tokens=value).reset_tokens_s == pytest.approx(seconds)


@pytest.mark.parametrize("value", ["", "ms", "1s1m", "-1s", "1.5h", "1 s", "s1"])
def test_a_wait_in_other_units_is_unknown(value: str) -> None:
    assert waits(x_ratelimit_reset_tokens=value) == NOTHING_HEARD


def test_openai_states_limits_remainders_and_resets() -> None:
    signals = read_signals(
        {
            "X-RateLimit-Limit-Requests": "60",
            "X-RateLimit-Limit-Tokens": "150000",
            "X-RateLimit-Remaining-Requests": "59",
            "X-RateLimit-Remaining-Tokens": "149984",
            "X-RateLimit-Reset-Requests": "1s",
            "X-RateLimit-Reset-Tokens": "6m0s",
            "Content-Type": "application/json",
        },
        now=NOW,
    )
    assert signals == Signals(None, 60.0, 150_000.0, 59.0, 149_984.0, 1.0, 360.0)


def test_anthropic_states_resets_as_dates() -> None:
    """1,800,000,000 s is 2027-01-15T08:00:00Z."""
    signals = read_signals(
        {
            "anthropic-ratelimit-requests-limit": "50",
            "anthropic-ratelimit-requests-remaining": "49",
            "anthropic-ratelimit-requests-reset": "2027-01-15T08:00:30Z",
            "anthropic-ratelimit-tokens-limit": "40000",
            "anthropic-ratelimit-tokens-remaining": "0",
            "anthropic-ratelimit-tokens-reset": "2027-01-15T09:00:01+01:00",
        },
        now=NOW,
    )
    assert signals == Signals(None, 50.0, 40_000.0, 49.0, 0.0, 30.0, 1.0)


@pytest.mark.parametrize("reset", ["2027-01-15T07:59:59Z", "2027-01-15T08:00:30", "tomorrow", "2027-13-01T00:00:00Z"])
def test_a_date_that_is_past_or_has_no_zone_is_unknown(reset: str) -> None:
    assert waits(anthropic_ratelimit_tokens_reset=reset) == NOTHING_HEARD


def test_headers_that_say_nothing_of_limits_are_nothing_heard() -> None:
    assert read_signals({"content-type": "application/json", "ratelimit": "5"}, now=NOW) is NOTHING_HEARD


@given(
    hours=st.integers(0, 99), minutes=st.integers(0, 99), seconds=st.integers(0, 99), thousandths=st.integers(0, 999)
)
def test_a_duration_is_the_sum_of_its_parts(hours: int, minutes: int, seconds: int, thousandths: int) -> None:
    told = waits(x_ratelimit_reset_requests=f"{hours}h{minutes}m{seconds}s{thousandths}ms").reset_requests_s
    assert told == pytest.approx(3600 * hours + 60 * minutes + seconds + thousandths / 1000)


@pytest.mark.parametrize("later", [0, 3.0, 100_000.0])
def test_a_time_since_1970_is_a_wait_from_now(later: float) -> None:
    seconds, milliseconds = str(int(NOW + later)), str(int((NOW + later) * 1000))
    assert waits(retry_after=seconds).retry_after_s == waits(retry_after=milliseconds).retry_after_s == later
    assert waits(x_ratelimit_reset_requests=seconds).reset_requests_s == later


@given(st.integers(0, 10**9))
def test_a_date_is_as_far_as_its_seconds(seconds: int) -> None:
    by_date = waits(retry_after=formatdate(NOW + seconds, usegmt=True)).retry_after_s
    assert by_date == waits(retry_after=str(seconds)).retry_after_s == seconds


NAMES = [
    "retry-after",
    "retry-after-ms",
    "x-ratelimit-limit-requests",
    "x-ratelimit-remaining-tokens",
    "x-ratelimit-reset-requests",
    "anthropic-ratelimit-tokens-limit",
    "anthropic-ratelimit-requests-reset",
]
NEARLY = st.text("0123456789.-:+TZhmsd ,GMTWedJan", max_size=30)


@given(st.dictionaries(st.sampled_from(NAMES), st.text() | NEARLY))
def test_any_text_is_read_as_something_from_0_on_or_as_unknown(headers: dict[str, str]) -> None:
    for value in read_signals(headers, now=NOW):
        assert value is None or 0 <= value < float("inf")
