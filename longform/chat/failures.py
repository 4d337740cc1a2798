"""
Failures of calls: their names, which of them may pass, and why a text is not whole.

A reply says how its text ended. Only the words that are known to mean a finished text do; any other, of whatever
provider, is the reason why there is no reply. Some servers never give a word: that is learnt of each, and holds until
it gives one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from longform.chat.call import ChatReply, ChatRequest

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

BAD_BODY = "bad_body"
"""The failure of a body that is no completion."""

TOO_LARGE = "reply_too_large"
"""The failure of a body that no completion needs; what came of it is dropped."""

NOT_FINISHED = "not_finished"
"""Begins the failure of a text that is not whole: `not_finished_MAX_TOKENS`."""

SILENT_REPLIES = 12
"""Replies without a word after which a server that has given none is held to give none."""

# OpenAI, vLLM and llama.cpp; Anthropic; Cohere; Gemini; TGI; Together; Bedrock and AI21; OpenAI's responses
_FINISHED = frozenset(
    "stop end_turn stop_sequence complete finish_reason_stop eos_token eos finish endoftext completed".split()
)
_KNOWN = ("length", "content_filter")  # as OpenAI has them: reasons by themselves
_MOST_CHARS = 40

_PASSING = re.compile(
    rf"http_(408|409|425|5\d\d)|timeout|connection|{BAD_BODY}|{PROVIDER_ERROR}|{TOO_LARGE}|{RAISED}: .*", re.DOTALL
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


# ---------------------------------------------------------------- texts that are not whole


def ending_failure(stated: object) -> str | None:
    """Return why a text is not whole that ended as *stated*; None if it is, or if nothing is stated."""
    if stated is None or stated == "":
        return None
    said = stated if isinstance(stated, str) else type(stated).__name__
    word = said.strip().lower()
    if word in _FINISHED:
        return None
    return word if word in _KNOWN else f"{NOT_FINISHED}_{shown_word(said)}"


def shown_word(foreign: str) -> str:
    """Return a word of a provider's as it may stand in a failure."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", foreign[:_MOST_CHARS])


class Endings:
    """Learns from its replies whether a server says how they end."""

    def __init__(self) -> None:
        self._says = False
        self._n_silent = 0

    @property
    def known(self) -> bool:
        """True once it is known whether the server says."""
        return self._says or self._n_silent >= SILENT_REPLIES

    def hear(self, reply: ChatReply) -> None:
        """Take in a reply."""
        self._says |= bool(reply.finish_reason)
        self._n_silent += reply.is_whole is None

    def judged(self, reply: ChatReply, request: ChatRequest | None = None) -> ChatReply:
        """
        Return *reply* as far as it is whole by what is known now.

        A text without a word is cut if the server gives words, or if it has all the tokens that *request* allowed.
        """
        if reply.text is None:
            return reply
        reason = ending_failure(reply.finish_reason)
        if reply.is_whole is None:
            reason = f"{NOT_FINISHED}_null" if self._says else "length" if _is_full(reply, request) else None
        return reply if reason is None else replace(reply, text=None, failure=reason)


def _is_full(reply: ChatReply, request: ChatRequest | None) -> bool:
    _, _, output, reasoning = reply.usage
    return request is not None and (output or 0) + (reasoning or 0) >= request.max_tokens
