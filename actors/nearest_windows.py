"""Which windows of a document a sentence is worth scoring in: those that hold what is nearest to it in meaning."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from actors.encoder import MINILM, Encoder
from longform.sentences import sentences
from longform.windows import Window


class NearestWindows:
    """
    Args:
        most: Windows of a document that are chosen for a sentence.
        threads: Of the encoder.

    Raises:
        UsageError: The encoder cannot be loaded.
    """

    def __init__(self, most: int, *, threads: int) -> None:
        self._most = most
        self._encoder = Encoder(MINILM, threads=threads)

    def cosines(self, text: str, asked: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Asked sentence -> its cosine with each sentence of *text*."""
        found = [sentence.text for sentence in sentences(text)]
        said = [sentence for sentence in asked if sentence.strip()]
        near = self._encoder.embed(said) @ self._encoder.embed(found).T
        return dict(zip(said, near, strict=True))

    def chosen(self, windows: Sequence[Window], near: NDArray[np.float32]) -> list[int]:
        """Places of the windows whose best sentence is nearest, in the document's order; the earlier at a tie."""
        best = np.array([near[window.first : window.end].max() for window in windows])
        return sorted(np.argsort(-best, kind="stable")[: self._most].tolist())

    def forget(self) -> None:
        """Drop the vectors in memory."""
        self._encoder.forget()
