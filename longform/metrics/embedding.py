"""
Similarity of a summary's sentences to those of reference texts, by the vectors of the packaged encoder.

Each sentence counts by the cosine to the most similar one of the other side: the mean over the summary's is a
precision, over the reference's a recall, and the measure is their F1, as BERTScore's over words (Zhang et al., 2020).
It is no BERTScore: sentences take the place of words, and MiniLM that of RoBERTa. Numbers of the two do not compare.
"""

from __future__ import annotations

from collections.abc import Sequence

from longform.metrics.measure import Encode, Facts, Measure, Score
from longform.text.citations import without_citations
from longform.text.sentences import sentences

NAME = "embedding_similarity"


def similarity(summary: Sequence[str], reference: Sequence[str], encode: Encode) -> float:
    """Return the F1 of both sides' greatest cosines; 0 if a side has no sentence. A cosine below 0 counts 0."""
    if not summary or not reference:
        return 0.0
    cosines = (encode(summary) @ encode(reference).T).clip(0.0, 1.0)  # (sentences of the summary, of the reference)
    precision, recall = float(cosines.max(axis=1).mean()), float(cosines.max(axis=0).mean())
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _score(facts: Facts) -> Score:
    references = [target.text for target in facts.targets("reference")]
    if facts.text is None:
        return Score(NAME, 0.0, 0, reason=f"summary_failed: {facts.failure or 'no text'}")
    if not references:
        return Score(NAME, 0.0, 0, reason="the query has no reference text")
    if facts.encode is None:
        raise ValueError("expected an encoder among the facts of a measure that needs one")
    own = _sentences("\n".join(without_citations(line) for line in facts.text.split("\n")))
    return Score(NAME, max(similarity(own, _sentences(text), facts.encode) for text in references), 1)


def _sentences(text: str) -> list[str]:
    return [sentence.text for sentence in sentences(text)]


MEASURES = (
    Measure(
        NAME,
        _score,
        needs=frozenset({"text", "references", "encoder"}),
        version="embedding@1",
        title="embedding similarity",
        told="F1 of the cosines of each sentence to the most similar one of the other text, by MiniLM",
    ),
)
