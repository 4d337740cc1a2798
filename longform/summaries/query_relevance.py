"""
Measure how much each sentence of a collection bears on a query, and other reasons for quoting it.

A sentence may answer a query whose words it does not have: its neighbours have them, or the other documents that say
the same. So relevance is read in a sentence's surroundings and averaged over all places that support it.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from longform.summaries.sentence_support import SentenceSupport, first_candidates
from longform.text.words import stems

FEATURES = (
    "repeated_3",
    "repeated_6",
    "mass",
    "words",
    "word_relevance",
    "salience",
    "word_context",
    "relevance",
    "query_cosine",
    "subtopic_cosine",
    "document_relevance",
    "confirmed_mass",
    "relative_confirmed_mass",
)

VERSION = "3"
"""Changes with any change of a feature."""

_NEAR, _NEARBY, _FAR = 2, 3, 5  # sentences on each side: for cosines, for words, for salience
_BEST_SENTENCES = 5
_MANY_REPEAT = 0.1  # what a factor e more supporting documents add to salience
_WEIGHTS = (0.5, 0.3, 0.25, 0.25)

Array = NDArray[np.float64]


class VectorQuery(NamedTuple):
    """A query as text and as unit vectors."""

    text: str
    vector: NDArray[np.float32]
    subtopic_vector: NDArray[np.float32]  # of the subtopic's name; of the query where it has none


class _Matches(NamedTuple):
    """Matches of sentences and their surroundings with a query."""

    held: Array  # (sentences, stems): whether a sentence holds each stem of the query
    weights: Array  # (stems,): shares of the query's weight
    words_here: Array
    words_near: Array
    cosine: Array
    cosine_near: Array

    def here(self) -> Array:
        parts = (self.cosine_near, self.words_near, self.cosine, self.words_here)
        weighted = [weight * _z_scores(part) for weight, part in zip(_WEIGHTS, parts, strict=True)]
        return np.asarray(np.sum(weighted, axis=0))


def relevance_here(support: SentenceSupport, query: VectorQuery) -> Array:
    """Return how much each sentence bears on *query* in its own surroundings, a sum of z-scores; shape (sentences,)."""
    return _matches(support, query).here()


def relevance(support: SentenceSupport, query: VectorQuery) -> Array:
    """Return each sentence's `FEATURES` as an answer to *query*; shape (sentences, features)."""
    matches = _matches(support, query)
    here = matches.here()
    words_far = (support.around(matches.held, _FAR) > 0) @ matches.weights
    subtopic_near = support.around((support.sentence_vectors @ query.subtopic_vector).astype(np.float64), _NEAR)
    word_relevance = support.over_support((matches.words_here + words_far) / 2)
    salience = word_relevance * np.sqrt(support.weights) * support.repeated[0] * _many(support)
    salience = salience / max(salience.max(initial=0.0), 1e-9)
    confirmed_mass = support.confirmed * np.sqrt(support.weights)
    columns = (
        *support.repeated,
        support.weights,
        support.n_words,
        _z_scores(word_relevance),
        salience,
        support.over_support(matches.words_near),
        _z_scores(support.over_support(here)),
        _z_scores(support.over_support(matches.cosine_near)),
        _z_scores(support.over_support(subtopic_near)),
        _z_scores(_document_relevance(support, here)),
        confirmed_mass,
        confirmed_mass / np.sqrt(_usual_weight(support)),
    )
    return np.asarray(np.round(np.stack(columns, axis=1), 6))


def _matches(support: SentenceSupport, query: VectorQuery) -> _Matches:
    wanted, held = support.held(stems(query.text))
    weights = np.array([support.index.idf(stem) for stem in wanted], dtype=np.float64)
    weights /= max(weights.sum(), 1e-9)
    words_near = (support.around(held, _NEARBY) > 0) @ weights
    cosine = (support.sentence_vectors @ query.vector).astype(np.float64)
    return _Matches(held, weights, held @ weights, words_near, cosine, support.around(cosine, _NEAR))


def _usual_weight(support: SentenceSupport) -> float:
    """
    Return the mean weight of the sentences that are quoted first, 1 if there are none.

    Words weigh more among more documents, so that by a ranker fitted on a hundred no sentence of ten has weight.
    """
    weights = support.weights[first_candidates(support)]
    return float(weights.mean()) if len(weights) else 1.0


def _many(support: SentenceSupport) -> Array:
    return np.asarray(1 + _MANY_REPEAT * np.log(np.maximum(support.cited.sum(axis=1), 1)))


def _document_relevance(support: SentenceSupport, here: Array) -> Array:
    # a document is as relevant as its best sentences; a sentence, as the documents that support it
    bounds = support.index.bounds.tolist()
    lowest = here.min(initial=0.0)
    best = np.array(
        [
            np.sort(here[begin:end])[-_BEST_SENTENCES:].mean() if end > begin else lowest
            for begin, end in pairwise(bounds)
        ]
    )
    return np.asarray(support.probability @ best / np.maximum(support.n_expected, 1e-9))


def _z_scores(values: Array) -> Array:
    if not len(values):
        return values
    return np.asarray((values - values.mean()) / max(float(values.std()), 1e-6))
