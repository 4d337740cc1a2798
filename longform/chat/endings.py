"""
Tell whether a reply is whole by the word with which its server says how it ended.

Only the words that are known to mean a finished text do; any other, of whatever provider, is the reason why there is
no reply. Some servers never give a word: that is learnt of each, and holds until it gives one.
"""

from __future__ import annotations

import re
from dataclasses import replace

from longform.chat.call import ChatReply, ChatRequest

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
