"""
Judge coverage by spelling, to measure the offline summarizer with a judge that shares no feature with its ranker.

The ranker was fitted to weighted stems and cosines of an encoder, and the offline judge weighs the same stems. This
judge reads character 4-grams, all of one weight. The *recall* is the share of the insight's distinct 4-grams that a
bullet has, the *precision* the share of the bullet's that the insight has, and their sum the *fit*. An insight's bullet
is the one that fits it best. The *share* is a softmax of the fit over the siblings of the insight and over nobody.

It serves measurements alone. It has no guards: a denial costs nothing. So nothing ships.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab.fits.judge_examples import LabelledSet
from lab.fits.logistic import cuts_by_shares, fit_ordinal
from longform.errors import LongformError
from longform.judges.coverage_model import WORDS, Answer, answer_at, expected_labels
from longform.judges.offline_coverage import share_of
from longform.metrics.agreement import WEIGHTS
from longform.text.words import numbers, without_marks, words

GRAM = 4
"""Characters of a gram, spaces between words counted."""

FIT = WORDS.fit._replace(nobody=0.7)
"""The softmax of the offline judge. Texts of one topic share more grams than words; 0.5 and 0.6 did as well as 0.7."""

FEATURES = ("recall", "share", "numbers_missing")

Array = NDArray[np.float64]


class SpelledEvidence(NamedTuple):
    """Evidence for an insight in the bullet that fits it best; shares in [0, 1]."""

    closest: int | None  # index of that bullet; null: the summary has no bullet
    recall: float
    share: float
    numbers_missing: float  # of the insight's numbers; 0 if it has none


class SpelledExample(NamedTuple):
    """One labelled (summary, insight)."""

    haystack_id: str
    query_id: str
    summary_id: str
    evidence: SpelledEvidence
    answer: str
    link: int | None


class SpellingModel(NamedTuple):
    """A fitted judge. Arrays follow `FEATURES`; pairs are (at least partial, full)."""

    coefficients: tuple[tuple[float, ...], tuple[float, ...]]
    intercepts: tuple[float, float]
    cuts: tuple[float, float]

    def scores(self, evidence: Sequence[SpelledEvidence]) -> Array:
        """Return the expected label of each insight, shape (insights,), in [0, 1]; 0 without a bullet."""
        said = np.array([row.closest is not None for row in evidence])
        return np.where(said, expected_labels(_features(evidence), self.coefficients, self.intercepts), 0.0)

    def readings(self, evidence: Sequence[SpelledEvidence]) -> list[tuple[Answer, int | None]]:
        """Return the answer to each insight and the bullet that says it; None if none does."""
        answers = [answer_at(score, self.cuts) for score in self.scores(evidence).tolist()]
        return [
            (answer, None if answer == "none" else row.closest) for answer, row in zip(answers, evidence, strict=True)
        ]


def spelled_evidence(insights: Sequence[str], lines: Sequence[str]) -> list[SpelledEvidence]:
    """Return the evidence of a summary's *lines* for each of the *insights* of its query, in order."""
    if not lines:
        return [SpelledEvidence(None, 0.0, 0.0, 0.0) for _ in insights]
    wanted, held = [grams(text) for text in insights], [grams(line) for line in lines]
    shared = np.array([[len(a & b) for b in held] for a in wanted], dtype=np.float64)  # (insights, bullets)
    recall, precision = (shared / np.maximum(sizes, 1) for sizes in (_sizes(wanted)[:, None], _sizes(held)[None, :]))
    fit = np.round(recall + precision, 6)
    share = share_of(fit, FIT)
    return [
        SpelledEvidence(
            place, float(recall[row, place]), float(share[row, place]), _missing(insights[row], lines[place])
        )
        for row, place in enumerate(fit.argmax(axis=1).tolist())
    ]


@lru_cache(maxsize=20_000)
def grams(line: str) -> frozenset[str]:
    """Return the distinct character 4-grams of a line's words in lower case, citations and list marker left aside."""
    text = f" {' '.join(words(without_marks(line)))} "
    return frozenset(text[start : start + GRAM] for start in range(len(text) - GRAM + 1))


def _sizes(texts: Sequence[frozenset[str]]) -> Array:
    return np.array([len(held) for held in texts], dtype=np.float64)


def _missing(insight: str, line: str) -> float:
    stated = numbers(without_marks(insight))
    return len(stated - numbers(without_marks(line))) / len(stated) if stated else 0.0


# ---------------------------------------------------------------- fit


def spelled_examples(labelled: LabelledSet) -> list[SpelledExample]:
    """Return every labelled pair of a summary and an insight."""
    return [
        SpelledExample(summary.haystack_id, summary.query_id, summary.summary_id, evidence, answer, link)
        for summary in labelled.summaries
        for evidence, answer, link in zip(
            spelled_evidence([target.text for target in labelled.targets[summary.query_id]], summary.lines),
            summary.answers,
            summary.links,
            strict=True,
        )
        if answer is not None
    ]


def fit_spelling(examples: Iterable[SpelledExample], *, strength: float, left_out: Collection[str]) -> SpellingModel:
    """
    Return the judge that the examples teach.

    Args:
        examples: Of one annotator.
        strength: Inverse of the L2 penalty.
        left_out: Haystack ids and query ids whose examples must not reach the fit.

    Raises:
        LongformError: What is left does not hold all three labels.
    """
    kept = [e for e in examples if e.haystack_id not in left_out and e.query_id not in left_out]
    labels = np.array([WEIGHTS[e.answer] for e in kept])
    if set(labels.tolist()) != set(WEIGHTS.values()):
        raise LongformError(f"judge by spelling: expected examples of all labels, found {sorted(set(labels.tolist()))}")
    evidence = [e.evidence for e in kept]
    model = SpellingModel(*fit_ordinal(_features(evidence), labels, strength=strength), (0.0, 0.0))
    return model._replace(cuts=cuts_by_shares(model.scores(evidence), labels))


def _features(evidence: Sequence[SpelledEvidence]) -> Array:
    return np.array([[getattr(row, name) for name in FEATURES] for row in evidence], dtype=np.float64)
