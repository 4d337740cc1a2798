"""
Turn signals into probabilities that documents support a claim, and choose the documents worth citing.

A claim's documents are read against each other, because levels do not carry over: the best document for a paraphrase
has a weaker signal than a bystander for a quotation. The *strength* of a document is the mean of its z-scores over the
claim's documents, one z-score a signal. Three numbers describe a (claim, document):

- `stands_out`: strength in deviations above the weaker 85 % of the documents, which support nearly no claim;
- `near_best`: strength on a scale from the median document (0) to the mean of the five best (1);
- `numbers`: the share of the claim's numbers that the document states.

A model may read a fourth, `beyond_gap`: the side of the widest gap that the document stands on. Documents that state a
claim are near each other and away from those that only touch it, so a gap says how many they are.

A logistic regression of these gives the probability; levels of words or cosines are not in it, so that a model fitted
on news also serves conversations. The documents cited are those that maximise the expected F1 under the probabilities:
there is no threshold to tune.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from longform.models import read_model
from longform.support.index import NUMBERS, VECTOR_SIGNALS, WORD_SIGNALS, Signals

VERSION = "1"
"""Changes with any change of a probability."""

FEATURES = ("stands_out", "near_best", "numbers")
GAP = "beyond_gap"

FEW_DOCUMENTS = 50
"""Below this there is no background to stand out from: most documents of a small context may support a claim."""

_BYSTANDERS = 0.85
_BEST = 5
_LEAST_SCALE = 0.1
"""The least strength, below that of any released insight: where no bystander shares a word, a single one is chance."""

_SHARE, _STEEPNESS = 0.586, 12.0
"""For few documents, set by hand: the logistic of a document's share of the best document's recall."""

_FEWEST = range(1, 9)
"""The least numbers of documents above a gap, one for each definition."""

_EXPONENTS = (0.0, 0.5, 1.0)
"""A gap with k documents above it counts as its width times k to one of these."""

_MOST = 0.3
"""The largest share of all documents above a gap: more are no longer apart from the rest."""

Kind = Literal["words", "vectors", "words_and_gap"]
Array = NDArray[np.float64]


def features_of(kind: Kind) -> tuple[str, ...]:
    """Return the names of the features that a model of *kind* weighs, in order."""
    return (*FEATURES, GAP) if kind == "words_and_gap" else FEATURES


class SupportModel(NamedTuple):
    """A logistic regression on `features_of(kind)`."""

    kind: Kind  # decides what the strength and the features are made of
    weights: tuple[float, ...]
    intercept: float

    def probability(self, signals: Signals, own: NDArray[np.int64] | None = None) -> Array:
        """
        Return the probability that each document supports each claim; shape (claims, documents).

        For claims that are sentences of the documents, *own* is the document of each: it supports the claim with
        probability 1. Among many documents the others are not read against it; among few it is the best one.

        Raises:
            ValueError: The model reads vector signals and there are none.
        """
        n_documents = signals[NUMBERS].shape[1]
        if n_documents < FEW_DOCUMENTS:
            probability = _by_share(signals["recall_3"], own)
        else:
            probability = _logistic(self.features(signals, own) @ np.array(self.weights) + self.intercept)
            probability[signals["recall_document"] <= 0] = 0.0
        if own is not None:
            probability[np.arange(len(own)), own] = 1.0
        return np.round(probability, 6)

    def features(self, signals: Signals, own: NDArray[np.int64] | None = None) -> Array:
        """Return the features, shape (claims, documents, features), NaN at a claim's own document."""
        strength = np.mean([_z_scores(_without_own(signals[name], own)) for name in self._read(signals)], axis=0)
        near_best = _near_best(strength)
        found = [_stands_out(strength), near_best, signals[NUMBERS].astype(np.float64)]
        if GAP in features_of(self.kind):
            found.append(_beyond_gap(near_best))
        return np.stack(found, axis=-1)

    def _read(self, signals: Signals) -> tuple[str, ...]:
        if self.kind != "vectors":
            return WORD_SIGNALS
        if missing := [name for name in VECTOR_SIGNALS if name not in signals]:
            raise ValueError(f"this model reads {missing}; give vectors of sentences and claims, or use kind 'words'")
        return WORD_SIGNALS + VECTOR_SIGNALS

    def as_json(self) -> dict[str, Any]:
        """Return the model as JSON, its weights by the names of features."""
        return {
            "kind": self.kind,
            "weights": dict(zip(features_of(self.kind), self.weights, strict=True)),
            "intercept": self.intercept,
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> SupportModel:
        weights = tuple(document["weights"][name] for name in features_of(document["kind"]))
        return cls(document["kind"], weights, document["intercept"])


@cache
def shipped_support_model(kind: Kind) -> SupportModel:
    """Return the model in `longform/models/`; `longform train support` re-makes it."""
    return SupportModel.from_json(read_model(f"support_{kind}")["model"])


def expected_f1_sets(probability: Array) -> NDArray[np.bool_]:
    """
    Return the documents whose set has the largest expected F1, shaped as *probability* (claims, documents).

    With documents in order of probability p, k of them promise 2 * (p_1 + ... + p_k) / (k + sum of all p). A claim that
    no document supports (all p are 0) gets none.
    """
    order = np.argsort(-probability, axis=1, kind="stable")
    ranked = np.take_along_axis(probability, order, axis=1)
    sizes = np.arange(1, probability.shape[1] + 1)
    expected = 2 * ranked.cumsum(axis=1) / (sizes + ranked.sum(axis=1, keepdims=True))
    chosen = np.round(expected, 9).argmax(axis=1)[:, None] if probability.size else np.zeros((len(probability), 1))
    sets = np.zeros(probability.shape, dtype=bool)
    np.put_along_axis(sets, order, (np.arange(probability.shape[1]) <= chosen) & (ranked > 0), axis=1)
    return sets


def _without_own(signal: NDArray[np.float32], own: NDArray[np.int64] | None) -> Array:
    values = signal.astype(np.float64)
    if own is not None:
        values[np.arange(len(own)), own] = np.nan
    return values


def _z_scores(values: Array) -> Array:
    centred = values - np.nanmean(values, axis=1, keepdims=True)
    return np.asarray(centred / np.maximum(np.nanstd(values, axis=1, keepdims=True), 1e-6))


def _stands_out(strength: Array) -> Array:
    n = strength.shape[1]
    weakest = np.sort(strength, axis=1)[:, : round(_BYSTANDERS * n)]  # NaN sorts last
    return _scaled(strength - weakest.mean(axis=1, keepdims=True), weakest.std(axis=1, keepdims=True))


def _near_best(strength: Array) -> Array:
    median = np.nanmedian(strength, axis=1, keepdims=True)
    best = -np.sort(-strength, axis=1)[:, :_BEST].mean(axis=1, keepdims=True)
    return _scaled(strength - median, best - median)


def _beyond_gap(near_best: Array) -> Array:
    """
    Return the mean, over definitions of the widest gap, of the root of its width; shaped as *near_best*.

    Below a gap the root is negative. A definition says how many documents at least stand above a gap, and how much a
    gap below many documents counts: gaps between the best few are wide by chance. No definition is best everywhere.
    """
    n = near_best.shape[1]
    most = min(round(_MOST * n), n - 1)
    fewest = [least for least in _FEWEST if least <= most]
    if not fewest:
        return np.zeros_like(near_best)
    ranked = -np.sort(-near_best, axis=1)[:, : most + 1]  # NaN sorts last
    widths = ranked[:, :-1] - ranked[:, 1:]
    sides = np.zeros_like(near_best)
    for exponent in _EXPONENTS:
        counted = np.round(widths * np.arange(1, most + 1) ** exponent, 9)  # equal gaps stay equal on any machine
        for least in fewest:
            widest = counted[:, least - 1 :].argmax(axis=1)[:, None] + least - 1
            width, above = (np.take_along_axis(values, widest, axis=1) for values in (widths, ranked))
            sides += np.where(near_best > above - width / 2, 1.0, -1.0) * np.sqrt(width)
    return sides / (len(_EXPONENTS) * len(fewest))


def _scaled(values: Array, scale: Array) -> Array:
    return np.asarray(values / np.maximum(scale, _LEAST_SCALE))


def _by_share(recall: NDArray[np.float32], own: NDArray[np.int64] | None) -> Array:
    values = recall.astype(np.float64)
    share = values / np.maximum(values.max(axis=1, keepdims=True, initial=0), 1e-9)
    if own is not None:
        share[np.arange(len(own)), own] = 1.0
    return np.where(values > 0, _logistic(_STEEPNESS * (share - _SHARE)), 0.0)


def _logistic(values: Array) -> Array:
    return np.asarray(expit(values), dtype=np.float64)
