"""Holds a judge of any kind against labels, and makes its card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from actors.storage.folder import Folder
from jobs.calibration.asking import ask, verdicts_of
from jobs.calibration.cost import cost_of
from jobs.calibration.labelled import Calibration, Measured, Verdicts
from jobs.calling import Calling
from jobs.cluster import Cluster
from longform.judges.cards import card_of
from longform.judges.mean import mean_rows
from longform.judges.repeats import merged_repeats, repeated_pairs
from longform.metrics.agreement import Retest, retest
from longform.rows import JudgementRow


def calibrate(calibration: Calibration, *, run: Folder, cluster: Cluster, calling: Calling) -> Measured:
    """
    Hold the judge against the labels.

    Args:
        calibration: The judge and the labels.
        run: Where verdicts are, and are found.
        cluster: Where a judge runs that has much to do; it is not started for the others.
        calling: Where calls are recorded, and what they may cost.

    Raises:
        UsageError: There are no labels or predictions, or the judge cannot be used.
        BudgetReachedError: The command may not spend what is left to do.
    """
    labelled = calibration.labelled
    calibration.check()
    ask(calibration, run=run, cluster=cluster, calling=calling)
    asked = {
        name: verdicts_of(calibration, name, run) if name in calibration.made else labelled.released(name)
        for name in calibration.members
    }
    versions = {name: made.version for name, made in calibration.made.items()}
    frame = card_of(calibration.judge, calibration.judges, versions, task=calibration.kind.task)
    frame["cost"], frame["note"] = cost_of(calibration, asked, calling), calibration.note
    if (found := _retest(calibration, asked)) is not None:
        frame["retest"] = found
    given = {name: _merged(calibration, verdicts) for name, verdicts in asked.items()}
    return labelled.measured(calibration, _own(calibration, given), frame)


def _merged(calibration: Calibration, verdicts: Verdicts) -> Verdicts:
    """Return one verdict a pair: what the repeats of a judge come to."""
    return {place: merged_repeats(calibration.kind, rows) for place, rows in verdicts.items()}


def _retest(calibration: Calibration, asked: Mapping[str, Verdicts]) -> Retest | None:
    """Return the agreement of the judge with itself, over labelled and other pairs; None if it was asked once."""
    settings, labelled = calibration.settings, calibration.labelled
    if settings is None or not (times := _times(calibration)):
        return None
    written = {name: labelled.as_written(verdicts) for name, verdicts in asked.items()}
    if settings.members:
        again = [_own(calibration, {name: _nth(of, repeat) for name, of in written.items()}) for repeat in range(times)]
        rows = [_as_repeat(row, repeat) for repeat, one in enumerate(again) for of in one.values() for row in of]
    else:
        rows = [row for of_place in written[calibration.judge].values() for row in of_place]
    clusters = {row["summary_id"]: row["summary_id"] for row in rows}
    pairs = repeated_pairs(calibration.kind, rows, clusters)
    return retest(pairs, seed=labelled.seed, resamples=labelled.resamples)


def _times(calibration: Calibration) -> int:
    """Return how often the judge was asked; a mean as often as the least asked of its members with repeats; 0: once."""
    times = [one.times for one in calibration.members.values() if one is not None and one.times > 1]
    return min(times, default=0)


def _nth(verdicts: Verdicts, repeat: int) -> Verdicts:
    """Return the answers of one repeat; those of a judge that was asked once are the same for all."""
    return {place: _of_repeat(rows, repeat) for place, rows in verdicts.items()}


def _as_repeat(row: JudgementRow, repeat: int) -> JudgementRow:
    found = row.copy()
    found["repeat"] = repeat
    return found


def _of_repeat(rows: Sequence[JudgementRow], repeat: int) -> list[JudgementRow]:
    has_repeats = any(row.get("repeat") for row in rows)
    return [row for row in rows if not has_repeats or (row.get("repeat") or 0) == repeat]


def _own(calibration: Calibration, given: Mapping[str, Verdicts]) -> Verdicts:
    """Return the judge's own verdicts, or the means of its members'."""
    settings = calibration.settings
    if settings is None or not settings.members:
        return given[calibration.judge]
    places = dict.fromkeys(place for verdicts in given.values() for place in verdicts)
    return {
        place: mean_rows(
            calibration.kind,
            {name: verdicts.get(place, ()) for name, verdicts in given.items()},
            judge=calibration.judge,
            bounds=settings.bounds,
        )
        for place in places
    }
