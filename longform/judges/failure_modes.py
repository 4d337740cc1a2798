"""
Classify the bullets that state no insight of their query.

SummHay, section 6, names three ways in which summaries fail by reading them: headers and filler, insights of another
subtopic, and statements without ground. Here each unlinked bullet is put in a class by rule. The classes are
indications: a rule sees words, not meaning, and the first that fits wins. The thresholds were set by hand where linked
and foreign bullets part in SummHay's released news summaries.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache, partial
from typing import Literal, get_args

from longform.judges.offline_coverage import QueryInsights, statement_stems, stem_weights
from longform.metrics import coverage
from longform.metrics.measure import Facts, Haystack, Measure, Score
from longform.support.index import SupportIndex
from longform.text.citations import Bullet
from longform.text.words import TermWeights, numbers, stems, without_marks

BulletClass = Literal["linked", "header", "other_subtopic", "unsupported", "generic", "unclassified"]

CLASSES: tuple[BulletClass, ...] = get_args(BulletClass)

OTHER_SUBTOPIC_FROM = 0.5
"""The offline judge's score for an insight of another query: midway between its partial (0.3) and full (0.7)."""

UNSUPPORTED_BELOW = 0.4
"""Best r3: 95 % of bullets about a foreign haystack have less than 0.33, 95 % of linked ones more than 0.65."""

COMMON_BELOW = 3.5
"""Inverse document frequency, in nats: the word stands in every 33rd sentence or more often (exp(3.5) = 33)."""

_CAPITALISED = re.compile(r"(?<=[^\W\d_] |[,;:] )[A-Z][\w'’-]+")


def classify(
    bullets: Sequence[Bullet],
    *,
    linked: Collection[int],
    other_scores: Sequence[float],
    best_support: Sequence[float],
    idf: Callable[[str], float],
) -> list[BulletClass]:
    """
    Return the class of each bullet of a summary.

    *linked* are indices of bullets that an insight of the query is linked to. Each bullet has in *other_scores* its
    best score for an insight of the haystack's other queries (`QueryInsights.best_scores`), and in *best_support* its
    r3 in the document that supports it best (`SupportIndex.support(...).max(axis=1)`). *idf* weighs stems over the
    sentences of the haystack (`SupportIndex.idf`).
    """
    return [
        "linked" if i in linked else _unlinked_class(bullet, other_score, support, idf)
        for i, (bullet, other_score, support) in enumerate(zip(bullets, other_scores, best_support, strict=True))
    ]


def _unlinked_class(bullet: Bullet, other_score: float, support: float, idf: Callable[[str], float]) -> BulletClass:
    if not bullet.citations and without_marks(bullet.text).endswith(":"):
        return "header"
    if other_score >= OTHER_SUBTOPIC_FROM:
        return "other_subtopic"
    if support < UNSUPPORTED_BELOW:
        return "unsupported"
    return "generic" if _is_generic(bullet.text, idf) else "unclassified"


def _is_generic(text: str, idf: Callable[[str], float]) -> bool:
    plain = without_marks(text)
    if numbers(plain):
        return False
    # the haystack's own subject is a name in every bullet, and says nothing
    names = (stem for name in _CAPITALISED.findall(plain) for stem in stems(name))
    if any(idf(stem) >= COMMON_BELOW for stem in names):
        return False
    held = sorted(statement_stems(text))
    return not held or sum(map(idf, held)) / len(held) < COMMON_BELOW


# ---------------------------------------------------------------- measures


@lru_cache(maxsize=1)
def _classes(facts: Facts) -> Sequence[BulletClass]:
    """The class of each bullet; none if the documents are not known."""
    haystack = facts.haystack
    index = None if haystack is None else _index(haystack)
    if haystack is None or index is None or not facts.units:
        return []
    texts = [bullet.text for bullet in facts.units]
    return classify(
        list(facts.units),
        linked={v.linked_unit for v in facts.verdicts if v.linked_unit is not None and v.answer in ("full", "partial")},
        other_scores=_other_insights(haystack, facts.query_id).best_scores(texts).tolist(),
        best_support=index.support(texts).max(axis=1).tolist(),
        idf=index.idf,
    )


@lru_cache(maxsize=1)
def _index(haystack: Haystack) -> SupportIndex | None:
    documents = haystack.documents()
    return SupportIndex([document.text for document in documents]) if documents else None


@lru_cache(maxsize=64)
def _other_insights(haystack: Haystack, query_id: str) -> QueryInsights:
    others = [insight.text for insight in haystack.targets() if insight.query_id != query_id]
    return QueryInsights(others, _insight_weights(haystack))


@lru_cache(maxsize=1)
def _insight_weights(haystack: Haystack) -> TermWeights:
    return stem_weights([insight.text for insight in haystack.targets()])


def _share(facts: Facts, name: BulletClass) -> Score:
    classes = _classes(facts)
    reason = None if classes else "the documents are not known" if facts.units else "no bullets"
    return Score(f"bullets_{name}", float(sum(one == name for one in classes)), len(classes), reason=reason)


MEASURES = tuple(
    Measure(
        f"bullets_{name}",
        partial(_share, name=name),
        judged_by=coverage.JUDGED_BY,
        needs=frozenset({"units", "targets", "documents"}),
        work="classes",
        version="classify@1",
        unit="share",
        better="higher" if name == "linked" else "lower",
        told=f"share of the bullets that are {name.replace('_', ' ')}, by rule",
    )
    for name in CLASSES
)
