"""
One quota domain: lease calls to its workers so that all together keep within a provider's limits.

Two accounts, of calls and of tokens, fill at the pace that was told or found. A worker leases what fits its share of
them; sizes are reserved, and settled when the provider states the usage. Each is told to ask again when its turn will
come, one after the other, so that calls leave evenly. A provider that counts by the minute gets a minute's worth as
fast as it takes it, and no more within any minute. No clock: the time comes with every ask, in seconds that grow.
"""

from __future__ import annotations

from math import ceil, inf
from typing import NamedTuple

from longform.chat.call import Signals
from longform.quota.bursts import Bursts, CountSpan, calls_in
from longform.quota.fair_shares import FairWorker, Shares, Turn
from longform.quota.holds import Hold
from longform.quota.leases import MINUTE_S, Accepted, Lease, LeaseAsk, QuotaLimits, Refused
from longform.quota.minute_finding import MinuteFinder, MinuteLimits
from longform.quota.minutes import Minute
from longform.quota.rate_finding import Amounts, RateFinder

_BURST_S = 0.05  # what an account holds, beside one call
_PATIENT_BURST_S = 0.5  # the same where one call takes longer than that to accrue: workers ask every half second

_ROUND_S = 0.03  # in which every worker has a turn, at least
_EARLY_S = 0.005  # a call of a worker's own share may go so much before its time: nobody asks to the millisecond
_WHILE_SEEKING_S = 0.05  # at most, between two asks while the pace doubles
_SPIN_S = 0.01  # between two asks of a worker, at least
_LATEST_S = 0.5  # so that holds are heard
_SLICE_S = 0.1
_RUNS_AT_MOST_S = 0.1  # between two asks of anybody, for the growth of a pace
_TOKENS_OF_MINUTE = 0.995  # of a minute's told tokens: the calls under way are estimates


NOTHING_TOLD = QuotaLimits()


class _Grant(NamedTuple):
    calls: int
    tokens: float
    seconds: float  # of the quota
    wait_s: float  # until the next call could go; 0 where the worker's turn or its calls ended
    binds: tuple[bool, bool]  # whether the next call waits for requests, for tokens


class Quota:
    """
    The authority over one quota domain.

    Limits *told* to it always hold. Others may come with an ask; the lowest of each holds. *known* are limits that a
    predecessor found.
    """

    def __init__(self, told: QuotaLimits = NOTHING_TOLD, known: QuotaLimits | None = None) -> None:
        self._told: dict[str | None, QuotaLimits] = {None: told}
        self._headers = QuotaLimits()
        self._finder = RateFinder(known)
        self._hold = Hold()
        self._shares = Shares()
        self._requests, self._tokens = Accrual(), Accrual()
        self._usual_tokens = 0.0  # of a call
        self._now = -inf
        self._binds = (False, False)  # whether calls wait for requests, for tokens
        self._bursts, self._minute_finder = Bursts(), MinuteFinder()
        self._minutes = (Minute(), Minute())
        self._untold = False  # whether the last event was none of the pace, and the finder was not told of it
        self._burst_ended = -inf  # refusals of calls that leave before are the burst's
        self._settle_limits()

    @property
    def limits(self) -> QuotaLimits:
        """Return the believed limits a minute: the lower of the told and the found ones; None if not known."""
        found = self._finder.found
        return _lowest([self._limits, found])

    @property
    def limits_found(self) -> QuotaLimits:
        """Return the limits taught by refusals and headers, from which a restart goes on."""
        return _lowest([self._headers, self._finder.found])

    def lease(self, now: float, ask: LeaseAsk, told: QuotaLimits | None = None) -> Lease:
        """
        Return the worker's next lease.

        *now* is in monotonic seconds, never less than the last. Limits *told* in a job's configuration hold while a
        worker of the job is alive; if its stages state different ones, the lowest holds.
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
        run_s = min(seconds, _RUNS_AT_MOST_S)
        if not self._bursting:
            self._finder.run(run_s, requests_bind=self._binds[0], tokens_bind=self._binds[1])
        self._burst(now, run_s)
        pace = self._pace
        self._requests.accrue(seconds, pace.requests, 1.0)
        self._tokens.accrue(seconds, pace.tokens, self._usual_tokens)

    @property
    def _pace(self) -> Amounts:
        """Return the calls and tokens a second at which accounts fill: the pace, and how far a burst is ahead of it."""
        requests, tokens = self._finder.pace
        return Amounts(requests * self._bursts.factor, tokens * self._bursts.factor)

    @property
    def _bursting(self) -> bool:
        return self._bursts.counts in (CountSpan.TRIED, CountSpan.MINUTE)

    def _burst(self, now: float, seconds: float) -> None:
        """Try a burst if the pace is the told one, and count minutes once a minute's worth may leave."""
        if self._bursting or (not self._finder.seeking and self._finder.found == QuotaLimits()):
            was = self._bursts.counts
            self._bursts.advance(now, seconds, self._calls_a_second(), wanted=any(self._binds))
            if self._bursts.counts is not was:
                self._settle_minutes()
        for minute in self._minutes:
            minute.pass_to(now)

    def _calls_a_second(self) -> float:
        requests, tokens = self._finder.pace
        return min(requests, calls_in(tokens * MINUTE_S, self._usual_tokens))

    def _empty_accounts(self) -> None:
        self._requests.empty(1.0)
        self._tokens.empty(self._usual_tokens)

    def _hear(self, now: float, ask: LeaseAsk) -> None:
        for left in ask.left:
            self._minutes[0].leave(now - left.sent_s_ago, 1.0)
            self._minutes[1].leave(now - left.sent_s_ago, left.reserved_tokens)
        for accepted in ask.accepted:
            self._settle(now, accepted)
        for tokens in ask.returned:
            self._give_back(now, tokens)
            self._minutes[0].end(now, 1.0)
            self._minutes[1].end(now, tokens)
        for refused in ask.refused:
            self._refuse(now, refused)
        if ask.signals is not None:
            self._heed(now, ask.signals)
            self._heed_remaining(now, now - ask.signals_sent_s_ago, ask.signals)

    def _settle(self, now: float, accepted: Accepted) -> None:
        sent = now - accepted.sent_s_ago
        self._hold.accepted(now, sent)
        self._bursts.accepted(sent)
        self._minute_finder.accepted(now, sent)
        if self._minute_finder.known:
            if self._hold.distrusted:
                self._minute_finder.forget()
            self._settle_minutes()
        if accepted.actual_tokens is None:
            return
        more = accepted.actual_tokens - accepted.reserved_tokens
        self._tokens.level -= more
        self._finder.goodput.add(sent, 0.0, more)
        self._minutes[1].correct(sent, more)

    def _give_back(self, when: float, tokens: float) -> None:
        self._requests.level += 1
        self._tokens.level += tokens
        self._finder.goodput.add(when, -1.0, -tokens)

    def _refuse(self, now: float, refused: Refused) -> None:
        sent = now - refused.sent_s_ago
        self._give_back(sent, refused.reserved_tokens)
        self._minutes[0].correct(sent, -1.0)
        self._minutes[1].correct(sent, -refused.reserved_tokens)
        if self._minute_finder.is_probe(sent):
            self._minute_finder.probe_refused(now)
            return
        new = self._hold.refused(now, sent, refused.retry_after_s)
        explained = self._burst_refused(now, sent, refused.retry_after_s)
        self._untold = explained or (self._untold and not new)
        if not (self._hold.closed or self._untold):
            self._finder.refused(sent, new=new, hold_s=self._hold.until - now)
        self._empty_accounts()
        if new:
            self._shares.forgive()

    def _burst_refused(self, now: float, sent: float, retry_after_s: float | None) -> bool:
        """Return whether a burst or a minute's limit explains a refusal, which then says nothing of the pace."""
        if sent < self._burst_ended:
            return True
        used = MinuteLimits(*(minute.used for minute in self._minutes))
        share = max(u / limit for u, limit in zip(used, self._told_minute, strict=True))
        if self._bursts.refused(share):
            self._burst_ended = max(now, self._hold.until) + _SLICE_S  # of calls that were leased before
        elif self._bursting:
            return True
        else:
            was_known = self._minute_finder.known
            trusted = None if self._hold.distrusted else retry_after_s
            self._minute_finder.refused(now, used, trusted, closed=self._hold.closed)
            if self._minute_finder.known and not was_known and retry_after_s is None:
                self._hold.end(now)  # the count says when the next may leave
        self._settle_minutes()
        return sent < self._burst_ended or self._minute_finder.known

    def _heed_remaining(self, now: float, sent: float, signals: Signals) -> None:
        pace = self._calls_a_second()
        says = [signals.remaining_requests, signals.remaining_tokens]
        calls = [says[0], None if says[1] is None or not self._usual_tokens else says[1] / self._usual_tokens]
        stated = [calls_left for calls_left in calls if calls_left is not None]
        if stated and pace < inf:
            self._bursts.hear_remaining(min(stated), pace)
        if self._bursts.counts is CountSpan.MINUTE:
            resets = (signals.reset_requests_s, signals.reset_tokens_s)
            for minute, remaining, reset_s in zip(self._minutes, says, resets, strict=True):
                if remaining is not None:
                    minute.heed(now, sent, remaining, reset_s)

    def _heed(self, now: float, signals: Signals) -> None:
        headers = QuotaLimits(
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
            # At a known limit the pace keeps the second, and the count the minute: nothing left is what was aimed at.
            counted = self._bursts.counts is CountSpan.MINUTE and limit is not None
            if remaining == 0 and reset_s is not None and (limit is None or reset_s > 1) and not counted:
                self._hold.wait_out(now, reset_s)

    def _forget_ended_jobs(self) -> None:
        alive = self._shares.jobs
        if any(job is not None and job not in alive for job in self._told):
            self._told = {job: told for job, told in self._told.items() if job is None or job in alive}
            self._settle_limits()

    def _settle_limits(self) -> None:
        self._limits = _lowest([*self._told.values(), self._headers])
        self._finder.tell(self._limits)
        self._settle_minutes()

    @property
    def _told_minute(self) -> MinuteLimits:
        requests, tokens, _ = self._limits
        return MinuteLimits(
            inf if requests is None else requests, inf if tokens is None else _TOKENS_OF_MINUTE * tokens
        )

    def _settle_minutes(self) -> None:
        """Let the told limits hold for each minute if calls run ahead of the pace, and found ones always."""
        told = self._told_minute if self._bursting else MinuteLimits()
        for minute, limits in zip(self._minutes, zip(told, self._minute_finder.found, strict=True), strict=True):
            minute.limit = min(limits)

    # ------------------------------------------------------------ what may go

    def _grant(self, now: float, ask: LeaseAsk, turn: Turn) -> _Grant:
        room = len(ask.sizes)
        if self._limits.in_flight is not None:
            room = max(0, min(room, self._limits.in_flight - ask.in_flight - turn.in_flight))
        leave = self._hold.leave(now)
        if leave == 1 and now >= self._hold.until and self._minutes[0].wait_s(1.0) > 0:
            leave = None  # the count holds it, as any call
        if leave == 1 and room:
            grant = self._take(ask.sizes[:1], turn, forced=True)
            self._hold.canary_left(now)
            return grant
        sizes = ask.sizes[: room if leave is None else 0]
        if sizes and self._minute_finder.may_probe(now, self._minutes[0].wait_s(1.0)):
            self._minute_finder.probe_left(now)
            return self._take(sizes[:1], turn, forced=True)
        return self._take(sizes, turn, forced=False)

    def _take(self, sizes: tuple[float, ...], turn: Turn, *, forced: bool) -> _Grant:
        pace = self._pace
        per_call, per_token = 1 / pace.requests, 1 / pace.tokens
        calls, tokens, seconds, wait = 0, 0.0, 0.0, 0.0
        binds = (False, False)
        claim_s = self._round_s(turn) * turn.share
        for size in sizes:
            if not forced and (turn.seconds < 0 or seconds > turn.seconds):
                break
            minute_s = max(self._minutes[0].wait_s(1.0), self._minutes[1].wait_s(size))
            if minute_s > 0 and not forced:
                wait = minute_s
                break
            requests_s, tokens_s = self._requests.wait_s(1.0), self._tokens.wait_s(size)
            early = _EARLY_S if seconds + _EARLY_S < claim_s else 0.0
            if (requests_s > early or tokens_s > early) and not forced:
                wait = max(requests_s, tokens_s)
                binds = (requests_s > early, tokens_s > early)
                break
            self._requests.level -= 1
            self._tokens.level -= size
            self._minutes[0].lease(self._now, 1.0)
            self._minutes[1].lease(self._now, size)
            calls, tokens, seconds = calls + 1, tokens + size, seconds + max(per_call, size * per_token)
            self._usual_tokens += 0.05 * (size - self._usual_tokens)
        return _Grant(calls, tokens, seconds, wait, binds)

    def _again(self, now: float, worker: FairWorker, turn: Turn, grant: _Grant) -> float:
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
        pace = self._pace
        one_each = max(1 / pace.requests, self._usual_tokens / pace.tokens) / turn.smallest_share
        return one_each * ceil(_ROUND_S / one_each)


def _lowest(limits: list[QuotaLimits]) -> QuotaLimits:
    columns = ([value for value in column if value is not None] for column in zip(*limits, strict=True))
    requests, tokens, in_flight = (min(column) if column else None for column in columns)
    return QuotaLimits(requests, tokens, None if in_flight is None else int(in_flight))


class Accrual:
    """Amounts that accrue at a pace. More may be taken than is there, and is then owed. It starts empty."""

    def __init__(self) -> None:
        self.level = 0.0
        self._pace = inf
        self._capacity = 0.0

    def accrue(self, seconds: float, pace: float, one_call: float) -> None:
        """Fill for *seconds*; *one_call* is the amount of a usual call."""
        self._pace = pace
        if pace == inf:
            self.level = 0.0
            return
        self._capacity = one_call + pace * _BURST_S + min(one_call, pace * _PATIENT_BURST_S)
        self.level = min(self.level + pace * seconds, self._capacity)

    @property
    def seconds(self) -> float:
        """The level, as the time it takes to accrue."""
        return inf if self._pace == inf else self.level / self._pace

    def empty(self, one_call: float) -> None:
        """Drop the accrued amount and owe one call, as all workers ask at once when a hold ends. Debts stay."""
        self.level = min(self.level, -one_call)

    def wait_s(self, amount: float) -> float:
        """Seconds until *amount* may go, 0 or less if now; what exceeds the capacity goes when that is reached."""
        return -inf if self._pace == inf else (min(amount, self._capacity) - self.level) / self._pace
