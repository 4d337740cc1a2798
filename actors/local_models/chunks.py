"""Texts in chunks of whole sentences, none longer than a number of tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from longform.errors import UsageError

Lengths = Callable[[Sequence[str]], Sequence[int]]
"""Counts the tokens of each text, special tokens included."""

Span = tuple[int, int]
"""Start and end of a chunk in its text."""


def text_chunks(text: str, lengths: Lengths, *, limit: int, prefix: str = "") -> list[str]:
    """
    Return consecutive pieces of *text*, none longer than *limit* tokens once *prefix* stands before it.

    Whole sentences are packed while they fit; a longer sentence is halved at a space, or anywhere if it has none.
    Together the chunks are the text without outer white space; an empty text is one empty chunk.

    Raises:
        UsageError: The prefix leaves no room for text.
    """
    room = limit - lengths([prefix])[0]
    if room < 1:
        msg = f"chunks of {limit} tokens leave no room after the prefix {prefix!r}; set a larger chunk_tokens"
        raise UsageError(msg)
    spans = _spans(text.strip(), lengths, limit=limit, room=room, prefix=prefix)
    return [text.strip()[start:end].strip() for start, end in spans] or [""]


def _spans(text: str, lengths: Lengths, *, limit: int, room: int, prefix: str) -> list[Span]:
    """Return the place of each chunk."""
    import nupunkt

    pieces = _halved(text, nupunkt.sent_spans(text), lengths, limit=limit, prefix=prefix)
    packed: list[Span] = []
    filled = room
    special = lengths([""])[0]
    for (start, end), length in zip(pieces, lengths([text[s:e] for s, e in pieces]), strict=True):
        if packed and filled + length - special <= room:
            packed[-1] = (packed[-1][0], end)
            filled += length - special
        else:
            packed.append((start, end))
            filled = length - special
    # Tokens of a whole can outnumber those of its parts in some vocabularies.
    return _halved(text, packed, lengths, limit=limit, prefix=prefix)


def _halved(text: str, spans: Sequence[Span], lengths: Lengths, *, limit: int, prefix: str) -> list[Span]:
    """Return *spans*, each cut in two until it fits or is one character."""
    found: list[Span] = []
    counted = lengths([prefix + text[start:end].strip() for start, end in spans])
    for (start, end), length in zip(spans, counted, strict=True):
        if length <= limit or end - start < 2:
            found.append((start, end))
        else:
            halves = pairwise((start, _middle(text, start, end), end))
            found += _halved(text, list(halves), lengths, limit=limit, prefix=prefix)
    return found


def _middle(text: str, start: int, end: int) -> int:
    """Return a place to cut: the space nearest the middle on its left, else on its right, else the middle."""
    middle = (start + end) // 2
    left = text.rfind(" ", start + 1, middle + 1)
    if left > start:
        return left
    right = text.find(" ", middle, end - 1)
    return right if right > start else middle
