"""Shares of the key points that summaries miss in each of three ways (LONG2RAG, section 6.1 and figure 8)."""

from __future__ import annotations

from functools import partial

from longform.metrics.measure import Facts, Measure, Score

SAID = "said"
WAYS = ("incomplete", "general", "missing")
"""The ways to miss a key point, as `_TOLD` says them."""

_TOLD = {
    "incomplete": "are said in part",
    "general": "are said in more general words than they have",
    "missing": "are not said at all",
}


def _way(facts: Facts, way: str) -> Score:
    name = f"miss_{way}"
    answers = [verdict.answer for verdict in facts.verdicts if verdict.answer is not None]
    missed = [answer for answer in answers if answer != SAID]
    n_unjudged = len(facts.verdicts) - len(answers)
    return Score(name, float(missed.count(way)), len(missed), n_unjudged, None if missed else _why_none(facts, answers))


def _why_none(facts: Facts, answers: list[str]) -> str:
    if answers:
        return "no key point is missed"
    return "no key point has a readable judgement" if facts.verdicts else "the query has no key point"


MEASURES = tuple(
    Measure(
        f"miss_{way}",
        partial(_way, way=way),
        judged_by="misses",
        version="misses@1",
        better=None,
        told=f"share of the missed key points that {_TOLD[way]}",
    )
    for way in WAYS
)
