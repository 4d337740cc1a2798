"""
Find out if a provider counts by the minute, so that a whole minute's worth may leave at once.

A limit is told for a minute. A provider that enforces it by the second refuses what a burst adds. So calls run a little
ahead of the pace, a few at a time, until clearly more was accepted than one second's worth beside the pace; only then
the pace is lifted. A refusal before ends the trial for good: the pace of a second holds from then on.
"""

from __future__ import annotations

from enum import Enum
from math import inf

from longform.quota.leases import MINUTE_S

_AT_RISK = 8.0  # calls that a trial may have refused
_AT_RISK_SHARE = 0.002  # of those that have left; more are allowed after many calls
_HEARD_S = 0.15  # until a refusal is heard
_MOST_AHEAD = 8.0  # of the pace, while it is tried
_PROOF_S = 1.5  # seconds of the pace that must be accepted beside it; a bucket of one second lets one in
_PROOF_CALLS = 3.0
_FIRST_CALLS = 3.0  # accepted before a burst is tried
_DOUBLING_S = 0.25  # of the pace, once a minute's worth may leave
_FASTEST = 1e5  # calls/s
_SLOW = 60.0  # calls/s; a faster quota is tried only if headers say that more is left
_SAID_S = 2.5  # seconds of the pace that headers must say are left


class CountSpan(Enum):
    """The span in which a provider counts."""

    UNKNOWN = "unknown"
    TRIED = "tried"
    MINUTE = "minute"
    SECOND = "second"


class Bursts:
    """Say by which factor the calls of one quota domain may run ahead of the pace."""

    def __init__(self) -> None:
        self.factor = 1.0  # of the pace; 1 unless a burst is tried or allowed
        self.counts = CountSpan.UNKNOWN  # what is known of the provider
        self._said = False
        self._begun = self._sent = inf  # the first and the last accepted call of the trial
        self._accepted = 0.0
        self._tried = 0.0  # accepted of the trial

    def hear_remaining(self, calls: float, pace: float) -> None:
        """Headers say that so many *calls* may leave now, at a *pace* of calls a second."""
        self._said |= calls >= _SAID_S * pace + _PROOF_CALLS

    def advance(self, now: float, seconds: float, pace: float, *, wanted: bool) -> None:
        """Let *seconds* pass at a *pace* of calls a second; *wanted* if calls wait for it."""
        if pace == inf or self.counts is CountSpan.SECOND:
            return
        if self.counts is CountSpan.UNKNOWN and wanted and self._may_try(pace):
            self.counts, self._begun, self._tried = CountSpan.TRIED, now, 0.0
            self._sent = now
        if self.counts is CountSpan.TRIED:
            at_risk = _AT_RISK + _AT_RISK_SHARE * self._accepted
            self.factor = min(1 + at_risk / (_HEARD_S * pace), _MOST_AHEAD)
            if self._tried - pace * (self._sent - self._begun) > _PROOF_S * pace + _PROOF_CALLS:
                self.counts = CountSpan.MINUTE
        elif self.counts is CountSpan.MINUTE and wanted:
            self.factor = min(self.factor * 2.0 ** (seconds / _DOUBLING_S), max(1.0, _FASTEST / pace))

    def accepted(self, sent: float) -> None:
        """Take in an accepted call that left at *sent*."""
        self._accepted += 1
        if sent >= self._begun:
            self._tried += 1
            self._sent = max(self._sent, sent)

    def _may_try(self, pace: float) -> bool:
        return self._accepted >= _FIRST_CALLS and (self._said or pace <= _SLOW)

    def refused(self, used: float) -> bool:
        """
        Return whether a refusal is explained by the burst, which ends then; *used* is the share of the minute's limit
        that had left.
        """
        if self.counts is CountSpan.TRIED or (self.counts is CountSpan.MINUTE and used < 0.5):
            self.counts, self.factor = CountSpan.SECOND, 1.0
            return True
        return False


def calls_in(minute_limit: float, usual: float) -> float:
    """Return how many usual calls a second a limit of one resource allows."""
    return inf if usual <= 0 else minute_limit / MINUTE_S / usual
