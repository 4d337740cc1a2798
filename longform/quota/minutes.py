"""
The sum of what left within the last minute, of calls or of tokens.

A provider that counts by the minute lets a whole minute's worth leave at once, and nothing more until it has passed.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from math import inf

from longform.quota.leases import MINUTE_S

_MARGIN_S = 0.5  # between a lease and the arrival of its last call, at most
_RESET_MARGIN_S = 0.2  # beyond the reset that headers state
_BIN_S = 0.05
_FRESH_S = 5.0  # an older reply may tell of the window before
_CLEARLY = 0.02  # of the limit: a difference that is more than lag
_NEAR_FULL = 0.5  # of the limit: headers of a fuller quota tell a bucket from a window
_DRAINS, _STAYS = 1.2, 3.0  # a stated reset over that of a bucket: one, and none


@dataclass
class _Left:
    """Sum of one bin of time."""

    when: float
    amount: float
    ends: float  # when it counts no more


class Minute:
    """
    One resource. Amounts count for a minute and a little; those of a provider that refills drain evenly.

    Attributes:
        limit: A minute; infinite if not known.
    """

    def __init__(self) -> None:
        self.limit = inf
        self._left: deque[_Left] = deque()
        self._sum = 0.0
        self._refills = False
        self._now = -inf

    def pass_to(self, now: float) -> None:
        """Let time pass."""
        if self._refills and self._now > -inf and self.limit < inf:
            self._drain((now - self._now) * self.limit / MINUTE_S)
        self._now = now
        while self._left and self._left[0].ends <= now:
            self._sum -= self._left.popleft().amount
        if not self._left:
            self._sum = 0.0

    def take(self, when: float, amount: float) -> None:
        """Count *amount*, which leaves at *when*; a negative one corrects what left then."""
        self._sum += amount
        if self._left and (amount < 0 or when - self._left[-1].when < _BIN_S):
            nearest = self._left[-1] if amount >= 0 else self._at(when)
            nearest.amount += amount
            return
        self._left.append(_Left(when, amount, when + MINUTE_S + _MARGIN_S))

    @property
    def used(self) -> float:
        """Return what counts now."""
        return self._sum

    @property
    def spare(self) -> float:
        """Return what may still leave."""
        return self.limit - self._sum

    def wait_s(self, amount: float) -> float:
        """Return the seconds until *amount* may leave, 0 if now; one above the limit leaves when nothing counts."""
        over = self._sum + min(amount, self.limit) - self.limit
        if over <= 0 or not self._left:
            return 0.0
        if self._refills:
            return over * MINUTE_S / self.limit
        for left in self._left:
            over -= left.amount
            if over <= 0:
                return left.ends - self._now
        return self._left[-1].ends - self._now

    def heed(self, now: float, sent: float, remaining: float, reset_s: float | None) -> None:
        """
        Correct the count by the headers of one reply.

        Args:
            now: When they were heard.
            sent: When their call left: all that left since is not yet part of *remaining*, or may be.
            remaining: What could leave.
            reset_s: Until nothing counts, from now.
        """
        if self.limit == inf:
            return
        since = sum(left.amount for left in self._left if left.when > sent)
        if remaining - since > self.spare:
            self._drain(remaining - since - self.spare)
        elif remaining < self.spare - _CLEARLY * self.limit and now - sent < _FRESH_S:  # others use the key
            self.take(now, self.spare - remaining)
        if reset_s is not None and remaining < self.limit:
            self._heed_reset(now, sent, self.limit - remaining, reset_s)

    def _heed_reset(self, now: float, sent: float, counted: float, reset_s: float) -> None:
        """Learn when what counted will count no more, and if it drains evenly."""
        as_bucket = counted * MINUTE_S / self.limit
        if counted <= _NEAR_FULL * self.limit and reset_s <= _DRAINS * as_bucket + _RESET_MARGIN_S:
            self._refills = True
        elif counted <= _NEAR_FULL * self.limit and reset_s > _STAYS * as_bucket + 1:
            self._refills = False
        if not self._refills:
            for left in self._left:
                if left.when <= sent:
                    left.ends = min(left.ends, now + reset_s + _RESET_MARGIN_S)

    def _at(self, when: float) -> _Left:
        """Return the last bin that began by *when*, else the oldest."""
        return next((left for left in reversed(self._left) if left.when <= when), self._left[0])

    def _drain(self, amount: float) -> None:
        """Forget *amount*, the oldest first."""
        while self._left and amount > 0:
            gone = min(amount, self._left[0].amount)
            self._left[0].amount -= gone
            self._sum -= gone
            amount -= gone
            if self._left[0].amount <= 0:
                self._left.popleft()
