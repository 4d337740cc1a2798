"""The offline judge of coverage: words and a small fitted model, no language model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache

from longform.judges.coverage_model import Evidence
from longform.judges.kind import Group, Verdict, Verdicts
from longform.judges.lexical_coverage import VERSION, QueryInsights, Reading, StemWeights, shipped_judge
from longform.models import models_version

PROMPT_VERSION = f"offline_judge@{VERSION}+{models_version('judge_people', 'judge_gpt4o')}"
NO_WORDS = "target_without_words"
"""The failure of an insight in which there is no word to look for."""
_BACKGROUNDS_HELD = 8
_QUERIES_HELD = 128  # 128 queries' stems are about 3 MB


class CountedWordsJudge:
    """
    Judges which insights the bullets of a summary say, and which bullet says each.

    The insights of a group are read together: they compete for bullets. Words weigh by how rare they are in the group's
    background, the insights of all queries to the same documents. `reply` has the evidence as JSON. A summary without
    bullets says nothing: each answer is none, with probability 0.

    Raises:
        UsageError: No judge ships for the calibration.
    """

    def __init__(self, *, calibration: str) -> None:
        self._model = shipped_judge(calibration)
        self._weights = lru_cache(maxsize=_BACKGROUNDS_HELD)(StemWeights.of)
        self._insights = lru_cache(maxsize=_QUERIES_HELD)(self._query_insights)

    async def ask(self, groups: Sequence[Group]) -> Verdicts:
        """Judge all pairs: shape (groups, insights)."""
        return self.judge(groups)

    def judge(self, groups: Sequence[Group]) -> Verdicts:
        """Judge all pairs: shape (groups, insights)."""
        return [self._verdicts(group) for group in groups]

    def _verdicts(self, group: Group) -> list[Verdict]:
        if not group.items:
            return []
        insights = self._insights(group.items, group.background or group.items)
        return [_verdict(reading) for reading in insights.readings(group.shared, self._model)]

    def _query_insights(self, insights: tuple[str, ...], background: tuple[str, ...]) -> QueryInsights:
        return QueryInsights(insights, self._weights(background))


def _verdict(reading: Reading) -> Verdict:
    return Verdict(
        reading.answer,
        reading.score,
        NO_WORDS if reading.answer is None else None,
        reply=_reply(reading.evidence),
        linked_unit=reading.linked,
    )


def _reply(evidence: Evidence) -> str:
    """Say what a reader needs to follow the score; `closest_bullet` is named also if it is not linked."""
    shares = evidence._asdict()
    closest = shares.pop("closest")
    del shares["has_words"]
    return json.dumps({"closest_bullet": closest, **shares})
