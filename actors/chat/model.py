"""
The protocol of every chat model, the attempt that its client makes, and what its calls are recorded and bounded by.

An error that ends an attempt without an answer is told in words of ours: a library's words may quote a key.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
from collections.abc import Awaitable, Iterator
from dataclasses import dataclass, replace
from time import monotonic
from typing import Protocol

from longform.chat.call import Capabilities, ChatReply, ChatRequest, failed

_WORDS = {
    errno.ECONNREFUSED: "connection refused",
    errno.ENETUNREACH: "no route to the network",
    errno.EHOSTUNREACH: "no route to the host",
    errno.ETIMEDOUT: "no answer to the connection",
    errno.ECONNRESET: "connection reset",
}


class ChatModel(Protocol):
    """Answers requests. A plain one makes one attempt a request; a `ChatPool` owns limits, money and retries."""

    @property
    def accepted(self) -> Capabilities:
        """The known capabilities of the model."""
        ...

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Return the model's reply, or a reply with the reason why there is none; a plain model does not raise."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


@dataclass(frozen=True, kw_only=True)
class CallContext:
    """The command and stage on whose behalf a model is called."""

    job: str  # the command that calls; its keeper goes by this name
    stage: str
    ledger: str  # URL of the ledger's folder
    prices: str | None = None  # a price list's path or URL; None: the one that ships with `litellm`


async def attempt(asked: Awaitable[ChatReply], timeout_s: float) -> ChatReply:
    """Return the reply that *asked* comes to, with its seconds; without an answer it is `timeout` or `connection`."""
    started = monotonic()
    try:
        async with asyncio.timeout(timeout_s):
            reply = await asked
    except TimeoutError as error:
        # a connection that the system gave up is no deadline of ours, though it has the same type
        reply = failed("timeout") if error.errno is None else unanswered(error)
    except OSError as error:
        reply = unanswered(error)
    return replace(reply, seconds=monotonic() - started)


def unanswered(error: BaseException) -> ChatReply:
    """Return the failed reply of a call that ended in *error*: why there was no connection, or how it ended."""
    words = (_connection_words(cause) for cause in causes(error))
    return failed("connection", next((word for word in words if word is not None), "connection lost"))


def _connection_words(error: BaseException) -> str | None:
    if isinstance(error, socket.gaierror):
        return "no host of this name"
    if isinstance(error, ssl.SSLError):
        return "no TLS connection: its certificate is not accepted, or it does not speak TLS"
    return _WORDS.get(error.errno or 0) if isinstance(error, OSError) else None


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield *error* and what led to it, the last first."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
