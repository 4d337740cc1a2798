"""
Run a chain of operators on blocks of what comes to it: in this process, or as one Ray Data execution.

Either way several blocks are under way at once, each operator works on what the one before it has just finished, and a
receipt is yielded as soon as its part is written.
"""

from __future__ import annotations

import asyncio
import math
import os
import queue
import threading
import time
from collections.abc import Coroutine, Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any

import pyarrow as pa

from actors.closing import Close, noting
from actors.ledger.entry import this_host
from actors.local_models.text_model import TEXTS_READ
from actors.storage.folder import Folder
from jobs.stages.cluster import Cluster
from jobs.stages.operators import Operator, Station, beside
from jobs.stages.performing import TaskReceipt
from longform.settings.strict import ResourcesSettings

Blocks = Sequence[Sequence[Any]]
"""The members that come to the first operator; a block of them goes through the chain as one."""

_MEASURED_S = 4.0  # in this process, before the rest may move to workers
_WAITING_CPUS = 0.1  # of an actor that waits on a network
_POLL_S = 0.1
_CLOSE_S = 5.0  # from the end of the blocks, or the cancelling of those under way


@dataclass
class Place:
    """The place where a chain runs: this process, or workers of a cluster."""

    cluster: Cluster
    here: bool | None  # this process; None: as the cluster says
    workers: int = 0  # those that the chain has used; 0: none but this process
    cores: int = 1  # those that the chain uses in this process
    texts: dict[str, int] = field(default_factory=dict)  # read by local models, by worker
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
        """Return whether the blocks that are *left* go to workers, after so many that were *done* here."""
        if self.here is not None or not self.cluster.measures or not left or not done:
            return False
        spent = time.monotonic() - self._since
        return spent > _MEASURED_S and self.cluster.ends_sooner(spent / done * left, cores=self.cores)


def receipts(run: Folder, chain: Sequence[Operator[Any]], blocks: Blocks, place: Place) -> Iterator[TaskReceipt]:
    """Send *blocks* through *chain* in this process, on Ray, or begin here and go on there."""
    done = 0
    on_gpus = any(one.resources is not None and one.resources.gpus > 0 for one in chain)
    if place.begins_here and (place.cluster.in_process or not on_gpus or place.here):
        with closing(_here(run, chain, blocks, place)) as begun:
            for receipt in begun:
                if isinstance(receipt, int):
                    done = receipt
                    if place.moves(done, len(blocks) - done):
                        break
                else:
                    yield receipt
    if done < len(blocks):
        place.workers = place.cluster.workers
        yield from _on_ray(run, chain, blocks[done:], place)


# ---------------------------------------------------------------- in this process


def _here(
    run: Folder, chain: Sequence[Operator[Any]], blocks: Blocks, place: Place
) -> Generator[TaskReceipt | int, None, None]:
    """Yield receipts, and after each block how many have gone through; none that began is left half done by a caller
    who stops at such a number, unless some operator waits.
    """
    cores = _cores()
    alone = [one.on_cores(cores) for one in chain]
    place.cores = 1 if alone == [*chain] else cores
    told: queue.SimpleQueue[TaskReceipt] = queue.SimpleQueue()
    with noting() as closes:
        stations = [(one, one.open(run, told.put)) for one in alone]
    place.begin()
    if not any(one.asynchronous for one in alone):
        for done, block in enumerate(blocks, start=1):
            for _, station in stations:
                station.compute(block)
                yield from _waiting(told)
            yield done
        return
    slots = max(one.slots for one in alone if one.asynchronous)
    travels = (_travel(block, stations) for block in blocks)
    with closing(_on_loop(travels, told, slots=slots, closes=closes)) as going:
        yield from going
    yield len(blocks)


def _waiting(told: queue.SimpleQueue[TaskReceipt]) -> Iterator[TaskReceipt]:
    with suppress(queue.Empty):
        while True:
            yield told.get_nowait()


async def _travel(block: Sequence[Any], stations: Sequence[tuple[Operator[Any], Station[Any]]]) -> None:
    """Send a block through all stations; those that compute do so beside the loop, one at a time."""
    for operator, station in stations:
        if operator.asynchronous:
            await station.wait(block)
        else:
            await beside(partial(station.compute, block))


def _on_loop(
    travels: Iterator[Coroutine[Any, Any, None]],
    told: queue.SimpleQueue[TaskReceipt],
    *,
    slots: int,  # blocks that are under way at once
    closes: Sequence[Close],  # close what the stations opened, in the end
) -> Generator[TaskReceipt, None, None]:
    """
    Send blocks on their way on an event loop of this thread, and yield each receipt when it is there.

    The loop stands still while the caller has a receipt in hand. A caller that stops cancels what is under way.
    """
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        running: set[asyncio.Future[None]] = set()
        try:
            while True:
                running |= {
                    asyncio.ensure_future(travel, loop=loop) for travel in islice(travels, slots - len(running))
                }
                if not running:
                    return
                done, running = loop.run_until_complete(
                    asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED, timeout=_POLL_S)
                )
                yield from _waiting(told)
                for travelled in done:
                    travelled.result()
        finally:
            loop.call_soon(loop.stop)
            loop.run_forever()  # an interrupt leaves the end of the wait above to be seen, which would end the next one
            loop.run_until_complete(_end(running, closes))


async def _end(running: Sequence[Any] | set[asyncio.Future[None]], closes: Sequence[Close]) -> None:
    """Cancel and close; what takes longer is left to the loop, which cancels it."""
    until = asyncio.get_running_loop().time() + _CLOSE_S
    for task in running:
        task.cancel()
    await asyncio.wait([asyncio.ensure_future(asyncio.gather(*running, return_exceptions=True))], timeout=_CLOSE_S)
    for close in closes:
        with suppress(TimeoutError):
            async with asyncio.timeout_at(until):
                await close()


def _cores() -> int:
    """Return the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1  # on systems that do not say it


# ---------------------------------------------------------------- on Ray


class Desk:
    """An actor that takes receipts from workers, and the number of texts each has read, until the command asks."""

    def __init__(self) -> None:
        self._receipts: list[TaskReceipt] = []
        self._texts: dict[str, int] = {}

    def put(self, receipt: TaskReceipt) -> None:
        self._receipts.append(receipt)

    def has_read(self, worker: str, count: int) -> None:
        self._texts[worker] = count

    def take(self) -> tuple[list[TaskReceipt], dict[str, int]]:
        taken, self._receipts = self._receipts, []
        return taken, self._texts


class _Actor:
    """An actor of a pool: an operator at its station, behind Arrow tables."""

    def __init__(self, run: Folder, operator: Operator[Any], behind: Operator[Any] | None, desk: Any) -> None:
        self._operator, self._behind, self._desk = operator, behind, desk
        before, worker = TEXTS_READ.count, f"{this_host()}-{os.getpid()}"
        TEXTS_READ.report_to(lambda count: desk.has_read.remote(worker, count - before))
        self._station = operator.open(run, desk.put.remote)

    def _passed_on(self, members: Sequence[Any]) -> pa.Table:
        if self._behind is None:
            return pa.table({"done": pa.array([len(members)])})
        return self._behind.arrives(members)


class ComputingActor(_Actor):
    """An actor whose operator computes."""

    def __call__(self, block: pa.Table) -> pa.Table:
        members = self._operator.received(block)
        self._station.compute(members)
        return self._passed_on(members)


class WaitingActor(_Actor):
    """An actor whose operator waits on a network: many blocks at once on one event loop."""

    async def __call__(self, block: pa.Table) -> pa.Table:
        members = self._operator.received(block)
        await self._station.wait(members)
        return self._passed_on(members)


def _on_ray(
    run: Folder, chain: Sequence[Operator[Any]], blocks: Blocks, place: Place
) -> Generator[TaskReceipt, None, None]:
    place.cluster.start()
    import ray

    desk: Any = ray.remote(num_cpus=0, max_restarts=0)(Desk).remote()
    with _stream(run, chain, blocks, place.cluster, desk) as over:
        while True:
            ended = over.is_set()  # before the last look at the desk
            taken, texts = ray.get(desk.take.remote())
            place.texts.update(texts)
            yield from taken
            if ended:
                break
            if not taken:
                over.wait(_POLL_S)
    ray.kill(desk)


@contextmanager
def _stream(
    run: Folder, chain: Sequence[Operator[Any]], blocks: Blocks, cluster: Cluster, desk: Any
) -> Iterator[threading.Event]:
    """Run the chain in the `with`, in a thread; the event is set at its end. What it raises is raised by the `with`."""
    executor, bundles = _begun(run, chain, blocks, cluster, desk)
    over, errors = threading.Event(), list[BaseException]()

    def consume() -> None:
        try:
            for _ in bundles:
                pass
        except BaseException as error:  # noqa: BLE001  # it is raised below
            errors.append(error)
        over.set()

    thread = threading.Thread(target=consume, daemon=True)
    thread.start()
    try:
        yield over
    finally:
        if not over.is_set():
            executor.shutdown(force=True)
    if errors:
        raise errors[0]


def _begun(run: Folder, chain: Sequence[Operator[Any]], blocks: Blocks, cluster: Cluster, desk: Any) -> tuple[Any, Any]:
    """Return the executor of a chain, and what yields its last operator's blocks."""
    import ray.data
    from ray.data import DataContext

    context = DataContext.get_current()
    context.execution_options.verbose_progress = False
    context.execution_no_progress_timeout_s = -1  # it counts blocks; a rate-limited block may take long
    context.enable_progress_bars = False
    size = max(map(len, blocks))
    dataset = ray.data.from_arrow([chain[0].arrives(block) for block in blocks])
    for operator, behind in zip(chain, [*chain[1:], None], strict=True):
        given = {"run": run, "operator": operator, "behind": behind, "desk": desk}
        wants = _wants(operator, chain, cluster)
        dataset = dataset.map_batches(
            WaitingActor if operator.asynchronous else ComputingActor,
            fn_constructor_kwargs=given,
            batch_size=size if "num_gpus" in wants else None,  # a block; Ray Data takes no None where there are GPUs
            batch_format="pyarrow",
            compute=_pool(operator, cluster, n_blocks=len(blocks)),
            **wants,
        )
    bundles, _, executor = dataset._execute_to_iterator(capture_executor=False)  # noqa: SLF001  # no public name ends it
    return executor, bundles


def _pool(operator: Operator[Any], cluster: Cluster, *, n_blocks: int) -> Any:
    from ray.data import ActorPoolStrategy

    asked = operator.resources or ResourcesSettings()
    size = max(1, min(cluster.workers, n_blocks, cluster.n_with_gpus(asked.gpus)))
    if operator.asynchronous:
        # No queue at an actor: the first one up would take the blocks of those still loading.
        calls = {"max_concurrent_calls_per_actor": operator.slots, "max_tasks_in_flight_per_actor": operator.slots}
        return ActorPoolStrategy(size=size, **calls)
    # A second block at an actor lets the pool grow, and no actor wait for Ray Data's next look at what is done.
    return ActorPoolStrategy(min_size=1, max_size=size, max_tasks_in_flight_per_actor=2)


def _wants(operator: Operator[Any], chain: Sequence[Operator[Any]], cluster: Cluster) -> dict[str, Any]:
    """Return what an actor of an operator asks for."""
    asked = operator.resources or ResourcesSettings()
    wants: dict[str, Any] = {"num_cpus": _cpus(operator, chain, cluster)}
    if asked.gpus:
        wants["num_gpus"] = asked.gpus
    elif cluster.has_gpus():  # Ray leaves the GPUs of a node in sight of processes that asked for none
        wants["runtime_env"] = {"env_vars": {"CUDA_VISIBLE_DEVICES": ""}}
    return wants


def _cpus(operator: Operator[Any], chain: Sequence[Operator[Any]], cluster: Cluster) -> float:
    """Return the processors of an actor: what its parts ask for, else a share of what a worker of the command has."""
    asked = operator.resources or ResourcesSettings()
    if asked.num_cpus is not None:
        return asked.num_cpus
    if operator.asynchronous:
        return _WAITING_CPUS
    n_waiting = sum(one.asynchronous for one in chain)
    share = (cluster.cpus - _WAITING_CPUS * n_waiting) / (len(chain) - n_waiting)
    return max(_WAITING_CPUS, math.floor(100 * share) / 100)


def fits(chain: Sequence[Operator[Any]], cluster: Cluster) -> bool:
    """Return whether all actors of a chain find room on the cluster, which runs: else nothing would stream."""
    import ray

    wanted = sum(_cpus(one, chain, cluster) for one in chain) * cluster.workers
    return bool(wanted <= ray.cluster_resources().get("CPU", 0.0))
