"""The ledger's rows of a call: the intent, written before it leaves, and the receipt, before its reply is used."""

from __future__ import annotations

from typing import Literal, NamedTuple

from longform.chat.call import ChatReply, ChatRequest
from longform.chat.prices import Price, counted_input, most_input_tokens, most_usd
from longform.chat.server_standing import Server
from longform.settings.chat import ChatSettings


class Intent(NamedTuple):
    """One attempt of a call, about to leave."""

    attempt_id: str  # unique
    call_id: str  # content hash of the request and its model; attempts of one call share it
    stage: str
    provider: str  # as configured
    model: str  # as configured
    repeat: int  # tells apart calls that ask the same again on purpose
    reserved_usd: float | None  # the most that it can cost; None: its price is not known
    deadline_s: float  # seconds from now until it has ended at the latest
    counted_tokens: float | None = None  # input tokens, counted or guessed by the caller; None: not counted


def intent_of(
    settings: ChatSettings,
    request: ChatRequest,
    price: Price | None,  # None: unknown
    *,
    attempt_id: str,
    call_id: str,
    stage: str,
    deadline_s: float,
) -> Intent:
    """Return the intent of an attempt at *request*."""
    return Intent(
        attempt_id=attempt_id,
        call_id=call_id,
        stage=stage,
        provider=settings.provider,
        model=settings.model,
        repeat=request.repeat,
        reserved_usd=most_usd(most_input_tokens(request), request.max_tokens, price),
        deadline_s=deadline_s,
        counted_tokens=counted_input(request),
    )


class Receipt(NamedTuple):
    """The outcome of an attempt. Its reply holds a text, or the reason why there is none."""

    attempt_id: str
    call_id: str
    reply: ChatReply
    server: Server | None = None  # the one that was asked, if it is watched; not stored
    again: str | None = None  # why the call asks once more for a reply that can be read, if it does; not stored


Admission = Literal["go", "busy", "finished", "budget", "stopped"]
"""
The keeper's answer to an intent: go; somebody else is making this call now; it has been answered meanwhile; it could
cost more than is left; the job is over.
"""
