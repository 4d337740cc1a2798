"""
The operators of a stream: stages that one actor performs, one after the other, on what comes to it.

A stream of operators is what Ray Data runs as a chain of actor pools, and this process as a chain of coroutines.
"""

from __future__ import annotations

import asyncio
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from typing import Any, Generic, Self, TypeVar

import pyarrow as pa

from actors.storage.folder import Folder
from jobs.stages.items import WHOLE, Source
from jobs.stages.parcels import Parcel, of_arrow, to_arrow
from jobs.stages.performing import Runnable, Tell, Worker, awaited, failed, hopeless, written
from jobs.stages.stage import Stage
from longform.rows import TableRow
from longform.schemas import SCHEMAS
from longform.settings.strict import ResourcesSettings, together

Member = TypeVar("Member")


_ONE_COMPUTES = threading.Lock()
"""The turn of threads beside a loop: models that a process holds once are asked by one of them at a time."""


async def beside(work: Callable[[], None]) -> None:
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


class Station(ABC, Generic[Member]):
    """An operator at work: its workers are made once. One that cannot be made is told, and nothing more is done."""

    def __init__(self, run: Folder, tell: Tell, stages: Sequence[Runnable]) -> None:
        self._run, self._tell = run, tell
        self._semaphores: dict[str, asyncio.Semaphore] = {}
        self._workers: list[tuple[Any, Worker[Any]]] = []
        self._fault: tuple[Runnable, Exception] | None = None
        for stage in stages:
            try:
                self._workers.append((stage, self._worker(stage)))
            except Exception as error:  # noqa: BLE001  # Ray would end the job with a traceback of its own
                self._fault = stage, error
                break

    @abstractmethod
    def _worker(self, stage: Any) -> Worker[Any]:
        """Make the worker of a stage."""

    @abstractmethod
    def _tasks(self, stage: Any, members: Sequence[Member]) -> Iterator[tuple[list[str], Any]]:
        """Give the work ids and the payload of each task of a stage."""

    def _keep(self, stage: Any, members: Sequence[Member], work_ids: Sequence[str], rows: pa.Table) -> None:
        """Hold what was made."""

    def compute(self, members: Sequence[Member]) -> None:
        """Perform all stages on *members*, in this thread."""
        for stage, worker in self._open():
            self._compute(stage, worker, members)

    def _compute(self, stage: Any, worker: Worker[Any], members: Sequence[Member]) -> None:
        for work_ids, payload in self._tasks(stage, members):
            began = time.time()
            try:
                receipt, rows = written(self._run, stage, work_ids, awaited(worker(payload)), began)
                self._keep(stage, members, work_ids, rows)
            except Exception as error:  # noqa: BLE001  # it costs its task only
                receipt = failed(stage, work_ids, error, began)
            self._tell(receipt)

    async def wait(self, members: Sequence[Member]) -> None:
        """Perform all stages on *members*; those of one step that wait on a network do so at once."""
        for (waits, _), alike in groupby(self._open(), key=lambda one: (one[0].asynchronous, one[0].step)):
            if waits:
                tasks = [(*one, *task) for one in alike for task in self._tasks(one[0], members)]
                await asyncio.gather(*(self._ask(members, *task) for task in tasks))
            else:
                for stage, worker in alike:
                    await beside(partial(self._compute, stage, worker, members))

    async def _ask(
        self, members: Sequence[Member], stage: Any, worker: Worker[Any], work_ids: list[str], payload: Any
    ) -> None:
        began = time.time()
        try:
            async with self._slots(stage):
                began, rows = time.time(), worker(payload)
                assert isinstance(rows, Awaitable), f"{stage.name} is marked asynchronous"
                made = await rows
            receipt, table = written(self._run, stage, work_ids, made, began)
            self._keep(stage, members, work_ids, table)
        except Exception as error:  # noqa: BLE001  # as above
            receipt = failed(stage, work_ids, error, began)
        self._tell(receipt)

    def _open(self) -> list[tuple[Any, Worker[Any]]]:
        if self._fault is not None:
            self._tell(hopeless(*self._fault))
            return []
        return self._workers

    def _slots(self, stage: Any) -> asyncio.Semaphore:
        """Return what bounds the tasks of a stage that are open at once."""
        if stage.name not in self._semaphores:
            self._semaphores[stage.name] = asyncio.Semaphore(stage.slots)
        return self._semaphores[stage.name]


class Operator(ABC, Generic[Member]):
    """The work of a pool of actors; it pickles."""

    stages: Sequence[Any]  # those that it performs, in their order

    @property
    def name(self) -> str:
        return ", ".join(stage.name for stage in self.stages)

    @property
    def asynchronous(self) -> bool:
        return any(stage.asynchronous for stage in self.stages)

    @property
    def holds_model(self) -> bool:
        return any(stage.holds_model for stage in self.stages)

    @property
    def resources(self) -> ResourcesSettings | None:
        return together(stage.resources for stage in self.stages)

    @property
    def slots(self) -> int:
        found: int = max(stage.slots for stage in self.stages)
        return found

    @abstractmethod
    def on_cores(self, cores: int) -> Self:
        """Return it as it runs in a process that has so many cores."""

    @abstractmethod
    def open(self, run: Folder, tell: Tell) -> Station[Member]:
        """Make the workers of its stages; *tell* takes each receipt."""

    @abstractmethod
    def arrives(self, members: Sequence[Member]) -> pa.Table:
        """Return what comes to it as Ray Data carries it."""

    @abstractmethod
    def received(self, block: pa.Table) -> list[Member]:
        """Return what came, from its Arrow form."""


@dataclass(frozen=True)
class OfParcels(Operator[Parcel]):
    """Stages of a run, on parcels; *later* ones stand in operators behind it."""

    stages: tuple[Stage[Any], ...]
    later: tuple[Stage[Any], ...] = ()

    def on_cores(self, cores: int) -> OfParcels:
        return replace(self, stages=tuple(stage.on_cores(cores) for stage in self.stages))

    def open(self, run: Folder, tell: Tell) -> Station[Parcel]:
        return _ParcelStation(run, tell, self.stages)

    def arrives(self, members: Sequence[Parcel]) -> pa.Table:
        ahead = (*self.stages, *self.later)
        return to_arrow(members, ahead, _columns_read(ahead))

    def received(self, block: pa.Table) -> list[Parcel]:
        return of_arrow(block, (*self.stages, *self.later))


def _columns_read(stages: Sequence[Stage[Any]]) -> dict[str, set[str]]:
    """Return the columns that stages read of a run's tables, by table."""
    found: dict[str, set[str]] = {}
    for stage in stages:
        for table, names in stage.reads.items():
            if table in _MADE:
                found.setdefault(table, set()).update(SCHEMAS[table].names if names == WHOLE else names)
    return found


_MADE = ("rankings", "contexts", "summaries", "units", "verdicts")
"""The tables of a run that its stages read."""


class _ParcelStation(Station[Parcel]):
    """Stages of a run, at work on queries."""

    def __init__(self, run: Folder, tell: Tell, stages: Sequence[Stage[Any]]) -> None:
        self._held: MutableMapping[Source, Sequence[TableRow]] = {}  # of the parcels that are here
        super().__init__(run, tell, stages)

    def _worker(self, stage: Stage[Any]) -> Worker[Any]:
        return stage.make_worker(self._held)

    def _tasks(self, stage: Stage[Any], members: Sequence[Parcel]) -> Iterator[tuple[list[str], Any]]:
        given = [one for parcel in members for one in parcel.given(stage.name)]
        for group in stage.groups(given):
            yield [one.work_id for one in group], [*group]

    def _keep(self, stage: Stage[Any], members: Sequence[Parcel], work_ids: Sequence[str], rows: pa.Table) -> None:
        mine = set(work_ids)
        made = rows.to_pylist()
        for parcel in members:
            of = [item.work_id for item in parcel.wanted.get(stage.name, []) if item.work_id in mine]
            parcel.keep(stage.table, of, (row for row in made if row["work_id"] in of))
            self._held.update((Source(stage.table, one), parcel.made[Source(stage.table, one)]) for one in of)

    def compute(self, members: Sequence[Parcel]) -> None:
        with _Held(self._held, members):
            super().compute(members)

    async def wait(self, members: Sequence[Parcel]) -> None:
        with _Held(self._held, members):
            await super().wait(members)


class _Held:
    """Lets the readers of a station find the rows of some parcels, in the `with`."""

    def __init__(self, held: MutableMapping[Source, Sequence[TableRow]], members: Sequence[Parcel]) -> None:
        self._held, self._members = held, members

    def __enter__(self) -> None:
        for parcel in self._members:
            self._held.update(parcel.made)

    def __exit__(self, *error: object) -> None:
        for parcel in self._members:
            for source in parcel.made:
                self._held.pop(source, None)


@dataclass(frozen=True, kw_only=True)
class Task:
    """One call of a worker outside the plan of a run: *payload* in, rows of `work_ids` out. The payload is small."""

    work_ids: tuple[str, ...]
    payload: Mapping[str, Any]  # what Arrow types: numbers, texts, lists and structures of them


@dataclass(frozen=True)
class OfTasks(Operator[Task]):
    """A stage outside the plan of a run, on tasks."""

    stages: tuple[PlainStage]

    def on_cores(self, _cores: int) -> OfTasks:
        return self  # its worker has one thread

    def open(self, run: Folder, tell: Tell) -> Station[Task]:
        return _TaskStation(run, tell, self.stages)

    def arrives(self, members: Sequence[Task]) -> pa.Table:
        return pa.Table.from_pylist([{"work_ids": [*one.work_ids], **one.payload} for one in members])

    def received(self, block: pa.Table) -> list[Task]:
        return [Task(work_ids=tuple(row.pop("work_ids")), payload=row) for row in block.to_pylist()]


@dataclass(frozen=True, kw_only=True)
class PlainStage:
    """A stage outside the plan of a run."""

    name: str
    table: str
    make_worker: Any = field(compare=False)  # makes the worker, on the worker's process
    columns: Sequence[str] | None = None
    unit: str = "rows"  # what progress counts, in the plural; one for each work id
    step: str = ""  # of a run: none
    holds_model: bool = False
    asynchronous: bool = False
    slots: int = 32
    resources: ResourcesSettings | None = None

    def on_cores(self, _cores: int) -> Self:
        """Return the stage itself: its worker has one thread."""
        return self


class _TaskStation(Station[Task]):
    """A stage outside the plan of a run, at work."""

    def _worker(self, stage: PlainStage) -> Worker[Any]:
        worker: Worker[Any] = stage.make_worker()
        return worker

    def _tasks(self, _stage: PlainStage, members: Sequence[Task]) -> Iterator[tuple[list[str], Any]]:
        for one in members:
            yield [*one.work_ids], one.payload


# ---------------------------------------------------------------- of which stages


def streams_of(stages: Sequence[Stage[Any]], *, apart: bool = False) -> list[list[Stage[Any]]]:
    """
    Return the streams in which *stages* are made; one ends where the next must see all its rows.

    If they are to stand *apart*, those that compute with a model are no part of a stream that waits on a network: calls
    are made in this process then, and what computes may go to workers.
    """
    found: list[list[Stage[Any]]] = []
    for stage in stages:
        dear = next((one for one in found[-1] if _needs(one)), None) if found else None
        differs = apart and dear is not None and _needs(stage) and dear.asynchronous != stage.asynchronous
        if not found or differs or stage.waits_for is not None:
            found.append([])
        found[-1].append(stage)
    return found


def operators_of(stages: Sequence[Stage[Any]]) -> list[OfParcels]:
    """
    Return the operators of a stream: consecutive stages of one part of the run that need the same of a worker.

    Documents are selected by one, summaries written and split by another, judged and scored by a third, if these need
    the same.
    """
    groups: list[list[Stage[Any]]] = []
    for stage in stages:
        if groups and _part(groups[-1][-1]) == _part(stage) and _join(groups[-1], stage):
            groups[-1].append(stage)
        else:
            groups.append([stage])
    found = []
    for place, group in enumerate(groups):
        later = tuple(stage for behind in groups[place + 1 :] for stage in behind)
        found.append(OfParcels(tuple(group), later))
    return found


_PARTS = {"retrieve": 0, "rerank": 0, "pack": 0, "summarize": 1, "split": 1}  # all others judge and score


def _part(stage: Stage[Any]) -> int:
    return _PARTS.get(stage.step, 2)


def _join(group: Sequence[Stage[Any]], stage: Stage[Any]) -> bool:
    """Return whether a worker that has the stages of *group* can have *stage*, too, and loses nothing by it."""
    dear = next((one for one in group if _needs(one)), None)
    return dear is None or not _needs(stage) or _needs(dear) == _needs(stage)


def _needs(stage: Stage[Any]) -> tuple[bool, ResourcesSettings | None] | None:
    """Return what a stage that waits or holds a model needs; None: it does neither."""
    return (stage.asynchronous, stage.resources) if stage.asynchronous or stage.holds_model else None
