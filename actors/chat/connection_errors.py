"""Reads a client's errors into words of ours about the connection: a library's words may quote a key."""

from __future__ import annotations

import errno
import socket
import ssl
from collections.abc import Iterator

from actors.chat.posts import BodyTooLargeError
from longform.chat.call import TOO_LARGE, ChatReply, failed

_WORDS = {
    errno.ECONNREFUSED: "connection refused",
    errno.ENETUNREACH: "no route to the network",
    errno.EHOSTUNREACH: "no route to the host",
    errno.ETIMEDOUT: "no answer to the connection",
    errno.ECONNRESET: "connection reset",
}


def unanswered(error: BaseException) -> ChatReply:
    """Return the failed reply of a call that ended in *error* without an answer."""
    if any(isinstance(cause, BodyTooLargeError) for cause in causes(error)):
        return failed(TOO_LARGE)
    return failed("connection", connection_words(error))


def connection_words(error: BaseException) -> str:
    """Return why there was no connection, or how it ended."""
    for cause in causes(error):
        if isinstance(cause, socket.gaierror):
            return "no host of this name"
        if isinstance(cause, ssl.SSLError):
            return "no TLS connection: its certificate is not accepted, or it does not speak TLS"
        if isinstance(cause, OSError) and cause.errno in _WORDS:
            return _WORDS[cause.errno]
    return "connection lost"


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield *error* and what led to it, the last first."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
