"""
Perform one task of a stage, wherever it runs: payload in, a part of the stage's table written, its receipt out.

An error costs its task only. It comes back in the receipt with what it means for the others.
"""

from __future__ import annotations

import asyncio
import json
import pickle
import traceback
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator
from typing import Any, Never, Protocol, Self, TypedDict, TypeVar

from actors.local_models.vector_table import save_vectors
from actors.secret_values import redacted
from actors.storage.errors import StorageError
from actors.storage.folder import Folder
from jobs.stages.reading import Told
from longform.errors import BudgetReachedError, LongformError, ServerGoneError
from longform.rows import TableRow
from longform.settings.strict import ResourcesSettings

Payload = TypeVar("Payload")
Made = Iterable[TableRow]
Worker = Callable[[Payload], Made | Awaitable[Made]]
"""Task payload -> rows of the stage's table, or an awaitable of them."""

# What the error of one task means: all is spent; its server is gone; no task will make anything; its own fault.
BUDGET, GONE, HOPELESS, FAULT = "budget", "gone", "hopeless", "fault"


class Runnable(Protocol):
    """A stage as it runs. It pickles, and two equal ones share a worker."""

    @property
    def name(self) -> str:
        """The name in progress lines and records."""
        ...

    @property
    def unit(self) -> str:
        """The plural of what progress counts, one for each work id."""
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
        """Return whether the worker is dear to make (weights, clients): then tasks are handed out one by one."""
        ...

    @property
    def asynchronous(self) -> bool:
        """Return whether a pool's worker is a coroutine function that waits on a network."""
        ...

    @property
    def resources(self) -> ResourcesSettings | None:
        """Resources that each of its workers asks of the cluster; None: those of the command."""
        ...

    def on_cores(self, cores: int, /) -> Self:
        """Return the stage as it runs in a process that has so many cores."""
        ...

    @property
    def slots(self) -> int:
        """Tasks an asynchronous worker holds open at once; its own semaphore bounds the calls it makes."""
        ...


class TaskRow(TypedDict):
    """A task, as Ray carries it."""

    task: bytes


class TaskReceipt(TypedDict):
    """A task's part of the table, or its error."""

    path: str
    rows: int
    work_ids: str  # JSON
    error: str  # what it means for other tasks; empty: there is none
    words: str  # its message or traceback


class _Pooled:
    """A pool's actor: makes its worker once. If that fails, each of its tasks says why."""

    def __init__(self, run: Folder, stage: Runnable, told: Told | None = None) -> None:
        self._run, self._stage = run, stage
        if told is not None:
            told.by_this_worker()
        try:
            self._worker = stage.make_worker()
        except Exception as error:  # noqa: BLE001  # Ray would end the job with a traceback of its own
            self._fault: TaskReceipt | None = {**_error_receipt([], error), "error": HOPELESS}
        else:
            self._fault = None


class Performer(_Pooled):
    """A pool's actor for a worker that computes."""

    def __call__(self, row: TaskRow) -> TaskReceipt:
        if self._fault is not None:
            return self._fault
        work_ids, payload = _task(row)
        try:
            return _receipt(self._run, self._stage, work_ids, awaited(self._worker(payload)))
        except Exception as error:  # noqa: BLE001  # a row never raises: it would end the job or drop its block
            return _error_receipt(work_ids, error)


class AsyncPerformer(_Pooled):
    """A pool's actor for a worker that waits on a network: many tasks at once on one event loop."""

    async def __call__(self, row: TaskRow) -> TaskReceipt:
        if self._fault is not None:
            return self._fault
        work_ids, payload = _task(row)
        try:
            rows = self._worker(payload)
            assert isinstance(rows, Awaitable), f"{self._stage.name} is marked asynchronous"
            return _receipt(self._run, self._stage, work_ids, await rows)
        except Exception as error:  # noqa: BLE001  # as above
            return _error_receipt(work_ids, error)


def perform(row: TaskRow, *, run: Folder, stage: Runnable, told: Told | None = None) -> TaskReceipt:
    """Do one task in a plain Ray task; a process keeps the worker it made for the last stage it saw."""
    work_ids, payload = _task(row)
    if told is not None:
        told.by_this_worker()
    try:
        worker = _kept_worker(stage)
    except Exception as error:  # noqa: BLE001  # as above
        return {**_error_receipt([], error), "error": HOPELESS}
    try:
        return _receipt(run, stage, work_ids, awaited(worker(payload)))
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


def _receipt(run: Folder, stage: Runnable, work_ids: list[str], rows: Made) -> TaskReceipt:
    part = run.write_part(stage.table, rows if stage.columns is None else _known(stage, rows), work_ids=work_ids)
    save_vectors()
    return {"path": part.path, "rows": part.rows, "work_ids": json.dumps(work_ids), "error": "", "words": ""}


def _known(stage: Runnable, rows: Made) -> Iterator[TableRow]:
    """Give *rows*, which have no columns but those that later stages were told of."""
    assert stage.columns is not None, stage.name
    known = frozenset(stage.columns)
    for row in rows:
        if unknown := {name for name, value in row.items() if name not in known and value is not None}:
            raise ValueError(f"{stage.name} writes {sorted(unknown)}, which are not among its columns {sorted(known)}")
        yield row


def _error_receipt(work_ids: list[str], error: Exception) -> TaskReceipt:
    """Say why a task made nothing, and by the kind of its error what that means for the others."""
    words = redacted(_words(error))
    return {"path": "", "rows": 0, "work_ids": json.dumps(work_ids), "error": _kind(error), "words": words}


def _kind(error: Exception) -> str:
    if isinstance(error, ServerGoneError):
        return GONE
    if isinstance(error, BudgetReachedError):
        return BUDGET
    return HOPELESS if isinstance(error, StorageError) and error.lasts else FAULT


def _words(error: Exception) -> str:
    """Return a sentence if the error is meant for users, else its traceback."""
    return str(error) if isinstance(error, LongformError) else "".join(traceback.format_exception(error))
