"""Operators at work: what an actor, or this process, does with that which comes to it."""

from __future__ import annotations

import asyncio
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, groupby
from typing import Any, Generic, TypeVar

import pyarrow as pa

from actors.storage.folder import Folder
from jobs.stages.items import Source
from jobs.stages.parcels import Parcel
from jobs.stages.performing import Runnable, Tell, Worker, awaited, failed, hopeless, written
from jobs.stages.stage import Stage
from longform.keys import in_groups
from longform.rows import TableRow
from longform.settings.strict import ResourcesSettings

Member = TypeVar("Member")

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
        deque(self.steps(members), 0)  # to the end

    def steps(self, members: Sequence[Member]) -> Iterator[None]:
        """Perform all stages on *members*, a task a step."""
        for stage, worker in self._open():
            yield from self._steps(stage, worker, members)

    def _steps(self, stage: Any, worker: Worker[Any], members: Sequence[Member]) -> Iterator[None]:
        for work_ids, payload in self._tasks(stage, members):
            began = time.time()
            try:
                receipt, rows = written(self._run, stage, work_ids, awaited(worker(payload)), began)
                self._keep(stage, members, work_ids, rows)
            except Exception as error:  # noqa: BLE001  # it costs its task only
                receipt = failed(stage, work_ids, error, began)
            self._tell(receipt)
            yield

    async def wait(self, members: Sequence[Member]) -> None:
        """Perform all stages on *members*; those of one step that wait on a network do so at once."""
        for (waits, _), alike in groupby(self._open(), key=lambda one: (one[0].asynchronous, one[0].step)):
            if waits:
                tasks = [(*one, *task) for one in alike for task in self._tasks(one[0], members)]
                await asyncio.gather(*(self._ask(members, *task) for task in tasks))
            else:
                for stage, worker in alike:
                    await beside(partial(deque, self._steps(stage, worker, members), 0))

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
        return self._semaphores.setdefault(stage.name, asyncio.Semaphore(stage.slots))


# ---------------------------------------------------------------- on queries of a run


class ParcelStation(Station[Parcel]):
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
        made, mine = in_groups((row["work_id"], row) for row in rows.to_pylist()), set(work_ids)
        for parcel in members:
            for item in parcel.wanted.get(stage.name, []):
                if item.work_id in mine:
                    source = Source(stage.table, item.work_id)
                    parcel.made[source] = self._held[source] = made.get(item.work_id, [])

    def steps(self, members: Sequence[Parcel]) -> Iterator[None]:
        with self._holding(members):
            yield from super().steps(members)

    async def wait(self, members: Sequence[Parcel]) -> None:
        with self._holding(members):
            await super().wait(members)

    @contextmanager
    def _holding(self, members: Sequence[Parcel]) -> Iterator[None]:
        """Let readers find the rows of *members*, in the `with`."""
        for parcel in members:
            self._held.update(parcel.made)
        try:
            yield
        finally:
            for source in chain.from_iterable(parcel.made for parcel in members):
                self._held.pop(source, None)


# ---------------------------------------------------------------- outside the plan of a run


@dataclass(frozen=True, kw_only=True)
class Task:
    """One call of a worker outside the plan of a run: *payload* in, rows of `work_ids` out. The payload is small."""

    work_ids: tuple[str, ...]
    payload: Mapping[str, Any]  # what Arrow types: numbers, texts, lists and structures of them


@dataclass(frozen=True, kw_only=True)
class PlainStage:
    """A stage outside the plan of a run."""

    name: str
    table: str
    make_worker: Callable[[], Worker[Any]] = field(compare=False)  # on the worker's process
    columns: Sequence[str] | None = None
    unit: str = "rows"  # what progress counts, in the plural; one for each work id
    step: str = ""  # of a run: none
    holds_model: bool = False
    asynchronous: bool = False
    slots: int = 32
    resources: ResourcesSettings | None = None


class TaskStation(Station[Task]):
    """A stage outside the plan of a run, at work."""

    def _worker(self, stage: PlainStage) -> Worker[Any]:
        return stage.make_worker()

    def _tasks(self, _stage: PlainStage, members: Sequence[Task]) -> Iterator[tuple[list[str], Any]]:
        for one in members:
            yield [*one.work_ids], one.payload
