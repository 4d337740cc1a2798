"""
Writes a command's calls to the ledger and enforces its budget.

One keeper a command, on the driver's node: a Ray actor, or an object in a process without Ray. It knows whether the
driver lives, the command's budget, and the worker of each call under way.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import ClassVar, NamedTuple

from actors.authority import Actor, Local, Remote, actor_of, ray_runs
from actors.ledger.entry import Session, process_lives, this_session
from actors.ledger.ledger import Ledger
from longform.chat.call import ChatReply
from longform.chat.failures import CANCELLED, REFUSED, may_pass
from longform.chat.ledger_rows import Admission, Intent, Receipt
from longform.chat.server_standing import Server, Standing, Watch

NAMESPACE = "longform"
_BEFORE = "a worker of the keeper before"
_SILENT_S = 10.0  # a worker with calls under way says something every second
_PATIENCE_S = 60.0  # for a keeper that starts again


class Budget(NamedTuple):
    """The budget of one command; None: no limit."""

    max_usd: float | None = None
    max_calls: int | None = None


NO_LIMIT = Budget()


class Spent(NamedTuple):
    """The calls of a command so far, and the dollars that those of known prices cost at most."""

    n_calls: int
    usd: float

    def words(self) -> str:
        cost = f", at most ${self.usd:,.2f}" if self.usd else ""
        return f"{self.n_calls:,} calls{cost}"


class _Open(NamedTuple):
    worker: str
    usd: float


class WorkerMessage(NamedTuple):
    """An exchange of one worker: its calls about to leave, and what others came to."""

    worker: str
    intents: Sequence[Intent]
    receipts: Sequence[Receipt]


class LedgerKeeper:
    """The one process that writes the calls of a command to a ledger, within its budget."""

    joins: ClassVar = {"exchange": "exchange_all"}  # in an actor: one durable step for all that wait

    def __init__(
        self,
        ledger_url: str,
        job: str,  # the command's name in the ledger
        budget: Budget = NO_LIMIT,  # spending of an earlier keeper of the same job counts
        driver: Session
        | None = None,  # if this process is gone, no call leaves any more; None: no driver but ourselves
        clock: Callable[[], float] = time.monotonic,  # monotonic seconds
    ) -> None:
        # of the driver's process: what is in flight stays so for other commands while a keeper starts again
        self._ledger = Ledger(ledger_url, job=job, session=driver)
        self._budget, self._driver, self._clock = budget, driver, clock
        left = self._ledger.open_of(job)
        # A predecessor's: those whose workers live are settled by them, the rest is given up like a silent worker's.
        self._open = {attempt_id: _Open(_BEFORE, usd) for attempt_id, usd in left.items()}
        self._heard = {_BEFORE: clock()} if left else {}
        self._final: dict[str, ChatReply] = {}  # failures that another call would meet again
        self._reused: Counter[str] = Counter()  # by stage
        totals = self._ledger.totals(job=job)
        self._spent_usd = totals.known_usd + totals.unknown_at_most_usd + totals.unsettled_usd - sum(left.values())
        self._n_calls = totals.calls - totals.refused
        self._watches: dict[Server, Watch] = {}
        self._ends: dict[Server, str] = {}  # why the command should end
        self._answered_before: dict[str, bool] = {}  # models, as the ledger has it
        self._has_succeeded = totals.answered > 0  # with an earlier keeper of the job
        self._stopped = False

    def finished(self, call_ids: Sequence[str], stage: str = "") -> dict[str, ChatReply]:
        """Return the replies of a stage's calls that were answered before, and the command's final failures."""
        found = self._ledger.finished(call_ids)
        self._reused[stage] += len(found)
        return {call_id: self._final[call_id] for call_id in call_ids if call_id in self._final} | found

    def exchange(self, worker: str, intents: Sequence[Intent], receipts: Sequence[Receipt]) -> list[Admission]:
        """
        Store *receipts*, and say of each intent what becomes of it; both are durable when this returns.

        An exchange that is said twice, because the answer to the first was lost, changes nothing more.
        """
        return self.exchange_all([WorkerMessage(worker, intents, receipts)])[0]

    def exchange_all(
        self, messages: Sequence[tuple[str, Sequence[Intent], Sequence[Receipt]]]
    ) -> list[list[Admission]]:
        """Make the exchanges of several workers in one durable step: all receipts first, then the intents in order."""
        now = self._clock()
        said = [WorkerMessage(*message) for message in messages]
        self._heard |= {message.worker: now for message in said}
        receipts = [receipt for message in said for receipt in message.receipts]
        self._settle(receipts)
        self._give_up_the_silent(now)
        intents = [intent for message in said for intent in message.intents]
        admissions = iter(self._admit(intents, receipts))
        found = [list(islice(admissions, len(message.intents))) for message in said]
        for message, its_admissions in zip(said, found, strict=True):
            self._note_open(message, its_admissions)
        return found

    def _admit(self, intents: Sequence[Intent], receipts: Sequence[Receipt]) -> list[Admission]:
        admissions = self._within_budget(intents)
        asked = [intent for intent, admission in zip(intents, admissions, strict=True) if admission == "go"]
        recorded = iter(self._ledger.exchange(asked, receipts))
        return [next(recorded) if admission == "go" else admission for admission in admissions]

    def _note_open(self, message: WorkerMessage, admissions: Sequence[Admission]) -> None:
        for intent, admission in zip(message.intents, admissions, strict=True):
            if admission == "go" and intent.attempt_id not in self._open:
                self._open[intent.attempt_id] = _Open(message.worker, intent.reserved_usd or 0.0)
                self._n_calls += 1

    def trouble(self, server: Server) -> str | None:
        """Return why the command should end, as `Watch` says of the server; once said it stays."""
        watch = self._watches.get(server)
        if watch is not None and server not in self._ends:
            known = watch.has_failed_first() and self._has_answered(server.model)
            if (reason := watch.reason_to_end(self._clock(), has_answered=known)) is not None:
                self._ends[server] = reason
        return self._ends.get(server)

    def standings(self) -> list[Standing]:
        """Return the standing of each server that this command asks."""
        return [watch.standing(self._clock()) for watch in self._watches.values()]

    def stop(self) -> None:
        """Let no call leave any more."""
        self._stopped = True

    def spent(self) -> Spent:
        """Return the calls of this command that were let out, and what they cost at most."""
        return Spent(self._n_calls, self._spent_usd + sum(call.usd for call in self._open.values()))

    def n_reused(self) -> Mapping[str, int]:
        """Return how many replies came from the ledger, and cost nothing, by stage."""
        return dict(self._reused)

    def _has_answered(self, model: str) -> bool:
        if model not in self._answered_before:
            self._answered_before[model] = self._ledger.has_answered(model)
        return self._answered_before[model]

    def _settle(self, receipts: Sequence[Receipt]) -> None:
        now = self._clock()
        for receipt in receipts:
            if (was_open := self._open.pop(receipt.attempt_id, None)) is not None:
                cost = receipt.reply.cost_usd
                refused = receipt.reply.failure == REFUSED
                self._spent_usd += 0.0 if refused else was_open.usd if cost is None else cost
                self._n_calls -= refused
                self._watch(receipt, now)
            failure = receipt.reply.failure
            if failure is not None and failure != CANCELLED and not may_pass(failure):
                self._final[receipt.call_id] = replace(receipt.reply, seconds=None)

    def _watch(self, receipt: Receipt, now: float) -> None:
        if (server := receipt.server) is not None:
            if server not in self._watches:
                self._watches[server] = Watch(server, has_succeeded=self._has_succeeded)
            self._watches[server].hear(now, receipt.call_id, receipt.reply, again=receipt.again)

    def _give_up_the_silent(self, now: float) -> None:
        gone = {worker for worker, heard in self._heard.items() if now - heard > _SILENT_S}
        if not gone:
            return
        lost = [attempt_id for attempt_id, call in self._open.items() if call.worker in gone]
        self._ledger.abandon(lost)
        self._spent_usd += sum(self._open.pop(attempt_id).usd for attempt_id in lost)  # it may have been paid
        for worker in gone:
            del self._heard[worker]

    def _within_budget(self, intents: Sequence[Intent]) -> list[Admission]:
        if intents and (self._stopped or (self._driver is not None and not process_lives(self._driver))):
            return ["stopped"] * len(intents)
        reserved = sum(call.usd for call in self._open.values()) if self._budget.max_usd is not None else 0.0
        n_calls = self._n_calls
        admissions: list[Admission] = []
        for intent in intents:
            admission = self._admission(intent, reserved, n_calls)
            if admission == "go":
                reserved += intent.reserved_usd or 0.0
                n_calls += 1
            admissions.append(admission)
        return admissions

    def _admission(self, intent: Intent, reserved_usd: float, n_calls: int) -> Admission:
        max_usd, max_calls = self._budget
        if max_calls is not None and n_calls >= max_calls:
            return "busy" if self._open and self._n_calls < max_calls else "budget"
        if max_usd is None:
            return "go"
        needed = self._spent_usd + (intent.reserved_usd or 0.0)
        if needed > max_usd:
            return "budget"
        return "busy" if needed + reserved_usd > max_usd else "go"  # what is under way may cost less than reserved


# ---------------------------------------------------------------- where it is

Keeper = Local[LedgerKeeper] | Remote[LedgerKeeper]
"""A keeper as a worker sees it. One that starts again is waited for: all it is asked may be asked twice."""


def _actor(job: str) -> Actor:
    import ray

    actor: Actor = ray.get_actor(_actor_name(job), namespace=NAMESPACE)
    return actor


_in_process: dict[str, LedgerKeeper] = {}


def open_keeper(ledger_url: str, job: str) -> Keeper:
    """Return the keeper of *job*: the one in this process if it was started here, else its actor if Ray runs."""
    if job not in _in_process:
        if ray_runs():
            return Remote(lambda: _actor(job), patience_s=_PATIENCE_S)
        _in_process[job] = LedgerKeeper(ledger_url, job)
    return Local(_in_process[job])


def start_keeper(ledger_url: str, job: str, budget: Budget) -> object:
    """
    Start the keeper of *job*: an actor beside the calling process, its driver, or an object if no Ray runs.

    An actor lives as long as the returned handle; when it dies before, it starts again, and all that it acknowledged is
    in the ledger.
    """
    if not ray_runs():
        _in_process[job] = LedgerKeeper(ledger_url, job, budget)
        return _in_process[job]
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    actor = actor_of(LedgerKeeper).options(
        name=_actor_name(job),
        namespace=NAMESPACE,
        num_cpus=0,
        max_restarts=-1,
        max_task_retries=-1,
        scheduling_strategy=here,
    )
    return actor.remote(ledger_url, job, budget, this_session())


def _actor_name(job: str) -> str:
    return f"keeper:{job}"
