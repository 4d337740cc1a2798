"""
Coverage of insights by the bullets of a summary, judged by shared words: no model, and nothing was trained.

An insight's words weigh by how rare they are among the insights of its haystack. Two shares describe an insight and
a bullet: the *recall* of the insight's weight in the bullet, and the *precision*, the share of the bullet's weight
that the insight has; their sum is the *fit*. The insight's bullet is the one that fits it best. Then insights
compete: where a sibling insight of the same query fits that bullet better, the bullet is no evidence for this one.
The *share* is a softmax of fit over the siblings and over nobody, who stands for a bullet that fits none of them.
The score is the mean of recall and share.

The constants below were set by hand, as round numbers. On 61 human-annotated summaries of SummHay's release (562
pairs, one news topic) scores correlate 0.83 with people, and agree with them in three classes with kappa 0.62. The
judge reads no grammar: a negated or shuffled bullet scores like the original.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from longform.text import inverse_document_frequency, stems, unseen_idf, without_marks

Answer = Literal["full", "partial", "none"]

VERSION = "1"
"""Changes with any change that moves a score."""

SHARPNESS = 8.0
"""Of the softmax: a sibling that fits 0.3 better takes nine tenths of the share."""

NOBODY_FITS = 0.5
"""Fit at which an insight without siblings shares half and half with nobody: a quarter of the words both ways."""

PARTIAL_FROM, FULL_FROM = 0.3, 0.7
"""Scores at which the answer changes: .33 and .74 reproduced people's label shares for a trained judge, rounded."""

_DIGITS = 6


class StemWeights(NamedTuple):
    """Inverse document frequency among the insights of a haystack; a stem that none of them holds weighs `unseen`."""

    known: Mapping[str, float]
    unseen: float

    @classmethod
    def of(cls, haystack_insights: Sequence[str]) -> StemWeights:
        texts = [statement_stems(text) for text in haystack_insights]
        return cls(inverse_document_frequency(texts), unseen_idf(len(texts)))

    def total(self, stem_set: frozenset[str]) -> float:
        # sorted: the order of a set changes with the process, and with it the last digits of a sum
        return sum(self.known.get(stem, self.unseen) for stem in sorted(stem_set))


class Reading(NamedTuple):
    """How one insight fares in one summary: recall, precision, share and score lie in [0, 1]."""

    answer: Answer | None  # null: the insight has no word to look for
    score: float | None  # null: as above
    closest: int | None  # index of the bullet that fits best; null: the summary has no bullet
    recall: float
    precision: float
    share: float

    @property
    def linked(self) -> int | None:
        """The bullet that says it; None where none does."""
        return self.closest if self.answer in ("full", "partial") else None


def statement_stems(line: str) -> frozenset[str]:
    """The distinct stems of a bullet's or an insight's statement, citations and list marker left aside."""
    return frozenset(stems(without_marks(line)))


class QueryInsights:
    """The insights of one query, ready to be looked for in any number of summaries."""

    def __init__(self, insights: Sequence[str], weights: StemWeights) -> None:
        self._weights = weights
        insight_stems = [statement_stems(text) for text in insights]
        self._columns = {stem: i for i, stem in enumerate(sorted(frozenset().union(*insight_stems)))}
        column_weights = np.array([weights.known.get(stem, weights.unseen) for stem in self._columns])
        # (insights, stems): a stem's weight where the insight holds it
        self._weighted = self._indicator(insight_stems) * column_weights
        self._mass = self._weighted.sum(axis=1)

    def readings(self, bullets: Sequence[str]) -> list[Reading]:
        """One reading an insight, in order. Without bullets every insight is unsaid: the answer is none, with 0."""
        recall, precision = self._overlap(bullets)
        fit = np.round(recall + precision, _DIGITS)
        closest = fit.argmax(axis=1)
        rows = np.arange(len(fit))
        parts = np.stack([matrix[rows, closest] for matrix in (recall, precision, _share(fit))], axis=1)
        return [
            _reading(*features, closest=bullet if bullets else None, has_words=mass > 0)
            for features, bullet, mass in zip(
                np.round(parts, _DIGITS).tolist(), closest.tolist(), self._mass.tolist(), strict=True
            )
        ]

    def best_scores(self, bullets: Sequence[str]) -> NDArray[np.float64]:
        """Each bullet's best score for any of the insights, the bullet seen alone: shape (bullets,), 0 for no word."""
        if not len(self._mass):
            return np.zeros(len(bullets))
        recall, precision = self._overlap(bullets)
        share = _share(np.round(recall + precision, _DIGITS))
        scores = np.where(recall > 0, (np.round(recall, _DIGITS) + np.round(share, _DIGITS)) / 2, 0.0)
        return np.asarray(np.round(scores.max(axis=0), _DIGITS))[: len(bullets)]

    def _overlap(self, bullets: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        # A summary without bullets is one bullet without words: every share of it is 0.
        bullet_stems = [statement_stems(text) for text in bullets or [""]]
        shared = self._weighted @ self._indicator(bullet_stems).T  # (insights, bullets)
        bullet_mass = np.array([self._weights.total(stem_set) for stem_set in bullet_stems])
        return _ratio(shared, self._mass[:, None]), _ratio(shared, bullet_mass[None, :])

    def _indicator(self, texts: Sequence[frozenset[str]]) -> NDArray[np.float64]:
        held = np.zeros((len(texts), len(self._columns)))
        for row, stem_set in enumerate(texts):
            held[row, [self._columns[stem] for stem in stem_set if stem in self._columns]] = 1.0
        return held


def _share(fit: NDArray[np.float64]) -> NDArray[np.float64]:
    # (insights, bullets): softmax down each column, with one more row for nobody
    strength = np.exp(SHARPNESS * fit)
    return np.asarray(strength / (strength.sum(axis=0) + np.exp(SHARPNESS * NOBODY_FITS)))


def _ratio(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    # rounding may carry a full match past 1
    return np.minimum(np.divide(part, whole, out=np.zeros_like(part), where=whole > 0), 1.0)


def _reading(recall: float, precision: float, share: float, *, closest: int | None, has_words: bool) -> Reading:
    if not has_words:
        return Reading(None, None, closest, recall, precision, share)
    # no shared word is no evidence, however the competition ends
    score = round((recall + share) / 2, _DIGITS) if recall > 0 else 0.0
    return Reading(answer_for(score), score, closest, recall, precision, share)


def answer_for(score: float) -> Answer:
    """The three-way answer for a score in [0, 1]."""
    if score >= FULL_FROM:
        return "full"
    return "partial" if score >= PARTIAL_FROM else "none"
