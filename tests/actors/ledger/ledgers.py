"""Calls that ledgers are told of: asked, answered, refused."""

from __future__ import annotations

from longform.chat.call import ChatReply, Usage, failed
from longform.chat.ledger_rows import Intent, Receipt

USAGE = Usage(input_tokens=10, cached_tokens=30, output_tokens=5, reasoning_tokens=2)


def intent(attempt: str, call: str = "c", *, deadline_s: float = 60.0, usd: float | None = 0.5) -> Intent:
    return Intent(attempt, call, "judge", "openai", "m", 0, usd, deadline_s)


def answered(attempt: str, call: str = "c", text: str = "yes", usd: float | None = 0.25) -> Receipt:
    reply = ChatReply(
        text=text, failure=None, finish_reason="stop", model="m-1", usage=USAGE, cost_usd=usd, seconds=2.0
    )
    return Receipt(attempt, call, reply)


def refused(attempt: str, call: str = "c", reason: str = "timeout") -> Receipt:
    return Receipt(attempt, call, failed(reason))
