"""The ledger's rows of a call: the intent, written before it leaves, and the receipt, before its reply is used."""

from __future__ import annotations

from typing import Literal, NamedTuple

from longform.chat.call import ChatReply
from longform.chat.server_standing import Server


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
