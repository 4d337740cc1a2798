"""
Coverage of insights by the bullets of a summary, judged by words: no language model.

An insight's words weigh by how rare they are among the insights of its haystack. Two shares describe an insight and
a bullet: the *recall* of the insight's weight in the bullet, and the *precision*, the share of the bullet's weight
that the insight has; their sum is the *fit*. The insight's bullet is the one that fits it best. Then insights
compete: where a sibling insight of the same query fits that bullet better, the bullet is no evidence for this one.
The *share* is a softmax of fit over the siblings and over nobody, who stands for a bullet that fits none of them.

What the bullet says with those words counts too: a number changed, a statement denied, words out of order, or a
statement lost among other matter lower the score (`longform.judges.coverage_model`). The model is fitted on labels of
SummHay's released summaries (`longform.training.judge`), on people's or on GPT-4o's, which are two scales.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from longform.errors import UsageError
from longform.judges.coverage_model import Answer, Calibration, Evidence, JudgeModel
from longform.models import read_model
from longform.text.statements import Statement, read_statement
from longform.text.words import inverse_document_frequency, stems, unseen_idf, without_marks

VERSION = "2"
"""Changes with any change that moves a score."""

SHARPNESS = 8.0
"""The sharpness of the softmax: a sibling that fits 0.3 better takes nine tenths of the share."""

NOBODY_FITS = 0.5
"""Fit at which an insight without siblings shares half and half with nobody: a quarter of the words both ways."""

ORDER_KEPT_FROM, ORDER_LOST_BELOW = 0.5, 0.2
"""Share of neighbouring words in order: 95 % of covering bullets have more than 0.56, shuffled ones 0.21 (median)."""

_ORDER_PAIRS = 4
"""Fewer neighbours than these tell no order."""

WHOLE_FROM, DILUTED_BELOW = 0.3, 0.1
"""Precision: 95 % of covering bullets have more than 0.28; doubled by foreign text 0.20 (median), merged 0.09."""

_DIGITS = 6


class StemWeights(NamedTuple):
    """Inverse document frequency among the insights of a haystack; a stem that none of them holds weighs `unseen`."""

    known: Mapping[str, float]
    unseen: float

    @classmethod
    def of(cls, haystack_insights: Sequence[str]) -> StemWeights:
        texts = [read_statement(text).stems for text in haystack_insights]
        return cls(inverse_document_frequency(texts), unseen_idf(len(texts)))

    def total(self, stem_set: frozenset[str]) -> float:
        # sorted: the order of a set changes with the process, and with it the last digits of a sum
        return sum(self.known.get(stem, self.unseen) for stem in sorted(stem_set))


class Reading(NamedTuple):
    """The reading of one insight in one summary."""

    answer: Answer | None  # null: the insight has no word to look for
    score: float | None  # in [0, 1]; null: as above
    evidence: Evidence

    @property
    def linked(self) -> int | None:
        """The bullet that says it; None if none does."""
        return self.evidence.closest if self.answer in ("full", "partial") else None


def statement_stems(line: str) -> frozenset[str]:
    """The distinct stems of a bullet's or an insight's statement, citations and list marker left aside."""
    return frozenset(stems(without_marks(line)))


def shipped_judge(calibration: str) -> JudgeModel:
    """
    The fitted judge that ships for a calibration.

    Raises:
        UsageError: There is none of that name.
    """
    if calibration not in get_args(Calibration):
        raise UsageError(f"judge calibration {calibration!r}: expected one of {list(get_args(Calibration))}")
    name = f"judge_{calibration.replace('-', '')}"
    return JudgeModel.from_json(read_model(name), file=f"{name}.json")


class QueryInsights:
    """The insights of one query, ready to be looked for in any number of summaries."""

    def __init__(self, insights: Sequence[str], weights: StemWeights) -> None:
        self._weights = weights
        self._insights = [read_statement(text) for text in insights]
        every_stem = frozenset[str]().union(*(insight.stems for insight in self._insights))
        self._columns = {stem: i for i, stem in enumerate(sorted(every_stem))}
        column_weights = np.array([weights.known.get(stem, weights.unseen) for stem in self._columns])
        # (insights, stems): a stem's weight where the insight holds it
        self._weighted = self._indicator(self._insights) * column_weights
        self._mass = self._weighted.sum(axis=1)

    def readings(self, bullets: Sequence[str], model: JudgeModel) -> list[Reading]:
        """One reading an insight, in order. Without bullets every insight is unsaid: the answer is none, with 0."""
        evidence = self.evidence(bullets)
        scores = model.scores(evidence).tolist()
        return [
            Reading(model.answer(score), score, found) if found.has_words else Reading(None, None, found)
            for score, found in zip(scores, evidence, strict=True)
        ]

    def evidence(self, bullets: Sequence[str]) -> list[Evidence]:
        """Return the bullets' evidence for each insight, in order, before any model weighs it."""
        # A summary without bullets is one bullet without words: every share of it is 0.
        statements = [read_statement(text) for text in bullets or [""]]
        recall, precision = self._overlap(statements)
        fit = np.round(recall + precision, _DIGITS)
        closest = fit.argmax(axis=1)
        rows = np.arange(len(fit))
        parts = np.stack([matrix[rows, closest] for matrix in (recall, precision, _share(fit))], axis=1)
        return [
            self._evidence(insight, statements[place], *shares, closest=place if bullets else None)
            for insight, place, shares in zip(
                self._insights, closest.tolist(), np.round(parts, _DIGITS).tolist(), strict=True
            )
        ]

    def best_scores(self, bullets: Sequence[str]) -> NDArray[np.float64]:
        """
        Return how well each bullet, seen alone, fits its best insight: shape (bullets,), 0 for no shared word.

        It is the mean of recall and share, and measures the subject of the bullet, affirmed or denied.
        """
        if not bullets or not self._insights:
            return np.zeros(len(bullets))
        recall, precision = self._overlap([read_statement(text) for text in bullets])
        share = _share(np.round(recall + precision, _DIGITS))
        scores = np.where(recall > 0, (np.round(recall, _DIGITS) + np.round(share, _DIGITS)) / 2, 0.0)
        return np.asarray(np.round(scores.max(axis=0), _DIGITS))

    def _overlap(self, statements: Sequence[Statement]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        shared = self._weighted @ self._indicator(statements).T  # (insights, bullets)
        bullet_mass = np.array([self._weights.total(statement.stems) for statement in statements])
        return _ratio(shared, self._mass[:, None]), _ratio(shared, bullet_mass[None, :])

    def _indicator(self, statements: Sequence[Statement]) -> NDArray[np.float64]:
        held = np.zeros((len(statements), len(self._columns)))
        for row, statement in enumerate(statements):
            held[row, [self._columns[stem] for stem in statement.stems if stem in self._columns]] = 1.0
        return held

    def _evidence(
        self,
        insight: Statement,
        bullet: Statement,
        recall: float,
        precision: float,
        share: float,
        *,
        closest: int | None,
    ) -> Evidence:
        missing, contradicted = _numbers(insight, bullet)
        return Evidence(
            closest=closest,
            has_words=bool(insight.stems),
            recall=recall,
            precision=precision,
            share=share,
            numbers_missing=missing,
            numbers_contradicted=contradicted,
            denial_mismatch=self._denial_mismatch(insight, bullet),
            order_lost=_order_lost(insight, bullet),
            dilution=_falling(precision, WHOLE_FROM, DILUTED_BELOW),
        )

    def _denial_mismatch(self, insight: Statement, bullet: Statement) -> float:
        if not insight.denied and not bullet.denied:
            return 0.0
        shared = insight.stems & bullet.stems
        if not shared:
            return 0.0
        mismatched = shared & (insight.denied ^ bullet.denied)
        # doubled: a denial stands beside its verb, and leaves the subject before it as it was
        share = self._weights.total(mismatched) / self._weights.total(shared)
        return round(min(1.0, 2 * share), _DIGITS)


def _numbers(insight: Statement, bullet: Statement) -> tuple[float, float]:
    """Shares of the insight's numbers that the bullet lacks, and that it contradicts by others in their place."""
    stated = {quantity.value for quantity in insight.quantities}
    if not stated:
        return 0.0, 0.0
    held = {quantity.value for quantity in bullet.quantities}
    others = [quantity for quantity in bullet.quantities if quantity.value not in stated]
    missing = [quantity for quantity in insight.quantities if quantity.value not in held]
    contradicted = {quantity.value for quantity in missing if any(quantity.could_be(other) for other in others)}
    return round(len(stated - held) / len(stated), _DIGITS), round(len(contradicted) / len(stated), _DIGITS)


def _order_lost(insight: Statement, bullet: Statement) -> float:
    found = [pair for pair in insight.neighbours if pair[0] in bullet.stems and pair[1] in bullet.stems]
    if len(found) < _ORDER_PAIRS:
        return 0.0
    return _falling(sum(pair in bullet.in_order for pair in found) / len(found), ORDER_KEPT_FROM, ORDER_LOST_BELOW)


def _falling(value: float, zero_from: float, one_below: float) -> float:
    """0 for values of at least *zero_from*, 1 below *one_below*, a straight line between them."""
    return round(min(1.0, max(0.0, (zero_from - value) / (zero_from - one_below))), _DIGITS)


def _share(fit: NDArray[np.float64]) -> NDArray[np.float64]:
    # (insights, bullets): softmax down each column, with one more row for nobody
    strength = np.exp(SHARPNESS * fit)
    return np.asarray(strength / (strength.sum(axis=0) + np.exp(SHARPNESS * NOBODY_FITS)))


def _ratio(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    # rounding may carry a full match past 1
    return np.minimum(np.divide(part, whole, out=np.zeros_like(part), where=whole > 0), 1.0)
