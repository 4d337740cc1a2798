"""
Runs stages, and keeps the account of them: Parquet in, Parquet out.

Workers write what they make as parts of tables, and hand in a receipt for each; this process commits receipts as they
come. Work ids that a commit already holds are not done again, and a worker's error costs its task only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from actors.storage.folder import Folder
from jobs.stages.accounts import Account, Accounts, Means, StageReport
from jobs.stages.cluster import Cluster
from jobs.stages.engines import Place, receipts
from jobs.stages.items import lacking
from jobs.stages.on_ray import Blocks, fits
from jobs.stages.operators import OfParcels, OfTasks, Operator, operators_of
from jobs.stages.parcels import Parcel, parcels_of, queries_of
from jobs.stages.stage import Plan, Stage
from jobs.stages.stations import PlainStage, Task
from longform.keys import in_groups

_BLOCKS_A_WORKER = 8
_MOST_A_BLOCK = 8  # what a process that dies has to do again
_MOST_TOGETHER = 64  # queries whose calls about one document go out together


# ---------------------------------------------------------------- one stage outside a plan


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
    blocks = [tasks[at : at + size] for at in range(0, len(tasks), size)]
    account = Account(stage, wanted, sum(len(task.work_ids) for task in tasks), stage.name)
    return _carried(run, [OfTasks((stage,))], blocks, [account], means)[0]


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
    check_sources(run, stages, parcels, located)
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
    parcels: Sequence[Parcel], chain: Sequence[OfParcels], plan: Plan, *, workers: int
) -> list[Sequence[Parcel]]:
    """
    Return what goes through a chain together.

    Queries of one haystack do if calls about one document are to go out together; where somebody waits on a network,
    each query goes alone; else several, those of one haystack beside each other.
    """
    by_haystack = in_groups((plan.benchmark.queries[one.query_id].haystack_id, one) for one in parcels)
    if any(stage.shares_documents for one in chain for stage in one.stages):
        return [of[at : at + _MOST_TOGETHER] for of in by_haystack.values() for at in range(0, len(of), _MOST_TOGETHER)]
    dear = any(one.holds_model for one in chain)
    size = a_block(len(parcels), workers=workers, most=_MOST_A_BLOCK if dear else _MOST_TOGETHER)
    size = 1 if any(one.asynchronous for one in chain) else size
    beside = [parcel for of in by_haystack.values() for parcel in of]
    return [beside[at : at + size] for at in range(0, len(beside), size)]


def check_sources(
    run: Folder, stages: Sequence[Stage[Any]], parcels: Sequence[Parcel], located: Mapping[str, Mapping[str, str]]
) -> None:
    """
    Make sure that all is there that *stages* make nothing of themselves.

    Raises:
        UsageError: Some is not, as after a change of configuration that means other rows.
    """
    made = {item.work_id for parcel in parcels for of in parcel.wanted.values() for item in of}
    for stage in stages:
        read = {source for parcel in parcels for item in parcel.wanted.get(stage.name, ()) for source in item.sources}
        absent = [one for one in read if one.work_id not in made and one.work_id not in located[one.table]]
        if absent:
            table = absent[0].table
            n, n_lacking = (sum(one.table == table for one in some) for some in (read, absent))
            raise lacking(run, stage.name, table, n=n, n_lacking=n_lacking)


# ---------------------------------------------------------------- inside


def _carried(
    run: Folder, chain: Sequence[Operator[Any]], blocks: Blocks, accounts: Sequence[Account], means: Means
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
