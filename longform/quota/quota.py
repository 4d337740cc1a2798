"""
One quota domain: lease calls to its workers so that all together keep within a provider's limits.

No clock: the time comes with every ask, in seconds that grow.
"""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

import numpy as np

from longform.chat.call import Signals
from longform.quota.belief import Belief
from longform.quota.counting import Array
from longform.quota.departures import Departures
from longform.quota.fair_shares import FairWorker, Shares, Turn
from longform.quota.leases import Lease, LeaseAsk, QuotaLimits

_ROUND_S = 0.03  # in which every worker has a turn, at least
_EARLY_S = 0.005
_SPIN_S, _LATEST_S = 0.01, 0.5  # between two asks of a worker, at least and at most

NOTHING_TOLD = QuotaLimits()


class _Grant(NamedTuple):
    calls: int
    seconds: float  # of the quota
    wait_s: float  # until the next call could go; 0 where the worker's turn or its calls ended


class Quota:
    """
    The authority over one quota domain.

    Limits *told* to it always hold. Others may come with an ask; the lowest of each holds. *known* are limits that a
    predecessor found.
    """

    def __init__(self, told: QuotaLimits = NOTHING_TOLD, known: QuotaLimits | None = None) -> None:
        self._told: dict[str | None, QuotaLimits] = {None: told}
        self._headers = QuotaLimits()
        self._known = known
        self._belief = Belief()
        self._departures = Departures(self._belief)
        self._shares = Shares()
        self._usual_tokens = 0.0
        self._speed: Array = np.ones(2)
        self._settle_limits()

    @property
    def limits(self) -> QuotaLimits:
        """Return the believed limits a minute: the lower of the told and the found ones; None if not known."""
        return _lowest([self._limits, self.limits_found])

    @property
    def limits_found(self) -> QuotaLimits:
        """Return the limits taught by refusals and headers, from which a restart goes on."""
        return _lowest([self._headers, self._known or NOTHING_TOLD, self._belief.found])

    def lease(self, now: float, ask: LeaseAsk, told: QuotaLimits | None = None) -> Lease:
        """
        Return the worker's next lease.

        *now* is in monotonic seconds, never less than the last. Limits *told* in a job's configuration hold while a
        worker of the job is alive; if its stages state different ones, the lowest holds.
        """
        if told is not None and self._told.get(ask.job) != (lowest := _lowest([told, self._told.get(ask.job, told)])):
            self._told[ask.job] = lowest
            self._settle_limits()
        known = ask.known if ask.known is not None and ask.worker not in self._shares else self._known
        if known is not None:
            self._belief.go_on_from(known, now)
            self._known = None
        if ask.sizes and not self._usual_tokens:
            self._usual_tokens = sum(ask.sizes) / len(ask.sizes)
        self._departures.pass_to(now)
        self._hear(now, ask)
        worker, gone = self._shares.hear(now, ask.worker, ask.job, ask.in_flight)
        for name in gone:
            self._departures.forget(name)
        self._forget_ended_jobs()
        turn = self._shares.turn(now, worker)
        grant = self._grant(ask, turn)
        self._shares.take(worker, grant.calls, grant.seconds)
        worker.hungry = grant.calls < len(ask.sizes)
        again = self._again(now, worker, turn, grant)
        worker.due = now + again
        return Lease(grant.calls, again, self.limits)

    def _hear(self, now: float, ask: LeaseAsk) -> None:
        for left in ask.left:
            self._departures.leave(ask.worker, now - left.sent_s_ago, left.reserved_tokens)
        for accepted in ask.accepted:
            if accepted.actual_tokens is not None:
                more = accepted.actual_tokens - accepted.reserved_tokens
                self._belief.count(now - accepted.sent_s_ago, 0.0, more)
        for tokens in ask.returned:
            self._departures.give_up(ask.worker, tokens)
        if ask.refused:
            self._departures.refused(ask.worker, ask.refused, now)
        if ask.signals is not None:
            self._heed(now - ask.signals_sent_s_ago, ask.signals)

    def _heed(self, sent: float, signals: Signals) -> None:
        headers = QuotaLimits(
            signals.requests_per_minute or self._headers.requests_per_minute,
            signals.tokens_per_minute or self._headers.tokens_per_minute,
        )
        if headers != self._headers:
            self._headers = headers
            self._settle_limits()
        self._departures.heed(sent, signals)

    def _forget_ended_jobs(self) -> None:
        alive = self._shares.jobs
        if any(job is not None and job not in alive for job in self._told):
            self._told = {job: told for job, told in self._told.items() if job is None or job in alive}
            self._settle_limits()

    def _settle_limits(self) -> None:
        told = _lowest(list(self._told.values()))
        self._limits = _lowest([told, self._headers])
        self._belief.tell(self._limits, to_keep=told)

    def _grant(self, ask: LeaseAsk, turn: Turn) -> _Grant:
        room = len(ask.sizes)
        if self._limits.in_flight is not None:
            free = self._limits.in_flight - ask.in_flight - turn.in_flight
            own = ceil(self._limits.in_flight * turn.share) - ask.in_flight  # all of it if no other waits
            room = max(0, min(room, free, own))
        self._speed = self._departures.speed
        # What one takes is counted in seconds of the quota; the call that ends a turn is whole.
        costs = [max(1 / self._speed[0], size / self._speed[1]) for size in ask.sizes[:room]]
        before = np.cumsum([0.0, *costs])
        due = int((before[:-1] <= turn.seconds).sum()) if turn.seconds >= 0 else 0
        calls, wait = self._departures.lease(ask.worker, ask.sizes[:due])
        for size in ask.sizes[:calls]:
            self._usual_tokens += 0.05 * (size - self._usual_tokens)
        return _Grant(calls, float(before[calls]), wait)

    def _again(self, now: float, worker: FairWorker, turn: Turn, grant: _Grant) -> float:
        if not worker.hungry:
            return _LATEST_S
        round_s = self._round_s(turn)
        if grant.calls and not grant.wait_s:
            wait = round_s
        else:
            wait = max(grant.wait_s, -turn.seconds)
            for due, share in turn.dues:
                if due - now > wait + _EARLY_S:
                    break
                wait += share * round_s
        return min(max(wait, _SPIN_S), _LATEST_S)

    def _round_s(self, turn: Turn) -> float:
        """In which each of the waiting workers is due its share, at least one call."""
        one_each = max(1 / self._speed[0], self._usual_tokens / self._speed[1]) / turn.smallest_share
        return float(one_each * ceil(_ROUND_S / one_each)) if one_each > 0 else _ROUND_S


def _lowest(limits: list[QuotaLimits]) -> QuotaLimits:
    columns = ([value for value in column if value is not None] for column in zip(*limits, strict=True))
    requests, tokens, in_flight = (min(column) if column else None for column in columns)
    return QuotaLimits(requests, tokens, None if in_flight is None else int(in_flight))
