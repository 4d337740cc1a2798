"""
The offline support judge: the probability that a document supports a sentence, from their shared words.

Three signals of one document d and one sentence s, all in its best place, go into a logistic regression:

- `recall_3`: the share of s's word weight in a window of three sentences of d (`longform.support.index`; the weights
  are inverse frequencies over d's own sentences, so that no other document moves the verdict);
- `cosine`: of the sentence vectors, with a sentence or two neighbours of d;
- `word_triples`: the share of s's runs of three words that stand in the window of `recall_3`.

Shared words are evidence, not entailment: a sentence that denies what a document says, or swaps its names, looks
supported. The evidence of each verdict is given, with two shares that the model does not read: word pairs, numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from longform.models import read_model
from longform.support.index import NUMBERS, WINDOW, Matrix, SupportIndex
from longform.text.words import stems, without_marks, words

VERSION = "2"
"""Changes with any change of a signal."""

SIGNALS = ("recall_3", "cosine", "word_triples")

Array = NDArray[np.float64]


class Evidence(NamedTuple):
    """
    Words shared by one document and one sentence; shares in [0, 1], the cosine in [-1, 1].

    `numbers` is 0.5 if the sentence states none. `window` is where in the document the shares were found: its first
    sentence, from 0, and its text.
    """

    recall_3: float
    cosine: float
    word_triples: float
    word_pairs: float
    numbers: float
    window: tuple[int, str]


def evidence(index: SupportIndex, sentences: Sequence[str], vectors: Matrix) -> list[Evidence]:
    """
    Return each sentence's evidence in a document.

    Args:
        index: Of this one document, with vectors.
        sentences: The sentences to be judged.
        vectors: Their unit vectors, shape (sentences, dimensions).

    Raises:
        ValueError: The index has no vectors, or not exactly one document with a sentence.
    """
    signals = index.signals(sentences, vectors)
    if "cosine" not in signals or len(index.bounds) != 2 or not index.sentences:
        raise ValueError(f"expected vectors and one document with text, got {len(index.bounds) - 1} documents")
    starts = index.best_windows([stems(without_marks(text)) for text in sentences], window=WINDOW).start[:, 0]
    windows = [(int(start), " ".join(index.sentences[start : start + WINDOW])) for start in starts]
    return [
        Evidence(
            recall_3=float(signals["recall_3"][row, 0]),
            cosine=float(signals["cosine"][row, 0]),
            word_triples=shared_runs(text, window[1], 3),
            word_pairs=shared_runs(text, window[1], 2),
            numbers=float(signals[NUMBERS][row, 0]),
            window=window,
        )
        for row, (text, window) in enumerate(zip(sentences, windows, strict=True))
    ]


def shared_runs(sentence: str, window: str, length: int) -> float:
    """The share of *sentence*'s runs of *length* words in *window*, shorter runs where it is shorter; no words: 0."""
    said = words(without_marks(sentence))
    length = min(length, len(said))
    if not length:
        return 0.0
    held = set(_runs(words(window), length))
    runs = _runs(said, length)
    return sum(run in held for run in runs) / len(runs)


def _runs(of: Sequence[str], length: int) -> list[tuple[str, ...]]:
    return [tuple(of[at : at + length]) for at in range(len(of) - length + 1)]


class LexicalSupportModel(NamedTuple):
    """
    A logistic regression.

    Attributes:
        signals: What it reads, names of `Evidence`.
        weights: One a signal.
        intercept: Of the sum.
        threshold: A probability above it means supported: the share of supported sentences where it was fitted, which
            is where balanced accuracy is best if the probabilities are right.
    """

    signals: tuple[str, ...]
    weights: tuple[float, ...]
    intercept: float
    threshold: float

    def features(self, found: Sequence[Evidence]) -> Array:
        """Shape (sentences, signals)."""
        rows = [[getattr(one, name) for name in self.signals] for one in found]
        return np.array(rows, dtype=np.float64).reshape(len(found), len(self.signals))

    def probability(self, features: Array) -> Array:
        """Shape (sentences,), rounded to 6 decimals."""
        return np.asarray(np.round(expit(features @ np.array(self.weights) + self.intercept), 6))

    def as_json(self) -> dict[str, Any]:
        weights = dict(zip(self.signals, self.weights, strict=True))
        return {"weights": weights, "intercept": self.intercept, "threshold": self.threshold}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> LexicalSupportModel:
        weights = document["weights"]
        return cls(tuple(weights), tuple(weights.values()), document["intercept"], document["threshold"])


@lru_cache(maxsize=1)
def shipped_lexical_support() -> LexicalSupportModel:
    """The model in `longform/models/support_judge.json`, which states how it was made and what it reaches."""
    return LexicalSupportModel.from_json(read_model("support_judge")["model"])
