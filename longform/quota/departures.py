"""
Calls on their way to a provider, and which may leave now.

A call whose chance to be refused is small leaves. Another leaves once the wait for a better chance has cost as much as
its refusal is likely to, and while few refusals are to be expected of calls of which nothing was heard.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np

from longform.chat.call import Signals
from longform.quota.belief import Belief, Chances
from longform.quota.counting import NOTHING, Array, Counted
from longform.quota.leases import Refused

_FREE = 0.02  # a chance to be refused for which nothing waits
_FREE_SHARE = 0.1  # of calls that leave together, as whose refusals their chance counts
_HOPELESS = 0.9  # a chance with which nothing leaves
_COST_TOLD, _COST = 8.0, 1.0  # of a refusal, in calls' times, if limits were told truly and else
_SLOWEST, _FASTEST = 8.0, 100.0  # calls a second, for that time
_RISKED = 0.5  # refusals to be expected of calls unheard of
_RISKED_SHARE_TOLD, _RISKED_SHARE = 0.004, 0.02  # more of them, of a call let in, if limits were told truly and else
_HEARD_S = 0.15  # in which a refusal is heard of, at first
_SAME_S = 0.1  # between two tellings of when a call left, at most
_MOVED_S = 0.004  # after its lease a call leaves, at least, to be counted anew
_MOST_REGRET = 1.5  # of the cost of a refusal: no wait pays for more than one trial
_BURST_S = 0.5  # in which what may leave at once leaves, so that all workers have a part
_BACKOFF_S, _LONGEST_BACKOFF_S = 0.1, 10.0  # between refusals that nothing explains
_SOONEST_S, _LATEST_S = 0.01, 0.5  # between two looks


class _Call(NamedTuple):
    """A call that was leased, and left then or when its worker tells; of its fate nothing is heard."""

    worker: str
    when: float
    tokens: float
    risk: float

    @property
    def size(self) -> Array:
        return np.array([1.0, self.tokens])


class Departures:
    """Calls of all workers of one quota domain; times are seconds that never go back."""

    def __init__(self, belief: Belief) -> None:
        self._belief = belief
        self._unheard: list[_Call] = []
        self._untold: list[_Call] = []  # leased, and its worker has not said when it left
        self._n_in = 0
        self._heard_s = _HEARD_S
        self._began = inf
        self._now = -inf
        self._regret_s = 0.0  # of waits for better chances
        self._asked: tuple[float, float] | None = None  # when a call was asked for that does not leave, and its chance
        self._event = -inf  # when the last refusals were heard that were not of one moment
        self._n_closed = 0  # of them that nothing explained, since a call was let in
        self._is_closed = False  # the last of them were no first ones

    # ------------------------------------------------------------ what was heard

    def pass_to(self, now: float) -> None:
        """Hear that calls were let in of which no refusal was heard in time, and regret the wait since the last ask."""
        self._now, self._began = now, min(self._began, now)
        heard = [call for call in self._unheard if call.when < now - self._heard_s]
        if heard:
            self._unheard = [call for call in self._unheard if call.when >= now - self._heard_s]
            self._n_in += len(heard)
            last = max(heard, key=lambda call: call.when)
            self._belief.let_in(last.when, last.size, now)
            if last.when > self._event:
                self._n_closed = 0
        if self._asked is not None:
            asked, chance = self._asked
            self._regret_s = min(self._regret_s + (1 - chance) * (now - asked), _MOST_REGRET * self._cost_s)
            self._asked = None

    def leave(self, worker: str, sent: float, tokens: float) -> None:
        """Hear that a leased call left at *sent*."""
        leased = self._told_of(worker, tokens)
        if leased is not None and abs(sent - leased.when) < _MOVED_S:
            return
        if leased is not None:
            self._belief.count(leased.when, -1.0, -leased.tokens)
        if leased in self._unheard:
            self._unheard.remove(leased)
        self._unheard.append(_Call(worker, sent, tokens, leased.risk if leased else 0.0))
        self._belief.count(sent, 1.0, tokens)

    def give_up(self, worker: str, tokens: float) -> None:
        """Hear that a leased call of a worker will not be made."""
        leased = self._told_of(worker, tokens)
        if leased is not None:
            self._belief.count(leased.when, -1.0, -leased.tokens)
        if leased in self._unheard:
            self._unheard.remove(leased)

    def forget(self, worker: str) -> None:
        """Wait no more for what a worker that is gone would tell: its calls count as if they had left."""
        self._untold = [call for call in self._untold if call.worker != worker]

    def _told_of(self, worker: str, tokens: float) -> _Call | None:
        """Return a lease of a worker that it tells of, of these tokens or else the oldest."""
        own = [leased for leased in self._untold if leased.worker == worker]
        if not own:
            return None
        leased = next((each for each in own if each.tokens == tokens), own[0])
        self._untold.remove(leased)
        return leased

    def refused(self, worker: str, refusals: tuple[Refused, ...], now: float) -> None:
        """Hear of a worker's refused calls."""
        taken_back = [(self._take_back(worker, now - each.sent_s_ago, each.reserved_tokens), each) for each in refusals]
        for when, refused in sorted(taken_back, key=lambda pair: pair[0]):
            self._heard_s = max(self._heard_s, 1.5 * min(now - when, 1.0))
            size = np.array([1.0, refused.reserved_tokens])
            if is_later := when > self._event:
                self._is_closed = self._n_closed > 0
            surprise = self._belief.refused(when, size, now, closed=self._is_closed)
            if (wait := refused.retry_after_s) is not None:
                self._belief.hear_wait(when, size, wait, now, closed=self._is_closed, surprise=surprise)
            if is_later:
                self._event, self._n_closed = now, self._n_closed + surprise

    def _take_back(self, worker: str, when: float, tokens: float) -> float:
        """Count a call no more; return when it left, as it was told at first: news travel for some milliseconds."""
        own = [c for c in self._unheard if c.worker == worker and c.tokens == tokens and abs(c.when - when) < _SAME_S]
        if own:
            nearest = min(own, key=lambda call: abs(call.when - when))
            self._unheard.remove(nearest)
            when = nearest.when
        self._belief.count(when, -1.0, -tokens)
        return when

    def heed(self, sent: float, signals: Signals) -> None:
        self._belief.heed(sent, signals, self._now)

    # ------------------------------------------------------------ what may leave

    @property
    def speed(self) -> Array:
        """Return the calls and tokens a second at which what may leave now would leave."""
        room = self._belief.room(self._belief.counted(self._now))
        return np.maximum(np.maximum(self._belief.pace, room / _BURST_S), 1e-9)

    def lease(self, worker: str, sizes: tuple[float, ...]) -> tuple[int, float]:
        """Return how many calls of these *sizes* in tokens leave now, in their order, and how long the next waits."""
        if (rest := self._rests_until - self._now) > 0 and sizes:
            return 0, rest
        if self._n_closed:  # one call finds out whether it is open again
            if any(call.when > self._event for call in self._unheard):
                return 0, self._heard_s / 2
            sizes = sizes[:1]
        counted, leased = self._belief.counted(self._now), NOTHING
        risked = sum(call.risk for call in self._unheard)
        n_free = self._n_free(counted, sizes)
        calls = [_Call(worker, self._now, tokens, 0.0) for tokens in sizes[:n_free]]
        leased, wait = np.array([n_free, sum(sizes[:n_free])]), 0.0
        for tokens in sizes[n_free:]:
            size = np.array([1.0, tokens])
            chances = self._belief.chances(counted, leased + size, size, self._now)
            if (wait := self._wait_s(counted, leased + size, chances, risked)) > 0:
                break
            calls.append(_Call(worker, self._now, tokens, chances.refused))
            leased, risked = leased + size, risked + chances.refused
        self._unheard += calls
        self._untold += calls
        self._belief.count(self._now, float(leased[0]), float(leased[1]))
        return len(calls), wait

    def _n_free(self, counted: list[Counted], sizes: tuple[float, ...]) -> int:
        """Return how many calls leave for which nothing waits, by halves: with each one more, chances only grow."""
        sums = np.cumsum([0.0, *sizes])

        def free(n: int) -> bool:
            size = np.array([1.0, sizes[n - 1]])
            more = np.array([n, sums[n]])
            return self._belief.chances(counted, more, size, self._now).refused * max(1.0, n * _FREE_SHARE) <= _FREE

        low, high = 0, len(sizes)
        middle = high
        while low < high:
            if free(middle):
                low = middle
            else:
                high = middle - 1
            middle = (low + high + 1) // 2
        return low

    def _wait_s(self, counted: list[Counted], more: Array, chances: Chances, risked: float) -> float:
        """Return 0 if a call leaves, whose wait pays for its risk, or else how long it waits."""
        if chances.refused <= _FREE:
            return 0.0
        hopeless = chances.refused > _HOPELESS
        chance = chances.refused if hopeless else chances.known
        share = _RISKED_SHARE_TOLD if self._belief.told_truly else _RISKED_SHARE
        if risked > 0 and risked + chances.refused > _RISKED + share * self._n_in:
            self._asked = (self._now, chance)
            return self._heard_s / 2
        if chance <= _FREE:
            return 0.0
        if hopeless or chance * self._cost_s > self._regret_s:
            self._asked = (self._now, chance)
            return self._until_it_pays_s(counted, more, chance)
        self._regret_s -= chance * self._cost_s
        return 0.0

    def _until_it_pays_s(self, counted: list[Counted], more: Array, chance: float) -> float:
        """Return the seconds until the wait has cost what a refusal then would."""
        if held_s := self._belief.held_s(self._now):
            return held_s
        waits, weights = self._belief.waits_s(counted, more)
        later = np.maximum(1 - np.cumsum(weights), 0.0)  # the chance after each wait
        before = np.concatenate([[chance], later[:-1]])
        regret = self._regret_s + np.cumsum((1 - before) * np.diff(waits, prepend=0.0))
        ends = waits + np.maximum(0.0, later * self._cost_s - regret) / np.maximum(1 - later, 1e-6)
        return min(max(float(ends[later <= _HOPELESS].min(initial=inf)), _SOONEST_S), _LATEST_S)

    @property
    def _cost_s(self) -> float:
        """Return the seconds that a refusal costs: some calls' times, by what was let in so far or is believed."""
        rate = max(self._n_in / max(self._now - self._began, 1.0), self._belief.mean_pace)
        return (_COST_TOLD if self._belief.told_truly else _COST) / min(max(rate, _SLOWEST), _FASTEST)

    @property
    def _rests_until(self) -> float:
        if self._n_closed < 2:
            return -inf
        return self._event + min(_BACKOFF_S * 2.0 ** (self._n_closed - 2), _LONGEST_BACKOFF_S)
