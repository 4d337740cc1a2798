"""Passages that are said to stand in a text, found there: exactly, or with other white space."""

from __future__ import annotations

import re
from typing import NamedTuple


class Span(NamedTuple):
    """
    The place of a passage in a text.

    Attributes:
        start: Place of its first character, from 0.
        end: Place behind its last character.
        exact: False if its white space differs from the passage's.
    """

    start: int
    end: int
    exact: bool


def locate(passage: str, text: str) -> Span | None:
    """Return the first place of *passage* in *text*; None if it is not there, or says nothing."""
    words = passage.split()
    if not words:
        return None
    if (at := text.find(passage)) >= 0:
        return Span(at, at + len(passage), exact=True)
    found = re.search(r"\s+".join(map(re.escape, words)), text)
    return None if found is None else Span(found.start(), found.end(), exact=False)
