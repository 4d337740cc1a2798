"""
Perform one task of a stage, wherever it runs: its rows written as a part of the stage's table, and a receipt for it.

An error costs its task only. It comes back in the receipt with what it means for the others.
"""

from __future__ import annotations

import asyncio
import os
import time
import traceback
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from typing import Protocol, TypedDict, TypeVar

import pyarrow as pa

from actors.ledger.entry import this_host
from actors.local_models.vector_table import save_vectors
from actors.secret_values import redacted
from actors.storage.errors import StorageError
from actors.storage.folder import Folder
from longform.errors import BudgetReachedError, LongformError, ServerGoneError
from longform.rows import TableRow
from longform.schemas import SCHEMAS, conform
from longform.settings.strict import ResourcesSettings

Payload = TypeVar("Payload")
Made = Iterable[TableRow]
Worker = Callable[[Payload], Made | Awaitable[Made]]
"""Task payload -> rows of the stage's table, or an awaitable of them."""

# What the error of one task means: all is spent; its server is gone; no task will make anything; its own fault.
BUDGET, GONE, HOPELESS, FAULT = "budget", "gone", "hopeless", "fault"


class Runnable(Protocol):
    """A stage as it runs. It pickles: settings, and no rows."""

    @property
    def name(self) -> str: ...  # in progress lines and records
    @property
    def unit(self) -> str: ...  # the plural of what progress counts, one for each work id
    @property
    def table(self) -> str: ...  # the one that it writes
    @property
    def columns(self) -> Collection[str] | None: ...  # of the table, that its rows may have; None: all
    @property
    def holds_model(self) -> bool: ...  # its worker is dear to make (weights, clients)
    @property
    def asynchronous(self) -> bool: ...  # its worker is a coroutine function that waits on a network
    @property
    def resources(self) -> ResourcesSettings | None: ...  # those that each of its workers asks of the cluster
    @property
    def slots(self) -> int: ...  # tasks that a worker which waits holds open at once


class TaskReceipt(TypedDict):
    """A task's part of the table, or its error."""

    stage: str
    path: str
    rows: int
    work_ids: Sequence[str]
    error: str  # what it means for other tasks; empty: there is none
    words: str  # its message or traceback
    began: float  # seconds since 1970, by the clock of its worker
    ended: float
    worker: str  # host and process


Tell = Callable[[TaskReceipt], None]
"""Takes each receipt as soon as its part is written."""


def written(
    run: Folder, stage: Runnable, work_ids: Sequence[str], rows: Made, began: float
) -> tuple[TaskReceipt, pa.Table]:
    """Write the rows of a task as one part; return its receipt, and the rows as the table has them."""
    made = conform(rows if stage.columns is None else _known(stage, rows), SCHEMAS[stage.table])
    part = run.write_part(stage.table, made, work_ids=work_ids)
    save_vectors()
    return _receipt(stage, work_ids, began) | {"path": part.path, "rows": part.rows}, made


def failed(stage: Runnable, work_ids: Sequence[str], error: Exception, began: float) -> TaskReceipt:
    """Say why a task made nothing, and by the kind of its error what that means for the others."""
    return _receipt(stage, work_ids, began) | {"error": _kind(error), "words": redacted(_words(error))}


def hopeless(stage: Runnable, error: Exception) -> TaskReceipt:
    """Say why a stage's worker could not be made."""
    return failed(stage, [], error, time.time()) | {"error": HOPELESS}


def _receipt(stage: Runnable, work_ids: Sequence[str], began: float) -> TaskReceipt:
    worker = f"{this_host().partition(' ')[0]}/{os.getpid()}"
    return {
        "stage": stage.name, "path": "", "rows": 0, "work_ids": list(work_ids), "error": "", "words": "",
        "began": began, "ended": time.time(), "worker": worker,
    }  # fmt: skip


def awaited(rows: Made | Awaitable[Made]) -> Made:
    """Return the rows of a worker that waits, or of one that computes."""
    return asyncio.run(_of(rows)) if isinstance(rows, Awaitable) else rows


async def _of(rows: Awaitable[Made]) -> Made:
    return await rows


def _known(stage: Runnable, rows: Made) -> Iterator[TableRow]:
    """Give *rows*, which have no columns but those that later stages were told of."""
    assert stage.columns is not None, stage.name
    known = frozenset(stage.columns)
    for row in rows:
        if unknown := {name for name, value in row.items() if name not in known and value is not None}:
            raise ValueError(f"{stage.name} writes {sorted(unknown)}, which are not among its columns {sorted(known)}")
        yield row


def _kind(error: Exception) -> str:
    if isinstance(error, ServerGoneError):
        return GONE
    if isinstance(error, BudgetReachedError):
        return BUDGET
    return HOPELESS if isinstance(error, StorageError) and error.lasts else FAULT


def _words(error: Exception) -> str:
    """Return a sentence if the error is meant for users, else its traceback."""
    return str(error) if isinstance(error, LongformError) else "".join(traceback.format_exception(error))
