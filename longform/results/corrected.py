"""
Means and differences of systems by a judge, corrected by the summaries that people labelled.

People's labels of a summary are scored by the same measures as a judge's verdicts, so what is corrected is the measure
itself. `longform.metrics.corrected` says how, and what it assumes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from typing import TypedDict

import numpy as np

from longform.evidence.scan import pl
from longform.metrics.corrected import Corrected, corrected, difference
from longform.metrics.measure import Description
from longform.metrics.statistics import Array, Estimate
from longform.results.aggregate import Averaging, mean_of, systems_of
from longform.results.differences import MEASURED, UNITS
from longform.results.results import VerbAnswer
from longform.settings.systems import SystemName
from longform.tables.table import Axes, Column, Table, Value

_FACTORS = {"points": 100.0}  # of a unit: what makes it of a mean
MOST_PAIRS = 15
"""Systems of more pairs are compared only if they are named: that many are six systems."""

PeopleScores = Mapping[str, Mapping[str, tuple[float, float]]]
"""Summary id -> measure -> total and count by people's labels; of summaries that are labelled whole."""

Row = dict[str, Value]
_REASONS = {"corrected": "reason", "by_labels": "labels_reason", "weight": "reason"}
"""Columns of tables -> those of rows that say why they, or their intervals, are unknown."""


def correction_answer(
    url: str,
    annotators: Mapping[str, Sequence[str]],
    samples: Sequence[str],
    cautions: Iterable[str],
    *,
    measures: Sequence[Description],
    systems: Sequence[Row],
    differences: Sequence[Row],
) -> VerbAnswer:
    """
    Return the scores of the run at *url*, corrected by people's labels, as an answer.

    *annotators* stand by their task; *samples* are sentences that say how the labelled summaries were drawn.
    """
    told = [f"Labels of {task} by {', '.join(names)}." for task, names in annotators.items()]
    minded = list(dict.fromkeys(cautions))
    return VerbAnswer(
        f"{url.rpartition('/')[2]}, corrected by people's labels",
        [*told, *samples, *(f"Mind: {one}" for one in minded), *_unknown([*systems, *differences])],
        [_systems(systems), *([_differences(differences)] if differences else [])],
        measures,
        "What it rests on",
        beside={"run": url, "annotators": annotators, "samples": samples, "cautions": minded},
    )


def _unknown(rows: Sequence[Row]) -> list[str]:
    """Say why numbers, or their intervals, are unknown."""
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
        *MEASURED,
        *(Column(name, title=heads.get(name, "")) for name in systems),
        *(Column(name, "stated", title, told, signed=sign, unknown=_NONE) for name, title, told in estimates),
        Column("reason", shown=False),
        Column("labels_reason", shown=False),
    ]


Parts = Mapping[str, Corrected]
"""`corrected`, `by_labels` alone and `by_judge` alone -> the mean of a system."""


def parts_of(group: pl.DataFrame, people: PeopleScores, measure: str, how: Averaging) -> tuple[Parts, int]:
    """
    Correct the mean of one system, and count its summaries.

    Those without a text, which nobody could label, count in no mean; the repeats of a query count as one.
    """
    repeats = pl.col("summary_repeat").count().over("query_id")
    weight = pl.when(pl.col("summary_repeat").is_null()).then(1.0).otherwise(1 / repeats)
    of_summary = group.unique("summary_id", keep="first", maintain_order=True).filter(pl.col("failure").is_null())
    scores = group.filter(pl.col("measure") == measure).select("summary_id", "total", "n")
    labelled = [(one, *own[measure]) for one, own in people.items() if measure in own]
    columns = {"summary_id": pl.String, "people_total": pl.Float64, "people_n": pl.Float64}
    labels = pl.DataFrame(labelled, schema=columns, orient="row")
    kept = of_summary.select("summary_id", "cluster", weight=weight)
    for more in (scores, labels):
        kept = kept.join(more, on="summary_id", how="left", maintain_order="left")
    clusters = kept["cluster"].to_list()
    judged = _averaged(kept.select(pl.col("total", "n").fill_null(0)), kept["weight"], how)
    by_people = _averaged(kept.select(pl.col("people_total", "people_n").fill_null(np.nan)), kept["weight"], how)
    return {
        "corrected": corrected(judged, by_people, clusters),
        "by_labels": corrected(judged, by_people, clusters, weight=0.0),
        "by_judge": corrected(judged, judged, clusters, weight=0.0),
    }, len(kept)


def _averaged(rows: pl.DataFrame, weights: pl.Series, how: Averaging) -> Array:
    """Return totals and counts as they are averaged, shape (summaries, 2)."""
    found: Array = rows.to_numpy().astype(np.float64)
    if how.aggregate == "per_summary":
        some = found[:, 1:] > 0
        means = np.divide(found[:, :1], found[:, 1:], out=np.zeros((len(found), 1)), where=some)
        found = np.where(np.isnan(found), np.nan, np.hstack([means, some]))
    weighted: Array = found * weights.to_numpy()[:, None]
    return weighted


def corrected_rows(
    scores: pl.DataFrame,
    people: PeopleScores,
    measure: Description,
    how: Averaging,
    *,
    pairs: Sequence[tuple[SystemName, SystemName]] = (),
) -> tuple[list[Row], list[Row], list[SystemName]]:
    """
    Return a row for each system that has a labelled summary, the differences of *pairs*, and the systems without any.

    *scores* are those of all systems of a data set by a judge, with the facts of their summaries. No *pairs* are all of
    the systems that have a row, if they are few.
    """
    name, unit = measure["name"], UNITS.get(measure["unit"], "words")
    named: Row = {**{of: scores.item(0, of) for of in ("judge", "dataset")}, "measure": name, "unit": unit}
    groups, parts, rows = systems_of(scores), dict[SystemName, Parts](), list[Row]()
    for system, group in groups.items():
        if not any(name in people.get(summary_id, {}) for summary_id in group["summary_id"]):
            continue
        parts[system], n_summaries = parts_of(group, people, name, how)
        own, labels = parts[system]["corrected"], parts[system]["by_labels"]
        rows.append(
            {
                **named,
                "system": str(system),
                **_told(parts[system], unit, lowest=0.0),
                "by_judge": mean_of(group.filter(pl.col("measure") == name), how).scaled(_FACTORS.get(unit, 1.0)),
                "weight": own.weight if own.value is not None else None,
                "n_summaries": n_summaries,
                "n_labelled": labels.n_labelled,
                "n_clusters": labels.n_clusters,
            }
        )
    every = list(combinations(parts, 2))
    differences = [
        {
            **named,
            "first_system": str(one),
            "second_system": str(other),
            **_told({of: difference(parts[one][of], parts[other][of]) for of in parts[one]}, unit, lowest=-1.0),
        }
        for one, other in pairs or (every if len(every) <= MOST_PAIRS else ())
        if one in parts and other in parts
    ]
    return rows, differences, [system for system in groups if system not in parts]


def _told(parts: Parts, unit: str, *, lowest: float) -> Row:
    """Return estimates in a unit, a share of a few labels cut to *lowest* to 1, and why one is unknown."""

    def shown(found: Estimate) -> Estimate:
        value, low, high, n = found
        if unit in ("points", "share"):
            value, low, high = (None if one is None else min(1.0, max(lowest, one)) for one in (value, low, high))
        return Estimate(value, low, high, n).scaled(_FACTORS.get(unit, 1.0))

    reasons = {"reason": parts["corrected"].reason, "labels_reason": parts["by_labels"].reason}
    return {**{name: shown(one.estimate) for name, one in parts.items()}, **reasons}


# ---------------------------------------------------------------- how the labelled were drawn


class Sample(TypedDict):
    """Subjects of sheets as they were drawn; kept beside the sheets, and with the labels once a sheet is read."""

    task: str
    n: int
    of: int  # that had something to label
    seed: int | None  # null: all were taken
    subjects: list[str]  # ids


def sample_told(
    task: str, labelled: Collection[str], samples: Iterable[Sample], *, whole: bool
) -> tuple[list[str], list[str]]:
    """
    Say how the labelled summaries were drawn, as far as it is known, and what a reader should mind of that.

    There is nothing to mind if they are the *whole* run.
    """
    own = [one for one in samples if one["task"] == task and not set(one["subjects"]).isdisjoint(labelled)]
    words = [
        f"Sheets of {task} were of "
        + (f"all {one['of']:,}" if one["seed"] is None else f"{one['n']:,} of {one['of']:,}")
        + " summaries"
        + (f", drawn at random (seed {one['seed']})." if one["seed"] is not None else ".")
        for one in own
    ]
    drawn = {subject for one in own for subject in one["subjects"]}
    cautions = []
    if n := len(set(labelled) - drawn):
        cautions.append(
            f"Nothing says how {n:,} of {len(labelled):,} summaries with labels of {task} were chosen. Unless it was "
            "at random (and not the longest, or the doubtful ones), corrected means are of no use; "
            "`longform annotate --summaries N` draws at random, and its sample.json, beside the filled sheets, says so."
        )
    if n := len(drawn - set(labelled)):
        cautions.append(
            f"{n:,} of {len(drawn):,} summaries on sheets of {task} are not labelled, or not whole: if people left "
            "out harder ones, corrected means are off."
        )
    return words, [] if whole else cautions
