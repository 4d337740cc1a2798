"""Bodies of chat servers, whole or not, as replies."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longform.chat.call import Usage
from longform.chat.completions import read_completion, read_usage
from tests.completion import completion

SAID = "- a point [1]"
USED = {"usage": {"prompt_tokens": 9, "completion_tokens": 4}}


def message(content: Any, **more: Any) -> bytes:
    return json.dumps(completion(message={"role": "assistant", "content": content} | more) | USED).encode()


def error(stated: Any, **more: Any) -> bytes:
    return json.dumps({"error": stated} | more).encode()


def stream(*events: Any, end: str = "data: [DONE]") -> bytes:
    data = "".join(f"data: {json.dumps(event)}\r\n\r\n" for event in events)
    return f": a stream nobody asked for\n\n{data}{end}\n\n".encode()


def piece(content: Any = None, finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"model": "m", "choices": [{"index": 0, "delta": {"content": content} | delta, "finish_reason": finish}]}


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(message(SAID), id="plain"),
        pytest.param(message([SAID]), id="strings"),
        pytest.param(message({"type": "text", "text": SAID}), id="one-part"),
        pytest.param(message([{"text": "- a "}, {"type": "output_text", "text": "point [1]"}]), id="parts"),
        pytest.param(message([{"type": "text", "text": {"value": SAID, "annotations": []}}]), id="value"),
        pytest.param(
            message(
                [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": SAID}]
            ),
            id="thinking",
        ),
        pytest.param(message([{"type": "reasoning", "text": "hm"}, {"type": "text", "text": SAID}]), id="reasoning"),
        pytest.param(message([{"text": "hm", "thought": True}, {"text": SAID}]), id="thought"),
        pytest.param(message(SAID, reasoning_content="hm", tool_calls=[]), id="reasoning-beside"),
        pytest.param(json.dumps({"choices": [{"text": SAID, "finish_reason": "stop"}]} | USED).encode(), id="legacy"),
        pytest.param(json.dumps(json.loads(message(SAID)) | {"error": None, "model": 5}).encode(), id="odd-beside"),
        pytest.param(b"\xef\xbb\xbf" + message(SAID), id="byte-order-mark"),
        pytest.param(message(SAID).decode().encode("utf-16"), id="utf-16"),
        pytest.param(message(SAID) + b"\n<!-- proxy -->", id="trailing"),
        pytest.param(
            stream(
                piece("- a "), piece(None, reasoning_content="hm"), piece("point [1]", "stop"), {"choices": []} | USED
            ),
            id="stream",
        ),
        pytest.param(b"data: " + message(SAID) + b"\n\ndata: [DONE]", id="stream-of-one"),
    ],
)
def test_a_good_reply_is_read_in_whatever_form_it_comes(body: bytes) -> None:
    reply = read_completion(body)
    assert (reply.text, reply.failure, reply.is_whole) == (SAID, None, True)
    assert reply.usage == Usage(input_tokens=9, output_tokens=4)


@pytest.mark.parametrize(
    ("body", "failure", "is_paid"),
    [
        pytest.param(b"", "bad_body", False, id="empty"),
        pytest.param(b"<html>It works!</html>", "bad_body", False, id="page"),
        pytest.param(b'{"choices": [', "bad_body", False, id="cut"),
        pytest.param(b"null", "bad_body", False, id="null"),
        pytest.param(b"[]", "bad_body", False, id="array"),
        pytest.param(b'{"a":' * 50_000, "bad_body", False, id="deep"),
        pytest.param(b'{"choices": {"0": 1}}', "bad_body", False, id="choices-dict"),
        pytest.param(json.dumps({"choices": []} | USED).encode(), "bad_body", True, id="no-choice"),
        pytest.param(message(SAID) * 2, "bad_body", False, id="two-bodies"),
        pytest.param(b'data: {"choi\n\n', "bad_body", False, id="broken-stream"),
        pytest.param(stream(piece("- a "), end=""), "not_finished_cut_stream", False, id="cut-stream"),
        pytest.param(stream({"error": {"code": 429}}), "http_429", False, id="limit-in-a-stream"),
        pytest.param(message(7), "bad_content_int", True, id="number"),
        pytest.param(message({"a": 1}), "bad_content_object", True, id="object"),
        pytest.param(message([{"type": "image_url", "image_url": {}}]), "bad_content_image_url", True, id="image"),
        pytest.param(message([{"type": "refusal", "refusal": "no"}]), "refusal", True, id="refusal"),
        pytest.param(message(None, reasoning_content="hm"), "only_reasoning", True, id="only-reasoning"),
        pytest.param(message("\ud800"), "bad_encoding", True, id="half-a-surrogate"),
        pytest.param(message("E").replace(b"E", b"\xff", 1), "bad_encoding", True, id="not-utf-8"),
        pytest.param(error("boom"), "provider_error", False, id="error"),
        pytest.param(error({"message": "x", "code": 502}, choices=None), "http_502", False, id="error-502"),
        pytest.param(error({"code": 429}, id=None, choices=None), "http_429", False, id="limit"),
        pytest.param(error("Rate limit exceeded: free-models-per-day"), "http_429", False, id="limit-in-words"),
        pytest.param(error({"code": "content_filter"}), "content_filter", False, id="filter"),
        pytest.param(b'{"object": "error", "message": "m", "code": 400}', "http_400", False, id="error-of-vllm"),
    ],
)
def test_what_cannot_be_read_is_named_and_what_it_used_is_kept(body: bytes, failure: str, is_paid: bool) -> None:
    reply = read_completion(body)
    assert (reply.text, reply.failure) == (None, failure)
    assert reply.usage == (Usage(input_tokens=9, output_tokens=4) if is_paid else Usage())


_UNSEEN = st.text(
    st.sampled_from(" \n\t\u200b\u00ad\ufeff\u2060\u2028\u00a0\u3164\u2800\u202e\ufe0f\u0301"), max_size=9
)
_THOUGHT = st.text(st.sampled_from("ab \n.\u200b<"), max_size=9)
_MARKS = st.sampled_from(["think", "thinking", "reasoning", "THINK"])


@given(_UNSEEN)
def test_a_text_of_which_nothing_is_seen_is_an_empty_reply(unseen: str) -> None:
    assert read_completion(message(unseen)).failure == "empty_reply"
    assert read_completion(message(unseen, reasoning_content="hm")).failure in ("only_reasoning", "empty_reply")
    assert read_completion(message(f"{unseen}é{unseen}")).text == f"{unseen}é{unseen}"


@given(_MARKS, _THOUGHT, _UNSEEN)
def test_thinking_without_an_answer_is_only_reasoning(mark: str, thought: str, unseen: str) -> None:
    endless, ended = f"<{mark}>{thought}", f"<{mark}>{thought}</{mark}>{unseen}"

    for text in (endless, ended, f"\n{ended}", f"{ended}\n<{mark}>{thought}"):
        assert read_completion(message(text)).failure == "only_reasoning"
        assert read_completion(message(text)).usage.output_tokens == 4
    for text in (f"{ended}{SAID}", f"{SAID}\n{endless}", f"{SAID} {endless}"):
        assert read_completion(message(text)).text == text


def test_the_encoding_that_headers_name_is_read() -> None:
    body = json.dumps(completion(message={"content": "é"}), ensure_ascii=False).encode("latin-1")
    assert read_completion(body, charset="iso-8859-1").text == "é"
    assert read_completion(body, charset="nobody-knows").failure == "bad_encoding"


@pytest.mark.parametrize(
    ("choice", "failure"),
    [
        pytest.param({"finish_reason": "length"}, "length", id="length"),
        pytest.param({"finish_reason": "content_filter"}, "content_filter", id="filter"),
        pytest.param({"finish_reason": "MAX_TOKENS"}, "not_finished_MAX_TOKENS", id="another-word"),
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
