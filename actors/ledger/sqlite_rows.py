"""Rows of the ledger's SQLite tables."""

from __future__ import annotations

import json
from typing import NamedTuple

from actors.ledger.entry import LedgerEntry, read_logprobs
from longform.chat.call import ChatReply, Usage
from longform.chat.ledger_rows import Intent, Receipt

_SMALL_INTEGERS = 2**63  # what SQLite and the table can hold

SqlValue = str | int | float | bytes | None


def receipt_values(receipt: Receipt, entry: LedgerEntry) -> tuple[SqlValue, ...]:
    reply = receipt.reply
    return (
        receipt.attempt_id,
        receipt.call_id,
        entry.job,
        entry.at_ms,
        "failed" if reply.text is None else "answered",
        reply.failure,
        reply.finish_reason,
        reply.model,
        *(count if count is not None and count < _SMALL_INTEGERS else None for count in reply.usage),
        reply.cost_usd,
        reply.seconds,
    )


def intent_values(intent: Intent, entry: LedgerEntry, session: int) -> tuple[SqlValue, ...]:
    return (
        intent.attempt_id,
        intent.call_id,
        entry.job,
        intent.stage,
        intent.provider,
        intent.model,
        intent.repeat,
        entry.at_ms,
        intent.reserved_usd,
        intent.counted_tokens,
        entry.at_ms + round(intent.deadline_s * 1000),
        session,
    )


class AnsweredCall(NamedTuple):
    """An answered call."""

    call_id: str
    text: bytes
    finish_reason: str | None
    model: str | None
    input_tokens: int | None
    cached_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    cost_usd: float | None
    logprobs: str | None

    def reply(self) -> ChatReply:
        return ChatReply(
            text=self.text.decode("utf-8", "surrogatepass"),  # of an older version
            failure=None,
            finish_reason=self.finish_reason,
            model=self.model,
            usage=Usage(self.input_tokens, self.cached_tokens, self.output_tokens, self.reasoning_tokens),
            cost_usd=self.cost_usd,
            logprobs=read_logprobs(None if self.logprobs is None else json.loads(self.logprobs)),
        )
