"""One writer's addition to a ledger, its process, and their form: lines of JSON, and rows of SQLite tables."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from longform.chat.call import ChatReply, TokenLogprobs, Usage
from longform.chat.ledger_rows import Intent, Receipt

_PID_NAMESPACE = Path("/proc/self/ns/pid")
_SMALL_INTEGERS = 2**63  # what SQLite and the table can hold
_CLOCK_STEP_S = 2.0  # psutil computes a start from the wall clock, and that may be set; no pid is used again so soon


class Session(NamedTuple):
    """The process a ledger was opened by."""

    host: str  # the machine, and which process numbers it means: containers of one name have numbers of their own
    pid: int
    started: float  # seconds since 1970


def this_session() -> Session:
    """Return the session of the process that asks."""
    import psutil

    return Session(this_host(), os.getpid(), psutil.Process().create_time())


def this_host() -> str:
    namespace = _PID_NAMESPACE.readlink() if _PID_NAMESPACE.is_symlink() else ""
    return f"{platform.node()} {namespace}".strip()


def process_lives(session: Session) -> bool:
    """Return whether a process of this host still runs; a zombie does not."""
    import psutil

    try:
        process = psutil.Process(session.pid)
        same = abs(process.create_time() - session.started) < _CLOCK_STEP_S
        return bool(same and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


class LedgerEntry(NamedTuple):
    """A writer's addition in one durable step, in this order: receipts, attempts given up, attempts about to leave."""

    entry_id: str  # unique, so that a writer knows its own again
    session: Session  # the process whose attempts these are
    job: str  # the command's name
    at_ms: int  # since 1970
    receipts: Sequence[Receipt] = ()  # what attempts came to
    abandoned: Sequence[str] = ()  # attempts whose process died: nobody waits for them, they stay unsettled
    intents: Sequence[Intent] = ()  # attempts that may leave

    @property
    def is_empty(self) -> bool:
        return not (self.receipts or self.abandoned or self.intents)


# ---------------------------------------------------------------- lines of JSON


def to_lines(entry: LedgerEntry) -> bytes:
    """Return the entry as JSON lines: who and when, then a line for each receipt, abandoned attempt and intent."""
    head = {"entry": entry.entry_id, "session": list(entry.session), "job": entry.job, "at_ms": entry.at_ms}
    rows: list[Mapping[str, Any]] = [head]
    rows += [{"receipt": [r.attempt_id, r.call_id, _reply_values(r.reply)]} for r in entry.receipts]
    rows += [{"abandoned": attempt_id} for attempt_id in entry.abandoned]
    rows += [{"intent": intent._asdict()} for intent in entry.intents]
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def from_lines(content: bytes) -> LedgerEntry:
    """
    Read the entry that `to_lines` wrote.

    Raises:
        ValueError, KeyError, TypeError: These are no such lines.
    """
    head, *rows = [json.loads(line) for line in content.splitlines()]
    receipts = [row["receipt"] for row in rows if "receipt" in row]
    return LedgerEntry(
        entry_id=head["entry"],
        session=Session(*head["session"]),
        job=head["job"],
        at_ms=head["at_ms"],
        receipts=[Receipt(attempt_id, call_id, _reply(values)) for attempt_id, call_id, values in receipts],
        abandoned=[row["abandoned"] for row in rows if "abandoned" in row],
        intents=[Intent(**row["intent"]) for row in rows if "intent" in row],
    )


LogprobValues = Sequence[tuple[str, float, Sequence[tuple[str, float]]]]


_OF_REPLY = ("text", "failure", "finish_reason", "model", "usage", "cost_usd", "seconds", "logprobs")
"""The fields of a reply that are kept."""


def _reply_values(reply: ChatReply) -> dict[str, Any]:
    return {name: getattr(reply, name) for name in _OF_REPLY}


def _reply(values: Mapping[str, Any]) -> ChatReply:
    usage, logprobs = Usage(*values["usage"]), read_logprobs(values["logprobs"])
    kept = {name: values[name] for name in _OF_REPLY}
    return ChatReply(**{**kept, "usage": usage, "logprobs": logprobs})


def read_logprobs(values: LogprobValues | None) -> tuple[TokenLogprobs, ...] | None:
    """Return log probabilities from their JSON values: (token, logprob, ((token, logprob), ...)) for each token."""
    if values is None:
        return None
    return tuple(
        TokenLogprobs(token, logprob, tuple((other, value) for other, value in top)) for token, logprob, top in values
    )


# ---------------------------------------------------------------- rows of SQLite tables


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
