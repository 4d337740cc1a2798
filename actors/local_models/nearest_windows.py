"""Measure how near a document's sentences are to another sentence, and choose the windows worth scoring."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from actors.local_models.encoder import Encoder
from actors.local_models.weights import MINILM
from longform.text.sentences import sentences
from longform.text.windows import Window


class Nearness(NamedTuple):
    """Nearness of one sentence to a document."""

    sentences: NDArray[np.float32]  # its cosine with each of the document's sentences
    best: float  # the largest of these, or with the sum of two neighbours; not below 0


class NearestWindows:
    """
    Args:
        most: Windows of a document that are chosen for a sentence; None for all of them.
        threads: Of the encoder.

    Raises:
        UsageError: The encoder cannot be loaded.
    """

    def __init__(self, most: int | None, *, threads: int) -> None:
        self._most = most
        self._encoder = Encoder(MINILM, threads=threads)

    def nearness(self, text: str, asked: Sequence[str]) -> dict[str, Nearness]:
        """Return the nearness to *text* of each asked sentence; neither may be empty."""
        said = [sentence for sentence in asked if sentence.strip()]
        vectors = self._encoder.embed([sentence.text for sentence in sentences(text)])
        neighbours = vectors[:-1] + vectors[1:]
        neighbours /= np.maximum(np.linalg.norm(neighbours, axis=1, keepdims=True), np.finfo(np.float32).tiny)
        asked_for = self._encoder.embed(said)
        near = asked_for @ vectors.T
        best = np.hstack([near, asked_for @ neighbours.T]).max(axis=1)
        return {one: Nearness(row, max(0.0, float(top))) for one, row, top in zip(said, near, best, strict=True)}

    def chosen(self, windows: Sequence[Window], near: NDArray[np.float32]) -> list[int]:
        """Choose the windows whose best sentence is nearest, in the document's order; the earlier at a tie."""
        best = np.array([near[window.first : window.end].max() for window in windows])
        return sorted(np.argsort(-best, kind="stable")[: self._most].tolist())

    def forget(self) -> None:
        """Drop the vectors in memory."""
        self._encoder.forget()
