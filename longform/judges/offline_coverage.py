"""
Coverage of insights by the bullets of a summary, judged by words, and by vectors if the model reads them.

An insight's words weigh by how rare they are among the insights of its haystack. Two shares describe an insight and
a bullet: the *recall* of the insight's weight in the bullet, and the *precision*, the share of the bullet's weight
that the insight has; their sum is the *fit*. The insight's bullet is the one that fits it best. Then insights
compete: where a sibling insight of the same query fits that bullet better, the bullet is no evidence for this one.
The *share* is a softmax of fit over the siblings and over nobody, who stands for a bullet that fits none of them.

Another design (`longform.judges.coverage_model.VECTORS`) counts precision half, and adds half of the cosine of both
sentence vectors and the *token recall* (`longform.text.vectors`), so that other words for the same thing fit too. There
bullets compete for the insight as well, nobody competes only where fewer than four insights or bullets do, and the
*lead* in token recall before the siblings stands in the place of the recall.

What the bullet says with those words counts too: a number changed, a statement denied, words out of order, or a
statement lost among other matter lower the score (`longform.judges.coverage_model`). The model is fitted on labels of
SummHay's released summaries (`lab.fits.judge`), on people's or on GPT-4o's, which are two scales.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from longform.errors import LongformError, UsageError
from longform.judges.claims import Statement, read_statement
from longform.judges.coverage_model import WORDS, Answer, Evidence, Fit, JudgeModel, answer_of
from longform.models import read_model
from longform.text.vectors import TextVectors, WeighedPieces, token_recall
from longform.text.words import TermWeights, stems, without_marks

VERSION = "3"
"""Changes with any change that moves a score."""

_ORDER_PAIRS = 4
"""Fewer neighbours than these tell no order."""

WHOLE_FROM, DILUTED_BELOW = 0.3, 0.1
"""Precision: 95 % of covering bullets have more than 0.28; doubled by foreign text 0.20 (median), merged 0.09."""

ALONE_FROM, CROWDED_BELOW = 0.4, 0.15
"""The insight's weight by the bullet's: 95 % of covering bullets have more than 0.41 (conversations) and 0.57 (news),
merged ones 0.11 to 0.14 (median), those with another bullet behind them 0.31 to 0.36."""

_DIGITS = 6

_COSINE_DIGITS = 3
"""Vectors of two processors may differ in the last digit of a float16, a cosine then by about 0.000001."""

SHIPPED: Mapping[str, str] = {
    "people": "judge_people",
    "gpt-4o": "judge_gpt4o",
    "people-vectors": "judge_people_vectors",
}
"""Judge that ships -> its file in `longform/models`."""


class Reading(NamedTuple):
    """The reading of one insight in one summary."""

    answer: Answer | None  # null: the insight has no word to look for
    score: float | None  # in [0, 1]; null: as above
    evidence: Evidence

    @property
    def linked(self) -> int | None:
        """The bullet that says it; None if none does."""
        return self.evidence.closest if self.answer in ("full", "partial") else None


class _Overlap(NamedTuple):
    """Shares of each insight and each bullet, shape (insights, bullets)."""

    recall: NDArray[np.float64]
    precision: NDArray[np.float64]
    room: NDArray[np.float64]  # of the bullet's weight that the insight's would take


def embedded_text(line: str) -> str:
    """The text of a bullet or an insight of which a vector is made."""
    return without_marks(line)


def statement_stems(line: str) -> frozenset[str]:
    """The distinct stems of a bullet's or an insight's statement, citations and list marker left aside."""
    return frozenset(stems(without_marks(line)))


def stem_weights(haystack_insights: Sequence[str]) -> TermWeights:
    """Return how rare each stem is among the insights of a haystack."""
    return TermWeights.of([read_statement(text).stems for text in haystack_insights])


def shipped_judge(name: str) -> JudgeModel:
    """
    The fitted judge that ships: its calibration, with `-vectors` if it reads vectors.

    Raises:
        UsageError: There is none of that name.
    """
    if name not in SHIPPED:
        raise UsageError(f"judge calibration {name!r}: expected one of {list(SHIPPED)}")
    return JudgeModel.from_json(read_model(SHIPPED[name]), file=f"{SHIPPED[name]}.json")


class QueryInsights:
    """
    The insights of one query, ready to be looked for in any number of summaries.

    *weights* are those of stems. *vectors* makes vectors, and weighs pieces among the insights of the haystack, for
    models that read them; None: such a model is refused.
    """

    def __init__(self, insights: Sequence[str], weights: TermWeights, *, vectors: WeighedPieces | None = None) -> None:
        self._weights = weights
        self._pieces = vectors
        self._texts = [embedded_text(text) for text in insights]
        self._insights = [read_statement(text) for text in insights]
        every_stem = frozenset[str]().union(*(insight.stems for insight in self._insights))
        self._columns = {stem: i for i, stem in enumerate(sorted(every_stem))}
        column_weights = np.array(weights.each(self._columns))
        # (insights, stems): a stem's weight where the insight holds it
        self._weighted = self._indicator(self._insights) * column_weights
        self._mass = self._weighted.sum(axis=1)

    def readings(self, bullets: Sequence[str], model: JudgeModel) -> list[Reading]:
        """One reading an insight, in order. Without bullets every insight is unsaid: the answer is none, with 0."""
        evidence = self.evidence(bullets, model.fit)
        scores = model.scores(evidence).tolist()
        return [
            Reading(answer_of(score, model.cuts), score, found) if found.has_words else Reading(None, None, found)
            for score, found in zip(scores, evidence, strict=True)
        ]

    def evidence(self, bullets: Sequence[str], rule: Fit) -> list[Evidence]:
        """Return the bullets' evidence for each insight, in order, before any model weighs it."""
        # A summary without bullets is one bullet without words: every share of it is 0.
        statements = [read_statement(text) for text in bullets or [""]]
        overlap = self._overlap(statements)
        cosine, tokens = self._nearness(bullets) if rule.reads_vectors else np.zeros((2, *overlap.recall.shape))
        fit = overlap.recall + rule.precision * overlap.precision + rule.cosine * cosine + rule.tokens * tokens
        fit = np.round(fit, _DIGITS)
        closest = fit.argmax(axis=1)
        rows = np.arange(len(fit))
        parts = {
            "recall": overlap.recall,
            "precision": overlap.precision,
            "share": share_of(fit, rule),
            "bullet_share": _bullet_share(fit, rule),
            "cosine": cosine,
            "room": overlap.room,
            "token_recall": tokens,
            "token_lead": _lead(tokens, rule),
        }
        of_closest = np.round(np.stack([matrix[rows, closest] for matrix in parts.values()], axis=1), _DIGITS)
        return [
            self._evidence(
                insight, statements[place], rule, place if bullets else None, **dict(zip(parts, shares, strict=True))
            )
            for insight, place, shares in zip(self._insights, closest.tolist(), of_closest.tolist(), strict=True)
        ]

    def best_scores(self, bullets: Sequence[str]) -> NDArray[np.float64]:
        """
        Return how well each bullet, seen alone, fits its best insight: shape (bullets,), 0 for no shared word.

        It is the mean of recall and share, and measures the subject of the bullet, affirmed or denied.
        """
        if not bullets or not self._insights:
            return np.zeros(len(bullets))
        recall, precision, _ = self._overlap([read_statement(text) for text in bullets])
        share = share_of(np.round(recall + precision, _DIGITS), WORDS.fit)
        scores = np.where(recall > 0, (np.round(recall, _DIGITS) + np.round(share, _DIGITS)) / 2, 0.0)
        return np.asarray(np.round(scores.max(axis=0), _DIGITS))

    def _overlap(self, statements: Sequence[Statement]) -> _Overlap:
        shared = self._weighted @ self._indicator(statements).T  # (insights, bullets)
        mass = self._mass[:, None]
        bullet_mass = np.array([self._weights.total(statement.stems) for statement in statements])[None, :]
        # a bullet without words has room for any insight
        room = np.where(bullet_mass > 0, _ratio(np.broadcast_to(mass, shared.shape), bullet_mass), 1.0)
        return _Overlap(_ratio(shared, mass), _ratio(shared, bullet_mass), room)

    def _nearness(self, bullets: Sequence[str]) -> NDArray[np.float64]:
        """
        Return cosine and token recall of insights and bullets: shape (2, insights, bullets).

        They are 0 without bullets, which are one bullet without words.
        """
        if not bullets or not self._insights:
            return np.zeros((2, len(self._insights), max(1, len(bullets))))
        if self._pieces is None:
            raise LongformError("this judge reads vectors: expected `vectors`, which makes them, found None")
        read, insights = self._pieces.encoder.read([embedded_text(text) for text in bullets]), self._vectors
        cosine = (_sentences(insights) @ _sentences(read).T).astype(np.float64)
        tokens = token_recall(insights, read, self._pieces.weights)
        return np.asarray(np.round(np.stack([cosine, tokens]), _COSINE_DIGITS))

    @cached_property
    def _vectors(self) -> Sequence[TextVectors]:
        assert self._pieces is not None, "a judge that reads vectors was given what makes them"
        return self._pieces.encoder.read(self._texts)

    def _indicator(self, statements: Sequence[Statement]) -> NDArray[np.float64]:
        held = np.zeros((len(statements), len(self._columns)))
        for row, statement in enumerate(statements):
            held[row, [self._columns[stem] for stem in statement.stems if stem in self._columns]] = 1.0
        return held

    def _evidence(
        self, insight: Statement, bullet: Statement, rule: Fit, closest: int | None, *, room: float, **shares: float
    ) -> Evidence:
        """Return the evidence of the bullet closest to an insight; *shares* are fields of it, of these two."""
        missing, contradicted = _numbers(insight, bullet)
        return Evidence(
            closest=closest,
            has_words=bool(insight.stems),
            numbers_missing=missing,
            numbers_contradicted=contradicted,
            denial_mismatch=self._denial_mismatch(insight, bullet),
            order_lost=_order_lost(insight, bullet, *rule.order),
            dilution=_falling(shares["precision"], WHOLE_FROM, DILUTED_BELOW),
            crowding=_falling(room, ALONE_FROM, CROWDED_BELOW),
            **shares,
        )

    def _denial_mismatch(self, insight: Statement, bullet: Statement) -> float:
        if not insight.denied and not bullet.denied:
            return float(insight.contradicts(bullet))
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


def _order_lost(insight: Statement, bullet: Statement, kept_from: float, lost_below: float) -> float:
    found = [pair for pair in insight.neighbours if pair[0] in bullet.stems and pair[1] in bullet.stems]
    if len(found) < _ORDER_PAIRS:
        return 0.0
    return _falling(sum(pair in bullet.in_order for pair in found) / len(found), kept_from, lost_below)


def _falling(value: float, zero_from: float, one_below: float) -> float:
    """0 for values of at least *zero_from*, 1 below *one_below*, a straight line between them."""
    return round(min(1.0, max(0.0, (zero_from - value) / (zero_from - one_below))), _DIGITS)


def share_of(fit: NDArray[np.float64], rule: Fit) -> NDArray[np.float64]:
    """Return each insight's share of each bullet, shape (insights, bullets): a softmax over insights and nobody."""
    strength = np.exp(rule.sharpness * fit)
    absent = 1 if rule.competitors is None else max(0, rule.competitors - len(fit))
    return np.asarray(strength / (strength.sum(axis=0) + absent * np.exp(rule.sharpness * rule.nobody)))


def _bullet_share(fit: NDArray[np.float64], rule: Fit) -> NDArray[np.float64]:
    # (insights, bullets): softmax along each row and columns for nobody
    strength = np.exp(rule.sharpness * fit)
    absent = 0 if rule.competitors is None else max(0, rule.competitors - fit.shape[1])
    total = strength.sum(axis=1, keepdims=True) + absent * np.exp(rule.sharpness * rule.nobody)
    return np.asarray(strength / total)


def _lead(recall: NDArray[np.float64], rule: Fit) -> NDArray[np.float64]:
    """Return recall less the mean of those that compete with the insight for the bullet: shape (insights, bullets)."""
    absent = max(0, (rule.competitors or 0) - len(recall))
    others = recall.sum(axis=0) - recall + absent * rule.nobody_tokens
    return np.asarray(recall - others / max(1, len(recall) + absent - 1))


def _sentences(texts: Sequence[TextVectors]) -> NDArray[np.float32]:
    return np.stack([text.sentence for text in texts])


def _ratio(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    # rounding may carry a full match past 1
    return np.minimum(np.divide(part, whole, out=np.zeros_like(part), where=whole > 0), 1.0)
