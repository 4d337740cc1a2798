"""Windows of whole sentences that fit a model, and batches of sequences that need little padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

PADDING = 0.05
"""The share of padding from which a batch is closed."""


class Window(NamedTuple):
    """
    Sentences `first` up to `end`. Of a sentence that is too long for a window, the tokens `start` up to `stop`.

    A window of whole sentences has `start` 0 and `stop` None.
    """

    first: int
    end: int
    start: int = 0
    stop: int | None = None


def sentence_windows(opening: Sequence[int], following: Sequence[int], limit: int) -> list[Window]:
    """
    Return the fewest consecutive windows that a greedy reader makes of the sentences, each of at most *limit* tokens.

    Args:
        opening: Tokens of each sentence that opens a window.
        following: Tokens of each that follows another; they differ in vocabularies that tell " a" from "a".
        limit: Tokens of a window, above 0.
    """
    if limit < 1:
        raise ValueError(f"expected windows of at least 1 token, got {limit}")
    found: list[Window] = []
    filled: int | None = None  # tokens of the last window; None: no sentence may join it
    for at, (alone, behind) in enumerate(zip(opening, following, strict=True)):
        if alone > limit:
            found += [Window(at, at + 1, start, min(start + limit, alone)) for start in range(0, alone, limit)]
            filled = None
        elif filled is not None and filled + behind <= limit:
            found[-1] = found[-1]._replace(end=at + 1)
            filled += behind
        else:
            found.append(Window(at, at + 1))
            filled = alone
    return found


def length_batches(lengths: Sequence[int], batch_tokens: int) -> list[list[int]]:
    """
    Return places of *lengths* in batches, the longest first; every place is in one batch.

    A batch, padded to its longest, has at most *batch_tokens* tokens (or one sequence), at most 5 % of them padding.
    """
    batches: list[list[int]] = []
    widest = held = 0
    for place in sorted(range(len(lengths)), key=lambda at: (-lengths[at], at)):
        size = len(batches[-1]) + 1 if batches else 0
        padded = widest * size
        padding = padded - held - lengths[place]
        if size > 1 and padded <= batch_tokens and padding <= PADDING * padded:
            batches[-1].append(place)
            held += lengths[place]
        else:
            batches.append([place])
            widest = held = lengths[place]
    return batches
