"""
One quota domain: lease calls to its workers so that all together keep within a provider's limits.

Two accounts, of calls and of tokens, fill at the pace that was told or found. A worker leases what fits its share of
them; sizes are reserved, and settled when the provider states the usage. Each is told to ask again when its turn will
come, one after the other, so that calls leave evenly. No clock: the time comes with every ask, in seconds that grow.
"""

from __future__ import annotations

from math import ceil, inf
from typing import NamedTuple

from longform.chat.call import Signals
from longform.quota.accounts import Account
from longform.quota.fair_shares import Shares, Turn, Worker
from longform.quota.holds import Hold
from longform.quota.leases import Accepted, Ask, Lease, Limits, Refused
from longform.quota.rate_finding import RateFinder

_ROUND_S = 0.03  # in which every worker has a turn, at least
_EARLY_S = 0.005  # a call of a worker's own share may go so much before its time: nobody asks to the millisecond
_WHILE_SEEKING_S = 0.05  # at most, between two asks while the pace doubles
_SPIN_S = 0.01  # between two asks of a worker, at least
_LATEST_S = 0.5  # so that holds are heard
_SLICE_S = 0.1
_RUNS_AT_MOST_S = 0.1  # between two asks of anybody, for the growth of a pace


NOTHING_TOLD = Limits()


class _Grant(NamedTuple):
    calls: int
    tokens: float
    seconds: float  # of the quota
    wait_s: float  # until the next call could go; 0 where the worker's turn or its calls ended
    binds: tuple[bool, bool]  # whether the next call waits for requests, for tokens


class Quota:
    """
    The authority over one quota domain.

    Args:
        told: Limits that always hold. Others may come with an ask; the lowest of each holds.
        known: Limits that a predecessor found.
    """

    def __init__(self, told: Limits = NOTHING_TOLD, known: Limits | None = None) -> None:
        self._told: dict[str | None, Limits] = {None: told}
        self._headers = Limits()
        self._finder = RateFinder(known)
        self._hold = Hold()
        self._shares = Shares()
        self._requests, self._tokens = Account(), Account()
        self._usual_tokens = 0.0  # of a call
        self._now = -inf
        self._binds = (False, False)  # whether calls wait for requests, for tokens
        self._settle_limits()

    @property
    def limits(self) -> Limits:
        """Return the believed limits a minute: the lower of the told and the found ones; None if not known."""
        found = self._finder.found
        return _lowest([self._limits, found])

    @property
    def limits_found(self) -> Limits:
        """Return the limits taught by refusals and headers, from which a restart goes on."""
        return _lowest([self._headers, self._finder.found])

    def lease(self, now: float, ask: Ask, told: Limits | None = None) -> Lease:
        """
        Return the worker's next lease.

        Args:
            now: Monotonic seconds, never less than the last.
            ask: Its wishes and its news.
            told: Limits in the job's configuration. They hold while a worker of the job is alive; if its stages state
                different ones, the lowest holds.
        """
        if told is not None and self._told.get(ask.job) != (lowest := _lowest([told, self._told.get(ask.job, told)])):
            self._told[ask.job] = lowest
            self._settle_limits()
        if ask.known is not None and ask.worker not in self._shares:
            self._finder.go_on_from(ask.known)
        if ask.sizes and not self._usual_tokens:
            self._usual_tokens = sum(ask.sizes) / len(ask.sizes)
            self._empty_accounts()
        self._accrue(now)
        self._hear(now, ask)
        worker = self._shares.hear(now, ask.worker, ask.job, ask.in_flight)
        self._forget_ended_jobs()
        turn = self._shares.turn(now, worker)
        grant = self._grant(now, ask, turn)
        self._shares.take(worker, grant.calls, grant.seconds)
        if ask.sizes and turn.seconds >= 0:
            self._binds = grant.binds
        worker.hungry = grant.calls < len(ask.sizes)
        over = min(_SLICE_S, grant.seconds) if grant.calls > 1 else 0.0
        again = self._again(now, worker, turn, grant)
        worker.due = now + again
        self._finder.goodput.spread(now, over, grant.calls, grant.tokens)
        return Lease(grant.calls, over, again, self.limits)

    # ------------------------------------------------------------ what was heard

    def _accrue(self, now: float) -> None:
        seconds = max(0.0, now - max(self._now, self._hold.until)) if self._now > -inf else 0.0
        self._now = now
        self._finder.run(min(seconds, _RUNS_AT_MOST_S), requests_bind=self._binds[0], tokens_bind=self._binds[1])
        pace = self._finder.pace
        self._requests.accrue(seconds, pace.requests, 1.0)
        self._tokens.accrue(seconds, pace.tokens, self._usual_tokens)

    def _empty_accounts(self) -> None:
        self._requests.empty(1.0)
        self._tokens.empty(self._usual_tokens)

    def _hear(self, now: float, ask: Ask) -> None:
        for accepted in ask.accepted:
            self._settle(now, accepted)
        for tokens in ask.returned:
            self._give_back(now, tokens)
        for refused in ask.refused:
            self._refuse(now, refused)
        if ask.signals is not None:
            self._heed(now, ask.signals)

    def _settle(self, now: float, accepted: Accepted) -> None:
        sent = now - accepted.sent_s_ago
        self._hold.accepted(now, sent)
        if accepted.actual_tokens is None:
            return
        more = accepted.actual_tokens - accepted.reserved_tokens
        self._tokens.level -= more
        self._finder.goodput.add(sent, 0.0, more)

    def _give_back(self, when: float, tokens: float) -> None:
        self._requests.level += 1
        self._tokens.level += tokens
        self._finder.goodput.add(when, -1.0, -tokens)

    def _refuse(self, now: float, refused: Refused) -> None:
        sent = now - refused.sent_s_ago
        self._give_back(sent, refused.reserved_tokens)
        new = self._hold.refused(now, sent, refused.retry_after_s)
        if not self._hold.closed:
            self._finder.refused(sent, new=new, hold_s=self._hold.until - now)
        self._empty_accounts()
        if new:
            self._shares.forgive()

    def _heed(self, now: float, signals: Signals) -> None:
        headers = Limits(
            signals.requests_per_minute or self._headers.requests_per_minute,
            signals.tokens_per_minute or self._headers.tokens_per_minute,
        )
        if headers != self._headers:
            self._headers = headers
            self._settle_limits()
        resources = (
            (signals.remaining_requests, signals.reset_requests_s, self._limits.requests_per_minute),
            (signals.remaining_tokens, signals.reset_tokens_s, self._limits.tokens_per_minute),
        )
        for remaining, reset_s, limit in resources:
            # At a known limit the pace itself keeps the second: nothing left within it is what was aimed at.
            if remaining == 0 and reset_s is not None and (limit is None or reset_s > 1):
                self._hold.wait_out(now, reset_s)

    def _forget_ended_jobs(self) -> None:
        alive = self._shares.jobs
        if any(job is not None and job not in alive for job in self._told):
            self._told = {job: told for job, told in self._told.items() if job is None or job in alive}
            self._settle_limits()

    def _settle_limits(self) -> None:
        self._limits = _lowest([*self._told.values(), self._headers])
        self._finder.tell(self._limits)

    # ------------------------------------------------------------ what may go

    def _grant(self, now: float, ask: Ask, turn: Turn) -> _Grant:
        room = len(ask.sizes)
        if self._limits.in_flight is not None:
            room = max(0, min(room, self._limits.in_flight - ask.in_flight - turn.in_flight))
        leave = self._hold.leave(now)
        if leave == 1 and room:
            grant = self._take(ask.sizes[:1], turn, forced=True)
            self._hold.canary_left(now)
            return grant
        return self._take(ask.sizes[: room if leave is None else 0], turn, forced=False)

    def _take(self, sizes: tuple[float, ...], turn: Turn, *, forced: bool) -> _Grant:
        pace = self._finder.pace
        per_call, per_token = 1 / pace.requests, 1 / pace.tokens
        calls, tokens, seconds, wait = 0, 0.0, 0.0, 0.0
        binds = (False, False)
        claim_s = self._round_s(turn) * turn.share
        for size in sizes:
            if not forced and (turn.seconds < 0 or seconds > turn.seconds):
                break
            requests_s, tokens_s = self._requests.wait_s(1.0), self._tokens.wait_s(size)
            early = _EARLY_S if seconds + _EARLY_S < claim_s else 0.0
            if (requests_s > early or tokens_s > early) and not forced:
                wait = max(requests_s, tokens_s)
                binds = (requests_s > early, tokens_s > early)
                break
            self._requests.level -= 1
            self._tokens.level -= size
            calls, tokens, seconds = calls + 1, tokens + size, seconds + max(per_call, size * per_token)
            self._usual_tokens += 0.05 * (size - self._usual_tokens)
        return _Grant(calls, tokens, seconds, wait, binds)

    def _again(self, now: float, worker: Worker, turn: Turn, grant: _Grant) -> float:
        if now < self._hold.until:
            return min(max(self._hold.next_leave_s(now), _ROUND_S), _LATEST_S)
        if not worker.hungry:
            return _LATEST_S
        round_s = self._round_s(turn)
        level_s = min(self._requests.seconds, self._tokens.seconds)
        if grant.calls:
            wait = round_s - level_s
        else:
            wait = max(grant.wait_s, -turn.seconds)
            for due, share in turn.dues:
                if due - now > wait + _EARLY_S:
                    break
                wait += share * round_s
        return min(max(wait, _SPIN_S), _WHILE_SEEKING_S if self._finder.seeking else _LATEST_S)

    def _round_s(self, turn: Turn) -> float:
        """In which each of the waiting workers is due its share, at least one call."""
        pace = self._finder.pace
        one_each = max(1 / pace.requests, self._usual_tokens / pace.tokens) / turn.smallest_share
        return one_each * ceil(_ROUND_S / one_each)


def _lowest(limits: list[Limits]) -> Limits:
    columns = ([value for value in column if value is not None] for column in zip(*limits, strict=True))
    requests, tokens, in_flight = (min(column) if column else None for column in columns)
    return Limits(requests, tokens, None if in_flight is None else int(in_flight))
