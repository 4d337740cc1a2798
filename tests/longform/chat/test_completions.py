"""Bodies of chat servers, whole or not, as replies."""

from __future__ import annotations

import json
from typing import Any

import pytest

from longform.chat.call import Usage
from longform.chat.completions import read_completion, read_usage
from longform.chat.refusals import http_failure
from tests.completion import completion


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>It works!</html>",
        b'{"choices": [',
        b"null",
        b"[]",
        b'{"choices": []}',
        b'{"error": {"message": "overloaded"}}',
        b'{"choices": [{"message": {"content": 7}}]}',
        b'{"choices": [{"message": {"content": "\\ud800"}}]}',
        b'{"choices": [{"message": {"content": "\xff"}}]}',
        b'{"a":' * 50_000,
    ],
    ids=lambda body: body[:24].decode("latin-1"),
)
def test_a_body_that_is_no_completion_is_bad(body: bytes) -> None:
    reply = read_completion(body)
    assert (reply.text, reply.failure) == (None, "bad_body")


@pytest.mark.parametrize(
    ("choice", "failure"),
    [
        pytest.param({"finish_reason": "length"}, "length", id="length"),
        pytest.param({"finish_reason": "content_filter"}, "content_filter", id="filter"),
        pytest.param({"message": {"content": ""}}, "empty_reply", id="empty"),
        pytest.param({"message": {"content": " \n"}}, "empty_reply", id="blank"),
        pytest.param({"message": {"content": None}}, "empty_reply", id="null"),
        pytest.param({"message": {"content": None, "refusal": "I cannot"}}, "refusal", id="refusal"),
        pytest.param({"message": {"content": ""}, "finish_reason": "length"}, "length", id="spent-on-reasoning"),
    ],
)
def test_a_reply_that_is_not_whole_is_no_text_and_keeps_what_it_used(choice: dict[str, Any], failure: str) -> None:
    body = completion(**choice) | {"usage": {"prompt_tokens": 9, "completion_tokens": 4}}
    reply = read_completion(json.dumps(body).encode())
    assert (reply.text, reply.failure) == (None, failure)
    assert reply.finish_reason == choice.get("finish_reason", "stop")
    assert reply.usage == Usage(input_tokens=9, output_tokens=4)


@pytest.mark.parametrize(
    ("stated", "usage"),
    [
        (None, Usage()),
        ("many", Usage()),
        ({}, Usage()),
        ({"prompt_tokens": None, "completion_tokens": "4"}, Usage()),
        ({"prompt_tokens": -1, "completion_tokens": True}, Usage()),
        ({"prompt_tokens": 5, "prompt_tokens_details": None}, Usage(input_tokens=5)),
        ({"prompt_tokens": 5, "prompt_tokens_details": {"cached_tokens": 0}}, Usage(5, 0)),
        ({"prompt_tokens": 5, "prompt_tokens_details": {"cached_tokens": 9}}, Usage(None, 9)),
    ],
)
def test_usage_that_is_missing_or_makes_no_sense_is_unknown(stated: Any, usage: Usage) -> None:
    assert read_usage(stated) == usage


@pytest.mark.parametrize("error", [None, "overloaded", [], {"error": "text"}, {"error": {"code": ["x"]}}])
def test_an_error_of_any_other_shape_is_its_status(error: Any) -> None:
    assert http_failure(400, error) == "http_400"
