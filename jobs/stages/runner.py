"""
Runs a stage, in this process or as one Ray Data execution: Parquet in, Parquet out.

A stage's work is a list of tasks; a task names the work ids it will make rows for. A worker maps a task to rows, writes
them as one part of the table, and hands back a receipt; the driver commits receipts as they come. Work ids that a
commit already holds are not done again, and a worker's error costs its task only.
"""

from __future__ import annotations

import asyncio
import json
import math
import pickle
import sys
import time
import traceback
from collections.abc import Awaitable, Callable, Collection, Generator, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Never, Protocol, TextIO, TypedDict, TypeVar

import pyarrow as pa

from actors.closing import noting
from actors.secret_values import redacted
from actors.storage.commit_files import Part
from actors.storage.errors import StorageError
from actors.storage.folder import Folder
from jobs.cluster import Cluster
from jobs.stages.in_process import receipts_of
from jobs.stages.progress import Progress
from longform.errors import BudgetReachedError, LongformError, ServerGoneError
from longform.rows import TableRow

Payload = TypeVar("Payload")
Made = Iterable[TableRow]
Worker = Callable[[Payload], Made | Awaitable[Made]]
"""Task payload -> rows of the stage's table, or an awaitable of them."""

# What the error of one task means: all is spent; its server is gone; no task will make anything; its own fault.
_BUDGET, _GONE, _HOPELESS, _FAULT = "budget", "gone", "hopeless", "fault"

RECEIPTS_A_COMMIT = 8
_BLOCKS_A_WORKER = 8
_MEASURED_S = 4.0  # of a stage in this process, before it may move to workers
_MOST_TASKS_A_BLOCK = 8  # what a process that dies has to do again


class StageError(LongformError):
    """Some tasks of a stage failed, or it could not go on; what others made is kept."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """One worker call: `payload` in, rows of `work_ids` out. The payload pickles, and is small: ids, not texts."""

    work_ids: tuple[str, ...]
    payload: Any


class Runnable(Protocol):
    """A stage as it runs. It pickles, and two equal ones share a worker."""

    @property
    def name(self) -> str:
        """The name in progress lines and records."""
        ...

    @property
    def table(self) -> str:
        """The table it writes."""
        ...

    @property
    def columns(self) -> Collection[str] | None:
        """The columns of the table that its rows may have; None: all."""
        ...

    @property
    def make_worker(self) -> Callable[[], Worker[Never]]:
        """Makes the worker, on the worker's process."""
        ...

    @property
    def holds_model(self) -> bool:
        """Return whether the worker is dear to make (weights, clients): then a pool of actors keeps it."""
        ...

    @property
    def asynchronous(self) -> bool:
        """Return whether a pool's worker is a coroutine function that waits on a network."""
        ...

    @property
    def slots(self) -> int:
        """Tasks an asynchronous worker holds open at once; its own semaphore bounds the calls it makes."""
        ...


@dataclass(frozen=True, kw_only=True)
class PlainStage:
    """
    A stage outside the plan of a run.

    Attributes:
        identity: What the worker depends on (URLs, configuration); two stages of one name and identity share a worker.
    """

    name: str
    table: str
    identity: str
    make_worker: Callable[[], Worker[Any]] = field(compare=False)
    columns: Collection[str] | None = None
    holds_model: bool = False
    asynchronous: bool = False
    slots: int = 32


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


class TaskRow(TypedDict):
    """A task, as Ray carries it."""

    task: bytes


class Receipt(TypedDict):
    """
    A task's part of the table, or its error.

    Attributes:
        work_ids: As JSON.
        error: What it means; empty: there is none.
        words: Of the error.
    """

    path: str
    rows: int
    work_ids: str
    error: str
    words: str


class _TaskError(NamedTuple):
    kind: str
    words: str


class Note(Protocol):
    """Takes what a stage has done so far; *final* marks the last report."""

    def __call__(self, report: StageReport, *, final: bool) -> None: ...


def no_note(report: StageReport, *, final: bool) -> None:
    """Note nothing."""


def run_stage(
    run: Folder,
    stage: Runnable,
    wanted: int,
    tasks: Sequence[Task],
    *,
    cluster: Cluster,
    note: Note = no_note,
    log: TextIO | None = None,
    notice: Callable[[], str] = str,
    here: bool | None = None,
) -> StageReport:
    """
    Do *tasks* and commit what they make.

    Args:
        run: Where the table is.
        stage: What to do.
        wanted: Work ids the stage is to have in the end, done ones included.
        tasks: Those not done yet.
        cluster: Where they run; started when there is work.
        note: Called after every commit, and at the end, whatever it be.
        log: Where progress goes; None: to standard error.
        notice: What the line of progress says besides; an empty text: nothing.
        here: Whether they run in this process; None: as the cluster says.

    Raises:
        StageError: A task failed, or none can succeed; the message has the first error, with a traceback if it is ours.
        BudgetReachedError: The command may not spend what is left to do.
        ServerGoneError: No call of the stage's model can succeed.
    """
    started = time.monotonic()
    todo = sum(len(task.work_ids) for task in tasks)
    place = _Place(cluster, stage, here)
    progress = Progress(stage.name, len(tasks), log or sys.stderr, notice)
    errors: list[_TaskError] = []
    waiting: list[Part] = []
    rows = pieces = 0

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

    try:
        for receipt in _receipts(run, stage, tasks, place):
            if receipt["error"]:
                errors.append(_TaskError(receipt["error"], receipt["words"]))
            else:
                work_ids = tuple(json.loads(receipt["work_ids"]))
                waiting.append(Part(path=receipt["path"], rows=receipt["rows"], work_ids=work_ids))
                rows += receipt["rows"]
                pieces += len(work_ids)
            progress.step(rows)
            if len(waiting) >= RECEIPTS_A_COMMIT:
                run.commit(stage.table, waiting)
                waiting = []
                note(report(), final=False)
            if receipt["error"] == _HOPELESS:
                raise StageError(f"{stage.name}: {receipt['words']}; what is finished is kept")
    finally:  # also where the command is interrupted
        try:
            if waiting:
                run.commit(stage.table, waiting)
                waiting = []
        finally:
            with suppress(StorageError):  # the next write tells it; what is noted is not lost with this one
                note(report(), final=True)
            progress.end(rows, found=wanted - todo, where=place.words if tasks else "")
    if errors:
        raise _end_of(stage, len(tasks), errors)
    return report()


def _end_of(stage: Runnable, n_tasks: int, errors: Sequence[_TaskError]) -> LongformError:
    """Return the error that a stage ends with, of the errors of its tasks."""
    kept = f"{n_tasks - len(errors)} of {n_tasks} tasks are done and kept"
    if gone := [error.words for error in errors if error.kind == _GONE]:
        return ServerGoneError(f"{gone[0]}. {stage.name}: {kept}; go on with the same command")
    if faults := [error.words for error in errors if error.kind != _BUDGET]:
        failed = f"{stage.name}: {len(faults)} of {n_tasks} tasks failed; what others made is kept"
        return StageError(f"{failed}. The first:{_beside_or_below(faults[0])}")
    return BudgetReachedError(
        f"{stage.name}: the budget is reached; {kept}. Go on with the same command and a larger budget"
    )


@dataclass
class _Place:
    """The place where a stage runs: this process, or workers of a cluster."""

    cluster: Cluster
    stage: Runnable
    here: bool | None
    workers: int = 0
    _since: float = field(default_factory=time.monotonic)

    @property
    def begins_here(self) -> bool:
        if self.here is None:
            return self.cluster.in_process or self.cluster.measures
        return self.here

    @property
    def words(self) -> str:
        return f"on {self.workers} workers" if self.workers else "in this process"

    def begin(self) -> None:
        """Measure from now on, since models are loaded."""
        self._since = time.monotonic()

    def moves(self, done: int, left: int) -> bool:
        """Return whether the tasks that are *left* go to workers, after so many that were *done* here."""
        if self.here is not None or not self.cluster.measures or not left:
            return False
        spent = time.monotonic() - self._since
        return spent > _MEASURED_S and self.cluster.ends_sooner(spent / done * left)


def _receipts(run: Folder, stage: Runnable, tasks: Sequence[Task], place: _Place) -> Iterator[Receipt]:
    rows: list[TaskRow] = [{"task": pickle.dumps((task.work_ids, task.payload))} for task in tasks]
    done = 0
    if place.begins_here and rows:
        with closing(_here(run, stage, rows, place)) as receipts:
            for receipt in receipts:
                yield receipt
                done += 1
                if place.moves(done, len(rows) - done):
                    break
    if done < len(rows):
        place.workers = place.cluster.workers
        yield from _on_ray(run, stage, [row["task"] for row in rows[done:]], place.cluster)


def _here(run: Folder, stage: Runnable, rows: Sequence[TaskRow], place: _Place) -> Generator[Receipt, None, None]:
    with noting() as closes:
        performer = (AsyncPerformer if stage.asynchronous else Performer)(run, stage)
    place.begin()
    if isinstance(performer, Performer):
        yield from map(performer, rows)
    else:
        yield from receipts_of(performer, rows, slots=stage.slots, closes=closes)


def _on_ray(run: Folder, stage: Runnable, rows: Sequence[bytes], cluster: Cluster) -> Iterator[Receipt]:
    cluster.start()
    import ray.data
    from ray.data import ActorPoolStrategy, DataContext, TaskPoolStrategy

    context = DataContext.get_current()
    context.execution_options.verbose_progress = False
    context.execution_no_progress_timeout_s = -1  # it counts blocks; a rate-limited block may take long
    context.enable_progress_bars = False
    size = 1 if stage.holds_model else tasks_a_block(len(rows), workers=cluster.workers)
    dataset = ray.data.from_arrow([pa.table({"task": rows[at : at + size]}) for at in range(0, len(rows), size)])
    given = {"run": run, "stage": stage}
    if stage.holds_model:
        slots = stage.slots if stage.asynchronous else 1
        pool = ActorPoolStrategy(
            size=min(cluster.workers, len(rows)),
            max_concurrent_calls_per_actor=slots,
            # No queue at an actor: the first one up would take the tasks of those still loading.
            max_tasks_in_flight_per_actor=slots,
        )
        performer = AsyncPerformer if stage.asynchronous else Performer
        mapped = dataset.map(performer, fn_constructor_kwargs=given, compute=pool, num_cpus=cluster.cpus)
    else:
        compute = TaskPoolStrategy(size=min(cluster.workers, len(rows)))
        mapped = dataset.map(perform, fn_kwargs=given, compute=compute, num_cpus=cluster.cpus)
    yield from mapped.iter_rows()


def tasks_a_block(n_tasks: int, *, workers: int) -> int:
    """
    Return how many tasks that hold no model a process is handed at once.

    Ray Data looks ten times a second which block is done, so that short tasks one by one leave a process idle for as
    long as they take. A block's receipts come when its last task is done; with eight blocks a worker the last ones end
    together.
    """
    return min(_MOST_TASKS_A_BLOCK, max(1, math.ceil(n_tasks / (_BLOCKS_A_WORKER * workers))))


class _Pooled:
    """A pool's actor: makes its worker once. If that fails, each of its tasks says why."""

    def __init__(self, run: Folder, stage: Runnable) -> None:
        self._run, self._stage = run, stage
        try:
            self._worker = stage.make_worker()
        except Exception as error:  # noqa: BLE001  # Ray would end the job with a traceback of its own
            self._fault: Receipt | None = {**_error_receipt([], error), "error": _HOPELESS}
        else:
            self._fault = None


class Performer(_Pooled):
    """A pool's actor for a worker that computes."""

    def __call__(self, row: TaskRow) -> Receipt:
        if self._fault is not None:
            return self._fault
        work_ids, payload = _task(row)
        try:
            return _receipt(self._run, self._stage, work_ids, awaited(self._worker(payload)))
        except Exception as error:  # noqa: BLE001  # a row never raises: it would end the job or drop its block
            return _error_receipt(work_ids, error)


class AsyncPerformer(_Pooled):
    """A pool's actor for a worker that waits on a network: many tasks at once on one event loop."""

    async def __call__(self, row: TaskRow) -> Receipt:
        if self._fault is not None:
            return self._fault
        work_ids, payload = _task(row)
        try:
            rows = self._worker(payload)
            assert isinstance(rows, Awaitable), f"{self._stage.name} is marked asynchronous"
            return _receipt(self._run, self._stage, work_ids, await rows)
        except Exception as error:  # noqa: BLE001  # as above
            return _error_receipt(work_ids, error)


def perform(row: TaskRow, *, run: Folder, stage: Runnable) -> Receipt:
    """Do one task in a plain Ray task; a process keeps the worker it made for the last stage it saw."""
    work_ids, payload = _task(row)
    try:
        return _receipt(run, stage, work_ids, awaited(_kept_worker(stage)(payload)))
    except Exception as error:  # noqa: BLE001  # as above
        return _error_receipt(work_ids, error)


def awaited(rows: Made | Awaitable[Made]) -> Made:
    """Return the rows of a worker that waits, or of one that computes."""
    return asyncio.run(_of(rows)) if isinstance(rows, Awaitable) else rows


async def _of(rows: Awaitable[Made]) -> Made:
    return await rows


_kept: list[tuple[Runnable, Worker[Never]]] = []


def _kept_worker(stage: Runnable) -> Worker[Never]:
    if not _kept or _kept[0][0] != stage:
        _kept[:] = []  # what the last one holds goes before the next one loads
        _kept[:] = [(stage, stage.make_worker())]
    return _kept[0][1]


def _task(row: TaskRow) -> tuple[list[str], Any]:
    work_ids, payload = pickle.loads(row["task"])  # noqa: S301  # the driver of this run made it
    return list(work_ids), payload


def _receipt(run: Folder, stage: Runnable, work_ids: list[str], rows: Made) -> Receipt:
    part = run.write_part(stage.table, rows if stage.columns is None else _known(stage, rows), work_ids=work_ids)
    return {"path": part.path, "rows": part.rows, "work_ids": json.dumps(work_ids), "error": "", "words": ""}


def _known(stage: Runnable, rows: Made) -> Iterator[TableRow]:
    """Give *rows*, which have no columns but those that later stages were told of."""
    assert stage.columns is not None, stage.name
    known = frozenset(stage.columns)
    for row in rows:
        if unknown := {name for name, value in row.items() if name not in known and value is not None}:
            raise ValueError(f"{stage.name} writes {sorted(unknown)}, which are not among its columns {sorted(known)}")
        yield row


def _error_receipt(work_ids: list[str], error: Exception) -> Receipt:
    """Say why a task made nothing, and by the kind of its error what that means for the others."""
    words = redacted(_words(error))
    return {"path": "", "rows": 0, "work_ids": json.dumps(work_ids), "error": _kind(error), "words": words}


def _kind(error: Exception) -> str:
    if isinstance(error, ServerGoneError):
        return _GONE
    if isinstance(error, BudgetReachedError):
        return _BUDGET
    return _HOPELESS if isinstance(error, StorageError) and error.lasts else _FAULT


def _words(error: Exception) -> str:
    """Return a sentence if the error is meant for users, else its traceback."""
    return str(error) if isinstance(error, LongformError) else "".join(traceback.format_exception(error))


def _beside_or_below(error: str) -> str:
    return f"\n{error}" if "\n" in error else f" {error}"
