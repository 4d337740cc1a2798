"""Run a chain of operators as one Ray Data execution: a pool of actors an operator, Arrow tables between them."""

from __future__ import annotations

import math
import os
import sys
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from actors.ledger.entry import this_host
from actors.local_models.text_model import TEXTS_READ
from actors.storage.folder import Folder
from actors.terminal import say
from jobs.stages.cluster import Cluster
from jobs.stages.operators import Operator
from jobs.stages.parcels import Parcel
from jobs.stages.stations import Station, TaskReceipt

Blocks = Sequence[Sequence[Parcel]]
"""The parcels that come to the first operator; a block of them goes through the chain as one."""

_WAITING_CPUS = 0.1  # of an actor that waits on a network
_POLL_S = 0.1


class _Actor:
    """An actor of a pool: an operator at its station, behind Arrow tables."""

    def __init__(self, run: Folder, operator: Operator, behind: Operator | None, desk: Any) -> None:
        self._operator, self._behind, self._desk = operator, behind, desk
        self._last: Any = None  # receipt on its way; those before it have come when it has
        before, worker = TEXTS_READ.count, f"{this_host()}-{os.getpid()}"
        TEXTS_READ.report_to(lambda count: desk.has_read.remote(worker, count - before))
        self._station = Station(run, self._tell, operator.stages)

    def _tell(self, receipt: TaskReceipt) -> None:
        self._last = self._desk.put.remote(receipt)

    def _passed_on(self, parcels: Sequence[Parcel]) -> pa.Table:
        if self._behind is None:
            return pa.table({"done": pa.array([len(parcels)])})
        return self._behind.arrives(parcels)


class ComputingActor(_Actor):
    """An actor whose operator computes."""

    def __call__(self, block: pa.Table) -> pa.Table:
        parcels = self._operator.received(block)
        self._station.compute(parcels)
        if self._last is not None:
            import ray

            ray.get(self._last)
        return self._passed_on(parcels)


class WaitingActor(_Actor):
    """An actor whose operator waits on a network: many blocks at once on one event loop."""

    async def __call__(self, block: pa.Table) -> pa.Table:
        parcels = self._operator.received(block)
        await self._station.wait(parcels)
        if self._last is not None:
            await self._last
        return self._passed_on(parcels)


def on_ray(
    run: Folder, chain: Sequence[Operator], blocks: Blocks, cluster: Cluster
) -> Generator[TaskReceipt, None, None]:
    """Yield the receipts of a chain as they come into the inbox of the cluster's command."""
    cluster.start()
    inbox = cluster.inbox
    with _stream(run, chain, blocks, cluster, inbox.desk()) as over:
        while True:
            ended = over.is_set()  # before the last look at the desk
            inbox.look()
            yield from inbox.come()
            if ended:
                return
            over.wait(_POLL_S)


@contextmanager
def _stream(
    run: Folder, chain: Sequence[Operator], blocks: Blocks, cluster: Cluster, desk: Any
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


def _begun(run: Folder, chain: Sequence[Operator], blocks: Blocks, cluster: Cluster, desk: Any) -> tuple[Any, Any]:
    """Return the executor of a chain, and what yields its last operator's blocks."""
    import ray.data
    from ray.data import DataContext

    context = DataContext.get_current()
    context.execution_options.verbose_progress = False
    context.execution_no_progress_timeout_s = -1  # it counts blocks; a rate-limited block may take long
    context.enable_progress_bars = False
    dataset = ray.data.from_blocks([chain[0].arrives(block) for block in blocks])  # `from_arrow` has a worker count
    for operator, behind in zip(chain, [*chain[1:], None], strict=True):
        given = {"run": run, "operator": operator, "behind": behind, "desk": desk}
        wants = _wants(operator, chain, cluster)
        dataset = dataset.map_batches(
            WaitingActor if operator.asynchronous else ComputingActor,
            fn_constructor_kwargs=given,
            batch_size=max(map(len, blocks)) if "num_gpus" in wants else None,  # None is refused where there are GPUs
            batch_format="pyarrow",
            compute=_pool(operator, chain, cluster, blocks),
            **wants,
        )
    # No public name ends an execution, and those that begin one wait for the first block to be through the chain.
    executor = dataset._create_executor()  # noqa: SLF001
    return executor, dataset._build_bundle_iterator(executor)  # noqa: SLF001


def _pool(operator: Operator, chain: Sequence[Operator], cluster: Cluster, blocks: Blocks) -> Any:
    from ray.data import ActorPoolStrategy

    size = max(1, min(cluster.workers, len(blocks), cluster.n_with_gpus(operator.resources.gpus)))
    if operator.asynchronous:
        # No queue at an actor: the first one up would take the blocks of those still loading.
        most = min(operator.slots, max(2, math.ceil(operator.slots * len(blocks) / sum(map(len, blocks)))))
        calls = {"max_concurrent_calls_per_actor": most, "max_tasks_in_flight_per_actor": most}
        return ActorPoolStrategy(size=min(size, math.ceil(len(blocks) / most)), **calls)
    # A second block at an actor lets the pool grow, and no actor wait for Ray Data's next look at what is done.
    least = min(size, _least(operator, chain, cluster))
    return ActorPoolStrategy(min_size=least, max_size=size, max_tasks_in_flight_per_actor=2)


def _least(operator: Operator, chain: Sequence[Operator], cluster: Cluster) -> int:
    """Return the actors with which a pool begins: all if it waits, or holds models and has the command's Ray alone."""
    alone = sum(not one.asynchronous for one in chain) == 1 and not cluster.is_named
    return cluster.workers if operator.asynchronous or (alone and operator.holds_model) else 1


def _wants(operator: Operator, chain: Sequence[Operator], cluster: Cluster) -> dict[str, Any]:
    """Return what an actor of an operator asks for."""
    wants: dict[str, Any] = {"num_cpus": _cpus(operator, chain, cluster)}
    if gpus := operator.resources.gpus:
        wants["num_gpus"] = gpus
    elif cluster.has_gpus():  # Ray leaves the GPUs of a node in sight of processes that asked for none
        wants["runtime_env"] = {"env_vars": {"CUDA_VISIBLE_DEVICES": ""}}
    return wants


def _cpus(operator: Operator, chain: Sequence[Operator], cluster: Cluster) -> float:
    """Return the processors of an actor: its parts' wish, else what lets as many compute as there are workers."""
    if operator.resources.num_cpus is not None:
        return operator.resources.num_cpus
    if operator.asynchronous:
        return _WAITING_CPUS
    n_waiting = sum(one.asynchronous for one in chain)
    share = (cluster.cpus - _WAITING_CPUS * n_waiting) * min(1, cluster.workers / (len(chain) - n_waiting))
    return max(_WAITING_CPUS, math.floor(100 * share) / 100)


def fits(chain: Sequence[Operator], cluster: Cluster) -> bool:
    """Return whether the least actors of a chain find room on the cluster, which runs; if not, say so: none streams."""
    import ray

    least = sum(_cpus(one, chain, cluster) * _least(one, chain, cluster) for one in chain)
    there = ray.cluster_resources().get("CPU", 0.0)
    if least > there:
        told = f"the cluster has {there:g} processors, and {len(chain)} operators at once ask for {least:g}"
        say(f"{told}: they run one after the other", file=sys.stderr)
    return bool(least <= there)
