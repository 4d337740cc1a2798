"""The seconds of a stage's work by its tasks' own clocks, from the moment when every worker is there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from jobs.stages.cluster import Cluster
from jobs.stages.items import Item, Worker
from jobs.stages.runner import PlainStage, Task, run_stage
from jobs.stages.stage import Stage


def seconds_of(
    stage: Stage[Any], given: Sequence[Sequence[Item[Any]]], n_items: int, *, clocks: Path, workers: int
) -> float:
    """
    Return the seconds from the first task's start to the last one's end; *clocks* is a folder for their notes.

    A task is one of those that the stage is *given*, by its place.
    """
    from actors.storage.folder import Folder

    clocks.mkdir(parents=True)
    told = PlainStage(
        name=stage.name,
        table=stage.table,
        make_worker=timed(stage.opened, given, str(clocks), workers, asynchronous=stage.asynchronous),
        holds_model=True,
        asynchronous=stage.asynchronous,
        slots=stage.slots,
    )
    tasks = [Task(work_ids=tuple(one.work_id for one in of), payload={"place": n}) for n, of in enumerate(given)]
    run_stage(Folder(stage.run), told, n_items, tasks, cluster=Cluster(address=None, workers=workers))
    spans = [tuple(map(float, file.read_text().split())) for file in clocks.glob("task-*")]
    assert len(spans) == len(tasks)
    return max(end for _, end in spans) - min(start for start, _ in spans)


def timed(
    make_worker: Callable[[], Worker], given: Sequence[Any], folder: str, workers: int, *, asynchronous: bool = False
) -> Callable[[], Worker]:
    """The same worker, whose tasks begin when all workers are there and note when they did; a closure, to travel."""

    def make() -> Worker:
        import asyncio
        import inspect
        import os
        import time
        import uuid
        from pathlib import Path

        worker, clocks = make_worker(), Path(folder)
        (clocks / f"worker-{os.getpid()}").touch()

        def timed(payload: Any) -> Any:
            while len(list(clocks.glob("worker-*"))) < workers:
                time.sleep(0.01)
            start = time.time()
            made = worker(given[payload["place"]])
            rows = asyncio.run(made) if inspect.iscoroutine(made) else made
            (clocks / f"task-{uuid.uuid4().hex}").write_text(f"{start} {time.time()}")
            return rows

        def n_there() -> int:
            return len(list(clocks.glob("worker-*")))

        async def timed_waiting(payload: Any) -> Any:
            while n_there() < workers:  # noqa: ASYNC110  those are other processes
                await asyncio.sleep(0.01)
            start = time.time()
            rows = await worker(given[payload["place"]])
            (clocks / f"task-{uuid.uuid4().hex}").write_text(f"{start} {time.time()}")
            return rows

        return timed_waiting if asynchronous else timed

    return make
