"""
Read a provider's limits from the headers of its replies.

Read are `Retry-After` (RFC 9110, section 10.2.3) and `retry-after-ms`, OpenAI's `x-ratelimit-*` and Anthropic's
`anthropic-ratelimit-*`. A wait is a number of seconds, a duration such as `6m0s`, a time since 1970, or a date as HTTP
or RFC 3339 writes it. A value that makes no sense (negative, past, not finite, text) is None.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
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
LEAST_TIME_S = 1e9  # 2001: no wait, but a time
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

    def wait(value: str) -> float | None:
        return _wait_s(value, now)

    def rate(what: str, kind: str) -> float | None:
        return first(_number, f"x-ratelimit-{what}-{kind}", f"anthropic-ratelimit-{kind}-{what}")

    def reset(kind: str) -> float | None:
        return first(wait, f"x-ratelimit-reset-{kind}", f"anthropic-ratelimit-{kind}-reset")

    milliseconds = first(_number, "retry-after-ms")
    return Signals(
        retry_after_s=first(wait, "retry-after") if milliseconds is None else milliseconds / 1000,
        requests_per_minute=rate("limit", "requests"),
        tokens_per_minute=rate("limit", "tokens"),
        remaining_requests=rate("remaining", "requests"),
        remaining_tokens=rate("remaining", "tokens"),
        reset_requests_s=reset("requests"),
        reset_tokens_s=reset("tokens"),
    )


def _wait_s(value: str, now: float) -> float | None:
    seconds = told_wait(value)
    if seconds is None:
        date = _date(value)
        seconds = None if date is None else date - now
    elif seconds > LEAST_TIME_S:  # in seconds or milliseconds
        seconds = (seconds / 1000 if seconds >= 1000 * LEAST_TIME_S else seconds) - now
    return None if seconds is None or seconds < 0 else seconds


def _date(value: str) -> float | None:
    """Return a date as seconds since 1970; None if it is none, or names no time zone."""
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        with suppress(ValueError, TypeError, OverflowError, IndexError):
            date = read(value.strip())
            if date.tzinfo is not None:
                return date.timestamp()
    return None


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
