"""Printed figures of SummHay on its judges (table 1, all 200 summaries of its human study), to hold others against."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

STUDY_SUMMARIES, STUDY_LABELS = 200, 1419
"""Summaries and judgements of the human study."""


class PrintedJudge(NamedTuple):
    """A row of table 1: correlation, linking accuracy in per cent, dollars for all summaries; and the model's name."""

    pearson: float
    linking_accuracy: float
    usd: float
    title: str


TABLE_1: Mapping[str, PrintedJudge] = {
    "released:gemini-1.5-pro": PrintedJudge(0.751, 89.3, 15.1, "Gemini 1.5 Pro"),
    "released:gpt-4o-9fs": PrintedJudge(0.719, 89.2, 26.1, "GPT-4o with nine examples"),
    "released:gpt-4o": PrintedJudge(0.716, 88.9, 6.9, "GPT-4o"),
    "released:claude3-opus": PrintedJudge(0.677, 87.9, 23.8, "Claude 3 Opus"),
    "released:claude3-haiku": PrintedJudge(0.498, 87.7, 0.4, "Claude 3 Haiku"),
    "released:gpt3.5": PrintedJudge(0.495, 86.7, 1.3, "GPT-3.5"),
}
