"""
Runs a stage, in this process or as one Ray Data execution: Parquet in, Parquet out.

A stage's work is a list of tasks; a task names the work ids it will make rows for. A worker maps a task to rows, writes
them as one part of the table, and hands back a receipt; the driver commits receipts as they come. Work ids that a
commit already holds are not done again, and a worker's error costs its task only.
"""

from __future__ import annotations

import json
import math
import pickle
import sys
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, Self, TextIO

from actors.storage.errors import StorageError
from actors.storage.folder import Folder
from actors.storage.tables import Part
from jobs.stages.cluster import Cluster
from jobs.stages.items import Made
from jobs.stages.performing import BUDGET, GONE, HOPELESS, Runnable, TaskRow, Worker
from jobs.stages.place import Place, receipts
from jobs.stages.progress import Progress
from jobs.stages.reading import Reading, Told
from longform.errors import BudgetReachedError, LongformError, ServerGoneError
from longform.settings.strict import ResourcesSettings

RECEIPTS_A_COMMIT = 8
_COMMIT_S = 10.0  # what a command that is killed has to do again
_MOST_COMMITS = 4096  # of one run of a stage: adding a commit costs time by the number of those that are there


class StageError(LongformError):
    """Some tasks of a stage failed, or it could not go on; what others made is kept."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """One worker call: `payload` in, rows of `work_ids` out. The payload pickles, and is small: ids, not texts."""

    work_ids: tuple[str, ...]
    payload: Any

    def row(self) -> TaskRow:
        """Return it as workers take it."""
        return {"task": pickle.dumps((self.work_ids, self.payload))}


@dataclass(frozen=True, kw_only=True)
class PlainStage:
    """A stage outside the plan of a run."""

    name: str
    table: str
    # what the worker depends on (URLs, configuration); two stages of one name and identity share a worker
    identity: str
    make_worker: Callable[[], Worker[Any]] = field(compare=False)
    columns: Collection[str] | None = None
    unit: str = "rows"  # what progress counts, in the plural; one for each work id
    holds_model: bool = False
    asynchronous: bool = False
    slots: int = 32
    resources: ResourcesSettings | None = None

    def on_cores(self, _cores: int) -> Self:
        """Return the stage itself: its worker has one thread."""
        return self


@dataclass(frozen=True, kw_only=True)
class StageReport:
    """Counts of one stage, for the run's record."""

    name: str
    table: str
    wanted: int  # work ids
    found: int  # of them, already there
    pieces: int  # of them, done now
    rows: int  # written now
    seconds: float
    workers: int  # 0: the command's own process


class _TaskError(NamedTuple):
    kind: str
    words: str


class Note(Protocol):
    """Takes what a stage has done so far; *final* marks the last report."""

    def __call__(self, report: StageReport, *, final: bool) -> None: ...


def no_note(report: StageReport, *, final: bool) -> None:
    """Note nothing."""


class Pulse(Protocol):
    """Takes how far a stage is: of *wanted* work ids *todo* were not there when it began, and *done* of these are."""

    def __call__(self, stage: Runnable, *, wanted: int, todo: int, done: int) -> None: ...


def no_pulse(stage: Runnable, *, wanted: int, todo: int, done: int) -> None:
    """Take nothing."""


def run_stage(
    run: Folder,
    stage: Runnable,
    wanted: int,  # work ids that the stage is to have in the end, done ones included
    tasks: Sequence[Task],  # those not done yet
    *,
    cluster: Cluster,  # started when there is work
    note: Note = no_note,  # called after every commit, and at the end, whatever it be
    log: TextIO | None = None,  # where progress goes; None: to standard error
    notice: Callable[[], str] = str,  # what the line of progress says besides; an empty text: nothing
    here: bool | None = None,  # in this process; None: as the cluster says
    pulse: Pulse = no_pulse,  # called at the beginning and with every receipt
) -> StageReport:
    """
    Do *tasks* and commit what they make.

    Raises:
        StageError: A task failed, or none can succeed; the message has the first error, with a traceback if it is ours.
        BudgetReachedError: The command may not spend what is left to do.
        ServerGoneError: No call of the stage's model can succeed.
    """
    started = time.monotonic()
    todo = sum(len(task.work_ids) for task in tasks)
    told = Told.new(run)
    place, reading = Place(cluster, here, told), Reading(told)

    def noticed() -> str:
        return "; ".join(one for one in (notice(), reading.words()) if one)

    progress = Progress(stage.name, stage.unit, todo, log or sys.stderr, noticed)
    errors: list[_TaskError] = []
    waiting: list[Part] = []
    rows = pieces = 0
    committed = started
    receipts_a_commit = max(RECEIPTS_A_COMMIT, math.ceil(len(tasks) / _MOST_COMMITS))

    def report() -> StageReport:
        """Count what is committed, and not what waits for it."""
        return StageReport(
            name=stage.name,
            table=stage.table,
            wanted=wanted,
            found=wanted - todo,
            pieces=pieces - sum(len(part.work_ids) for part in waiting),
            rows=rows - sum(part.rows for part in waiting),
            seconds=time.monotonic() - started,
            workers=place.workers,
        )

    pulse(stage, wanted=wanted, todo=todo, done=0)
    try:
        for receipt in receipts(run, stage, Made((Task.row, tasks)), place):
            if receipt["error"]:
                errors.append(_TaskError(receipt["error"], receipt["words"]))
            else:
                work_ids = tuple(json.loads(receipt["work_ids"]))
                waiting.append(Part(path=receipt["path"], rows=receipt["rows"], work_ids=work_ids))
                rows += receipt["rows"]
                pieces += len(work_ids)
                progress.step(len(work_ids))
                pulse(stage, wanted=wanted, todo=todo, done=pieces)
            if len(waiting) >= receipts_a_commit or (waiting and time.monotonic() - committed >= _COMMIT_S):
                run.commit(stage.table, waiting)
                waiting, committed = [], time.monotonic()
                note(report(), final=False)
            if receipt["error"] == HOPELESS:
                raise StageError(f"{stage.name}: {receipt['words']}; what is finished is kept")
    finally:  # also where the command is interrupted
        try:
            if waiting:
                run.commit(stage.table, waiting)
                waiting = []
        finally:
            with suppress(StorageError):  # the next write tells it; what is noted is not lost with this one
                note(report(), final=True)
            progress.end(found=wanted - todo, where=place.words)
            if place.workers:
                told.forget()
    if errors:
        raise _end_of(stage, len(tasks), errors)
    return report()


def _end_of(stage: Runnable, n_tasks: int, errors: Sequence[_TaskError]) -> LongformError:
    """Return the error that a stage ends with, of the errors of its tasks."""
    kept = f"{n_tasks - len(errors)} of {n_tasks} tasks are done and kept"
    if gone := [error.words for error in errors if error.kind == GONE]:
        return ServerGoneError(f"{gone[0]}. {stage.name}: {kept}; go on with the same command")
    if faults := [error.words for error in errors if error.kind != BUDGET]:
        failed = f"{stage.name}: {len(faults)} of {n_tasks} tasks failed; what others made is kept"
        return StageError(f"{failed}. The first:{_beside_or_below(faults[0])}")
    return BudgetReachedError(
        f"{stage.name}: the budget is reached; {kept}. Go on with the same command and a larger budget"
    )


def _beside_or_below(error: str) -> str:
    return f"\n{error}" if "\n" in error else f" {error}"
