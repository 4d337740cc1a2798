"""Find the sentences of documents that a summary may quote."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from longform.summaries.sentence_support import SentenceSupport

_MIN_WORDS, _MAX_WORDS = 5, 60
_SUPPORTERS = 3  # documents that probably support a sentence, its own included


def candidates(support: SentenceSupport) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which sentences may be quoted, and which of them should be; both of shape (sentences,)."""
    usable = (support.n_words >= _MIN_WORDS) & (support.n_words <= _MAX_WORDS) & (support.weights > 0)
    supporters = (support.probability >= 0.5).sum(axis=1) >= min(_SUPPORTERS, support.probability.shape[1])
    return usable, usable & support.alone & supporters


def first_candidates(support: SentenceSupport) -> NDArray[np.bool_]:
    """Return the sentences that are quoted first: those that should be, or all that may be if there are none."""
    usable, preferred = candidates(support)
    return preferred if preferred.any() else usable
