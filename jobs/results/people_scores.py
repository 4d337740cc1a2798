"""Scores of summaries by people's labels: the measures of a run, with labels in place of a judge's verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from jobs.calibration.labelled import RELEASED
from jobs.calibration.place import LabelledPlace
from jobs.calibration.subjects import SummarySubjects, label_key
from jobs.stages.score import ScoredHaystack, verdict_of
from longform.judges.kind import Kind
from longform.keys import in_groups
from longform.metrics.measure import Facts, Measure, Score
from longform.results.corrected import PeopleScores
from longform.rows import LabelRow
from longform.text.citations import bullets

_HAYSTACKS_HELD = 4


class ByPeople(NamedTuple):
    """Scores by people's labels of one kind; those of several annotators are averaged."""

    scores: PeopleScores
    annotators: list[str]  # sorted
    n_partly: int  # summaries of the run of which somebody labelled a part, and nobody the whole; they do not count
    n_elsewhere: int  # labelled summaries that are not of the run


def people_scores(
    place: LabelledPlace, kind: Kind, labels: Iterable[LabelRow], measures: Sequence[Measure], partial_score: float
) -> ByPeople:
    """Score the summaries of a run by labels of people; those of summaries of other runs are counted alone."""
    held: dict[str, dict[str, list[LabelRow]]] = {}
    for row in labels:
        held.setdefault(row["summary_id"], {}).setdefault(row["annotator"], []).append(row)
    subjects = SummarySubjects(place, kind)

    @lru_cache(maxsize=_HAYSTACKS_HELD)
    def haystack(haystack_id: str) -> ScoredHaystack:
        return ScoredHaystack(place.benchmark, haystack_id)

    scores: dict[str, Mapping[str, tuple[float, float]]] = {}
    n_partly = 0
    for summary_id, by_annotator in held.items():
        if (summary := place.summaries.get(summary_id)) is None:
            continue
        wanted = {pair.key for pair in subjects.pairs(summary_id)}
        whole = [rows for rows in by_annotator.values() if wanted and wanted <= {label_key(row) for row in rows}]
        n_partly += not whole
        facts = [
            Facts(
                query_id=summary["query_id"],
                text=summary["text"],
                units=bullets(summary["text"] or ""),
                verdicts=[verdict_of(row, kind) for row in rows],
                haystack=haystack(summary["haystack_id"]),
                partial_score=partial_score,
            )
            for rows in whole
        ]
        if facts:
            scores[summary_id] = {one.name: _mean([one.per_summary(fact) for fact in facts]) for one in measures}
    return ByPeople(
        scores,
        sorted({annotator for by_annotator in held.values() for annotator in by_annotator}),
        n_partly,
        sum(summary_id not in place.summaries for summary_id in held),
    )


def _mean(scores: Sequence[Score]) -> tuple[float, float]:
    """Return the mean total and count of several annotators."""
    return sum(one.total for one in scores) / len(scores), sum(one.n for one in scores) / len(scores)


def labels_of_people(labels: Iterable[LabelRow], kind: Kind, annotators: Sequence[str]) -> list[LabelRow]:
    """Return the labels of a kind by these annotators; none named: by all that are no models."""
    return [
        row
        for row in labels
        if row["target_kind"] == kind.targets
        and row["answer"] in kind.counts
        and (row["annotator"] in annotators if annotators else not row["annotator"].startswith(RELEASED))
    ]


def of_equal_texts(place: LabelledPlace, other: LabelledPlace, labels: Iterable[LabelRow]) -> list[LabelRow]:
    """
    Return labels of another run or benchmark as labels of *place*: of its summaries of the same query and text.

    A label of a text that several summaries have counts for each of them; one of no such text is as it was.
    """
    if other.folder.url == place.folder.url:
        return list(labels)
    own = in_groups(((row["query_id"], row["text"]), summary_id) for summary_id, row in place.summaries.items())
    found: list[LabelRow] = []
    for row in labels:
        theirs = other.summaries.get(row["summary_id"])
        same = own.get((theirs["query_id"], theirs["text"]), []) if theirs is not None and theirs["text"] else []
        kept = [row["summary_id"]] if not same or row["summary_id"] in same else same  # a replay keeps the ids
        found += [{**row, "summary_id": one} for one in kept]
    return found
