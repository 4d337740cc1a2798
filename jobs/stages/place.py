"""Choose where the tasks of a stage run: in this process, or as one Ray Data execution."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from actors.closing import noting
from actors.storage.folder import Folder
from jobs.stages.cluster import Cluster
from jobs.stages.in_process import receipts_of
from jobs.stages.performing import AsyncPerformer, Performer, Runnable, TaskReceipt, TaskRow, perform
from jobs.stages.reading import Told
from longform.settings.strict import ResourcesSettings

_MEASURED_S = 4.0  # of a stage in this process, before it may move to workers
_BLOCKS_A_WORKER = 8
_MOST_TASKS_A_BLOCK = 8  # what a process that dies has to do again


@dataclass
class Place:
    """The place where a stage runs: this process, or workers of a cluster."""

    cluster: Cluster
    here: bool | None  # this process; None: as the cluster says
    told: Told | None = None  # workers say there what they have read; None: they do not
    workers: int = 0  # those that the stage has used; 0: none but this process
    cores: int = 1  # those that the stage uses in this process
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
        return spent > _MEASURED_S and self.cluster.ends_sooner(spent / done * left, cores=self.cores)


def receipts(run: Folder, stage: Runnable, rows: Sequence[TaskRow], place: Place) -> Iterator[TaskReceipt]:
    """Perform the tasks of *rows* in this process, on Ray, or begin here and go on there."""
    done = 0
    on_gpus = stage.resources is not None and stage.resources.gpus > 0 and not place.cluster.in_process
    if place.begins_here and rows and not on_gpus:
        with closing(_here(run, stage, rows, place)) as begun:
            for receipt in begun:
                yield receipt
                done += 1
                if place.moves(done, len(rows) - done):
                    break
    if done < len(rows):
        place.workers = place.cluster.workers
        yield from _on_ray(run, stage, [row["task"] for row in rows[done:]], place)


def _here(run: Folder, stage: Runnable, rows: Sequence[TaskRow], place: Place) -> Generator[TaskReceipt, None, None]:
    alone = stage.on_cores(_cores())
    place.cores = 1 if alone == stage else _cores()
    with noting() as closes:
        performer = (AsyncPerformer if stage.asynchronous else Performer)(run, alone)
    place.begin()
    if isinstance(performer, Performer):
        yield from map(performer, rows)
    else:
        yield from receipts_of(performer, rows, slots=stage.slots, closes=closes)


def _cores() -> int:
    """Return the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1  # on systems that do not say it


def _on_ray(run: Folder, stage: Runnable, rows: Sequence[bytes], place: Place) -> Iterator[TaskReceipt]:
    cluster = place.cluster
    cluster.start()
    import ray.data
    from ray.data import ActorPoolStrategy, DataContext, TaskPoolStrategy

    context = DataContext.get_current()
    context.execution_options.verbose_progress = False
    context.execution_no_progress_timeout_s = -1  # it counts blocks; a rate-limited block may take long
    context.enable_progress_bars = False
    size = 1 if stage.holds_model else tasks_a_block(len(rows), workers=cluster.workers)
    dataset = ray.data.from_arrow([pa.table({"task": rows[at : at + size]}) for at in range(0, len(rows), size)])
    given = {"run": run, "stage": stage, "told": place.told}
    asked = stage.resources or ResourcesSettings()
    wants: dict[str, Any] = {"num_cpus": cluster.cpus if asked.num_cpus is None else asked.num_cpus}
    if asked.gpus:
        wants["num_gpus"] = asked.gpus
    elif cluster.has_gpus():  # Ray leaves the GPUs of a node in sight of processes that asked for none
        wants["runtime_env"] = {"env_vars": {"CUDA_VISIBLE_DEVICES": ""}}
    workers = min(cluster.workers, len(rows), cluster.n_with_gpus(asked.gpus))
    if stage.asynchronous:
        pool = ActorPoolStrategy(
            size=workers,
            max_concurrent_calls_per_actor=stage.slots,
            # No queue at an actor: the first one up would take the tasks of those still loading.
            max_tasks_in_flight_per_actor=stage.slots,
        )
        mapped = dataset.map(AsyncPerformer, fn_constructor_kwargs=given, compute=pool, **wants)
    elif asked.gpus:  # Ray ends the process of a plain task that had a GPU, and the model with it
        compute = ActorPoolStrategy(size=workers, max_tasks_in_flight_per_actor=1)
        mapped = dataset.map(Performer, fn_constructor_kwargs=given, compute=compute, **wants)
    else:  # Ray hands the tasks of all stages to the same processes, which have loaded the libraries of a model once
        tasks = TaskPoolStrategy(size=workers)
        mapped = dataset.map(perform, fn_kwargs=given, compute=tasks, **wants)
    yield from mapped.iter_rows()


def tasks_a_block(n_tasks: int, *, workers: int) -> int:
    """
    Return how many tasks that hold no model a process is handed at once.

    Ray Data looks ten times a second which block is done, so that short tasks one by one leave a process idle for as
    long as they take. A block's receipts come when its last task is done; with eight blocks a worker the last ones end
    together.
    """
    return min(_MOST_TASKS_A_BLOCK, max(1, math.ceil(n_tasks / (_BLOCKS_A_WORKER * workers))))
