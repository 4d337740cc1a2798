"""
Coverage, citation and joint score of a cited summary.

SummHay, section 4 and figure 2. The released code's reading where the paper is silent: a precision without
citations and a recall without gold documents are 0, as is the F1 of two zeros; an uncovered insight has no citation
score (null, not 0) and a joint score of 0.

One deviation: a covered insight whose link names no existing bullet has citation 0 and is counted as `unlinked`.
The released code reads the last-but-one bullet there, or raises.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from longform.metrics.measure import Facts, Measure, Score, Verdict
from longform.text.citations import Bullet

ANSWERS = ("full", "partial", "none")
JUDGED_BY = "coverage"


class CitationQuality(NamedTuple):
    """Shares in [0, 1]."""

    precision: float
    recall: float
    f1: float


class InsightScore(NamedTuple):
    """One insight in one summary, shares in [0, 1]; all None if the judge gave no readable answer."""

    coverage: float | None
    citation: CitationQuality | None  # None: not covered, unjudged, or the gold documents are unknown
    joint: float | None  # None: unjudged, or the gold documents are unknown
    unlinked: bool


def citation_quality(cited: Collection[int], gold: Collection[int]) -> CitationQuality:
    """Precision, recall and F1 of the cited document numbers against the gold ones."""
    correct = len(set(cited) & set(gold))
    precision = correct / len(set(cited)) if cited else 0.0
    recall = correct / len(set(gold)) if gold else 0.0
    f1 = 2 * precision * recall / (precision + recall) if correct else 0.0
    return CitationQuality(precision, recall, f1)


def insight_score(
    answer: str | None,
    linked_unit: int | None,
    *,
    citations: Sequence[Collection[int]],
    gold: Collection[int] | None,
    partial_score: float = 0.5,
) -> InsightScore:
    """
    Return the scores of one insight.

    *linked_unit* is the index of the bullet that covers it, from 0. *citations* are numbers of documents, shape
    (bullets,). *gold* has the numbers of the documents that state the insight; None: unknown, so no citation and no
    joint score. Partial coverage counts *partial_score*.
    """
    if answer is None:
        return InsightScore(None, None, None, unlinked=False)
    coverage = {"full": 1.0, "partial": partial_score, "none": 0.0}[answer]
    if gold is None:
        return InsightScore(coverage, None, None, unlinked=False)
    if answer == "none":
        return InsightScore(coverage, None, 0.0, unlinked=False)
    if linked_unit is None or not 0 <= linked_unit < len(citations):
        return InsightScore(coverage, CitationQuality(0.0, 0.0, 0.0), 0.0, unlinked=True)
    citation = citation_quality(citations[linked_unit], gold)
    return InsightScore(coverage, citation, coverage * citation.f1, unlinked=False)


def summary_scores(insights: Iterable[InsightScore]) -> list[Score]:
    """
    The measures of one summary over its query's insights, as shares in [0, 1].

    coverage and joint are over judged insights; citation, its precision and recall over covered ones; unlinked is
    the share of covered insights without a usable link.
    """
    insights = list(insights)
    judged = [i for i in insights if i.coverage is not None]
    covered = [i.citation for i in judged if i.citation is not None]
    unjudged = len(insights) - len(judged)
    values: dict[str, list[float]] = {
        "coverage": [i.coverage for i in judged if i.coverage is not None],
        "citation": [c.f1 for c in covered],
        "precision": [c.precision for c in covered],
        "recall": [c.recall for c in covered],
        "joint": [i.joint for i in judged if i.joint is not None],
        "unlinked": [float(i.unlinked) for i in judged if i.citation is not None],
    }
    return [
        Score(measure, sum(found), len(found), unjudged, None if found else _why_undefined(insights))
        for measure, found in values.items()
    ]


def _why_undefined(insights: list[InsightScore]) -> str:
    if not insights:
        return "the query has no insights"
    judged = [i for i in insights if i.coverage is not None]
    if not judged:
        return "no insight has a readable judgement"
    if all(i.joint is None for i in judged):
        return "the gold documents are not known"
    return "no insight is covered"


def score_summary(
    verdicts: Sequence[Verdict],
    units: Sequence[Bullet],
    gold: Mapping[str, Collection[int]] | None,
    *,
    partial_score: float,
) -> list[Score]:
    """
    Return the measures of one summary under one judge, who gives a verdict for each insight of its query.

    *units* are its bullets, in order. *gold* maps a target id to the numbers of the documents that state it; None:
    unknown. Partial coverage counts *partial_score*.
    """
    citations = [unit.citations for unit in units]
    return summary_scores(
        insight_score(
            verdict.answer,
            verdict.linked_unit,
            citations=citations,
            gold=None if gold is None else gold[verdict.target_id or ""],
            partial_score=partial_score,
        )
        for verdict in verdicts
    )


@lru_cache(maxsize=1)
def _scores(facts: Facts) -> Mapping[str, Score]:
    gold = None if facts.haystack is None else facts.haystack.gold_numbers()
    found = score_summary(facts.verdicts, facts.units, gold, partial_score=facts.partial_score)
    return {score.measure: score for score in found}


def _measure(name: str, told: str, **words: Any) -> Measure:
    return Measure(
        name,
        lambda facts: _scores(facts)[name],
        judged_by=JUDGED_BY,
        needs=frozenset({"units", "targets", "gold"}),
        settings=frozenset({"partial_score"}),
        version="summhay@1",
        told=told,
        **words,
    )


MEASURES = (
    _measure("coverage", "how much of the reference insights the summary states"),
    _measure("citation", "F1 of the cited documents against those that state the insight, over covered insights"),
    _measure("joint", "coverage times citation of each insight, 0 where it is not covered"),
    _measure("precision", "of the documents a bullet cites, the share that states the linked insight"),
    _measure("recall", "of the documents that state the linked insight, the share that the bullet cites"),
    _measure("unlinked", "share of covered insights without a usable link", unit="share", better="lower"),
)
