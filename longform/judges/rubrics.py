"""
Rubrics: criteria by which people rate each query of a benchmark with its summaries and gold documents.

The human validation of MSRS, section 3.4, table 3 and appendix E: six criteria from 1 to 5, each score with a written
justification. Criteria and anchors are in our own words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypedDict

import numpy as np

from longform.metrics.agreement import Label
from longform.metrics.statistics import Estimate, EstimateColumns, pooled_mean

_SCORES = ("1", "2", "3", "4", "5")


class Criterion(NamedTuple):
    """
    A criterion.

    Attributes:
        name: Of its labels.
        question: What is rated.
        anchors: Score -> when it is given; what lies between two has the score between them.
    """

    name: str
    question: str
    anchors: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Rubric:
    """
    A list of criteria, each of which is a row of a sheet for every query.

    Attributes:
        task: Its name, which is the target kind of its labels.
        criteria: In the order of the rows.
        columns: What people fill.
        judges_alone: None: people give all scores.
        labels: None: an answer is one score.
        links: False: nothing is linked.
        is_justified: True if every answer needs a note.
    """

    task: str
    criteria: tuple[Criterion, ...]
    columns: tuple[str, ...] = ("answer",)
    judges_alone: frozenset[str] = frozenset()
    labels: tuple[str, ...] = ()
    links: bool = False
    is_justified: bool = True

    @property
    def targets(self) -> str:
        """Return the target kind of its labels."""
        return self.task

    @property
    def counts(self) -> Mapping[str, float]:
        """Answer -> what it counts."""
        return {score: float(score) for score in _SCORES}

    @property
    def explained(self) -> str:
        """Say when each score is given."""
        return "\n\n".join(
            f"## {one.name}\n\n{one.question}\n"
            + "".join(f"\n- {score}: {when}" for score, when in one.anchors.items())
            for one in self.criteria
        )


EXAMPLE_QUALITY = Rubric(
    task="example_quality",
    criteria=(
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

RUBRICS: Mapping[str, Rubric] = {rubric.task: rubric for rubric in (EXAMPLE_QUALITY,)}
"""Rubrics by name."""


class RatedColumns(TypedDict):
    """`Rated` as JSON values."""

    criterion: str
    mean: EstimateColumns
    best: EstimateColumns


class Rated(NamedTuple):
    """
    The ratings by one criterion, of all annotators together; intervals resample queries.

    Attributes:
        mean: Of the scores.
        best: Share of the highest score.
    """

    criterion: str
    mean: Estimate
    best: Estimate

    def as_json(self) -> RatedColumns:
        return {"criterion": self.criterion, "mean": self.mean.as_json(), "best": self.best.as_json()}


def rated(rubric: Rubric, labels: Mapping[str, Sequence[Label]], *, seed: int, resamples: int) -> list[Rated]:
    """
    Return the ratings by each criterion that has some.

    Args:
        rubric: Of the labels.
        labels: Criterion -> its labels, by all annotators.
        seed: Of the intervals.
        resamples: Of each interval.
    """
    found = []
    for criterion in rubric.criteria:
        of_criterion = labels.get(criterion.name, ())
        if of_criterion:
            scores = np.array([rubric.counts[label.answer] for label in of_criterion])
            queries, ones = [label.summary_id for label in of_criterion], np.ones(len(scores))
            mean = pooled_mean(scores, ones, queries, seed=seed, resamples=resamples)
            best = (scores == max(rubric.counts.values())).astype(float)
            share = pooled_mean(best, ones, queries, seed=seed, resamples=resamples)
            found.append(Rated(criterion.name, mean, share))
    return found
