"""
Checks of targets: people say of each key point of a query if its documents say it, and if the answer needs it.

The human verification of LONG2RAG, section 3.3 and appendix A.3: is a point grounded (yes, no), and is it a key point
(agree, neutral, disagree)? The second question stands only if the first is answered yes, so one of four answers tells
both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

from longform.judges.kind import SheetKind
from longform.keys import in_groups
from longform.rows import LabelRow

AGREE, NEUTRAL, DISAGREE, NOT_GROUNDED = "agree", "neutral", "disagree", "not_grounded"

_EXPLAINED = """## Is it in the documents?

Read the passages first, then look around them in the file of documents, which may say it elsewhere. If the documents do
not say it, answer not_grounded, whatever the point is worth.

## Is it a key point?

- agree: it answers the question, or a part of it
- neutral: it belongs to the subject, as background does; an answer may have it and need not
- disagree: it has no place in an answer"""


@dataclass(frozen=True, kw_only=True)
class TargetCheck(SheetKind):
    """
    A check of the targets of a benchmark; one is accepted by answers that count 1.

    Attributes:
        checks: The kind of the targets that are checked.
    """

    checks: str


KEY_POINT_CHECK = TargetCheck(
    task="key_point_check",
    targets="key_point_check",
    checks="key_point",
    counts={AGREE: 1.0, NEUTRAL: 0.0, DISAGREE: 0.0, NOT_GROUNDED: 0.0},
    explained=_EXPLAINED,
)

CHECKS: Mapping[str, TargetCheck] = {KEY_POINT_CHECK.task: KEY_POINT_CHECK}
"""Checks of targets by name."""


def decided(labels: Iterable[LabelRow], check: TargetCheck) -> dict[str, bool]:
    """Return target id -> True if more than half of its labels accept it, of targets with labels."""
    answers = ((row["target_id"], row["answer"]) for row in labels)
    by_target = in_groups((target, check.counts[answer]) for target, answer in answers if answer is not None)
    return {target: 2 * sum(counts) > len(counts) for target, counts in by_target.items()}


# ---------------------------------------------------------------- scores against people


class ScoreBin(TypedDict):
    """Targets with a score from `low` up to `high`; `right` is the share of them that people accept."""

    low: float
    high: float
    n: int
    right: float


class ScoreBound(TypedDict):
    """Targets with a score of at least so much; `wrong` is the share that people reject, null if there is no target."""

    score: float
    n: int
    wrong: float | None


_TENTHS = 10


def score_bins(scores: Mapping[str, float], accepted: Mapping[str, bool]) -> list[ScoreBin]:
    """Return the tenths of the scores that have targets which people labelled, as `decided` has these."""
    bins = in_groups(
        (min(int(score * _TENTHS), _TENTHS - 1), accepted[target])
        for target, score in scores.items()
        if target in accepted
    )
    return [
        {"low": n / _TENTHS, "high": (n + 1) / _TENTHS, "n": len(right), "right": sum(right) / len(right)}
        for n, right in sorted(bins.items())
    ]


def score_bounds(
    scores: Mapping[str, float], accepted: Mapping[str, bool], bounds: Sequence[float]
) -> Iterator[ScoreBound]:
    """Yield what each threshold would let through (LONG2RAG, appendix A.2: 8.7 % wrong at 0.7)."""
    for bound in bounds:
        wrong = [not accepted[target] for target, score in scores.items() if score >= bound and target in accepted]
        yield {"score": bound, "n": len(wrong), "wrong": sum(wrong) / len(wrong) if wrong else None}
