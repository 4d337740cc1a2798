"""
Share a quota evenly among jobs, and among the workers of a job, whatever their numbers.

Start-time fair queueing (Goyal, Vin and Cheng, 1996): each worker's takings are summed in seconds of the whole quota,
and the smallest sum goes first. An unwanted share goes to the others; a worker saves nothing up by not asking.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import inf

GRACE_S = 0.1  # a worker that asks later than it was told to is not waited for
DEAD_AFTER_S = 2.0  # beyond the time it was told to ask again
_HEAD_START = 0.1  # seconds of the quota that one may be ahead
_LAG = 1.0  # seconds of the quota that one may catch up with, after a pause


@dataclass(eq=False)
class FairJob:
    name: str
    service: float = 0.0  # seconds of the quota


@dataclass(eq=False)
class FairWorker:
    name: str
    job: FairJob
    due: float  # when it asks again
    service: float = 0.0  # seconds of the quota
    in_flight: int = 0  # as it said last, and leased since
    hungry: bool = False


@dataclass(frozen=True)
class Turn:
    """A worker's turn: its share of the quota, as the others leave it."""

    seconds: float  # of the quota that it may take; if positive, at least one call
    # the times at which the waiting others ask again, in order, and the share of the quota due to each
    dues: tuple[tuple[float, float], ...]
    share: float  # of the quota that is due to it
    smallest_share: float  # among the workers that wait, this one included
    in_flight: int  # calls of the others


class Shares:
    """The workers of one quota domain, and what each took."""

    def __init__(self) -> None:
        self._jobs: dict[str, FairJob] = {}
        self._workers: dict[str, FairWorker] = {}

    @property
    def jobs(self) -> frozenset[str]:
        """Return the jobs with a worker that is alive."""
        return frozenset(self._jobs)

    def __contains__(self, worker: str) -> bool:
        return worker in self._workers

    def hear(self, now: float, name: str, job: str, in_flight: int) -> tuple[FairWorker, list[str]]:
        """Return the worker that asks, updated by its ask, and those not heard for long, which are forgotten."""
        dead = [w for w in self._workers.values() if now > w.due + DEAD_AFTER_S and w.name != name]
        for worker in dead:
            del self._workers[worker.name]
        if dead:
            alive = {w.job.name for w in self._workers.values()} | {job}
            self._jobs = {name: job for name, job in self._jobs.items() if name in alive}
        worker_job = self._jobs.setdefault(job, FairJob(job))
        worker = self._workers.setdefault(name, FairWorker(name, worker_job, due=now))
        worker.in_flight = in_flight
        return worker, [w.name for w in dead]

    def turn(self, now: float, me: FairWorker) -> Turn:
        """Return the share that *me* may take, given all others."""
        siblings = others = inf
        in_flight = 0
        waiting = [me]
        for worker in self._workers.values():
            if worker is me:
                continue
            in_flight += worker.in_flight
            if worker.hungry and now <= worker.due + GRACE_S:
                waiting.append(worker)
                if worker.job is me.job:
                    siblings = min(siblings, worker.service)
                else:
                    others = min(others, worker.job.service)
        self._catch_up(me, siblings, others)
        ahead = max(me.service - siblings, me.job.service - others)
        workers_of = Counter(worker.job.name for worker in waiting)
        dues = sorted((w.due, 1 / (len(workers_of) * workers_of[w.job.name])) for w in waiting[1:])
        share = 1 / (len(workers_of) * workers_of[me.job.name])
        smallest = 1 / (len(workers_of) * max(workers_of.values()))
        return Turn(_HEAD_START - ahead, tuple(dues), share, smallest, in_flight)

    def take(self, me: FairWorker, calls: int, seconds: float) -> None:
        me.in_flight += calls
        me.service += seconds
        me.job.service += seconds

    def _catch_up(self, me: FairWorker, siblings: float, others: float) -> None:
        lag = _LAG if me.hungry else 0.0
        if siblings < inf:
            me.service = max(me.service, siblings - lag)
        if others < inf:
            me.job.service = max(me.job.service, others - (lag if me.hungry or siblings < inf else 0.0))
