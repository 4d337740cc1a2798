"""
Means of a judge's verdicts on one summary.

Key point recall of LONG2RAG, section 3: the share of a query's key points that a response entails. The rating of a
summary beside a reference, from 1 to 5 as MSRS judges (appendix D.3.2), shown from 0 to 100.
"""

from __future__ import annotations

from longform.metrics.measure import Facts, Measure, Score


def _rating(facts: Facts) -> Score:
    known = [verdict.number for verdict in facts.verdicts if verdict.number is not None]
    reason = "no reference text has a readable judgement" if facts.verdicts else "the query has no reference text"
    return Score(
        "reference_rating", sum(known), len(known), len(facts.verdicts) - len(known), None if known else reason
    )


def _key_points(facts: Facts) -> Score:
    answered = [verdict.answer for verdict in facts.verdicts if verdict.answer is not None]
    reason = "no key point has a readable judgement" if facts.verdicts else "the query has no key point"
    said = float(sum(answer == "entailed" for answer in answered))
    n_unjudged = len(facts.verdicts) - len(answered)
    return Score("key_point_recall", said, len(answered), n_unjudged, None if answered else reason)


def _recall_of_question(facts: Facts) -> Score:
    recall = _key_points(facts)
    return recall._replace(measure="KPR", total=recall.value or 0.0, n=int(recall.n > 0))


MEASURES = (
    Measure(
        "key_point_recall",
        _key_points,
        judged_by="key_point",
        version="key_point_recall@1",
        title="key point recall",
        told="share of the key points that the summary entails",
    ),
    Measure(
        "KPR",
        _recall_of_question,
        judged_by="key_point",
        version="KPR@1",
        told="key point recall of a question (LONG2RAG, equation 2): the share of its key points that the response "
        "entails; every question counts once, however many key points it has",
    ),
    Measure(
        "reference_rating",
        _rating,
        judged_by="reference",
        version="reference_rating@1",
        title="reference rating",
        told="rating beside the reference text, where 1 of 5 counts 0 and 5 of 5 counts 100",
    ),
)
