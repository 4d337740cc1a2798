"""
Read a provider's limits from the headers of its replies.

Read are `Retry-After` (RFC 9110, section 10.2.3: seconds or a date) and `retry-after-ms`, OpenAI's `x-ratelimit-*` with
waits such as `6m0s`, and Anthropic's `anthropic-ratelimit-*` with RFC 3339 dates. A value that makes no sense
(negative, past, not finite, text) is None.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime

from longform.chat.call import NOTHING_HEARD, Signals

_TELLING = ("retry-after", "x-ratelimit-", "anthropic-ratelimit-")
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+")
_WAIT = re.compile(
    r"(?:(?P<d>[0-9]+)d)?(?:(?P<h>[0-9]+)h)?(?:(?P<m>[0-9]+)m)?"
    r"(?:(?P<s>[0-9]+(?:\.[0-9]+)?)s)?(?:(?P<ms>[0-9]+(?:\.[0-9]+)?)ms)?"
)
_IN_WORDS = re.compile(
    r"(?:again|retry|wait)\W+(?:\w+\W+){0,2}?(?P<number>[0-9][0-9.]*(?:(?:ms|[dhms])[0-9.dhms]*)?)(?![\w])"
    r"(?:\s*(?P<unit>milli|second|sec|minute|min|hour|day))?",
    re.IGNORECASE,
)
_LEAST_TIME_S = 1e9  # 2001: no wait, but a time
_SECONDS = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


def read_signals(headers: Mapping[str, str], *, now: float) -> Signals:
    """
    The signals in the *headers* of one reply, whose names may be in any case.

    A limit is read as one for a minute, as both providers state it. Dates become waits from *now*, when the reply came,
    in seconds since 1970.
    """
    stated = {key: value for name, value in headers.items() if (key := name.lower()).startswith(_TELLING)}
    if not stated:
        return NOTHING_HEARD

    def first(read: Callable[[str], float | None], *names: str) -> float | None:
        values = (read(stated[name]) for name in names if name in stated)
        return next((value for value in values if value is not None), None)

    def until(date: str) -> float | None:
        return _until(_rfc3339(date), now)

    def rate(what: str, kind: str) -> float | None:
        return first(_number, f"x-ratelimit-{what}-{kind}", f"anthropic-ratelimit-{kind}-{what}")

    def reset(kind: str) -> float | None:
        told = first(lambda value: _from_now(told_wait(value), now), f"x-ratelimit-reset-{kind}")
        return first(until, f"anthropic-ratelimit-{kind}-reset") if told is None else told

    return Signals(
        retry_after_s=_retry_after(stated, now),
        requests_per_minute=rate("limit", "requests"),
        tokens_per_minute=rate("limit", "tokens"),
        remaining_requests=rate("remaining", "requests"),
        remaining_tokens=rate("remaining", "tokens"),
        reset_requests_s=reset("requests"),
        reset_tokens_s=reset("tokens"),
    )


def _retry_after(stated: Mapping[str, str], now: float) -> float | None:
    milliseconds = _number(stated.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = stated.get("retry-after", "")
    seconds = _from_now(told_wait(value), now)
    return _until(_http_date(value), now) if seconds is None else seconds


def _from_now(seconds: float | None, now: float) -> float | None:
    """Return a wait; a number that is a time since 1970, in seconds or milliseconds, becomes one from *now*."""
    if seconds is None or seconds <= _LEAST_TIME_S:
        return seconds
    wait = (seconds / 1000 if seconds >= 1000 * _LEAST_TIME_S else seconds) - now
    return wait if wait >= 0 else None


def wait_in_words(words: str) -> float | None:
    """Return the seconds that a sentence such as "Please try again in 20s" asks to wait; None if it names none."""
    found = _IN_WORDS.search(words)
    if found is None:
        return None
    number, unit = found["number"].rstrip("."), (found["unit"] or "s").lower()
    seconds = _number(number)
    return told_wait(number) if seconds is None else _finite(seconds * _SECONDS["ms" if unit == "milli" else unit[0]])


def _number(value: str) -> float | None:
    """A decimal number, without a sign or an exponent."""
    value = value.strip()
    return _finite(float(value)) if _NUMBER.fullmatch(value) else None


def told_wait(value: str) -> float | None:
    """Return seconds, from a number of them or a duration such as `1h2m` or `20ms`; None if it makes no sense."""
    value = value.strip()
    parts = _WAIT.fullmatch(value)
    if not value or parts is None:
        return _number(value)
    return _finite(sum(float(part) * _SECONDS[unit] for unit, part in parts.groupdict().items() if part))


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _until(date: datetime | None, now: float) -> float | None:
    """Return the seconds from *now* to *date*; None if it is past, or names no time zone."""
    if date is None or date.tzinfo is None:
        return None
    wait = date.timestamp() - now
    return wait if wait >= 0 else None


def _http_date(value: str) -> datetime | None:
    try:
        return parsedate_to_datetime(value)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _rfc3339(value: str) -> datetime | None:
    try:
        return datetime.fromisoformat(value.strip())
    except (ValueError, OverflowError):
        return None
