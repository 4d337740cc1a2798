"""Read the reply of a model that was asked for `Summary: ...` (Wan et al., appendix D; our reading of such replies)."""

from __future__ import annotations

import re

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
