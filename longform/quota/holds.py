"""
Hold all calls after a refusal, for as long as the provider asks, or for a short while if it does not say.

A wait of up to two seconds is obeyed to the letter. During a longer one a single canary call leaves now and then:
headers of 30 seconds where ten milliseconds would do exist, and so do true ones, to which a few canaries do no harm.
"""

from __future__ import annotations

from math import inf

OBEYED_S = 2.0  # a wait up to this long is not doubted
BACKOFF_S = 0.1  # the first of our own waits; doubled while nothing is accepted
LONGEST_BACKOFF_S = 10.0


class Hold:
    """The state of one quota domain's waiting. All times are seconds on one monotonic clock."""

    def __init__(self) -> None:
        self.until = -inf
        self._since = -inf
        self._event_ends = -inf  # refusals of calls sent before belong to the last event
        self._contestable = False  # an accepted call that was sent during the hold ends it
        self._from_header = False
        self._distrusted = False
        self._doubt = 0  # events since a call was accepted that was sent after the last began
        self._canary_at = inf
        self._canary_gap = OBEYED_S

    @property
    def closed(self) -> bool:
        """Return whether the last events met nothing but refusals, so that they say nothing of a rate."""
        return self._doubt > 1

    @property
    def distrusted(self) -> bool:
        """Return whether an accepted call has contradicted a long wait that headers stated."""
        return self._distrusted

    def leave(self, now: float) -> int | None:
        """Return how many calls may leave now: 0, 1 (a canary), or None if no hold bounds them."""
        if now < self.until:
            return int(now >= self._canary_at)
        return 1 if self.closed else None

    def canary_left(self, now: float) -> None:
        """The one call that `leave` allowed has been leased."""
        if now < self.until:
            self._canary_gap *= 2
            self._canary_at = now + self._canary_gap
            return
        self._event_ends = now - 0.001  # its own refusal is news
        self._begin(now, self._backoff(self._doubt + 1), contestable=True, from_header=False)

    def refused(self, now: float, sent: float, retry_after_s: float | None) -> bool:
        """Return whether a refusal begins a new event; one that belongs to the last event may prolong its hold."""
        new = sent >= self._event_ends
        self._doubt += new
        wait = self._wait(retry_after_s)
        asked = retry_after_s is not None and wait == retry_after_s
        if new:
            self._begin(now, wait, contestable=wait > OBEYED_S and asked, from_header=asked)
        elif now + wait > self.until and asked:
            self._prolong(now + wait)
        self._event_ends = max(self._event_ends, self.until)
        return new

    def accepted(self, now: float, sent: float) -> None:
        """Take in an accepted call. If it was sent during a long hold, the hold was not meant."""
        if sent < self._since:
            return
        self._doubt = 0
        if self._contestable and now < self.until:
            self._distrusted |= self._from_header
            self.until = self._event_ends = now
            self._canary_at = inf

    def end(self, now: float) -> None:
        """End the wait: something else says when calls may leave."""
        self.until = min(self.until, now)

    def wait_out(self, now: float, reset_s: float) -> None:
        """The provider says that nothing is left until *reset_s* from now; no call was refused."""
        if now + self._wait(reset_s) > self.until:
            self._begin(now, self._wait(reset_s), contestable=reset_s > OBEYED_S, from_header=True)

    def next_leave_s(self, now: float) -> float:
        """Seconds until `leave` may say something else."""
        return max(0.0, min(self.until, self._canary_at) - now)

    def _wait(self, asked_s: float | None) -> float:
        own = self._backoff(self._doubt)
        if asked_s is None or (asked_s > OBEYED_S and self._distrusted):
            return own
        return max(asked_s, own)

    def _backoff(self, doubt: int) -> float:
        return min(BACKOFF_S * 2.0 ** min(max(doubt - 1, 0), 16), LONGEST_BACKOFF_S)

    def _begin(self, now: float, wait: float, *, contestable: bool, from_header: bool) -> None:
        self._since, self.until = now, max(now + wait, self.until)
        self._contestable, self._from_header = contestable, from_header
        self._canary_gap = OBEYED_S
        self._canary_at = now + OBEYED_S if contestable and from_header else inf

    def _prolong(self, until: float) -> None:
        self.until = until
        if until - self._since > OBEYED_S and not self._contestable:
            self._contestable = self._from_header = True
            self._canary_at = self._since + OBEYED_S
