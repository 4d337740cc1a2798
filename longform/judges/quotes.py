"""Passages that a judge quotes in support of its answer, between `<quote>` and `</quote>`, looked up in the text."""

from __future__ import annotations

import re

from longform.text.spans import locate

NO_QUOTE = "no_quote"
"""The failure of an answer that must quote the text, and quotes nothing."""

NOT_IN_TEXT = "quote_not_in_response"
"""The failure of an answer that quotes what the text does not say."""

_QUOTE = re.compile(r"<quote>(.*?)</quote>", re.DOTALL)


def quotes(reply: str) -> list[str]:
    """Return the passages that *reply* quotes, in their order; those without words are left out."""
    return [passage.strip() for passage in _QUOTE.findall(reply) if passage.strip()]


def quote_failure(reply: str, text: str) -> str | None:
    """
    Check that *reply* quotes *text*, exactly but for white space.

    Returns:
        None if it quotes something, and all that it quotes is there; else the failure.
    """
    found = quotes(reply)
    if not found:
        return NO_QUOTE
    return None if all(locate(passage, text) for passage in found) else NOT_IN_TEXT
