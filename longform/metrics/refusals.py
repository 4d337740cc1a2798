"""The share of a summary that says only that there is no answer; such sentences are no statements."""

from __future__ import annotations

from longform.metrics.measure import Facts, Measure, Score
from longform.text.answers import statements
from longform.text.refusals import is_refusal

NAME = "refused"
REFUSED = "refused"
"""The reason for which a summary that only refuses has no score of what it states."""


def refusals(text: str | None) -> tuple[int, int]:
    """Return the numbers of refusals and of all sentences of a text."""
    found = [is_refusal(unit.text) for unit in statements(text or "")]
    return sum(found), len(found)


def why_nothing(facts: Facts, reason: str) -> str:
    """Return why a summary without units has no score: it refuses, or *reason*."""
    return REFUSED if not facts.units and refusals(facts.text)[0] else reason


def refused(facts: Facts) -> Score:
    """Return the share of a summary's sentences that refuse."""
    n_refusals, n = refusals(facts.text)
    failed = f"summary_failed: {facts.failure}" if facts.failure else "no_sentences"
    return Score(NAME, float(n_refusals), n, reason=None if n else failed)


MEASURES = (
    Measure(
        NAME,
        refused,
        needs=frozenset({"text"}),
        version="refused@1",
        better=None,
        told="share of the sentences that say only that there is no answer, which are not judged",
    ),
)
