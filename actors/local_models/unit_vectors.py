"""Vectors of unit length."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from longform.text.vectors import TextVectors


def unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return *vectors*, shape (vectors, dimensions), at unit length; a vector of zeros stays."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    found: NDArray[np.float32] = vectors / np.maximum(lengths, np.finfo(np.float32).tiny)
    return found


def text_vectors(sentence: NDArray[np.float32], pieces: Sequence[str], tokens: NDArray[np.float32]) -> TextVectors:
    """Return the vectors of a text; all are rounded to float16, as those of sentences are wherever they are kept."""
    return TextVectors(
        unit(sentence[None].astype(np.float16).astype(np.float32))[0], tuple(pieces), unit(tokens).astype(np.float16)
    )
