"""From rows of the verdicts table to the scores of one summary."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from longform.metrics import coverage, length
from longform.metrics.measure import Facts, Score, Verdict
from longform.text.citations import Bullet


def score_summary(
    verdicts: Sequence[Mapping[str, Any]],
    units: Sequence[Bullet],
    gold: Mapping[str, Collection[int]] | None,
    *,
    partial_score: float,
) -> list[Score]:
    """Return the measures of one summary under one judge, and its words a bullet."""
    read = [Verdict(v["target_id"], v["answer"], linked_unit=v["linked_unit"]) for v in verdicts]
    scores = coverage.score_summary(read, units, gold, partial_score=partial_score)
    return [*scores, length.words_a_bullet(Facts(units=units))]
