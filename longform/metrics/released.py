"""
Scores that a release prints of each of its summaries, taken as they are; nothing is computed.

A released score is of a text: whatever run it stands in, a summary of a query with the same text has it.
"""

from __future__ import annotations

from functools import partial

from longform.metrics.measure import Facts, Measure, Need, Score

BERTSCORE = "bertscore"
"""The name of MSRS's BERTScore (F1, roberta-large, section 4.1) in the table `released_scores`."""


def _score(facts: Facts, name: str, source: str) -> Score:
    if facts.text is None:
        return Score(name, 0.0, 0, reason=f"summary_failed: {facts.failure or 'no text'}")
    value = facts.released.get(source)
    return Score(name, 0.0, 0, reason="no score of this text is released") if value is None else Score(name, value, 1)


def _measure(source: str, title: str, told: str) -> Measure:
    name = f"{source}_released"
    score = partial(_score, name=name, source=source)
    needs: frozenset[Need] = frozenset({"text", "released"})
    return Measure(name, score, needs=needs, version=f"{name}@1", title=f"{title}, as released", told=told)


SOURCES = {f"{BERTSCORE}_released": BERTSCORE}
"""Measure -> the name of its scores in the table `released_scores`."""

MEASURES = (
    _measure(BERTSCORE, "BERTScore", "F1 of the best cosines of words' vectors, by the model that the release names"),
)
