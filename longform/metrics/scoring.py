"""From the verdicts on one summary to its scores."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from longform.metrics.coverage import Score, insight_score, summary_scores
from longform.text.citations import Bullet, words_per_bullet


def score_summary(
    verdicts: Sequence[Mapping[str, Any]],
    units: Sequence[Bullet],
    gold: Mapping[str, Collection[int]] | None,
    *,
    partial_score: float,
) -> list[Score]:
    """
    The measures of one summary under one judge.

    Args:
        verdicts: One for each insight of its query, as in the verdicts table.
        units: Its bullets, in order.
        gold: Target id -> numbers of the documents that state it; None: unknown.
        partial_score: What partial coverage counts.
    """
    citations = [unit.citations for unit in units]
    scores = summary_scores(
        insight_score(
            verdict["answer"],
            verdict["linked_unit"],
            citations=citations,
            gold=None if gold is None else gold[verdict["target_id"]],
            partial_score=partial_score,
        )
        for verdict in verdicts
    )
    words = words_per_bullet([unit.text for unit in units])
    length = Score("words_per_bullet", words or 0.0, int(words is not None), 0, None if units else "no bullets")
    return [*scores, length]
