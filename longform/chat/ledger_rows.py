"""The ledger's rows of a call: the intent, written before it leaves, and the receipt, before its reply is used."""

from __future__ import annotations

from typing import Literal, NamedTuple

from longform.chat.call import ChatReply
from longform.chat.server_standing import Server


class Intent(NamedTuple):
    """
    One attempt of a call, about to leave.

    Attributes:
        attempt_id: Unique.
        call_id: The content hash of the request and its model; attempts of one call share it.
        stage: The job's stage.
        provider: As configured.
        model: As configured.
        repeat: Tells apart calls that ask the same again on purpose.
        reserved_usd: The most it can cost; None: its price is not known.
        deadline_s: It will have ended by then, from now.
        counted_tokens: Input tokens, as counted or guessed by the caller; None: not counted.
    """

    attempt_id: str
    call_id: str
    stage: str
    provider: str
    model: str
    repeat: int
    reserved_usd: float | None
    deadline_s: float
    counted_tokens: float | None = None


class Receipt(NamedTuple):
    """
    The outcome of an attempt. Its reply holds a text, or the reason why there is none.

    Attributes:
        attempt_id: Of the intent.
        call_id: Of the intent.
        reply: The text or the failure.
        server: The server that was asked, if it is watched. Not stored.
        again: The reason why the call asks once more for a reply that can be read, if it does. Not stored.
    """

    attempt_id: str
    call_id: str
    reply: ChatReply
    server: Server | None = None
    again: str | None = None


Admission = Literal["go", "busy", "finished", "budget", "stopped"]
"""
The keeper's answer to an intent: go; somebody else is making this call now; it has been answered meanwhile; it could
cost more than is left; the job is over.
"""
