"""The accounts of the stages of one stream: commits what workers have made, and tells of it."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TextIO

from actors.local_models.text_model import TEXTS_READ
from actors.storage.errors import StorageError
from actors.storage.folder import Folder
from actors.storage.tables import Part
from jobs.stages.cluster import Cluster
from jobs.stages.engines import Place
from jobs.stages.progress import Line, Progress
from jobs.stages.stage import Stage
from jobs.stages.stations import BUDGET, GONE, HOPELESS, TaskReceipt
from longform.errors import BudgetReachedError, LongformError, ServerGoneError

RECEIPTS_A_COMMIT = 8
_COMMIT_S = 10.0  # what a command that is killed has to do again
_MOST_COMMITS = 4096  # of one stream: adding a commit costs time by the number of those that are there
_TOUCH_S = 0.25  # between two tasks of a stage that is at work all along


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


class Pulse(Protocol):
    """
    Takes how far a stage is, at work *since* a time in seconds since 1970.

    Of *wanted* work ids *todo* were not there when it began, *done* of these are made, and *kept* of them committed.
    """

    def __call__(self, stage: Stage[Any], *, wanted: int, todo: int, done: int, kept: int, since: float) -> None: ...


class Means(NamedTuple):
    """The means by which stages are run, and those who are told of them."""

    cluster: Cluster  # started when there is work
    note: Note | None = None  # called after every commit, and at the end, whatever it be
    log: TextIO | None = None  # where progress goes; None: to standard error
    notice: Callable[[], str] = str  # what lines of progress say besides; an empty text: nothing
    here: bool | None = None  # in this process; None: as the cluster says
    pulse: Pulse | None = None  # called at the beginning and with every receipt


@dataclass
class Account:
    """The account of a stage: what it was to do, and what it did."""

    stage: Stage[Any]
    wanted: int
    todo: int
    operator: str
    committed: int = 0
    rows: int = 0
    made: set[str] = field(default_factory=set)  # work ids; what a lost worker did is done by another again
    spans: list[tuple[float, float]] = field(default_factory=list)  # in which it was at work, in order
    actors: set[str] = field(default_factory=set)
    failures: list[TaskReceipt] = field(default_factory=list)

    def take(self, receipt: TaskReceipt) -> None:
        self.spans = with_span(self.spans, receipt["began"], receipt["ended"])
        self.actors.add(receipt["worker"])
        if receipt["error"]:
            self.failures.append(receipt)

    @property
    def done(self) -> int:
        return len(self.made)

    def report(self, workers: int) -> StageReport:
        """Count what is committed, and not what waits for it."""
        return StageReport(
            name=self.stage.name, table=self.stage.table, wanted=self.wanted, found=self.wanted - self.todo,
            pieces=self.committed, rows=self.rows, seconds=sum(end - begin for begin, end in self.spans),
            workers=workers, operator=self.operator, actors=len(self.actors),
            began_at=self.spans[0][0] if self.spans else None, ended_at=self.spans[-1][1] if self.spans else None,
        )  # fmt: skip


def with_span(spans: Sequence[tuple[float, float]], began: float, ended: float) -> list[tuple[float, float]]:
    """Return *spans*, in order and apart from each other, with one more; those that all but touch become one."""
    before = [one for one in spans if one[1] + _TOUCH_S < began]
    behind = [one for one in spans if one[0] - _TOUCH_S > ended]
    joined = spans[len(before) : len(spans) - len(behind)]
    first, last = min([began, *(one[0] for one in joined)]), max([ended, *(one[1] for one in joined)])
    return [*before, (first, last), *behind]


class Accounts:
    """The accounts of the stages of one stream: commits what is made, and tells of it."""

    def __init__(self, run: Folder, accounts: Iterable[Account], means: Means, place: Place, n_blocks: int) -> None:
        self._run, self._means, self._place = run, means, place
        self.of = {account.stage.name: account for account in accounts}
        self._waiting: dict[str, list[tuple[Account, Part]]] = {}
        self._committed_at = time.monotonic()
        self._a_commit = max(RECEIPTS_A_COMMIT, math.ceil(n_blocks * len(self.of) / _MOST_COMMITS))
        self._texts_before = self._texts()
        lines = [Line(one.stage.name, one.stage.unit, one.todo, one.wanted - one.todo) for one in self.of.values()]
        self._progress = Progress(lines, means.log or sys.stderr, self._noticed)
        for account in self.of.values():
            self._pulse(account)

    def _noticed(self) -> str:
        n = self._texts() - self._texts_before
        return "; ".join(one for one in (self._means.notice(), f"{n:,} texts read" if n else "") if one)

    def _texts(self) -> int:
        """Return how many texts models have read for the command, here and at workers."""
        return TEXTS_READ.count + sum(self._means.cluster.inbox.texts.values())

    def take(self, receipt: TaskReceipt) -> None:
        """Count a receipt, and commit what waits if it is due."""
        account = self._counted(receipt)
        if receipt["error"] == HOPELESS:
            raise StageError(f"{account.stage.name}: {receipt['words']}; what is finished is kept")
        if self._is_due(account):
            self.commit(final=False)

    def _counted(self, receipt: TaskReceipt) -> Account:
        account = self.of[receipt["stage"]]
        account.take(receipt)
        new = () if receipt["error"] else tuple(one for one in receipt["work_ids"] if one not in account.made)
        if new:
            account.made.update(new)
            part = Part(path=receipt["path"], rows=receipt["rows"], work_ids=new)
            self._waiting.setdefault(account.stage.table, []).append((account, part))
            self._pulse(account)
            failed, since = receipt["failed"], account.spans[0][0]
            self._progress.step(account.stage.name, len(new), failed, since=since, where=self._place.words)
        return account

    def _is_due(self, account: Account) -> bool:
        """Return whether what waits is to be committed, now that a receipt of a stage has come."""
        n = sum(map(len, self._waiting.values()))
        late = time.monotonic() - self._committed_at >= _COMMIT_S
        return n >= self._a_commit or bool(n and (late or account.done == account.todo))

    def _pulse(self, of: Account) -> None:
        if self._means.pulse is not None:
            since, kept = of.spans[0][0] if of.spans else time.time(), of.committed
            self._means.pulse(of.stage, wanted=of.wanted, todo=of.todo, done=of.done, kept=kept, since=since)

    def commit(self, *, final: bool) -> None:
        """Make count what waits, and note it."""
        while self._waiting:
            table, made = next(iter(self._waiting.items()))
            self._run.commit(table, [part for _, part in made])
            del self._waiting[table]
            for account, part in made:
                account.committed += len(part.work_ids)
                account.rows += part.rows
            for account, _ in made:
                self._pulse(account)
        self._committed_at = time.monotonic()
        if not final:
            self._note(final=False)

    def _note(self, *, final: bool) -> None:
        for account in self.of.values():
            if self._means.note is not None and (final or account.committed):
                self._means.note(account.report(self._place.workers), final=final)

    def close(self) -> None:
        """Commit the rest, also if the command is interrupted, and say what was done."""
        try:
            for receipt in self._means.cluster.inbox.rest():
                self._counted(receipt)
            self.commit(final=True)
        finally:
            with suppress(StorageError):  # the next write tells it; what is noted is not lost with this one
                self._note(final=True)
            self._progress.end(self._place.words)

    def raise_failures(self) -> None:
        """
        Raise the error that the stream ends with, if it does.

        Raises:
            StageError: Work failed by its own fault, or no receipt tells of some.
            BudgetReachedError: The command may not spend what is left to do.
            ServerGoneError: No call of a model can succeed.
        """
        errors = [error for account in self.of.values() if (error := _error_of(account)) is not None]
        for kind in (ServerGoneError, StageError, BudgetReachedError):
            for error in (one for one in errors if isinstance(one, kind)):
                raise error
        for account in self.of.values():
            if lost := account.todo - account.done:
                told = f"{account.stage.name}: {lost:,} of {account.todo:,} {account.stage.unit} were not made"
                raise StageError(f"{told}, and nothing says why; the same command makes them")


def _error_of(account: Account) -> LongformError | None:
    """Return the error that a stage ends with; None: nothing of it failed."""
    stage, todo = account.stage, f"{account.todo:,} {account.stage.unit}"
    words = {one["error"]: one["words"] for one in reversed(account.failures)}
    kept = f"{account.done:,} of {todo} are done and kept"
    if GONE in words:
        return ServerGoneError(f"{words[GONE]}. {stage.name}: {kept}; go on with the same command")
    if faults := [one for one in account.failures if one["error"] != BUDGET]:
        n, first = sum(len(one["work_ids"]) for one in faults), faults[0]["words"]
        failed = f"{stage.name}: {n:,} of {todo} failed; what others made is kept"
        return StageError(f"{failed}. The first:{f'{chr(10)}{first}' if chr(10) in first else f' {first}'}")
    if not words:
        return None
    return BudgetReachedError(
        f"{stage.name}: the budget is reached; {kept}. Go on with the same command and a larger budget"
    )
