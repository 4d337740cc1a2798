"""
Counts of a summary's own text: its length, and the sentences that say only that there is no answer.

More is neither better nor worse. A sentence that refuses is no statement, and no judge reads it.
"""

from __future__ import annotations

from typing import Any

from longform.metrics.measure import Facts, Measure, Score
from longform.text.answers import statements
from longform.text.citations import words_per_bullet
from longform.text.refusals import is_refusal
from longform.text.words import without_marks

REFUSED = "refused"
"""The measure of refusals, and the reason for which a summary that only refuses has no score of what it states."""


def _bullets(facts: Facts) -> Score:
    return _known("bullets", facts, len(facts.units))


def _words(facts: Facts) -> Score:
    return _known("words", facts, sum(len(without_marks(unit.text).split()) for unit in facts.units))


def _known(measure: str, facts: Facts, value: int) -> Score:
    """A summary that failed has no length; an empty one has length 0."""
    if facts.failure:
        return Score(measure, 0.0, 0, reason=f"summary_failed: {facts.failure}")
    return Score(measure, float(value), 1)


def _words_a_bullet(facts: Facts) -> Score:
    """Return the words of a bullet as the release counts them, mean over the bullets of a summary."""
    words = words_per_bullet([unit.text for unit in facts.units])
    return Score("words_per_bullet", words or 0.0, int(words is not None), 0, None if facts.units else "no bullets")


def refusals(text: str | None) -> tuple[int, int]:
    """Return the numbers of refusals and of all sentences of a text."""
    found = [is_refusal(unit.text) for unit in statements(text or "")]
    return sum(found), len(found)


def why_nothing(facts: Facts, reason: str) -> str:
    """Return why a summary without units has no score: it refuses, or *reason*."""
    return REFUSED if not facts.units and refusals(facts.text)[0] else reason


def _refused(facts: Facts) -> Score:
    n_refusals, n = refusals(facts.text)
    failed = f"summary_failed: {facts.failure}" if facts.failure else "no_sentences"
    return Score(REFUSED, float(n_refusals), n, reason=None if n else failed)


_UNITS: Any = {"needs": frozenset({"units"}), "version": "length@1", "better": None}
LENGTHS = (
    Measure("bullets", _bullets, unit="count", told="bullets or sentences of a summary", **_UNITS),
    Measure("words", _words, unit="count", told="words of a summary without list marks and citations", **_UNITS),
    Measure(
        "words_per_bullet", _words_a_bullet, title="words a bullet", unit="words", told="length of a bullet", **_UNITS
    ),
)
REFUSALS = Measure(
    REFUSED,
    _refused,
    needs=frozenset({"text"}),
    version="refused@1",
    better=None,
    told="share of the sentences that say only that there is no answer, which are not judged",
)
