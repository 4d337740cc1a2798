"""
Runs stages, and keeps the account of them: Parquet in, Parquet out.

Workers write what they make as parts of tables, and hand in a receipt for each; this process commits receipts as they
come. Work ids that a commit already holds are not done again, and a worker's error costs its task only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar

from actors.storage.folder import Folder
from jobs.stages.accounts import Account, Accounts, Means, StageReport
from jobs.stages.cluster import Cluster
from jobs.stages.engines import Place, receipts
from jobs.stages.items import Item, Source, SourceReader, Worker, check_there
from jobs.stages.on_ray import Blocks, fits
from jobs.stages.operators import Operator, operators_of
from jobs.stages.parcels import Parcel, parcels_of, queries_of
from jobs.stages.stage import Plan, Stage, Works
from longform.keys import in_groups
from longform.schemas import SCHEMAS
from longform.settings.strict import ResourcesSettings

_BLOCKS_A_WORKER = 8
_MOST_A_BLOCK = 8  # what a process that dies has to do again
_MOST_TOGETHER = 64  # queries whose calls about one document go out together


# ---------------------------------------------------------------- one stage outside a plan


@dataclass(frozen=True, kw_only=True)
class Task:
    """One call of a worker outside the plan of a run: *payload* in, rows of `work_ids` out. The payload is small."""

    work_ids: tuple[str, ...]
    payload: Mapping[str, Any]  # of JSON values


@dataclass(frozen=True, kw_only=True)
class PlainStage(Stage[Any]):
    """
    A stage outside the plan of a run; it takes payloads, and reads nothing of the run by itself.

    The first item of a task has its payload for a key; the others have none.
    """

    reads: ClassVar = {}

    run: str = ""  # none
    name: str = ""
    table: str = ""
    make_worker: Callable[[], Worker[Any]] = field(compare=False)  # on the worker's process
    unit: str = "rows"  # what progress counts, in the plural; one for each work id
    step: str = ""  # of a run: none
    holds_model: bool = False
    asynchronous: bool = False
    slots: int = 32
    resources: ResourcesSettings | None = None

    @property
    def columns(self) -> Collection[str]:
        return tuple(SCHEMAS[self.table].names)

    def items(self, _plan: Plan) -> list[Item[Any]]:
        return []

    def parcel(self, task: Task) -> Parcel:
        """Return a task as a stream carries it."""
        first, *others = task.work_ids
        return Parcel("", {self.name: [Item(first, task.payload), *(Item(one, None) for one in others)]}, {})

    def groups(self, given: Sequence[Item[Any]]) -> Iterable[Sequence[Item[Any]]]:
        firsts = [place for place, one in enumerate(given) if one.key is not None]
        return [given[first:end] for first, end in pairwise([*firsts, len(given)])]

    def worker(self, _reader: SourceReader) -> Works[Any]:
        work = self.make_worker()
        return lambda given: work(given[0].key)


def run_stage(
    run: Folder,
    stage: PlainStage,
    wanted: int,  # work ids that the stage is to have in the end, done ones included
    tasks: Sequence[Task],  # those not done yet
    *,
    cluster: Cluster,
    **given: Any,  # of `Means`
) -> StageReport:
    """
    Do *tasks* and commit what they make.

    Raises:
        StageError: A task failed, or none can succeed; the message has the first error, with a traceback if it is ours.
        BudgetReachedError: The command may not spend what is left to do.
        ServerGoneError: No call of the stage's model can succeed.
    """
    means = Means(cluster, **given)
    size = 1 if stage.holds_model else a_block(len(tasks), workers=cluster.workers)
    parcels = [stage.parcel(task) for task in tasks]
    blocks = [parcels[at : at + size] for at in range(0, len(parcels), size)]
    account = Account(stage, wanted, sum(len(task.work_ids) for task in tasks), stage.name)
    return _carried(run, [Operator((stage,))], blocks, [account], means)[0]


def a_block(n: int, *, workers: int, most: int = _MOST_A_BLOCK) -> int:
    """
    Return how many members of a stream, which are not dear, go through it as one.

    Ray Data looks ten times a second which block is done, so that short ones leave a process idle for as long as they
    take. A block's rows go on when its last one is done; with eight blocks a worker the last ones end together.
    """
    return min(most, max(1, math.ceil(n / (_BLOCKS_A_WORKER * workers))))


# ---------------------------------------------------------------- stages of a run


def run_stages(run: Folder, plan: Plan, stages: Sequence[Stage[Any]], means: Means) -> list[StageReport]:
    """
    Make what *stages*, which follow each other in *plan*, have not made yet, as one stream.

    Raises:
        UsageError: What they are made from is not there.
        StageError: Some work failed, or none can succeed.
        BudgetReachedError: The command may not spend what is left to do.
        ServerGoneError: No call of a model can succeed.
    """
    chain = operators_of(stages)
    until = plan.stages[: plan.stages.index(stages[-1]) + 1]
    located = {table: run.locate(table) for table in dict.fromkeys(stage.table for stage in until)}
    parcels = parcels_of(stages, plan, located, queries_of(plan.items(one) for one in until))
    check_sources(run, stages, parcels)
    accounts = [
        Account(one, len(plan.items(one)), sum(len(of.wanted.get(one.name, ())) for of in parcels), operator.name)
        for operator in chain
        for one in operator.stages
    ]
    blocks = blocks_of(parcels, chain, plan, workers=means.cluster.workers)
    if blocks and len(chain) > 1 and not Place(means.cluster, means.here).begins_here:
        means.cluster.start()
        if not fits(chain, means.cluster):
            return [report for one in chain for report in run_stages(run, plan, one.stages, means)]
    return _carried(run, chain, blocks, accounts, means)


def blocks_of(
    parcels: Sequence[Parcel], chain: Sequence[Operator], plan: Plan, *, workers: int
) -> list[Sequence[Parcel]]:
    """
    Return what goes through a chain together.

    Queries of one haystack do if calls about one document are to go out together; else several, those of one haystack
    beside each other. Where somebody waits on a network blocks are eight times as many: an actor has them at once.
    """
    by_haystack = in_groups((plan.benchmark.queries[one.query_id].haystack_id, one) for one in parcels)
    if any(stage.shares_documents for one in chain for stage in one.stages):
        return [of[at : at + _MOST_TOGETHER] for of in by_haystack.values() for at in range(0, len(of), _MOST_TOGETHER)]
    waits = any(one.asynchronous for one in chain)
    most = _MOST_A_BLOCK if waits or any(one.holds_model for one in chain) else _MOST_TOGETHER
    size = a_block(len(parcels) // (_BLOCKS_A_WORKER if waits else 1), workers=workers, most=most)
    beside = [parcel for of in by_haystack.values() for parcel in of]
    return [beside[at : at + size] for at in range(0, len(beside), size)]


def check_sources(run: Folder, stages: Sequence[Stage[Any]], parcels: Sequence[Parcel]) -> None:
    """
    Make sure that all is there that *stages* make nothing of themselves.

    Raises:
        UsageError: Some is not, as after a change of configuration that means other rows.
    """
    wanted = [(stage, [one for parcel in parcels for one in parcel.wanted.get(stage.name, ())]) for stage in stages]
    made = {Source(stage.table, item.work_id) for stage, items in wanted for item in items}
    there = made.union(*(parcel.parts for parcel in parcels))
    for stage, items in wanted:
        check_there(run, stage.name, dict.fromkeys(source for item in items for source in item.sources), there)


# ---------------------------------------------------------------- inside


def _carried(
    run: Folder, chain: Sequence[Operator], blocks: Blocks, accounts: Sequence[Account], means: Means
) -> list[StageReport]:
    place = Place(means.cluster, means.here)
    kept = Accounts(run, accounts, means, place, len(blocks))
    try:
        for receipt in receipts(run, chain, blocks, place) if blocks else ():
            kept.take(receipt)
    finally:
        kept.close()
    kept.raise_failures()
    return [account.report(place.workers) for account in accounts]
