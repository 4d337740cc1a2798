"""Vectors of a text and of its word pieces, made in one pass of an encoder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from longform.text.words import TermWeights


class TextVectors(NamedTuple):
    """
    The vectors of one text; special tokens are left out.

    Attributes:
        sentence: A vector of unit length, shape (dimensions,).
        pieces: The tokenizer's pieces of words, in order.
        tokens: One vector of unit length a piece, by the last layer, shape (pieces, dimensions).
    """

    sentence: NDArray[np.float32]
    pieces: tuple[str, ...]
    tokens: NDArray[np.float16]


class TextReader(Protocol):
    """An encoder."""

    def read(self, texts: Sequence[str]) -> Sequence[TextVectors]:
        """Return the vectors of texts."""
        ...

    def pieces(self, texts: Sequence[str]) -> Sequence[Sequence[str]]:
        """Return the pieces of each text, without a vector."""
        ...


class RecentTexts:
    """
    An encoder that remembers what it read last: copies of a summary share most of their lines.

    Args:
        encoder: Reads what is not remembered.
        held: At most so many texts are remembered; a line by a small encoder takes about 25 kB.
    """

    def __init__(self, encoder: TextReader, *, held: int) -> None:
        self._encoder, self._most = encoder, held
        self._held: dict[str, TextVectors] = {}  # in the order in which they were last asked for

    def read(self, texts: Sequence[str]) -> list[TextVectors]:
        """Return the vectors of texts."""
        wanted = dict.fromkeys(texts)
        new = [text for text in wanted if text not in self._held]
        found = dict(zip(new, self._encoder.read(new), strict=True)) if new else {}
        found |= {text: self._held.pop(text) for text in wanted if text not in found}
        self._held |= found
        for text in list(self._held)[: max(len(self._held) - self._most, 0)]:
            del self._held[text]
        return [found[text] for text in texts]

    def pieces(self, texts: Sequence[str]) -> Sequence[Sequence[str]]:
        """Return the pieces of each text."""
        return self._encoder.pieces(texts)


class WeighedPieces(NamedTuple):
    """An encoder, and the weights of its pieces among the texts of a background."""

    encoder: TextReader
    weights: TermWeights

    @classmethod
    def of(cls, encoder: TextReader, background: Sequence[str]) -> WeighedPieces:
        return cls(encoder, TermWeights.of(encoder.pieces(background)))


def token_recall(
    wanted: Sequence[TextVectors], texts: Sequence[TextVectors], weights: TermWeights
) -> NDArray[np.float64]:
    """
    Return how near the pieces of wanted texts are to those of other texts: shape (wanted, texts).

    Each piece counts by its cosine to the nearest piece of the text, and by its weight. This is BERTScore's recall
    with weights by frequency (Zhang et al., 2020, section 3). It is 0 for a text without pieces.
    """
    found = np.zeros((len(wanted), len(texts)))
    filled = [place for place, text in enumerate(texts) if text.pieces]
    if not filled:
        return found
    tokens = np.concatenate([texts[place].tokens for place in filled]).astype(np.float32)
    starts = np.cumsum([0, *(len(texts[place].pieces) for place in filled)])[:-1]
    for row, one in enumerate(wanted):
        if one.pieces:
            nearest = np.maximum.reduceat(one.tokens.astype(np.float32) @ tokens.T, starts, axis=1)  # (pieces, filled)
            of_each = np.array(weights.each(one.pieces))
            found[row, filled] = of_each @ nearest / of_each.sum()
    return found
