"""The length of a summary; more is neither better nor worse."""

from __future__ import annotations

from typing import Any

from longform.metrics.measure import Facts, Measure, Need, Score
from longform.text.citations import words_per_bullet
from longform.text.words import without_marks


def _bullets(facts: Facts) -> Score:
    return _known("bullets", facts, len(facts.units))


def _words(facts: Facts) -> Score:
    return _known("words", facts, sum(len(without_marks(unit.text).split()) for unit in facts.units))


def _known(measure: str, facts: Facts, value: int) -> Score:
    """A summary that failed has no length; an empty one has length 0."""
    if facts.failure:
        return Score(measure, 0.0, 0, reason=f"summary_failed: {facts.failure}")
    return Score(measure, float(value), 1)


def words_a_bullet(facts: Facts) -> Score:
    """Return the words of a bullet as the release counts them, mean over the bullets of a summary."""
    words = words_per_bullet([unit.text for unit in facts.units])
    return Score("words_per_bullet", words or 0.0, int(words is not None), 0, None if facts.units else "no bullets")


_UNITS: frozenset[Need] = frozenset({"units"})
_ALIKE: Any = {"needs": _UNITS, "version": "length@1", "better": None}

MEASURES = (
    Measure("bullets", _bullets, unit="count", told="bullets or sentences of a summary", **_ALIKE),
    Measure("words", _words, unit="count", told="words of a summary without list marks and citations", **_ALIKE),
    Measure(
        "words_per_bullet", words_a_bullet, title="words a bullet", unit="words", told="length of a bullet", **_ALIKE
    ),
)
