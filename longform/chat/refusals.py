"""Failures of calls by their names, and which of them may pass."""

from __future__ import annotations

import re
from collections.abc import Mapping

from longform.chat.call import ChatReply

REFUSED = "http_429"
"""A limit was met: the call did not count, and waits for its turn again."""

PROVIDER_ERROR = "provider_error"
"""An error in the place of a reply, of which no status is known."""

CANCELLED = "cancelled"
"""Given up before it left."""

UNANSWERED = ("connection", "timeout")
"""Nobody knows whether the provider let such a call in, or would have refused it."""

OF_THE_ACCOUNT = ("http_401", "http_402", "http_403", "http_404", "http_407", "insufficient_quota")
"""The key, the credit or the address is at fault, whatever was asked."""

REDIRECTS = ("http_301", "http_302", "http_303", "http_307", "http_308")
"""The server names another address, which is not asked."""

RAISED = "raised"
"""Begins the failure of a call to a class of a user's own that raised: `raised: IndexError: ...`."""

_PASSING = re.compile(
    rf"http_(408|409|425|5\d\d)|timeout|connection|bad_body|provider_error|reply_too_large|{RAISED}: .*", re.DOTALL
)
_FIRST_S, _LONGEST_S = 0.25, 30.0


def asks_to_wait(reply: ChatReply) -> bool:
    """Return whether a provider refuses a call for now: by a limit, or by an error with the time to come again."""
    return reply.failure == REFUSED or (reply.failure is not None and reply.signals.retry_after_s is not None)


def is_final(reply: ChatReply) -> bool:
    """Return whether no attempt follows *reply*: it is an answer, it would come again, or its tokens were paid for."""
    return reply.failure is None or not may_pass(reply.failure) or bool(reply.usage.output_tokens)


def may_pass(failure: str) -> bool:
    """
    Return whether another attempt may end better: overload, resets, timeouts and bodies that are no reply.

    Failures that the provider would repeat (400, 401, a context too long, a filter) and paid replies without an answer
    (empty, cut at the length limit) are final.
    """
    return failure == REFUSED or _PASSING.fullmatch(failure) is not None


def may_pass_later(failure: str) -> bool:
    """
    Return whether a later command may end better: the failure passes, or people put its cause right between two
    commands.

    That is a key that was wrong or has expired, an account without credit, and an address that was wrong.
    """
    return may_pass(failure) or failure in (*OF_THE_ACCOUNT, *REDIRECTS)


def lasting(failures: Mapping[str, int]) -> dict[str, int]:
    """Return those of *failures*, with their numbers, that a later command meets again and does not try."""
    return {name: n for name, n in failures.items() if name != RAISED and not may_pass_later(name)}


def backoff_s(n_failed: int, draw: float, *, told_s: float | None = None) -> float:
    """
    Seconds to wait after the attempt that failed as number *n_failed* (from 1).

    They double from a quarter of a second to half a minute; *draw*, from 0 to 1, spreads them over the upper half, so
    that those which failed together do not return together. What the provider told holds as the least.
    """
    longest = min(_FIRST_S * 2.0 ** (n_failed - 1), _LONGEST_S)
    return max(longest * (1 + draw) / 2, told_s or 0.0)
