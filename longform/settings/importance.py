"""Settings of the importance by which the orders top, middle and bottom sort documents."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from longform.settings.endpoints import EncoderSettings
from longform.settings.strict import PartSettings


class RelevanceImportanceSettings(PartSettings):
    """Importance by judged relevance; documents without any go to either end in `middle` (SummHay's released code)."""

    actor = "actors.retrieval.importance:ByRelevance"
    kind: Literal["relevance"]


class RankedImportanceSettings(PartSettings):
    """Importance by a ranking that the benchmark ships."""

    actor = "actors.retrieval.importance:ByRanking"
    kind: Literal["released"]
    name: str = "importance"  # of the ranking in the benchmark


class SimilarityImportanceSettings(EncoderSettings, PartSettings):
    """Importance by similarity to the query's reference summary (Wan et al., section 4.3)."""

    actor = "actors.retrieval.importance:ByLikeness"
    kind: Literal["reference"]


ImportanceSettings = Annotated[
    RelevanceImportanceSettings | RankedImportanceSettings | SimilarityImportanceSettings, Field(discriminator="kind")
]
