"""Text as a terminal may show it: characters that would move its cursor or turn its lines stand as escapes."""

from __future__ import annotations

import re

_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters but for tab and line feed, and those that change the direction of what follows (Unicode, 23.2)."""


def visible(text: str) -> str:
    r"""
    Return *text* with its control characters as `\u001b` and so on.

    A name, a title or an error may come from a file or a server of somebody else. The escapes are those of JSON, so
    that a printed JSON document stays one.
    """
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
