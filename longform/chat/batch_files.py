"""
Files of a provider's batch API (OpenAI's format): JSON lines of requests in, JSON lines of replies and errors out.

A line's `custom_id` is the call's id, so that each reply finds its call whatever the order.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final, NamedTuple

from pydantic import BaseModel, JsonValue

from longform.chat.answers import http_failure
from longform.chat.call import ChatReply, failed, guarded
from longform.chat.completions import read_completed
from longform.chat.failures import Endings, may_pass
from longform.chat.ledger_rows import Intent
from longform.chat.prices import Price, cost_usd

ENDPOINT: Final = "/v1/chat/completions"
MAX_LINES, MAX_BYTES = 50_000, 200_000_000
"""Bounds of one file of requests, from OpenAI's reference of the batch API."""

EXPIRED, CANCELLED, REJECTED, ITEM_ERROR = "batch_expired", "batch_cancelled", "batch_rejected", "batch_error"
"""
Failures of items without a reply: the batch's time was over, somebody cancelled it, it was not taken on at all, or
the provider states another error.
"""

_NOT_MADE = (EXPIRED, CANCELLED, REJECTED)


class BatchItem(NamedTuple):
    """A call about to go into a file: its intent, and its line."""

    intent: Intent
    line: bytes


def request_line(call_id: str, body: Mapping[str, JsonValue]) -> bytes:
    """Return the line of one call; *body* is the body that a single call would send."""
    line = {"custom_id": call_id, "method": "POST", "url": ENDPOINT, "body": body}
    # escaped, because half a character in UTF-8 would spoil the whole file
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


class _Response(BaseModel):
    status_code: int
    body: Any = None


class _BatchError(BaseModel):
    code: str | None = None


class _BatchLine(BaseModel):
    custom_id: str
    response: _Response | None = None
    error: _BatchError | None = None


def read_replies(content: bytes) -> dict[str, ChatReply]:
    """
    Call id -> reply, from a file of replies or of errors; a line that cannot be read is no reply to anybody.

    What was answered is read as a single call's body is, with the same failures.
    """
    found, endings = {}, Endings()
    for stated in content.splitlines():
        with suppress(ValueError, RecursionError):  # no JSON, or no such line
            line = _BatchLine.model_validate(json.loads(stated))  # pydantic reads no half characters
            found[line.custom_id] = reply = _reply(line)
            endings.hear(reply)
    return {called: endings.judged(reply) for called, reply in found.items()}


@guarded
def _reply(line: _BatchLine) -> ChatReply:
    if line.response is None:
        code = line.error.code if line.error else None
        return failed(code if code in _NOT_MADE else ITEM_ERROR)
    if line.response.status_code >= 300:
        return failed(http_failure(line.response.status_code, line.response.body))
    return read_completed(line.response.body)


def priced(reply: ChatReply, price: Price | None) -> ChatReply:
    """Return *reply* with its cost at the price of the batch API; no cost if the call was never made."""
    return replace(reply, cost_usd=0.0 if reply.failure in _NOT_MADE else cost_usd(reply.usage, price))


def goes_again(failure: str) -> bool:
    """Return whether a next batch may end better for an item with this *failure*."""
    return failure in (EXPIRED, ITEM_ERROR) or may_pass(failure)
