"""A judge's answers in the ledger that the jobs write to: they outlive the replica, and all replicas find them."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Mapping, Sequence

from actors.ledger.ledger import Ledger
from longform.chat.call import ChatReply, Usage
from longform.chat.ledger_rows import Intent, Receipt
from serve.engine import Work

JOB = "serve"
"""Under which name replicas write."""

PROVIDER = "served"
_DEADLINE_S = 60.0  # of the step between intent and receipt, in which nothing is computed


class InLedger:
    """
    Keeps the answers of one judge that computes them itself; the calls of one that asks a chat model are there anyway.

    Nothing is paid while an answer is computed, so that intent and receipt are written when it is known: an answer that
    a dying replica takes with it is computed again.
    """

    def __init__(self, url: str, name: str) -> None:
        self._ledger = Ledger(url, job=JOB)
        self._name = name

    async def find(self, keys: Sequence[str]) -> dict[str, Work]:
        """The answers that are there, of those keys."""
        replies = await asyncio.to_thread(self._ledger.finished, list(keys))
        return {key: _read(reply.text or "") for key, reply in replies.items()}

    async def keep(self, found: Mapping[str, Work]) -> None:
        """Durable when this returns."""
        if found:
            await asyncio.to_thread(self._write, found)

    def _write(self, found: Mapping[str, Work]) -> None:
        intents = [self._intent(key) for key in found]
        verdicts = self._ledger.exchange(intents, ())
        # the others are written, or being written, by another replica
        going = [intent for intent, verdict in zip(intents, verdicts, strict=True) if verdict == "go"]
        receipts = [Receipt(one.attempt_id, one.call_id, _reply(self._name, found[one.call_id])) for one in going]
        self._ledger.exchange((), receipts)

    def _intent(self, key: str) -> Intent:
        return Intent(
            attempt_id=uuid.uuid4().hex,
            call_id=key,
            stage="judge",
            provider=PROVIDER,
            model=self._name,
            repeat=0,
            reserved_usd=0.0,
            deadline_s=_DEADLINE_S,
        )


def _reply(name: str, work: Work) -> ChatReply:
    kept = {"content": work.content, "tokens": work.tokens, "truncated": work.truncated}
    return ChatReply(
        text=json.dumps(kept, allow_nan=False),
        failure=None,
        model=name,
        usage=Usage(input_tokens=work.tokens),
        cost_usd=0.0,
    )


def _read(text: str) -> Work:
    return Work(**json.loads(text), from_ledger=True)
