"""
Find the limit of a provider that counts by the minute where it was not told, or was told too high.

Such a provider refuses for most of a minute: a long wait is stated, or canaries are refused for seconds. What it let in
within the minute before is its limit. That may have been less than the limit, as when the provider was closed: so a
single call is tried now and then while nothing may leave.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from longform.quota.holds import OBEYED_S

_TOKENS_SHARE = 1.02  # of the tokens let in: calls are exact, and nobody said which of the two counts
_PROBE_WAIT_S = 3.0  # a call that would have to wait so long tells something
_REFUSED_S = 5.0  # so long a time of nothing but refusals is a minute's
_EVENT_S = 1.0  # in which refusals of one event are heard
_CONTRADICTED = 0.9  # of a found limit: a refusal when less was let in has another reason
_PATIENCE_S = 15.0
_LONGEST_PATIENCE_S = 600.0
_SOON_S = 1.0
_GROWTH = 0.1


class MinuteLimits(NamedTuple):
    """Calls and tokens a minute; infinite if not known."""

    requests: float = inf
    tokens: float = inf


class MinuteFinder:
    """The found limits of one quota domain."""

    def __init__(self) -> None:
        self._contradicted = False
        self.forget()

    def forget(self) -> None:
        """Drop what was found: the wait that a refusal stated was not meant."""
        self.found = MinuteLimits()
        self._since = inf  # when refusals began
        self._found_at = -inf
        self._probe_at = inf
        self._probed = inf  # when the last probe left
        self._patience_s = _PATIENCE_S
        self._growth = _GROWTH

    @property
    def known(self) -> bool:
        """Return whether a limit was found."""
        return self.found != MinuteLimits()

    def is_probe(self, sent: float) -> bool:
        """Return whether the call that left at *sent* is a probe, whose refusal is no news to the others."""
        return sent >= self._probed

    def probe_refused(self, now: float) -> None:
        self._probed, self._growth = inf, _GROWTH
        self._patience_s = min(2 * self._patience_s, _LONGEST_PATIENCE_S)
        self._probe_at = now + self._patience_s

    def refused(self, now: float, used: MinuteLimits, retry_after_s: float | None, *, closed: bool) -> None:
        """
        Take in a refusal that was heard at *now*.

        *used* was let in within the minute before. *retry_after_s* is the stated wait; None: none is stated, or none to
        be believed. *closed*: nothing but refusals has been met since more than one event.
        """
        self._since = min(self._since, now) if closed else now
        if self.known and used.requests < _CONTRADICTED * self.found.requests:
            self.forget()
            self._contradicted = True
        elif self.known:
            if now < self._found_at + _EVENT_S and used.requests < self.found.requests:
                self._find(now, used)
        elif used.requests >= 1 and ((retry_after_s or 0.0) > OBEYED_S or self._long_refused(now)):
            self._find(now, used)

    def _long_refused(self, now: float) -> bool:
        return not self._contradicted and now - self._since > _REFUSED_S

    def accepted(self, now: float, sent: float) -> None:
        """Take in an accepted call: a probe that is let in shows that the limit is higher."""
        if sent >= self._probed:
            self.found = MinuteLimits(*(limit * (1 + self._growth) for limit in self.found))
            self._probed, self._probe_at, self._growth = inf, now + _SOON_S, 2 * self._growth

    def may_probe(self, now: float, wait_s: float) -> bool:
        """Return whether one call may leave although it has to wait *wait_s* more."""
        return self.known and now >= self._probe_at and wait_s >= _PROBE_WAIT_S and self._probed == inf

    def probe_left(self, now: float) -> None:
        self._probed = now

    def _find(self, now: float, used: MinuteLimits) -> None:
        self._found_at = now
        self.found = MinuteLimits(used.requests, used.tokens * _TOKENS_SHARE if used.tokens > 0 else inf)
        self._probe_at = now + self._patience_s
