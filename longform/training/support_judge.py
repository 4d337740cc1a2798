"""
Fit the offline support judge on sentences that people labelled supported or not.

A label is of a sentence and all its documents together; which of them supports it nobody said. The sentence is taken
to have its label from its best document (maximum over documents, Wan et al., section 3.2): the model is fitted on one
cell a sentence, the one most probable so far, and again, until these cells stay the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from longform.judges.lexical_support import SIGNALS, Evidence, LexicalSupportModel, evidence
from longform.metrics.statistics import Array, Estimate, bootstrap
from longform.support.index import Matrix, SupportIndex
from longform.training.logistic import fit_logistic, significant

STRENGTH = 0.1
"""Inverse regularisation, scikit-learn's C, on standardised signals."""

COSINE_ALONE = ("cosine",)
"""The signals of the baseline: how near in meaning the nearest place is."""

_ROUNDS = 10


class LabelledSentence(NamedTuple):
    """A sentence with its label, and its signals in each of its documents that have text."""

    article: Hashable  # sentences of one article are never in training and in test at once
    supported: bool
    cells: tuple[Evidence, ...]  # one a document


def labelled_sentences(
    article: Hashable,
    documents: Sequence[str],
    sentences: Sequence[str],
    labels: Sequence[int | None],
    embed: Callable[[Sequence[str]], Matrix],
) -> list[LabelledSentence]:
    """
    The labelled sentences of one summary; documents without text and sentences without a label are left out.

    Args:
        article: What the summary summarises.
        documents: Its texts.
        sentences: Of the summary.
        labels: 1 supported, 0 not, None not labelled, one a sentence.
        embed: Texts -> unit vectors.

    Raises:
        ValueError: The labels are not one a sentence, or no document has text.
    """
    if len(labels) != len(sentences) or not any(text.strip() for text in documents):
        raise ValueError(f"expected text and a label a sentence, got {len(labels)} labels, {len(sentences)} sentences")
    asked = [text for text, label in zip(sentences, labels, strict=True) if label is not None]
    vectors = embed(asked)
    indices = [SupportIndex([text]) for text in documents if text.strip()]
    by_document = [evidence(index.with_vectors(embed(index.sentences)), asked, vectors) for index in indices]
    stated = [bool(label) for label in labels if label is not None]
    return [
        LabelledSentence(article, label, tuple(found[row] for found in by_document)) for row, label in enumerate(stated)
    ]


def fit_support_judge(
    sentences: Sequence[LabelledSentence],
    *,
    left_out: Collection[Hashable] = (),
    signals: tuple[str, ...] = SIGNALS,
    strength: float = STRENGTH,
) -> LexicalSupportModel:
    """
    The model fitted on all sentences but those of the articles *left_out*.

    Raises:
        ValueError: What is left has not both labels.
    """
    used = [sentence for sentence in sentences if sentence.article not in left_out]
    labels = np.array([sentence.supported for sentence in used], dtype=bool)
    if len(set(labels.tolist())) < 2:
        raise ValueError(f"expected sentences of both labels to fit on, got {len(used)} of one or none")
    model = LexicalSupportModel(signals, (1.0,) * len(signals), 0.0, significant(labels.mean()))
    features = [model.features(sentence.cells) for sentence in used]
    chosen: list[int] = []
    for _ in range(_ROUNDS):
        best = [int(np.argmax(rows @ np.array(model.weights))) for rows in features]
        if best == chosen:
            break
        chosen = best
        picked = np.stack([rows[at] for rows, at in zip(features, chosen, strict=True)])
        weights, intercept = fit_logistic(picked, labels, strength=strength)
        model = model._replace(weights=weights, intercept=intercept)
    return model


def support_probability(model: LexicalSupportModel, sentences: Sequence[LabelledSentence]) -> Array:
    """The probability of each sentence's best document, shape (sentences,)."""
    best = [model.probability(model.features(sentence.cells)).max() for sentence in sentences]
    return np.array(best, dtype=np.float64)


class HeldOut(NamedTuple):
    """Sentences judged by models that have not seen their article; all of shape (sentences,), in one order."""

    articles: tuple[Hashable, ...]
    supported: NDArray[np.bool_]
    probability: Array
    answered: NDArray[np.bool_]  # supported, by the threshold of the training fold


def leave_article_out(
    sentences: Sequence[LabelledSentence], *, signals: tuple[str, ...] = SIGNALS, strength: float = STRENGTH
) -> HeldOut:
    """Every sentence judged by the model, and its threshold, fitted without the sentence's article."""
    probability = np.zeros(len(sentences))
    answered = np.zeros(len(sentences), dtype=bool)
    for article in dict.fromkeys(sentence.article for sentence in sentences):
        model = fit_support_judge(sentences, left_out=[article], signals=signals, strength=strength)
        places = [place for place, sentence in enumerate(sentences) if sentence.article == article]
        probability[places] = support_probability(model, [sentences[place] for place in places])
        answered[places] = probability[places] > model.threshold
    labels = np.array([sentence.supported for sentence in sentences], dtype=bool)
    return HeldOut(tuple(sentence.article for sentence in sentences), labels, probability, answered)


def held_out_balanced_accuracy(held_out: HeldOut, *, seed: int, resamples: int = 2000) -> Estimate:
    """Mean of the shares answered right among the supported and among the unsupported, interval over articles."""
    right = held_out.supported == held_out.answered
    columns = np.column_stack(
        [held_out.supported & right, held_out.supported, ~held_out.supported & right, ~held_out.supported]
    ).astype(np.float64)
    n = len(right)
    return bootstrap(columns, held_out.articles, _mean_recall, n=n, seed=seed, resamples=resamples)


def _mean_recall(sums: Array) -> Array:
    return (sums[:, 0] / sums[:, 1] + sums[:, 2] / sums[:, 3]) / 2


def brier_score(held_out: HeldOut) -> float:
    """Mean squared distance of probability and label."""
    return float(np.mean((held_out.probability - held_out.supported) ** 2))
