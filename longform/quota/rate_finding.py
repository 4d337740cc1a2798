"""
Find the pace of a quota whose limits are unknown or wrongly told, from accepted and refused calls.

A bare 429 does not say which resource it was about, so both goodputs are measured. At a refusal, what was let in within
the last second is the limit of a provider that counts a sliding second, and at least the limit of one that fills a
bucket; a second refusal soon after, at another goodput, says that it was the latter. Calls count from their lease on
and until they are refused: refusals come at once, answers of language models after minutes.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from longform.quota.holds import OBEYED_S
from longform.quota.leases import QuotaLimits

TOLD_SHARE = 0.987  # of a limit that was told is used
TOLD_TOKENS_SHARE = 0.98  # a sliding second that is almost full refuses a call that is larger than the rest

_FIRST_PACE = 30.0  # calls/s of an unknown quota
_DOUBLING_S = 0.15  # of the pace, until the first refusal
_WINDOW_S = 1.0  # over which goodput is measured
_AT_ITS_LIMIT = 0.9  # a resource whose goodput was below this share of its pace is not to blame
_SOON_S = 5.0  # a refusal within says that the last cut was too small
_DEEPEST_CUT = 0.85
_SOON_AGAIN_CUT = 0.5  # at most, while the second before still holds the wait for the last event
_REPEATS = 0.03  # goodputs that differ by less are the same
_SPARE = 1.05  # of the goodput of the resource that is not counted
_BLIND_CUT = 0.7  # nothing was let in, so that no goodput is known
_SLOWEST = 0.005  # calls/s
_PATIENCE_S = 4.0  # before a found pace is tried upwards
_PATIENCE_FOR_HOLD = 60.0  # a probe that will cost a hold of 1 s is made after a minute
_LONGEST_PATIENCE_S = 120.0
_PROBE = 0.005  # growth a second, at first
_PROBE_DOUBLING_S = 5.0
_FASTEST_PROBE = 0.2
_BIN_S = 0.01
_KEPT_BINS = 1000


class Amounts(NamedTuple):
    """Calls and tokens; as a pace, of one second."""

    requests: float
    tokens: float


_FOUND_SHARE = Amounts(0.98, 0.98)  # of a goodput that met a refusal
_LEAST_SHARE = Amounts(0.97, 0.96)  # of a goodput that repeats: lower says nothing new
_NOTHING = Amounts(0.0, 0.0)


class Goodput:
    """Goodput of the last ten seconds at most, in bins of 10 ms."""

    def __init__(self) -> None:
        self._bins: dict[int, tuple[float, float]] = {}

    def add(self, when: float, requests: float, tokens: float) -> None:
        place = int(when / _BIN_S)
        had = self._bins.get(place, (0.0, 0.0))
        self._bins[place] = (had[0] + requests, had[1] + tokens)
        if len(self._bins) > 2 * _KEPT_BINS:
            self._bins = {p: amounts for p, amounts in self._bins.items() if p > place - _KEPT_BINS}

    def spread(self, begin: float, over_s: float, requests: int, tokens: float) -> None:
        """Add calls that leave evenly within *over_s*."""
        parts = min(requests, 1 + int(over_s / _BIN_S))
        for part in range(parts):
            self.add(begin + over_s * part / parts, requests / parts, tokens / parts)

    def between(self, begin: float, end: float) -> Amounts:
        """Let in from *begin*, exclusive, to *end*."""
        first, last = int(begin / _BIN_S) + 1, int(end / _BIN_S)
        found = [self._bins[place] for place in range(first, last + 1) if place in self._bins]
        return Amounts(sum(f[0] for f in found), sum(f[1] for f in found))


class RateFinder:
    """The pace of one quota domain, from told limits and from findings; it goes on from limits *known* earlier."""

    def __init__(self, known: QuotaLimits | None = None) -> None:
        self.goodput = Goodput()
        self._told = Amounts(inf, inf)
        self._found = Amounts(_FIRST_PACE, inf)
        self._seeking = True
        self._before = Amounts(inf, inf)  # the pace that met the last event
        self._sought = False  # the last event ended the seeking
        self._good = self._good_before = _NOTHING  # let in in the second before the last events
        self._unrest = [0.0, 0.0]  # how much each goodput changed from event to event
        self._event = -inf  # when the last refused call of the last event was sent
        self._previous_event = -inf
        self._quiet_s = 0.0  # under way at the found pace since the last event
        self._quiet_before_s = inf
        self._patience_s = _PATIENCE_S
        if known is not None:
            self.go_on_from(known)

    @property
    def pace(self) -> Amounts:
        """Calls and tokens a second, to be kept."""
        told, found = self._told, self._found
        return Amounts(min(told.requests, found.requests), min(told.tokens, found.tokens))

    @property
    def seeking(self) -> bool:
        """Return whether nothing is known, so that the pace grows fast."""
        return self._seeking

    @property
    def found(self) -> QuotaLimits:
        """Return the limits a minute that refusals taught; None if they taught nothing."""
        requests, tokens = (None if self._seeking or f == inf else f * 60 for f in self._found)
        return QuotaLimits(requests_per_minute=requests, tokens_per_minute=tokens)

    def tell(self, limits: QuotaLimits) -> None:
        """Take limits from a configuration or from headers; a lower finding stays."""
        requests, tokens = _given(limits.requests_per_minute), _given(limits.tokens_per_minute)
        before = self._told
        self._told = Amounts(TOLD_SHARE * requests, TOLD_TOKENS_SHARE * tokens)
        if self._event == -inf:  # a limit that was told is what a goodput at a refusal should repeat
            self._good = Amounts(requests if requests < inf else 0.0, tokens if tokens < inf else 0.0)
        if self._seeking and min(self._told) < inf:
            self._found, self._seeking = Amounts(inf, inf), False
        elif min(self.pace) == inf:  # what was told holds no more, and nothing was found: seek on from there
            self._found = Amounts(before.requests if before.requests < inf else _FIRST_PACE, inf)
            self._seeking = True

    def go_on_from(self, known: QuotaLimits) -> None:
        """Take over a predecessor's findings, unless something has been found since."""
        if self._event > -inf:
            return
        requests, tokens = _given(known.requests_per_minute), _given(known.tokens_per_minute)
        if requests < self._told.requests or tokens < self._told.tokens:
            self._found = Amounts(
                min(requests, inf if self._seeking else self._found.requests), min(tokens, self._found.tokens)
            )
            self._seeking = False

    def run(self, seconds: float, *, requests_bind: bool, tokens_bind: bool) -> None:
        """Let time pass in which calls waited for one resource or the other; probe upwards when it is time."""
        if not (requests_bind or tokens_bind):
            return
        self._quiet_s += seconds
        if self._seeking:
            factor = 2.0 ** (seconds / _DOUBLING_S)
        elif self._quiet_s > self._patience_s:
            over = (self._quiet_s - self._patience_s) / _PROBE_DOUBLING_S
            factor = 1 + seconds * min(_PROBE * 2.0 ** min(over, 16), _FASTEST_PROBE)
        else:
            return
        requests, tokens = self._found
        requests *= factor if requests_bind else 1
        tokens *= factor if tokens_bind and not self._seeking else 1
        told = self._told
        self._found = Amounts(
            inf if requests >= told.requests < inf else requests, inf if tokens >= told.tokens < inf else tokens
        )

    def refused(self, sent: float, *, new: bool, hold_s: float) -> None:
        """
        Cut the pace to the goodput: a call that left at *sent* was refused.

        A *new* refusal begins an event, which costs *hold_s*; the others of an event only sharpen the goodput.
        """
        if new:
            self._before, self._sought = self.pace, self._seeking
            self._previous_event, self._event = self._event, sent
            if self._previous_event > -inf:
                self._unrest = [old / 2 + self._change(resource) ** 2 for resource, old in enumerate(self._unrest)]
            self._good_before = self._good
            self._quiet_before_s, self._quiet_s = self._quiet_s, 0.0
            probed = not self._seeking and self._quiet_before_s > self._patience_s
            patience = 2 * self._patience_s if probed else self._patience_s
            self._patience_s = min(max(patience, _PATIENCE_FOR_HOLD * min(hold_s, OBEYED_S)), _LONGEST_PATIENCE_S)
            self._seeking = False
        self._event = max(self._event, sent)
        self._cut()

    def _cut(self) -> None:
        good = self.goodput.between(self._event - _WINDOW_S, self._event)
        self._good = good
        if good.requests < 1:
            self._find([_BLIND_CUT * before for before in self._before])
            return
        near = [g >= _AT_ITS_LIMIT * before for g, before in zip(good, self._before, strict=True)]
        unclear = self._sought or not any(near) or all(near)
        counted = self._what_repeats() if unclear else near.index(True)
        pace = list(self._before)
        pace[counted] = self._below(counted)
        if unclear:
            pace[1 - counted] = _SPARE * good[1 - counted]
        if self._quiet_before_s < _WINDOW_S and self._previous_event > -inf:
            # nobody could call for a part of the window, so that less was let in than would have been
            pace = [
                max(new, _SOON_AGAIN_CUT * old) if old < inf else new
                for new, old in zip(pace, self._before, strict=True)
            ]
        self._find(pace)

    def _what_repeats(self) -> int:
        """The resource that the provider counts: its goodput at a refusal is the same each time. At first, calls."""
        unrest = [old + self._change(resource) ** 2 for resource, old in enumerate(self._unrest)]
        return unrest.index(min(unrest))

    def _change(self, resource: int) -> float:
        before, now = self._good_before[resource], self._good[resource]
        most = max(now, before)
        return abs(now - before) / most if most > 0 else 0.0  # two events at which nothing was let in are alike

    def _below(self, resource: int) -> float:
        before, good, earlier = self._before[resource], self._good[resource], self._good_before[resource]
        if self._change(resource) <= max(_REPEATS, 2 / self._good.requests):
            good = max(good, earlier)
            return max(_FOUND_SHARE[resource] * min(before, good), _LEAST_SHARE[resource] * good)
        pace = _FOUND_SHARE[resource] * min(before, good)
        if self._quiet_before_s > _SOON_S or self._previous_event == -inf:
            return pace
        since = self.goodput.between(self._previous_event, self._event)[resource]
        return min(pace, max(since / (self._event - self._previous_event), _DEEPEST_CUT * before))

    def _find(self, pace: list[float]) -> None:
        requests, tokens = pace
        self._found = Amounts(
            max(requests, _SLOWEST) if requests < self._told.requests else inf,
            tokens if 0 < tokens < self._told.tokens else inf,  # calls of no tokens show nothing of them
        )


def _given(per_minute: float | None) -> float:
    return inf if per_minute is None else per_minute / 60
