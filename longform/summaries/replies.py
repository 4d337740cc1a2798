"""Bullets that a model is asked for, and its reply to `Summary: ...` read (Wan et al., appendix D, read our way)."""

from __future__ import annotations

import re

USUAL_BULLETS = 7
"""SummHay's 92 queries have 6.75 insights on average. The offline writer takes it, too, if no number is told."""

OWN_BULLETS = 8
"""Asked for if a query has nothing that its summary ought to say, and the configuration names no number."""

EMPTY_SUMMARY = "empty_summary"
"""The failure of a reply with nothing behind its label."""

_LABEL = re.compile(r"^[ \t]*(?:\"\"\"|''')?[ \t]*[*_#]*[ \t]*summary[*_]*[ \t]*:[*_]*", re.IGNORECASE | re.MULTILINE)
_QUOTES = ('"""', "'''")


def summary_text(reply: str) -> str | None:
    """
    Return the text behind the first line that begins with the label, or the whole *reply* if no line does.

    Triple quotes around it are taken off. Return None if nothing is left. The released code takes the label off
    anywhere and keeps the text before it; here an introduction is no sentence of the summary.
    """
    label = _LABEL.search(reply)
    text = (reply if label is None else reply[label.end() :]).strip()
    for quotes in _QUOTES:
        text = text.removeprefix(quotes).removesuffix(quotes).strip()
    return text or None
