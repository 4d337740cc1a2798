"""
Labels of queries: criteria by which people rate each with its summaries and gold documents, and checks of its targets.

Rubrics are those of the human validation of MSRS, section 3.4, table 3 and appendix E: six criteria from 1 to 5, each
score with a written justification. Criteria and anchors are in our own words.

Checks are those of LONG2RAG, section 3.3 and appendix A.3: is a point grounded (yes, no), and is it a key point (agree,
neutral, disagree)? The second question stands only if the first is answered yes, so one of four answers tells both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from longform.judges.kind import SheetKind
from longform.keys import in_groups
from longform.metrics.agreement import Label
from longform.metrics.statistics import pooled_mean
from longform.rows import LabelRow

_SCORES = ("1", "2", "3", "4", "5")


class Criterion(NamedTuple):
    """A question that a score answers."""

    name: str
    question: str
    anchors: Mapping[str, str]  # score -> when it is given; what lies between two has the score between them


@dataclass(frozen=True, kw_only=True)
class Rubric(SheetKind):
    """A list of criteria, each of which is a row of a sheet for every query."""

    criteria: tuple[Criterion, ...]  # in the order of the rows


def rubric(task: str, criteria: Sequence[Criterion]) -> Rubric:
    """Return the rubric of these criteria; its guide says when each score is given."""
    explained = "\n\n".join(
        f"## {one.name}\n\n{one.question}\n" + "".join(f"\n- {score}: {when}" for score, when in one.anchors.items())
        for one in criteria
    )
    counts = {score: float(score) for score in _SCORES}
    return Rubric(
        task=task, targets=task, criteria=tuple(criteria), counts=counts, is_justified=True, explained=explained
    )


EXAMPLE_QUALITY = rubric(
    "example_quality",
    (
        Criterion(
            "coherence",
            "Does the summary read well as a whole?",
            {
                "5": "easy to read from beginning to end; each sentence follows from the one before",
                "3": "can be followed, but breaks off or jumps in places, or is clumsily put",
                "1": "can hardly be followed: no order, or sentences that make no sense",
            },
        ),
        Criterion(
            "consistency",
            "Do the documents bear out what the summary says?",
            {
                "5": "every statement is borne out by a document",
                "3": "most statements are; a few details are not",
                "1": "statements that matter contradict the documents, or stand in none of them",
            },
        ),
        Criterion(
            "retrieval_necessity",
            "Must a large collection be searched to answer the query, or would a few documents chosen in advance do?",
            {
                "5": "nobody could name in advance the few documents that answer it: the collection must be searched",
                "3": "a few chosen documents answer the core; a search brings more that belongs to the answer",
                "1": "one or two documents, which are easily named in advance, answer it in full",
            },
        ),
        Criterion(
            "aggregation",
            "Does the summary bring together what several documents say?",
            {
                "5": "it draws on several documents, and makes one answer of them",
                "3": "several documents are used, but one or two carry nearly all of it",
                "1": "it could have been written from one document",
            },
        ),
        Criterion(
            "query_relevance",
            "Does the summary answer the query, all of it?",
            {
                "5": "each part of the query is answered, with what matters most",
                "3": "a part is answered, or all of it with gaps that matter",
                "1": "it answers something else",
            },
        ),
        Criterion(
            "relationships",
            "Does the summary say what connects the documents: cause, sequence, agreement, contradiction?",
            {
                "5": "what connects the documents is said wherever it matters for the query",
                "3": "some connections are said, others are left to the reader",
                "1": "what the documents tell stands side by side, unconnected",
            },
        ),
    ),
)

RUBRICS: Mapping[str, Rubric] = {EXAMPLE_QUALITY.task: EXAMPLE_QUALITY}
"""Rubrics by name."""


def rated(
    rubric: Rubric, labels: Mapping[str, Sequence[Label]], *, seed: int, resamples: int
) -> Iterator[dict[str, Any]]:
    """
    Yield each `criterion` that has *labels*, of all annotators together, with their `mean` and the share of the `best`.

    Intervals resample queries.
    """
    for name, of_criterion in ((one.name, labels.get(one.name)) for one in rubric.criteria):
        if of_criterion:
            scores = np.array([rubric.counts[label.answer] for label in of_criterion])
            best = (scores == max(rubric.counts.values())).astype(float)
            queries, ones = [label.summary_id for label in of_criterion], np.ones(len(scores))
            mean, share = (
                pooled_mean(values, ones, queries, seed=seed, resamples=resamples).as_json()
                for values in (scores, best)
            )
            yield {"criterion": name, "mean": mean, "best": share}


# ---------------------------------------------------------------- checks of targets

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
    """A check of the targets of a benchmark; one is accepted by answers that count 1."""

    checks: str  # the kind of the targets


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


_TENTHS = 10


def score_bins(scores: Mapping[str, float], accepted: Mapping[str, bool]) -> list[dict[str, float]]:
    """
    Return the tenths of the scores that have targets which people labelled, as `decided` has these.

    Scores are from `low` up to `high`; `right` is the share of targets that people accept.
    """
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
) -> Iterator[dict[str, float | None]]:
    """
    Yield what each threshold would let through (LONG2RAG, appendix A.2: 8.7 % wrong at 0.7).

    The share `wrong` is of targets with at least that score that people reject; null if there is no target.
    """
    for bound in bounds:
        wrong = [not accepted[target] for target, score in scores.items() if score >= bound and target in accepted]
        yield {"score": bound, "n": len(wrong), "wrong": sum(wrong) / len(wrong) if wrong else None}
