"""
Shares of summaries with each of six kinds of error.

MSRS, section 5.3 and appendix B.4, table 12. Judged beside several references, a summary has the share of them beside
which it makes the error.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from longform.metrics.label_sets import labels_in
from longform.metrics.measure import Facts, Measure, Score

LABELS = (
    "minor_details",
    "major_details",
    "minor_misunderstanding",
    "major_misunderstanding",
    "hallucination",
    "too_general",
)
"""The errors, as `_TOLD` says them."""

_TOLD = {
    "minor_details": "leave out many minor details",
    "major_details": "leave out many major details",
    "minor_misunderstanding": "misunderstand a minor point of the query",
    "major_misunderstanding": "misunderstand the query in the main",
    "hallucination": "say what the reference gives no ground for",
    "too_general": "stay too general",
}


def _with_label(facts: Facts, label: str) -> Score:
    return _share(facts, f"error_{label}", lambda found: label in found)


def _error_free(facts: Facts) -> Score:
    return _share(facts, "error_free", lambda found: not found)


def _share(facts: Facts, name: str, holds: Callable[[frozenset[str]], bool]) -> Score:
    answers = [labels_in(verdict.answer) for verdict in facts.verdicts if verdict.answer is not None]
    reason = "no reference text has a readable judgement" if facts.verdicts else "the query has no reference text"
    n_unjudged = len(facts.verdicts) - len(answers)
    return Score(name, float(sum(map(holds, answers))), len(answers), n_unjudged, None if answers else reason)


MEASURES = (
    Measure(
        "error_free",
        _error_free,
        judged_by="errors",
        version="errors@1",
        unit="share",
        told="share of the summaries in which no error is found",
    ),
    *(
        Measure(
            f"error_{label}",
            partial(_with_label, label=label),
            judged_by="errors",
            version="errors@1",
            unit="share",
            better="lower",
            told=f"share of the summaries that {_TOLD[label]}",
        )
        for label in LABELS
    ),
)
