"""
Means and differences of systems by a judge, corrected by the summaries that people labelled.

People's labels of a summary are scored by the same measures as a judge's verdicts, so what is corrected is the measure
itself. `longform.metrics.corrected` says how, and what it assumes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypedDict

import numpy as np

from longform.evidence.scan import pl
from longform.metrics.corrected import Corrected, Told, corrected, difference, with_interval
from longform.metrics.measure import Description
from longform.metrics.statistics import Array, Estimate
from longform.results.aggregate import Averaging, mean_of, systems_of
from longform.results.answer import VerbAnswer
from longform.results.differences import UNITS
from longform.settings.system_names import SystemName
from longform.tables.names import DATASET, JUDGE
from longform.tables.table import Axes, Column, Table, Value

_POINTS = 100.0
MOST_PAIRS = 15
"""Systems of more pairs are compared only if they are named: that many are six systems."""

PeopleScores = Mapping[str, Mapping[str, tuple[float, float]]]
"""Summary id -> measure -> total and count by people's labels; of summaries that are labelled whole."""


Row = dict[str, Value]
_REASONS = {"corrected": "reason", "by_labels": "labels_reason", "weight": "reason"}
"""Columns of tables -> those of rows that say why they, or their intervals, are unknown."""


class Correction(NamedTuple):
    """
    The scores of a run, corrected by people's labels.

    Attributes:
        run: The run's folder.
        annotators: Task -> names of those whose labels they are.
        samples: How the labelled summaries were drawn, in sentences.
        cautions: What a reader should mind.
        measures: Those that are corrected.
        systems: A row for each mean of a system.
        differences: A row for each difference of two systems, the first less the second.
    """

    run: str
    annotators: dict[str, list[str]]
    samples: list[str]
    cautions: list[str]
    measures: list[Description]
    systems: list[Row]
    differences: list[Row]


def correction_answer(found: Correction) -> VerbAnswer:
    """Return a correction as an answer."""
    told = [f"Labels of {task} by {', '.join(names)}." for task, names in found.annotators.items()]
    cautions = list(dict.fromkeys(found.cautions))
    return VerbAnswer(
        f"{found.run.rpartition('/')[2]}, corrected by people's labels",
        [*told, *found.samples, *(f"Mind: {one}" for one in cautions), *_unknown(found)],
        [_systems(found.systems), *([_differences(found.differences)] if found.differences else [])],
        found.measures,
        "What it rests on",
        beside={
            **{name: getattr(found, name) for name in ("run", "annotators", "samples")},
            "cautions": cautions,
            **{name: _older(found, getattr(found, name)) for name in ("systems", "differences")},
        },
    )


def _older(found: Correction, rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return rows in the form of earlier versions, which stands beside the tables for one release."""
    known = {one["name"]: one for one in found.measures}
    return [
        {
            **{name: value.as_json() if isinstance(value, Estimate) else value for name, value in row.items()},
            **{name: known[str(row["measure"])][name] for name in ("title", "unit")},
        }
        for row in rows
    ]


def _unknown(found: Correction) -> list[str]:
    """Say why numbers, or their intervals, are unknown."""
    rows = [*found.systems, *found.differences]
    reasons = sorted({str(reason) for row in rows for name in set(_REASONS.values()) if (reason := row.get(name))})
    return [f"Without an interval, or unknown: {'; '.join(reasons)}."] if reasons else []


_NONE = "nothing to take a mean of"
_HOW = (
    "Corrected: the judge's mean of the summaries that nobody labelled, moved by how far the judge is from people on "
    "the labelled ones (prediction-powered inference). Its 95 % interval is over queries or haystacks; each holds by "
    "itself, and no p is told. All of it is right whatever the judge's errors are, if the labelled ones were drawn "
    "at random."
)


def _systems(rows: Sequence[Row]) -> Table:
    columns = [
        *_columns("system"),
        Column("weight", "coefficient", told="how much of the judge is in it, from 0 (labels alone) to 1"),
        Column("n_labelled", "count", "labelled", "with its share of all summaries", of="n_summaries"),
        Column("n_summaries", "count", shown=False),
        Column("n_clusters", "count", shown=False),
    ]
    return _table("systems", "Systems, corrected by people's labels", columns, rows)._replace(
        told=_HOW, plot=Axes("change", "by_judge", "system", by="measure", to="corrected")
    )


def _differences(rows: Sequence[Row]) -> Table:
    return _table("differences", "The first system less the second", _columns("first_system", "second_system"), rows)


def _table(name: str, title: str, columns: Sequence[Column], rows: Sequence[Row]) -> Table:
    names = [column.name for column in columns]
    why = [{of: str(row[reason]) for of, reason in _REASONS.items() if of in names and row[reason]} for row in rows]
    key = [name for name in ("dataset", "judge", "measure", "system", "first_system", "second_system") if name in names]
    return Table(name, columns, rows, title, key=key, reasons=why, apart=("dataset", "judge"))


def _columns(*systems: str) -> list[Column]:
    sign = len(systems) > 1
    heads = {"first_system": "first", "second_system": "second"}
    estimates = (("by_judge", "by the judge", ""), ("corrected", "", ""),
                 ("by_labels", "labels alone", "by the labelled summaries alone"))  # fmt: skip
    return [
        DATASET,
        JUDGE,
        Column("measure"),
        Column("unit", shown=False),
        *(Column(name, title=heads.get(name, "")) for name in systems),
        *(Column(name, "stated", title, told, signed=sign, unknown=_NONE) for name, title, told in estimates),
        Column("reason", shown=False),
        Column("labels_reason", shown=False),
    ]


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

    @property
    def named(self) -> Row:
        """The columns that a row begins with."""
        unit = UNITS.get(self.measure["unit"], "words")
        return {"judge": self.judge, "dataset": self.dataset, "measure": self.measure["name"], "unit": unit}

    def told(self, people: Corrected | str, alone: Corrected | str, *, lowest: float = 0.0) -> Row:
        """Return what people's labels say, and why a part of it, or its interval, is unknown."""
        found, labels = with_interval(people), with_interval(alone)
        return {
            "corrected": self.columns(found, lowest=lowest),
            "reason": found.reason,
            "by_labels": self.columns(labels, lowest=lowest),
            "labels_reason": labels.reason,
        }

    def columns(self, told: Told, *, lowest: float = 0.0) -> Estimate:
        """Return an estimate in the measure's unit; a share of a few labels is cut to *lowest* to 1."""
        found = told.estimate
        if self.measure["unit"] in ("points", "share"):
            value, low, high = (
                None if one is None else min(1.0, max(lowest, one)) for one in (found.value, found.low, found.high)
            )
            found = Estimate(value, low, high, found.n)
        return found.scaled(self.factor)


def parts_of(group: pl.DataFrame, people: PeopleScores, asked: Asked) -> Parts:
    """Correct the mean of one system; summaries without a text, which nobody could label, count in no mean."""
    name, how = asked.measure["name"], asked.how
    scores = group.filter(pl.col("measure") == name)
    of_summary = group.unique("summary_id", keep="first", maintain_order=True).filter(pl.col("failure").is_null())
    kept = of_summary.select(
        "summary_id",
        "cluster",
        weight=pl.when(pl.col("summary_repeat").is_null())
        .then(1.0)
        .otherwise(1 / pl.col("summary_repeat").count().over("query_id")),
    ).join(scores.select("summary_id", "total", "n"), on="summary_id", how="left", maintain_order="left")
    weights = kept["weight"].to_numpy()
    judged = _rows(kept.select(pl.col("total", "n").fill_null(0).cast(pl.Float64)).to_numpy(), weights, how)
    labelled = [people.get(summary_id, {}).get(name, (np.nan, np.nan)) for summary_id in kept["summary_id"]]
    labels = _rows(np.array(labelled, dtype=np.float64).reshape(-1, 2), weights, how)
    clusters = kept["cluster"].to_list()
    return Parts(
        corrected(judged, labels, clusters),
        corrected(judged, labels, clusters, weight=0.0),
        corrected(judged, judged, clusters, weight=0.0),
        mean_of(scores, how),
        len(kept),
    )


def _rows(rows: Array, weights: Array, how: Averaging) -> Array:
    """Return totals and counts as they are averaged, shape (summaries, 2); the repeats of a query count as one."""
    if how.aggregate == "per_summary":
        counted = rows[:, 1] > 0
        means = np.divide(rows[:, 0], rows[:, 1], out=np.zeros(len(rows)), where=counted)
        rows = np.where(np.isnan(rows), np.nan, np.column_stack([means, counted.astype(np.float64)]))
    found: Array = rows * weights[:, None]
    return found


def corrected_rows(
    scores: pl.DataFrame,
    people: PeopleScores,
    asked: Asked,
    *,
    pairs: Callable[[Sequence[SystemName]], Iterable[tuple[SystemName, SystemName]]],
) -> tuple[list[Row], list[Row], list[SystemName]]:
    """
    Return a row for each system that has a labelled summary, the differences of *pairs*, and the systems without any.

    Args:
        scores: Scores of all systems, by the judge, with the facts of their summaries.
        people: Scores by people's labels.
        asked: Judge, data set and measure.
        pairs: Chooses pairs of the systems that have a row.
    """
    groups, name = systems_of(scores), asked.measure["name"]
    labelled = {
        system: group
        for system, group in groups.items()
        if any(name in people.get(summary_id, {}) for summary_id in group["summary_id"])
    }
    parts = {system: parts_of(group, people, asked) for system, group in labelled.items()}
    rows = [_row(asked, system, one) for system, one in parts.items()]
    chosen = [(one, other) for one, other in pairs(list(parts)) if one in parts and other in parts]
    differences = [_difference(asked, pair, parts) for pair in chosen]
    return rows, differences, [system for system in groups if system not in labelled]


def _row(asked: Asked, system: SystemName, parts: Parts) -> Row:
    known = parts.people if isinstance(parts.people, Corrected) else None
    of_labels = parts.alone if isinstance(parts.alone, Corrected) else None
    return {
        **asked.named,
        "system": str(system),
        "by_judge": parts.by_judge.scaled(asked.factor),
        **asked.told(parts.people, parts.alone),
        "weight": known.weight if known else None,
        "n_summaries": parts.n_summaries,
        "n_labelled": of_labels.n_labelled if of_labels else 0,
        "n_clusters": of_labels.n_clusters if of_labels else 0,
    }


def _difference(asked: Asked, pair: tuple[SystemName, SystemName], parts: Mapping[SystemName, Parts]) -> Row:
    one, other = (parts[name] for name in pair)
    people, alone = difference(one.people, other.people), difference(one.alone, other.alone)
    return {
        **asked.named,
        "first_system": str(pair[0]),
        "second_system": str(pair[1]),
        "by_judge": asked.columns(with_interval(difference(one.judge, other.judge)), lowest=-1.0),
        **asked.told(people, alone, lowest=-1.0),
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
