"""Text as a terminal or a spreadsheet may show it: what would move a cursor or be computed stands as it is written."""

from __future__ import annotations

import re
import unicodedata

_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters but for tab and line feed, and those that change the direction of what follows (Unicode, 23.2)."""


def visible(text: str) -> str:
    r"""
    Return *text* with its control characters as `\u001b` and so on.

    A name, a title or an error may come from a file or a server of somebody else. The escapes are those of JSON, so
    that a printed JSON document stays one.
    """
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


_UNDRAWN = ("Cc", "Cf", "Mn", "Me", "Zs", "Zl", "Zp")


def is_blank(text: str) -> bool:
    """Return whether a reader sees nothing of *text*: spaces, control characters, accents on nothing, fillers."""
    return all(one in "\u115f\u1160\u2800\u3164\uffa0" or unicodedata.category(one) in _UNDRAWN for one in text)


_COMPUTED = ("=", "+", "-", "@", "\t", "\r")


def plain_cell(text: str) -> str:
    """
    Return a text that a spreadsheet shows and does not compute: one that begins like a formula has `'` before it.

    So has one that begins with `'` and such a sign: taking one `'` off gives every text back.
    """
    return f"'{text}" if text.lstrip("'").startswith(_COMPUTED) else text
