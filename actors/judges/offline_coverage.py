"""The offline judge of coverage: words, vectors of texts if its model reads them, and no language model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache

from actors.local_models.encoder import Encoder
from actors.local_models.weights import MINILM
from longform.judges.cards import Version
from longform.judges.coverage_model import Evidence
from longform.judges.kind import Group, Verdict, Verdicts
from longform.judges.offline_coverage import (
    SHIPPED,
    VERSION,
    QueryInsights,
    Reading,
    embedded_text,
    shipped_judge,
    stem_weights,
)
from longform.models import models_version
from longform.text.vectors import RecentTexts, WeighedPieces

PROMPT_VERSION = f"offline_judge@{VERSION}+{models_version('judge_people', 'judge_gpt4o')}"
"""The version of the models that read words alone."""

NO_WORDS = "target_without_words"
"""The failure of an insight in which there is no word to look for."""
_BACKGROUNDS_HELD = 8
_TEXTS_HELD = 512  # about 12 MB; copies of a summary are judged one after another
_QUERIES_HELD = 128  # 128 queries' stems are about 3 MB, vectors of their insights' pieces about 25 MB


def version_of(model: str) -> Version:
    """Return the version of the verdicts of a model that ships; one that reads vectors names the encoder too."""
    if not shipped_judge(model).fit.reads_vectors:
        return Version(VERSION, PROMPT_VERSION)
    version = f"offline_judge@{VERSION}+{models_version(SHIPPED[model])} {MINILM}"
    return Version(version, version)


class OfflineCoverageJudge:
    """
    Judges which insights the bullets of a summary say, and which bullet says each.

    The insights of a group are read together: they compete for bullets. Words weigh by how rare they are in the group's
    background, the insights of all queries to the same documents. `reply` has the evidence as JSON. A summary without
    bullets says nothing: each answer is none, with probability 0. An encoder is loaded, on *threads*, if the model
    reads vectors.

    Raises:
        UsageError: No judge of that name ships, or the encoder cannot be loaded.
    """

    def __init__(self, *, model: str, threads: int = 1) -> None:
        self._model = shipped_judge(model)
        reads = self._model.fit.reads_vectors
        self._encoder = RecentTexts(Encoder(MINILM, threads=threads), held=_TEXTS_HELD) if reads else None
        self._weights = lru_cache(maxsize=_BACKGROUNDS_HELD)(stem_weights)
        self._pieces = lru_cache(maxsize=_BACKGROUNDS_HELD)(self._weighed_pieces)
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
        told = self._model.told
        return [_verdict(reading, told) for reading in insights.readings(group.shared, self._model)]

    def _query_insights(self, insights: tuple[str, ...], background: tuple[str, ...]) -> QueryInsights:
        return QueryInsights(insights, self._weights(background), vectors=self._pieces(background))

    def _weighed_pieces(self, background: tuple[str, ...]) -> WeighedPieces | None:
        if self._encoder is None:
            return None
        return WeighedPieces.of(self._encoder, [embedded_text(text) for text in background])


def _verdict(reading: Reading, told: Sequence[str]) -> Verdict:
    return Verdict(
        reading.answer,
        reading.score,
        NO_WORDS if reading.answer is None else None,
        reply=_reply(reading.evidence, told),
        linked_unit=reading.linked,
    )


def _reply(evidence: Evidence, told: Sequence[str]) -> str:
    """Say what a reader needs to follow the score; `closest_bullet` is named also if it is not linked."""
    return json.dumps({"closest_bullet": evidence.closest, **{name: getattr(evidence, name) for name in told}})
