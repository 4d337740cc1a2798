"""
Answers of providers, as every client hears them: a reply, a status that says no, or an error in the place of a reply.

Nothing of the provider's words stands in a failure: they may quote a key.

Of limits are read `Retry-After` (RFC 9110, section 10.2.3) and `retry-after-ms`, OpenAI's `x-ratelimit-*`, Anthropic's
`anthropic-ratelimit-*`, and the waits that errors ask for. A wait is a number of seconds, a duration such as `6m0s`, a
time since 1970, or a date as HTTP or RFC 3339 writes it. A value that makes no sense (negative, past, not finite, text)
is None.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from email.utils import parsedate_to_datetime
from itertools import islice
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

from pydantic import JsonValue

from longform.chat.call import NOTHING_HEARD, ChatReply, Signals, failed, guarded
from longform.chat.failures import PROVIDER_ERROR

_DEEPEST, _MOST_FIELDS, _MOST_CHARS = 6, 100, 2000  # of an error that is looked through

_WORDS = frozenset("code type status message detail reason reasons raw error title".split())
_CODES = ("code", "status", "status_code", "statuscode", "http_status")
_WAITS = re.compile(r"retry[-_ ]?(?:after|delay)(?P<ms>[-_ ]?ms)?", re.IGNORECASE)

# The words of OpenAI, vLLM, llama.cpp, Anthropic and Gemini, in that order.
_WINDOW = re.compile(
    r"context_length_exceeded|context[ _](?:length|window|size)|prompt is too long|token count.{0,40}exceeds",
    re.IGNORECASE | re.DOTALL,
)
# Azure, OpenAI, DashScope, OpenRouter
_FILTER = re.compile(
    r"content_filter|content_policy_violation|ResponsibleAIPolicy|content management policy|data_inspection_failed|"
    r"input was flagged",
    re.IGNORECASE,
)
_LIMIT = re.compile(
    r"rate[ _-]?limit|too many requests|resource_exhausted|throttl|requests per (?:minute|day)", re.IGNORECASE
)
_MAY_FILTER = (400, 403, 422, 451)
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


class HttpAnswer(NamedTuple):
    """The answer to a request, by HTTP or by a handle."""

    status: int
    headers: Mapping[str, str]  # their names may be in any case
    body: bytes
    url: str = ""  # that was asked


def heard(answer: HttpAnswer, read: Callable[[HttpAnswer], ChatReply], *, now: float) -> ChatReply:
    """
    Return the reply in *answer*, or its failure, with what is said of limits: one reading for all clients.

    *read* reads an answer that states success, whose error in the place of a reply `error_reply` reads. A wait in the
    headers goes before one in the body. *now*, when the answer came, is in seconds since 1970.
    """
    if 200 <= answer.status < 300:
        reply = read(answer)
    else:
        reply = refused_reply(answer.status, answer.body, url=answer.url, location=answer.headers.get("location"))
    told = read_signals(answer.headers, now=now)
    told_s = reply.signals.retry_after_s if told.retry_after_s is None else told.retry_after_s
    return replace(reply, signals=told._replace(retry_after_s=told_s))


class _Error(NamedTuple):
    """An error's fields, wherever they stand in it: small names, texts and numbers."""

    fields: tuple[tuple[str, str], ...]

    def words(self) -> list[str]:
        return [value for name, value in self.fields if name in _WORDS]

    def says(self, pattern: re.Pattern[str]) -> bool:
        return any(pattern.search(word) for word in self.words())

    def status(self) -> int | None:
        """Return the status of HTTP that it states in its own words."""
        codes = (value for name, value in self.fields if name in _CODES)
        return next((int(code) for code in codes if re.fullmatch(r"[45]\d\d", code)), None)

    def wait_s(self) -> float | None:
        """Return the seconds that it asks to wait."""
        for name, value in self.fields:
            if found := _WAITS.fullmatch(name):
                told = _told_wait(value)
                if told is None or told > _LEAST_TIME_S:
                    return None
                return told / 1000 if found["ms"] else told
        waits = (_wait_in_words(word) for word in self.words())
        return next((wait for wait in waits if wait is not None), None)


def http_failure(status: int, error: object) -> str:
    """
    The failure that a refusing status, 300 or above, means.

    *error* is the decoded body, or its `error`; anything else says nothing.

    Returns:
        `context_exceeds_window`, `content_filter`, `insufficient_quota` (an empty account: waiting does not help), or
        `http_<status>`.
    """
    return _failure(status, _read(error))


@guarded
def error_reply(stated: JsonValue) -> ChatReply:
    """
    Return the failure that an error in the place of a reply means: that of the status it names, `http_429` if it speaks
    of a limit, `content_filter`, else `provider_error`.
    """
    error = _read(stated)
    status = error.status() or (429 if error.says(_LIMIT) else 400 if error.says(_FILTER) else None)
    return _reply(status, error)


def stated_error(content: JsonValue) -> ChatReply | None:
    """Return the failure that a decoded body means in which an error stands; None if it is a reply in any form."""
    return error_reply(content) if isinstance(content, Mapping) and content.get("error") else None


@guarded
def refused_reply(status: int, body: bytes, *, url: str = "", location: str | None = None) -> ChatReply:
    """
    Return the failure that an answer with a refusing status, 300 or above, means.

    *url* was asked; the answer names *location* in its place, which is not asked.
    """
    if 300 <= status < 400:
        return failed(f"http_{status}", redirect_words(status, url, location))
    try:
        error = _read(json.loads(body))
    except (ValueError, RecursionError):
        error = _Error(())
    return _reply(status, error)


def redirect_words(status: int, url: str, location: str | None) -> str:
    """Say where an answer pointed to, which is not followed: what was asked holds documents and may hold a key."""
    try:
        to = urlsplit(urljoin(url, location or ""))
        host = f"{to.scheme}://{to.hostname}{f':{to.port}' if to.port else ''}" if location and to.hostname else ""
    except ValueError:
        host = ""
    shown = re.sub(r"[^A-Za-z0-9.:/\[\]-]", "?", host)[:100]
    return f"http_{status}, a redirect to {shown or 'an address that it does not name'}, which is not followed"


def _reply(status: int | None, error: _Error) -> ChatReply:
    failure = PROVIDER_ERROR if status is None else _failure(status, error)
    return replace(failed(failure), signals=Signals(retry_after_s=error.wait_s()))


def _failure(status: int, error: _Error) -> str:
    if status == 429 and "insufficient_quota" in error.words():
        return "insufficient_quota"
    if status == 400 and error.says(_WINDOW):
        return "context_exceeds_window"
    if status in _MAY_FILTER and error.says(_FILTER):
        return "content_filter"
    return f"http_{status}"


def _read(error: object) -> _Error:
    return _Error(tuple(islice(_fields(error, "error", 0), _MOST_FIELDS)))


def _fields(stated: object, name: str, depth: int) -> Iterator[tuple[str, str]]:
    """Yield the names and values of all that stands in a decoded error; names in small letters."""
    if isinstance(stated, Mapping) and depth < _DEEPEST:
        for key, value in stated.items():
            yield from _fields(value, str(key).lower(), depth + 1)
    elif isinstance(stated, list | tuple) and depth < _DEEPEST:
        for value in stated:
            yield from _fields(value, name, depth + 1)
    elif isinstance(stated, str | int | float) and not isinstance(stated, bool):
        yield name, f"{stated:.3f}".removesuffix(".000") if isinstance(stated, float) else str(stated)[:_MOST_CHARS]


# ---------------------------------------------------------------- limits


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
    seconds = _told_wait(value)
    if seconds is None:
        date = _date(value)
        seconds = None if date is None else date - now
    elif seconds > _LEAST_TIME_S:  # in seconds or milliseconds
        seconds = (seconds / 1000 if seconds >= 1000 * _LEAST_TIME_S else seconds) - now
    return None if seconds is None or seconds < 0 else seconds


def _date(value: str) -> float | None:
    """Return a date as seconds since 1970; None if it is none, or names no time zone."""
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        with suppress(ValueError, TypeError, OverflowError, IndexError):
            date = read(value.strip())
            if date.tzinfo is not None:
                return date.timestamp()
    return None


def _wait_in_words(words: str) -> float | None:
    """Return the seconds that a sentence such as "Please try again in 20s" asks to wait; None if it names none."""
    found = _IN_WORDS.search(words)
    if found is None:
        return None
    number, unit = found["number"].rstrip("."), (found["unit"] or "s").lower()
    seconds = _number(number)
    return _told_wait(number) if seconds is None else _finite(seconds * _SECONDS["ms" if unit == "milli" else unit[0]])


def _number(value: str) -> float | None:
    """A decimal number, without a sign or an exponent."""
    value = value.strip()
    return _finite(float(value)) if _NUMBER.fullmatch(value) else None


def _told_wait(value: str) -> float | None:
    """Return seconds, from a number of them or a duration such as `1h2m` or `20ms`; None if it makes no sense."""
    value = value.strip()
    parts = _WAIT.fullmatch(value)
    if not value or parts is None:
        return _number(value)
    return _finite(sum(float(part) * _SECONDS[unit] for unit, part in parts.groupdict().items() if part))


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
