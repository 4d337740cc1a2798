"""
Means and differences of systems by a judge, corrected by the summaries that people labelled.

People's labels of a summary are scored by the same measures as a judge's verdicts, so what is corrected is the measure
itself. `longform.metrics.corrected` says how, and what it assumes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, TypedDict

import numpy as np

from longform.metrics.corrected import Corrected, Told, corrected, difference, with_interval
from longform.metrics.measure import Description
from longform.metrics.statistics import Array, Estimate, EstimateColumns
from longform.results.aggregate import Averaging, Group, Scored, estimate, final_summaries, systems_of
from longform.results.columns import OfJudge
from longform.settings.system_names import SystemName

_POINTS = 100.0
MOST_PAIRS = 15
"""Systems of more pairs are compared only if they are named: that many are six systems."""

PeopleScores = Mapping[str, Mapping[str, tuple[float, float]]]
"""Summary id -> measure -> total and count by people's labels; of summaries that are labelled whole."""


class CorrectedRow(OfJudge):
    """A mean of one system, in the measure's unit; `reason` says why the corrected one or its interval is unknown."""

    measure: str
    title: str
    unit: str
    system: str
    by_judge: EstimateColumns
    corrected: EstimateColumns
    reason: str | None
    by_labels: EstimateColumns  # by the labelled summaries alone
    labels_reason: str | None
    weight: float | None  # of the judge in the corrected mean; null: there is none
    n_summaries: int  # with a text
    n_labelled: int
    n_clusters: int  # queries or haystacks with a labelled summary


class CorrectedDifference(OfJudge):
    """A difference of two systems, the first less the second; columns as of `CorrectedRow`."""

    measure: str
    title: str
    unit: str
    first_system: str
    second_system: str
    by_judge: EstimateColumns
    corrected: EstimateColumns
    reason: str | None
    by_labels: EstimateColumns
    labels_reason: str | None


class Correction(TypedDict):
    """
    The scores of a run, corrected by people's labels.

    Attributes:
        annotators: Whose labels, by task.
        samples: How the labelled summaries were drawn, in sentences.
        cautions: What a reader should mind.
    """

    run: str
    annotators: dict[str, list[str]]
    samples: list[str]
    cautions: list[str]
    systems: list[CorrectedRow]
    differences: list[CorrectedDifference]


class Parts(NamedTuple):
    """
    The corrected mean of a system with what stands beside it.

    Attributes:
        people: Corrected by labels.
        alone: By labels alone.
        judge: By the judge alone, with the interval of the same kind.
        by_judge: The same with the interval of the report.
        n_summaries: With a text.
    """

    people: Corrected | str
    alone: Corrected | str
    judge: Corrected | str
    by_judge: Estimate
    n_summaries: int


class Asked(NamedTuple):
    """
    A judge and a measure of one data set.

    Attributes:
        judge: Its name.
        dataset: Of the summaries; None: not stated.
        measure: In the report's words.
        how: Means are averaged and resampled.
    """

    judge: str
    dataset: str | None
    measure: Description
    how: Averaging

    @property
    def factor(self) -> float:
        return _POINTS if self.measure["unit"] == "points" else 1.0

    def columns(self, told: Told, *, lowest: float = 0.0) -> EstimateColumns:
        """Return an estimate in the measure's unit; a share of a few labels is cut to *lowest* to 1."""
        found = told.estimate
        if self.measure["unit"] in ("points", "share"):
            value, low, high = (
                None if one is None else min(1.0, max(lowest, one)) for one in (found.value, found.low, found.high)
            )
            found = Estimate(value, low, high, found.n)
        return found.scaled(self.factor).as_json()


def parts_of(group: Group, people: PeopleScores, asked: Asked) -> Parts:
    """Correct the mean of one system; summaries without a text, which nobody could label, count in no mean."""
    name, how = asked.measure["name"], asked.how
    kept = [one for one in group if one.info.failure is None]
    repeats = Counter(one.info.query_id for one in kept if one.info.repeat is not None)
    weights = [1 / repeats[one.info.query_id] if one.info.repeat is not None else 1.0 for one in kept]
    judged = _rows([one.measures.get(name, (0.0, 0, 0))[:2] for one in kept], weights, how)
    cells = [people.get(one.info.summary_id, {}).get(name) for one in kept]
    labels = _rows([(np.nan, np.nan) if cell is None else cell for cell in cells], weights, how)
    clusters = [one.info.cluster for one in kept]
    return Parts(
        corrected(judged, labels, clusters),
        corrected(judged, labels, clusters, weight=0.0),
        corrected(judged, judged, clusters, weight=0.0),
        estimate(group, name, how),
        len(kept),
    )


def _rows(cells: Sequence[tuple[float, float]], weights: Sequence[float], how: Averaging) -> Array:
    """Return totals and counts as they are averaged, shape (summaries, 2); the repeats of a query count as one."""
    rows = np.array(cells, dtype=np.float64).reshape(-1, 2)
    if how.aggregate == "per_summary":
        counted = rows[:, 1] > 0
        means = np.divide(rows[:, 0], rows[:, 1], out=np.zeros(len(rows)), where=counted)
        rows = np.where(np.isnan(rows), np.nan, np.column_stack([means, counted.astype(np.float64)]))
    found: Array = rows * np.asarray(weights)[:, None]
    return found


def corrected_rows(
    summaries: Iterable[Scored],
    people: PeopleScores,
    asked: Asked,
    *,
    pairs: Callable[[Sequence[SystemName]], Iterable[tuple[SystemName, SystemName]]],
) -> tuple[list[CorrectedRow], list[CorrectedDifference], list[SystemName]]:
    """
    Return a row for each system that has a labelled summary, the differences of *pairs*, and the systems without any.

    Args:
        summaries: Of all systems, under the judge.
        people: Scores by people's labels.
        asked: Judge, data set and measure.
        pairs: Chooses pairs of the systems that have a row.
    """
    groups = {
        SystemName(summarizer, setting): group
        for (setting, summarizer), group in systems_of(final_summaries(list(summaries))).items()
    }
    name = asked.measure["name"]
    labelled = {
        system: group
        for system, group in groups.items()
        if any(name in people.get(one.info.summary_id, {}) for one in group)
    }
    parts = {system: parts_of(group, people, asked) for system, group in labelled.items()}
    rows = [_row(asked, system, one) for system, one in parts.items()]
    chosen = [(one, other) for one, other in pairs(list(parts)) if one in parts and other in parts]
    differences = [_difference(asked, pair, parts) for pair in chosen]
    return rows, differences, [system for system in groups if system not in labelled]


def _row(asked: Asked, system: SystemName, parts: Parts) -> CorrectedRow:
    people, alone = with_interval(parts.people), with_interval(parts.alone)
    known = parts.people if isinstance(parts.people, Corrected) else None
    of_labels = parts.alone if isinstance(parts.alone, Corrected) else None
    return {
        "judge": asked.judge,
        "dataset": asked.dataset,
        "measure": asked.measure["name"],
        "title": asked.measure["title"],
        "unit": asked.measure["unit"],
        "system": str(system),
        "by_judge": parts.by_judge.scaled(asked.factor).as_json(),
        "corrected": asked.columns(people),
        "reason": people.reason,
        "by_labels": asked.columns(alone),
        "labels_reason": alone.reason,
        "weight": known.weight if known else None,
        "n_summaries": parts.n_summaries,
        "n_labelled": of_labels.n_labelled if of_labels else 0,
        "n_clusters": of_labels.n_clusters if of_labels else 0,
    }


def _difference(
    asked: Asked, pair: tuple[SystemName, SystemName], parts: Mapping[SystemName, Parts]
) -> CorrectedDifference:
    one, other = (parts[name] for name in pair)
    people = with_interval(difference(one.people, other.people))
    alone = with_interval(difference(one.alone, other.alone))
    return {
        "judge": asked.judge,
        "dataset": asked.dataset,
        "measure": asked.measure["name"],
        "title": asked.measure["title"],
        "unit": asked.measure["unit"],
        "first_system": str(pair[0]),
        "second_system": str(pair[1]),
        "by_judge": asked.columns(with_interval(difference(one.judge, other.judge)), lowest=-1.0),
        "corrected": asked.columns(people, lowest=-1.0),
        "reason": people.reason,
        "by_labels": asked.columns(alone, lowest=-1.0),
        "labels_reason": alone.reason,
    }


# ---------------------------------------------------------------- how the labelled were drawn


class Sample(TypedDict):
    """Subjects of sheets as they were drawn; kept beside the sheets, and with the labels once a sheet is read."""

    task: str
    n: int
    of: int  # that had something to label
    seed: int | None  # null: all were taken
    subjects: list[str]  # ids


def sample_words(task: str, labelled: Collection[str], samples: Iterable[Sample]) -> list[str]:
    """Say how the labelled summaries were drawn, as far as it is known."""
    return [
        f"Sheets of {task} were of "
        + (f"all {one['of']:,}" if one["seed"] is None else f"{one['n']:,} of {one['of']:,}")
        + " summaries"
        + (f", drawn at random (seed {one['seed']})." if one["seed"] is not None else ".")
        for one in _own(task, labelled, samples)
    ]


def sample_cautions(task: str, labelled: Collection[str], samples: Iterable[Sample], *, whole: bool) -> list[str]:
    """Say what a reader should mind of how the labelled summaries were chosen; nothing if they are the *whole* run."""
    if whole:
        return []
    drawn = {subject for one in _own(task, labelled, samples) for subject in one["subjects"]}
    found = []
    if n := len(set(labelled) - drawn):
        found.append(
            f"Nothing says how {n:,} of {len(labelled):,} summaries with labels of {task} were chosen. Unless it was "
            "at random (and not the longest, or the doubtful ones), corrected means are of no use; "
            "`longform annotate --summaries N` draws at random, and its sample.json, beside the filled sheets, says so."
        )
    if n := len(drawn - set(labelled)):
        found.append(
            f"{n:,} of {len(drawn):,} summaries on sheets of {task} are not labelled, or not whole: if people left "
            "out harder ones, corrected means are off."
        )
    return found


def _own(task: str, labelled: Collection[str], samples: Iterable[Sample]) -> list[Sample]:
    return [one for one in samples if one["task"] == task and not set(one["subjects"]).isdisjoint(labelled)]
