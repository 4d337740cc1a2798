"""
Similarity of a summary's sentences to those of reference texts, by the vectors of an encoder of texts.

Each sentence counts by the cosine to the most similar one of the other side: the mean over the summary's is a
precision, over the reference's a recall, and the measure is their F1, as BERTScore's over words (Zhang et al., 2020).
It is no BERTScore: sentences take the place of words, and an encoder that of RoBERTa. Numbers of the two do not
compare, nor do those of two encoders, so the name of a measure tells its encoder: `embedding_similarity` is of the
MiniLM that ships.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from longform.metrics.measure import Encode, Facts, Measure, Score
from longform.text.citations import without_citations
from longform.text.sentences import sentences

NAME = "embedding_similarity"
VERSION = "embedding@2"
"""Changes with any change of a number, beside the encoder."""


def similarity(summary: Sequence[str], reference: Sequence[str], encode: Encode) -> float:
    """Return the F1 of both sides' greatest cosines; 0 if a side has no sentence. A cosine below 0 counts 0."""
    if not summary or not reference:
        return 0.0
    cosines = (encode(summary) @ encode(reference).T).clip(0.0, 1.0)  # (sentences of the summary, of the reference)
    precision, recall = float(cosines.max(axis=1).mean()), float(cosines.max(axis=0).mean())
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _score(facts: Facts, name: str, encode: Encode | None) -> Score:
    references = [target.text for target in facts.targets("reference")]
    if facts.text is None:
        return Score(name, 0.0, 0, reason=f"summary_failed: {facts.failure or 'no text'}")
    if not references:
        return Score(name, 0.0, 0, reason="the query has no reference text")
    encode = encode or facts.encode
    if encode is None:
        raise ValueError("expected an encoder among the facts of a measure that needs one")
    own = _sentences("\n".join(without_citations(line) for line in facts.text.split("\n")))
    return Score(name, _best(own, [_sentences(text) for text in references], encode), 1)


def _best(own: Sequence[str], references: Sequence[Sequence[str]], encode: Encode) -> float:
    """Return the greatest similarity; all sentences are asked about at once, since an encoder may be far away."""
    texts = list(dict.fromkeys(sentence for some in (own, *references) for sentence in some))
    vectors = dict(zip(texts, encode(texts), strict=True)) if texts else {}

    def known(some: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([vectors[sentence] for sentence in some])

    return max(similarity(own, some, known) for some in references)


def _sentences(text: str) -> list[str]:
    return [sentence.text for sentence in sentences(text)]


def measure_of(name: str, *, shown: str, encode: Encode | None = None, version: str = "") -> Measure:
    """
    Return the similarity by one encoder.

    Args:
        name: Of the measure.
        shown: The encoder for the reader.
        encode: Makes the vectors; None: the packaged encoder does, as the facts have it.
        version: Of the encoder; empty: the packaged one.
    """
    return Measure(
        name,
        partial(_score, name=name, encode=encode),
        needs=frozenset({"text", "references", "encoder"}),
        version=f"{VERSION} {name} {version}" if version else VERSION,
        title="embedding similarity" if name == NAME else f"embedding similarity ({shown})",
        told=f"F1 of the cosines of each sentence to the most similar one of the other text, by {shown}",
    )


MEASURES = (measure_of(NAME, shown="MiniLM"),)
