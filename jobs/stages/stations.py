"""
Stations: what an actor, or this process, does with the parcels that come to it.

Each task of a stage makes rows, which are written as a part of the stage's table, and a receipt for them. An error
costs its task only. It comes back in the receipt with what it means for the others.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
import traceback
from collections import Counter, defaultdict, deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain, groupby
from typing import Any, TypedDict

import pyarrow as pa

from actors.ledger.entry import this_host
from actors.local_models.vector_table import save_vectors
from actors.secret_values import redacted
from actors.storage.errors import StorageError
from actors.storage.folder import Folder
from jobs.stages.items import Rows, Source, Worker
from jobs.stages.parcels import CARRIED, Parcel
from jobs.stages.stage import Stage
from longform.errors import BudgetReachedError, LongformError, ServerGoneError
from longform.keys import in_groups
from longform.rows import TableRow
from longform.schemas import SCHEMAS, conform

# What the error of one task means: all is spent; its server is gone; no task will make anything; its own fault.
BUDGET, GONE, HOPELESS, FAULT = "budget", "gone", "hopeless", "fault"


class TaskReceipt(TypedDict):
    """A task's part of the table, or its error."""

    stage: str
    path: str
    rows: int
    failed: Mapping[str, int]  # work ids whose rows are failures all, by reason
    work_ids: Sequence[str]
    error: str  # what it means for other tasks; empty: there is none
    words: str  # its message or traceback
    began: float  # seconds since 1970, by the clock of its worker
    ended: float
    worker: str  # host and process


Tell = Callable[[TaskReceipt], None]
"""Takes each receipt as soon as its part is written."""

_ONE_COMPUTES = threading.Lock()
"""The turn of threads beside a loop: models that a process holds once are asked by one of them at a time."""


async def beside(work: Callable[[], object]) -> None:
    """Do *work* in a thread beside the loop; a command that is interrupted does not wait for it."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    errors: list[BaseException] = []

    def do() -> None:
        try:
            with _ONE_COMPUTES:
                work()
        except BaseException as error:  # noqa: BLE001  # it is raised where it is waited for
            errors.append(error)
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=do, daemon=True).start()
    await ended.wait()
    if errors:
        raise errors[0]


class Station:
    """Stages at work on parcels: their workers are made once. One that cannot be made is told, and nothing is done."""

    def __init__(self, run: Folder, tell: Tell, stages: Sequence[Stage[Any]]) -> None:
        self._run, self._tell = run, tell
        # of the parcels that are here: rows, and the parts of others by table and work id
        self._held: dict[Source, Sequence[TableRow]] = {}
        self._parts: defaultdict[str, dict[str, str]] = defaultdict(dict)
        self._semaphores: dict[str, asyncio.Semaphore] = {}
        self._workers: list[tuple[Stage[Any], Worker[Any]]] = []
        self._fault: tuple[Stage[Any], Exception] | None = None
        for stage in stages:
            try:
                self._workers.append((stage, stage.opened(self._held, self._parts.__getitem__)))
            except Exception as error:  # noqa: BLE001  # Ray would end the job with a traceback of its own
                self._fault = stage, error
                break

    def compute(self, parcels: Sequence[Parcel]) -> None:
        """Perform all stages on *parcels*, in this thread."""
        deque(self.steps(parcels), 0)  # to the end

    def steps(self, parcels: Sequence[Parcel]) -> Iterator[None]:
        """Perform all stages on *parcels*, a task a step."""
        with self._holding(parcels):
            for stage, worker in self._open():
                yield from self._steps(stage, worker, parcels)

    def _steps(self, stage: Stage[Any], worker: Worker[Any], parcels: Sequence[Parcel]) -> Iterator[None]:
        for work_ids, given in _tasks(stage, parcels):
            began = time.time()
            try:
                receipt, rows = written(self._run, stage, work_ids, awaited(worker(given)), began)
                self._keep(stage, parcels, work_ids, rows)
            except Exception as error:  # noqa: BLE001  # it costs its task only
                receipt = failed(stage, work_ids, error, began)
            self._tell(receipt)
            yield

    async def wait(self, parcels: Sequence[Parcel]) -> None:
        """Perform all stages on *parcels*; those of one step that wait on a network do so at once."""
        with self._holding(parcels):
            for (waits, _), alike in groupby(self._open(), key=lambda one: (one[0].asynchronous, one[0].step)):
                if waits:
                    tasks = [(*one, *task) for one in alike for task in _tasks(one[0], parcels)]
                    await asyncio.gather(*(self._ask(parcels, *task) for task in tasks))
                else:
                    for stage, worker in alike:
                        await beside(partial(deque, self._steps(stage, worker, parcels), 0))

    async def _ask(
        self, parcels: Sequence[Parcel], stage: Stage[Any], worker: Worker[Any], work_ids: list[str], given: Any
    ) -> None:
        began = time.time()
        try:
            async with self._slots(stage):
                began, rows = time.time(), worker(given)
                assert isinstance(rows, Awaitable), f"{stage.name} is marked asynchronous"
                made = await rows
            receipt, table = written(self._run, stage, work_ids, made, began)
            self._keep(stage, parcels, work_ids, table)
        except Exception as error:  # noqa: BLE001  # as above
            receipt = failed(stage, work_ids, error, began)
        self._tell(receipt)

    def _open(self) -> list[tuple[Stage[Any], Worker[Any]]]:
        if self._fault is not None:
            self._tell(hopeless(*self._fault))
            return []
        return self._workers

    def _slots(self, stage: Stage[Any]) -> asyncio.Semaphore:
        """Return what bounds the tasks of a stage that are open at once."""
        return self._semaphores.setdefault(stage.name, asyncio.Semaphore(stage.slots))

    def _keep(self, stage: Stage[Any], parcels: Sequence[Parcel], work_ids: Sequence[str], rows: pa.Table) -> None:
        """Hold what was made, if stages read such rows."""
        if stage.table not in CARRIED:
            return
        made, mine = in_groups((row["work_id"], row) for row in rows.to_pylist()), set(work_ids)
        for parcel in parcels:
            for item in parcel.wanted.get(stage.name, []):
                if item.work_id in mine:
                    source = Source(stage.table, item.work_id)
                    parcel.made[source] = self._held[source] = made.get(item.work_id, [])

    @contextmanager
    def _holding(self, parcels: Sequence[Parcel]) -> Iterator[None]:
        """Let readers find the rows of *parcels*, in the `with`."""
        for parcel in parcels:
            self._held.update(parcel.made)
            for source, part in parcel.parts.items():
                self._parts[source.table][source.work_id] = part
        try:
            yield
        finally:
            for source in chain.from_iterable((*parcel.made, *parcel.parts) for parcel in parcels):
                self._held.pop(source, None)
                self._parts[source.table].pop(source.work_id, None)


def _tasks(stage: Stage[Any], parcels: Sequence[Parcel]) -> Iterator[tuple[list[str], Any]]:
    """Give the work ids of each task of a stage, and what its worker is given."""
    for group in stage.groups([one for parcel in parcels for one in parcel.given(stage.name)]):
        yield [one.work_id for one in group], [*group]


# ---------------------------------------------------------------- what a task made, or why it made nothing


def written(
    run: Folder, stage: Stage[Any], work_ids: Sequence[str], rows: Rows, began: float
) -> tuple[TaskReceipt, pa.Table]:
    """Write the rows of a task as one part; return its receipt, and the rows as the table has them."""
    made = conform(_known(stage, rows), SCHEMAS[stage.table])
    part = run.write_part(stage.table, made, work_ids=work_ids)
    save_vectors()
    return _receipt(stage, work_ids, began) | {"path": part.path, "rows": part.rows, "failed": _failed(made)}, made


def _failed(made: pa.Table) -> Counter[str]:
    rows = made.select([name for name in ("work_id", "failure") if name in made.column_names]).to_pylist()
    reasons = in_groups((row["work_id"], row.get("failure")) for row in rows)
    return Counter(of[0] for of in reasons.values() if all(of))


def failed(stage: Stage[Any], work_ids: Sequence[str], error: Exception, began: float) -> TaskReceipt:
    """Say why a task made nothing, and by the kind of its error what that means for the others."""
    return _receipt(stage, work_ids, began) | {"error": _kind(error), "words": redacted(_words(error))}


def hopeless(stage: Stage[Any], error: Exception) -> TaskReceipt:
    """Say why a stage's worker could not be made."""
    return failed(stage, [], error, time.time()) | {"error": HOPELESS}


def _receipt(stage: Stage[Any], work_ids: Sequence[str], began: float) -> TaskReceipt:
    worker = f"{this_host().partition(' ')[0]}/{os.getpid()}"
    return {
        "stage": stage.name, "path": "", "rows": 0, "failed": {}, "work_ids": list(work_ids), "error": "",
        "words": "", "began": began, "ended": time.time(), "worker": worker,
    }  # fmt: skip


def awaited(rows: Rows | Awaitable[Rows]) -> Rows:
    """Return the rows of a worker that waits, or of one that computes."""
    return asyncio.run(asyncio.wait_for(rows, None)) if isinstance(rows, Awaitable) else rows


def _known(stage: Stage[Any], rows: Rows) -> Iterator[TableRow]:
    """Give *rows*, which have no columns but those that later stages were told of."""
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
