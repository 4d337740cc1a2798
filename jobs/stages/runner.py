"""
Runs stages, and keeps the account of them: Parquet in, Parquet out.

Workers write what they make as parts of tables, and hand in a receipt for each; this process commits receipts as they
come. Work ids that a commit already holds are not done again, and a worker's error costs its task only.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TextIO

from actors.local_models.text_model import TEXTS_READ
from actors.storage.errors import StorageError
from actors.storage.folder import Folder
from actors.storage.tables import Part
from jobs.stages.cluster import Cluster
from jobs.stages.engines import Blocks, Place, fits, receipts
from jobs.stages.operators import OfParcels, OfTasks, Operator, PlainStage, Task, operators_of
from jobs.stages.parcels import Parcel, parcels_of, queries_of
from jobs.stages.performing import BUDGET, GONE, HOPELESS, Runnable, TaskReceipt
from jobs.stages.progress import Line, Progress
from jobs.stages.stage import Plan, Stage
from longform.errors import BudgetReachedError, LongformError, ServerGoneError, UsageError
from longform.keys import in_groups

RECEIPTS_A_COMMIT = 8
_COMMIT_S = 10.0  # what a command that is killed has to do again
_MOST_COMMITS = 4096  # of one stream: adding a commit costs time by the number of those that are there
_BLOCKS_A_WORKER = 8
_MOST_A_BLOCK = 8  # what a process that dies has to do again
_TOUCH_S = 0.25  # between two tasks of a stage that is at work all along
_MOST_TOGETHER = 64  # queries whose calls about one document go out together


class StageError(LongformError):
    """Some work of a stage failed, or it could not go on; what others made is kept."""


@dataclass(frozen=True, kw_only=True)
class StageReport:
    """Counts of one stage, for the run's record."""

    name: str
    table: str
    wanted: int  # work ids
    found: int  # of them, already there
    pieces: int  # of them, done now
    rows: int  # written now
    seconds: float  # in which some task of it was under way
    workers: int  # 0: the command's own process
    operator: str  # the stages that the same actors perform
    actors: int  # processes that did some of it
    began_at: float | None  # its first task, in seconds since 1970; None: there was none
    ended_at: float | None  # its last task


class Note(Protocol):
    """Takes what a stage has done so far; *final* marks the last report."""

    def __call__(self, report: StageReport, *, final: bool) -> None: ...


def no_note(report: StageReport, *, final: bool) -> None:
    """Note nothing."""


class Pulse(Protocol):
    """
    Takes how far a stage is, at work *since* a time in seconds since 1970.

    Of *wanted* work ids *todo* were not there when it began, and *done* of these are.
    """

    def __call__(self, stage: Runnable, *, wanted: int, todo: int, done: int, since: float) -> None: ...


def no_pulse(stage: Runnable, *, wanted: int, todo: int, done: int, since: float) -> None:
    """Take nothing."""


class Means(NamedTuple):
    """The means by which stages are run, and those who are told of them."""

    cluster: Cluster  # started when there is work
    note: Note = no_note  # called after every commit, and at the end, whatever it be
    log: TextIO | None = None  # where progress goes; None: to standard error
    notice: Callable[[], str] = str  # what lines of progress say besides; an empty text: nothing
    here: bool | None = None  # in this process; None: as the cluster says
    pulse: Pulse = no_pulse  # called at the beginning and with every receipt


class _Failure(NamedTuple):
    kind: str
    words: str
    n: int  # work ids


@dataclass
class _Account:
    """The account of a stage: what it was to do, and what it did."""

    stage: Runnable
    wanted: int
    todo: int
    operator: str
    done: int = 0
    committed: int = 0
    rows: int = 0
    spans: list[tuple[float, float]] = field(default_factory=list)  # in which it was at work, in order
    actors: set[str] = field(default_factory=set)
    failures: list[_Failure] = field(default_factory=list)

    def take(self, receipt: TaskReceipt) -> None:
        self.spans = with_span(self.spans, receipt["began"], receipt["ended"])
        self.actors.add(receipt["worker"])
        if receipt["error"]:
            self.failures.append(_Failure(receipt["error"], receipt["words"], len(receipt["work_ids"])))
        else:
            self.done += len(receipt["work_ids"])

    def report(self, workers: int) -> StageReport:
        """Count what is committed, and not what waits for it."""
        return StageReport(
            name=self.stage.name,
            table=self.stage.table,
            wanted=self.wanted,
            found=self.wanted - self.todo,
            pieces=self.committed,
            rows=self.rows,
            seconds=sum(end - begin for begin, end in self.spans),
            workers=workers,
            operator=self.operator,
            actors=len(self.actors),
            began_at=self.began,
            ended_at=self.spans[-1][1] if self.spans else None,
        )

    @property
    def began(self) -> float | None:
        return self.spans[0][0] if self.spans else None


def with_span(spans: Sequence[tuple[float, float]], began: float, ended: float) -> list[tuple[float, float]]:
    """Return *spans*, in order and apart from each other, with one more; those that all but touch become one."""
    before = [one for one in spans if one[1] + _TOUCH_S < began]
    behind = [one for one in spans if one[0] - _TOUCH_S > ended]
    joined = spans[len(before) : len(spans) - len(behind)]
    first, last = min([began, *(one[0] for one in joined)]), max([ended, *(one[1] for one in joined)])
    return [*before, (first, last), *behind]


class _Accounts:
    """The accounts of the stages of one stream: commits what is made, and tells of it."""

    def __init__(self, run: Folder, accounts: Iterable[_Account], means: Means, place: Place, n_blocks: int) -> None:
        self._run, self._means, self._place = run, means, place
        self.of = {account.stage.name: account for account in accounts}
        self._waiting: dict[str, list[tuple[_Account, Part]]] = {}
        self._committed_at = time.monotonic()
        self._a_commit = max(RECEIPTS_A_COMMIT, math.ceil(n_blocks * len(self.of) / _MOST_COMMITS))
        self._texts_before = TEXTS_READ.count
        lines = [Line(one.stage.name, one.stage.unit, one.todo, one.wanted - one.todo) for one in self.of.values()]
        self._progress = Progress(lines, means.log or sys.stderr, self._noticed)
        for account in self.of.values():
            self._pulse(account)

    def _noticed(self) -> str:
        n = TEXTS_READ.count - self._texts_before + sum(self._place.texts.values())
        return "; ".join(one for one in (self._means.notice(), f"{n:,} texts read" if n else "") if one)

    def take(self, receipt: TaskReceipt) -> None:
        account = self.of[receipt["stage"]]
        account.take(receipt)
        if not receipt["error"]:
            part = Part(path=receipt["path"], rows=receipt["rows"], work_ids=tuple(receipt["work_ids"]))
            self._waiting.setdefault(account.stage.table, []).append((account, part))
            self._pulse(account)
            self._progress.step(
                account.stage.name, len(part.work_ids), since=account.spans[0][0], where=self._place.words
            )
        if receipt["error"] == HOPELESS:
            raise StageError(f"{account.stage.name}: {receipt['words']}; what is finished is kept")
        if self._is_due(account):
            self.commit(final=False)

    def _is_due(self, account: _Account) -> bool:
        """Return whether what waits is to be committed, now that a receipt of a stage has come."""
        n = sum(map(len, self._waiting.values()))
        late = time.monotonic() - self._committed_at >= _COMMIT_S
        return n >= self._a_commit or bool(n and (late or account.done == account.todo))

    def _pulse(self, of: _Account) -> None:
        since = time.time() if of.began is None else of.began
        self._means.pulse(of.stage, wanted=of.wanted, todo=of.todo, done=of.done, since=since)

    def commit(self, *, final: bool) -> None:
        """Make count what waits, and note it."""
        while self._waiting:
            table, made = next(iter(self._waiting.items()))
            self._run.commit(table, [part for _, part in made])
            del self._waiting[table]
            for account, part in made:
                account.committed += len(part.work_ids)
                account.rows += part.rows
        self._committed_at = time.monotonic()
        if not final:
            self._note(final=False)

    def _note(self, *, final: bool) -> None:
        for account in self.of.values():
            if final or account.committed:
                self._means.note(account.report(self._place.workers), final=final)

    def close(self) -> None:
        """Commit the rest, also if the command is interrupted, and say what was done."""
        try:
            self.commit(final=True)
        finally:
            with suppress(StorageError):  # the next write tells it; what is noted is not lost with this one
                self._note(final=True)
            self._progress.end(self._place.words)

    def raise_failures(self) -> None:
        """
        Raise the error that the stream ends with, if it does.

        Raises:
            StageError: Work failed by its own fault.
            BudgetReachedError: The command may not spend what is left to do.
            ServerGoneError: No call of a model can succeed.
        """
        for kinds, error_of in ((GONE, _gone), (None, _faulty), (BUDGET, _spent)):
            for account in self.of.values():
                found = [one for one in account.failures if one.kind == kinds or (kinds is None and one.kind != BUDGET)]
                if found:
                    raise error_of(account, found)


def _gone(account: _Account, failures: Sequence[_Failure]) -> LongformError:
    return ServerGoneError(f"{failures[0].words}. {_kept(account)}; go on with the same command")


def _faulty(account: _Account, failures: Sequence[_Failure]) -> LongformError:
    n, stage, first = sum(one.n for one in failures), account.stage, failures[0].words
    failed = f"{stage.name}: {n:,} of {account.todo:,} {stage.unit} failed; what others made is kept"
    return StageError(f"{failed}. The first:{f'{chr(10)}{first}' if chr(10) in first else f' {first}'}")


def _spent(account: _Account, _failures: Sequence[_Failure]) -> LongformError:
    told = _kept(account).replace(": ", ": the budget is reached; ", 1)
    return BudgetReachedError(f"{told}. Go on with the same command and a larger budget")


def _kept(account: _Account) -> str:
    return f"{account.stage.name}: {account.done:,} of {account.todo:,} {account.stage.unit} are done and kept"


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
    account = _Account(stage, wanted, sum(len(task.work_ids) for task in tasks), stage.name)
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
        _Account(one, len(plan.items(one)), sum(len(of.wanted.get(one.name, ())) for of in parcels), operator.name)
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
        lacking = [one for one in read if one.work_id not in made and one.work_id not in located[one.table]]
        if lacking:
            table = lacking[0].table
            n, n_lacking = (sum(one.table == table for one in some) for some in (read, lacking))
            raise UsageError(
                f"{run.url}: {stage.name} reads {n} pieces of {table}, {n_lacking} are not there; do the stages before "
                "this one first, with `longform evaluate` or `longform replay`"
            )


# ---------------------------------------------------------------- inside


def _carried(
    run: Folder, chain: Sequence[Operator[Any]], blocks: Blocks, accounts: Sequence[_Account], means: Means
) -> list[StageReport]:
    place = Place(means.cluster, means.here)
    kept = _Accounts(run, accounts, means, place, len(blocks))
    try:
        for receipt in receipts(run, chain, blocks, place) if blocks else ():
            kept.take(receipt)
    finally:
        kept.close()
    kept.raise_failures()
    return [account.report(place.workers) for account in accounts]
