"""
The sum of what left within the last minute, of calls or of tokens.

A provider that counts by the minute lets a whole minute's worth leave at once, and nothing more until it has passed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from math import inf

from longform.quota.leases import MINUTE_S

_MARGIN_S = 1.0  # between a call's time, as its worker tells it, and its arrival
_UNTOLD_S = 120.0  # until a leased call that nobody tells of counts no more: it may wait so long for a place
_NEAR_S = 1.0  # between two statements of when one call left, at most
_RESET_MARGIN_S = 0.2  # beyond the reset that headers state
_BIN_S = 0.05
_FRESH_S = 5.0  # an older reply may tell of the window before
_CLEARLY = 0.02  # of the limit: a difference that is more than lag
_NEAR_FULL = 0.5  # of the limit: headers of a fuller quota tell a bucket from a window
_DRAINS, _STAYS = 1.2, 3.0  # a stated reset over that of a bucket: one, and none


class Minute:
    """
    One resource. A leased amount counts until its call has left, and for a minute and a little from then on.

    Amounts of a provider that refills drain evenly.
    """

    def __init__(self) -> None:
        self.limit = inf  # a minute; infinite if not known
        self.used = 0.0  # the sum of what counts now
        self._leased: deque[tuple[float, float]] = deque()  # (when, amount), not told of yet
        self._left: dict[int, float] = {}  # by bins of time
        self._reset = (-inf, inf)  # what left by the first counts no more from the second on
        self._refills = False
        self._now = -inf
        self._heeded = -inf  # when the last call left whose headers were heard
        self._forgotten = -inf  # the last bin that counts no more

    @property
    def spare(self) -> float:
        """Return what may still leave."""
        return self.limit - self.used

    def pass_to(self, now: float) -> None:
        """Let time pass."""
        if self._refills and self._now > -inf and self.limit < inf:
            self._drain((now - self._now) * self.limit / MINUTE_S)
        self._now = now
        while self._leased and self._leased[0][0] <= now - _UNTOLD_S:
            self.used -= self._leased.popleft()[1]
        mark, gone_at = self._reset
        until = now - MINUTE_S - _MARGIN_S
        self._forget_until(max(until, mark) if now >= gone_at else until)
        if not (self._leased or self._left):
            self.used = 0.0  # sums of many floats drift

    def lease(self, when: float, amount: float) -> None:
        if self._leased and self._leased[-1][0] == when:
            amount_then = self._leased.pop()[1]
            self._leased.append((when, amount_then + amount))
        else:
            self._leased.append((when, amount))
        self.used += amount

    def leave(self, sent: float, amount: float) -> None:
        """Count a leased *amount* from when it was *sent*."""
        self.end(sent, amount)
        if sent > self._now - MINUTE_S - _MARGIN_S:
            self._add(sent, amount)

    def correct(self, sent: float, more: float) -> None:
        """Count *more*, or less if it is negative, for a call that left at *sent* and counts still."""
        place = int(sent / _BIN_S)
        if place not in self._left:
            place = min(self._left, key=lambda found: abs(found - place), default=place)
        counted = self._left.get(place)
        if counted is not None and abs(place * _BIN_S - sent) <= _NEAR_S:
            self._left[place] = max(0.0, counted + more)
            self.used += self._left[place] - counted

    def end(self, when: float, amount: float) -> None:
        """
        Forget a leased *amount* that left at *when* or will not leave.

        The last one leased before is taken, so that calls which left earlier and are told of later find theirs.
        """
        for place in reversed(range(len(self._leased))):
            leased_at, leased = self._leased[place]
            if leased_at > when:
                continue
            gone = min(leased, amount)
            amount -= gone
            self.used -= gone
            if leased > gone:
                self._leased[place] = (leased_at, leased - gone)
                return
            del self._leased[place]
            if amount <= 0:
                return

    def wait_s(self, amount: float) -> float:
        """Return the seconds until *amount* may leave, 0 if now; one above the limit leaves when nothing counts."""
        over = self.used + min(amount, self.limit) - self.limit
        if over <= 0 or not (self._left or self._leased):
            return 0.0
        if self._refills:
            return over * MINUTE_S / self.limit
        return max(self._over_until(over) - self._now, _BIN_S)

    def heed(self, now: float, sent: float, remaining: float, reset_s: float | None) -> None:
        """
        Correct the count by the headers of one reply, heard at *now*.

        *remaining* could leave; what left since their call was *sent* is not yet part of it, or may be. Nothing counts
        any more *reset_s* from now.
        """
        if self.limit == inf:
            return
        since = sum(amount for _, amount in self._leased)
        since += sum(amount for place, amount in self._left.items() if place >= int(sent / _BIN_S))
        if remaining - since > self.spare:
            self._drain(remaining - since - self.spare)
        elif remaining < self.spare - _CLEARLY * self.limit and sent >= max(self._heeded, now - _FRESH_S):
            self._add(now, self.spare - remaining)  # others use the key
        self._heeded = max(self._heeded, sent)
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
            self._reset = (sent, now + reset_s + _RESET_MARGIN_S)

    # ------------------------------------------------------------ inside

    def _ends(self) -> Iterator[tuple[float, float]]:
        """Yield when each amount ends to count, the first first."""
        mark, gone_at = self._reset
        for place in sorted(self._left):
            natural = (place + 1) * _BIN_S + MINUTE_S + _MARGIN_S
            yield (min(natural, gone_at) if place * _BIN_S <= mark else natural), self._left[place]
        for when, amount in self._leased:
            yield when + MINUTE_S + _MARGIN_S, amount

    def _over_until(self, amount: float) -> float:
        """Return when *amount* of what counts now will count no more."""
        until = self._now
        for until, counted in self._ends():  # of the last one
            amount -= counted
            if amount <= 0:
                return until
        return until

    def _add(self, when: float, amount: float) -> None:
        place = int(when / _BIN_S)
        self._left[place] = self._left.get(place, 0.0) + amount
        self.used += amount

    def _forget_until(self, when: float) -> None:
        last = int(when / _BIN_S) - 1
        if last <= self._forgotten:
            return
        for place in [place for place in self._left if place <= last]:
            self.used -= self._left.pop(place)
        self._forgotten = last

    def _drain(self, amount: float) -> None:
        """Forget *amount* of what left, the oldest first."""
        for place in sorted(self._left):
            gone = min(amount, self._left[place])
            self._left[place] -= gone
            self.used -= gone
            amount -= gone
            if amount <= 0:
                break
            del self._left[place]
