"""
Answers of providers, as every client hears them: a reply, a status that says no, or an error in the place of a reply.

Also which failures may pass. Nothing of the provider's words stands in a failure: they may quote a key.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

from pydantic import JsonValue

from longform.chat.call import ChatReply, Signals, failed, guarded
from longform.chat.rate_headers import LEAST_TIME_S, read_signals, told_wait, wait_in_words

REFUSED = "http_429"
"""A limit was met: the call did not count, and waits for its turn again."""

PROVIDER_ERROR = "provider_error"
"""An error in the place of a reply, of which no status is known."""

CANCELLED = "cancelled"
"""Given up before it left."""

UNANSWERED = ("connection", "timeout")
"""Nobody knows whether the provider let such a call in, or would have refused it."""

OF_THE_ACCOUNT = ("http_401", "http_402", "http_403", "http_404", "http_407", "insufficient_quota")
"""The key, the credit or the address is at fault, whatever was asked."""

REDIRECTS = ("http_301", "http_302", "http_303", "http_307", "http_308")
"""The server names another address, which is not asked."""

RAISED = "raised"
"""Begins the failure of a call to a class of a user's own that raised: `raised: IndexError: ...`."""

_PASSING = re.compile(
    rf"http_(408|409|425|5\d\d)|timeout|connection|bad_body|provider_error|reply_too_large|{RAISED}: .*", re.DOTALL
)
_FIRST_S, _LONGEST_S = 0.25, 30.0

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
                told = told_wait(value)
                if told is None or told > LEAST_TIME_S:
                    return None
                return told / 1000 if found["ms"] else told
        waits = (wait_in_words(word) for word in self.words())
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
    failure = PROVIDER_ERROR if status is None else _failure(status, error)
    return replace(failed(failure), signals=Signals(retry_after_s=error.wait_s()))


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
    return replace(failed(_failure(status, error)), signals=Signals(retry_after_s=error.wait_s()))


def redirect_words(status: int, url: str, location: str | None) -> str:
    """Say where an answer pointed to, which is not followed: what was asked holds documents and may hold a key."""
    try:
        to = urlsplit(urljoin(url, location or ""))
        host = f"{to.scheme}://{to.hostname}{f':{to.port}' if to.port else ''}" if location and to.hostname else ""
    except ValueError:
        host = ""
    shown = re.sub(r"[^A-Za-z0-9.:/\[\]-]", "?", host)[:100]
    return f"http_{status}, a redirect to {shown or 'an address that it does not name'}, which is not followed"


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
        yield name, f"{stated:.0f}" if isinstance(stated, float) else str(stated)[:_MOST_CHARS]


def asks_to_wait(reply: ChatReply) -> bool:
    """Return whether a provider refuses a call for now: by a limit, or by an error with the time to come again."""
    return reply.failure == REFUSED or (reply.failure is not None and reply.signals.retry_after_s is not None)


def is_final(reply: ChatReply) -> bool:
    """Return whether no attempt follows *reply*: it is an answer, it would come again, or its tokens were paid for."""
    return reply.failure is None or not may_pass(reply.failure) or bool(reply.usage.output_tokens)


def may_pass(failure: str) -> bool:
    """
    Return whether another attempt may end better: overload, resets, timeouts and bodies that are no reply.

    Failures that the provider would repeat (400, 401, a context too long, a filter) and paid replies without an answer
    (empty, cut at the length limit) are final.
    """
    return failure == REFUSED or _PASSING.fullmatch(failure) is not None


def may_pass_later(failure: str) -> bool:
    """
    Return whether a later command may end better: the failure passes, or people put its cause right between two
    commands.

    That is a key that was wrong or has expired, an account without credit, and an address that was wrong.
    """
    return may_pass(failure) or failure in (*OF_THE_ACCOUNT, *REDIRECTS)


def lasting(failures: Mapping[str, int]) -> dict[str, int]:
    """Return those of *failures*, with their numbers, that a later command meets again and does not try."""
    return {name: n for name, n in failures.items() if name != RAISED and not may_pass_later(name)}


def backoff_s(n_failed: int, draw: float, *, told_s: float | None = None) -> float:
    """
    Seconds to wait after the attempt that failed as number *n_failed* (from 1).

    They double from a quarter of a second to half a minute; *draw*, from 0 to 1, spreads them over the upper half, so
    that those which failed together do not return together. What the provider told holds as the least.
    """
    longest = min(_FIRST_S * 2.0 ** (n_failed - 1), _LONGEST_S)
    return max(longest * (1 + draw) / 2, told_s or 0.0)
