"""Errors of providers as failures: by status, by words, and where a redirect points to."""

from __future__ import annotations

import json
from typing import Any

import pytest

from longform.chat.answers import error_reply, http_failure, redirect_words, refused_reply

FILTERED = {"error": {"code": "content_filter", "innererror": {"code": "ResponsibleAIPolicyViolation"}}}


@pytest.mark.parametrize("error", [None, "overloaded", [], {"error": "text"}, {"error": {"code": ["x"]}}])
def test_an_error_of_any_other_shape_is_its_status(error: Any) -> None:
    assert http_failure(400, error) == "http_400"


@pytest.mark.parametrize(
    ("status", "error", "failure"),
    [
        (400, FILTERED, "content_filter"),
        (400, {"error": {"message": "x", "innererror": {"code": "ResponsibleAIPolicyViolation"}}}, "content_filter"),
        (403, {"error": {"message": "Your input was flagged", "metadata": {"reasons": ["a"]}}}, "content_filter"),
        (500, FILTERED, "http_500"),
        (400, {"error": {"message": "the context window is too small"}}, "context_exceeds_window"),
        (429, {"error": {"code": "insufficient_quota"}}, "insufficient_quota"),
    ],
)
def test_a_status_with_its_words_has_one_failure(status: int, error: Any, failure: str) -> None:
    assert refused_reply(status, json.dumps(error).encode()).failure == failure


@pytest.mark.parametrize(
    "body", [b"[" * 200_000, b'{"error":' * 100_000, b"\xff", b"", b"9" * 5000], ids=lambda b: b[:9]
)
def test_an_error_that_nobody_can_read_is_its_status(body: bytes) -> None:
    assert [refused_reply(status, body).failure for status in (400, 500)] == ["http_400", "http_500"]


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        ({"message": "Rate limit reached. Please try again in 1m26.4s."}, 86.4),
        ({"message": "Too many requests, retry after 2 minutes"}, 120.0),
        ({"code": 429, "details": [{"@type": "RetryInfo", "retryDelay": "34s"}]}, 34.0),
        ({"code": 429, "metadata": {"headers": {"retry_after_ms": 1500}}}, 1.5),
        ({"code": 429, "retry_after": "soon"}, None),
        ({"code": 429, "retry_after": 1_800_000_000}, None),
        ({"code": 429.0, "retry_after": 0.4}, 0.4),
        ({"message": "throttled"}, None),
    ],
)
def test_the_wait_that_an_error_asks_for_is_heard(error: Any, seconds: float | None) -> None:
    reply = error_reply({"error": error})
    assert reply.failure == "http_429"
    assert reply.signals.retry_after_s == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(
    ("location", "shown"),
    [
        ("https://user:pw@other.example:8443/path?key=secret#x", "https://other.example:8443"),
        ("/v2/chat", "http://host"),
        ("//[bad", "an address that it does not name"),
        ("http://a\x1bb/", "http://a?b"),
        (None, "an address that it does not name"),
    ],
)
def test_a_redirect_is_named_by_its_host_alone(location: str | None, shown: str) -> None:
    words = redirect_words(302, "http://host/v1", location)
    assert words.startswith(f"http_302, a redirect to {shown}")
    assert not {"secret", "pw", "\x1b"} & set(words.replace("/", " ").split())
    assert words.isprintable()
