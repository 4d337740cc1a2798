"""The lines of a batch's files: what is sent, and how what comes back is read."""

from __future__ import annotations

import json

from longform.chat.batch_files import read_replies, request_line
from tests.completion import completion


def line(
    call: str, *, status: int = 200, content: str | None = "yes", error: object = None, body: object = None
) -> str:
    whole = completion(message={"content": content}) | {"usage": {"prompt_tokens": 3}}
    response = None if error else {"status_code": status, "body": body or whole}
    return json.dumps({"custom_id": call, "response": response, "error": error})


def test_every_line_is_an_answer_or_a_failure_with_its_reason() -> None:
    content = "\n".join(
        [
            line("fine"),
            line("empty", content=" "),
            line("refused", status=429, body={"error": {"code": "rate_limit_exceeded"}}),
            line("long", status=400, body={"error": {"code": "context_length_exceeded"}}),
            line("odd", body={"choices": []}),
            line("late", error={"code": "batch_expired"}),
            line("strange", error={"code": "sk-secret"}),
            "{half a li",
            '{"custom_id": "no body", "response": {"status_code": 200}}',
            "[]",
        ]
    )
    replies = read_replies(content.encode())
    assert {call: reply.failure for call, reply in replies.items()} == {
        "fine": None,
        "empty": "empty_reply",
        "refused": "http_429",
        "long": "context_exceeds_window",
        "odd": "bad_body",
        "no body": "bad_body",
        "late": "batch_expired",
        "strange": "batch_error",
    }
    assert replies["empty"].usage.input_tokens == 3


def test_half_a_character_does_not_spoil_a_file() -> None:
    content = request_line("call", {"messages": [{"content": "\ud83d"}]}).decode()
    assert json.loads(content)["body"]["messages"][0]["content"] == "\ud83d"
