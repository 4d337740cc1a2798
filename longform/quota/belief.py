"""
The belief of a client about the provider that it faces.

Each way to count has a weight, and for calls and for tokens a bracket of its limit: the most that was let in, and the
least that was refused. The chance that a call is refused follows; its fate moves the brackets and, by Bayes' rule, the
weights. Tokens are in our count, whatever the provider's rule is.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from longform.chat.call import Signals
from longform.quota.counting import BUCKET, LENGTHS_S, NOTHING, PHASES, SLIDING, WAYS, Array, Counted, History
from longform.quota.leases import MINUTE_S, QuotaLimits

_SURPRISE = 0.03  # the chance of what a way rules out: calls overtake each other, and others use the key
_CLEAR = 0.003  # the same, if it is ruled out by more than a call and by more than what is near
_NEAR = 0.02
_DOUBLING = 0.2  # the chance that a limit of which nothing is known lies within the next doubling, nearly
_DOUBLING_TOLD = 0.07  # the same below a limit that was told: most are told right
_FIRST_CALLS = 4.0  # let in by anybody
_KNOWN = 0.1  # more than a predecessor's limits may be let in, at most
_STALE_S, _FIRMEST = 20.0, 3  # a refused limit may have risen since; each trial in vain doubles the time, so many times
_SHOWN = 0.95  # the weight of what is known
_TRIAL_S = 1.0  # between refusals that are two trials: those of one moment are one
_NARROW = np.array([0.002, 0.012])[:, None]  # a bracket of calls and of tokens, of its end: a trial would teach nothing
_SURE = np.array([1.0, 0.99])[:, None]  # of the calls and tokens let in: these may be wrong while calls are under way
_FALLEN = 0.5  # of what was refused though it was known to be let in: the limit has fallen, nobody knows how far
_LEAST_WEIGHT = 1e-3  # of the first one: what was ruled out may come back
_COUNTED_MORE, _COUNTED_LESS = 1.33, 0.77  # of our count of tokens, by a provider's at most and at least
_MORE = np.array([1.0, _COUNTED_MORE])
_TRUST, _MOST_TRUST = 0.8, 0.99  # in stated waits, at first and at most
_USELESS = 0.3  # the chance that what is stated fits though it means nothing
_HEED_S = 0.5  # between headers that are heeded: those of one moment say the same
_SOON = 0.3  # of a length: nobody knows when on its way a later reply was counted
_ROUNDED_S = 1.2  # by which a stated time may be off: whole seconds, and the way
_USED_LEAST, _USED_MOST, _SLACK = 0.75, 4.0, 0.1  # of our count, by a provider's: other rules, and others on the key


class Chances(NamedTuple):
    """The chance that a call is refused, and how much of it is known rather than feared of the unknown."""

    refused: float
    known: float


class Belief:
    """The belief about one quota domain; times never go back, in seconds, amounts are arrays of calls and tokens."""

    def __init__(self) -> None:
        self._histories = [History(length) for length in LENGTHS_S]
        shape = (len(LENGTHS_S), 2, WAYS)
        self._low, self._high, self._cap = np.zeros(shape), np.full(shape, inf), np.full(shape, inf)
        self._low[:, 0] = _FIRST_CALLS
        self._found_at = np.full(shape, -inf)  # when a limit was refused
        kinds = np.where(np.arange(WAYS) < PHASES, 1 / PHASES, 1.0) / (3 * len(LENGTHS_S))
        self._prior = np.tile(kinds, (len(LENGTHS_S), 1))
        self._weights = self._prior
        self._told = QuotaLimits()
        self._kept = np.full(2, inf)
        self._largest = np.ones(2)  # of a call: alone it is let in
        self._firm = 0
        self._trust = _TRUST
        self._stated = (-inf, -inf)  # from when and until when a wait was stated
        self._heeded_at = -inf

    # ------------------------------------------------------------ limits

    def tell(self, told: QuotaLimits, *, to_keep: QuotaLimits) -> None:
        """Take told limits a minute: no way has higher ones; those *to_keep* are kept whatever the provider lets in."""
        self._told = told
        self._kept = _MORE * np.array([inf if limit is None else limit for limit in to_keep[:2]])
        for r, limit in enumerate(told[:2]):
            for i, length in enumerate(LENGTHS_S):
                within = inf if limit is None else max(limit * length / MINUTE_S, 1.0)
                self._cap[i, r] = within * _MORE[r] * (1 + 1e-9)
        self._high = np.where(self._found_at == -inf, self._cap, np.minimum(self._high, self._cap))
        self._low = np.minimum(self._low, self._cap)

    def go_on_from(self, known: QuotaLimits, now: float) -> None:
        """Begin with limits a minute that a predecessor found."""
        for r, limit in enumerate(known[:2]):
            for i, length in enumerate(LENGTHS_S):
                if limit is not None and self._found_at[i, r].max() == -inf:
                    within = max(limit * length / MINUTE_S, 1.0)
                    self._low[i, r], self._high[i, r] = within, (1 + _KNOWN) * within
                    self._found_at[i, r] = now

    @property
    def found(self) -> QuotaLimits:
        """Return the limits a minute that refusals taught, by the likeliest way; None: none did."""
        i, way = self._best
        found = self._found_at[i, :, way] > -inf
        calls, tokens = (
            float(low) * MINUTE_S / LENGTHS_S[i] if known else None
            for low, known in zip(self._low[i, :, way], found, strict=True)
        )
        return QuotaLimits(calls, tokens)

    @property
    def pace(self) -> Array:
        """Return the calls and tokens a second that the likeliest way lets in; infinite if nothing says."""
        i, way = self._best
        known = self._found_at[i, :, way] > -inf
        return np.where(known, self._low[i, :, way], self._cap[i, :, way]) / LENGTHS_S[i]

    @property
    def mean_pace(self) -> float:
        """Return the calls a second that all ways let in, by their weights."""
        low = np.where(self._found_at[:, 0] > -inf, self._low[:, 0], 0.0)
        return float((self._weights * low / np.array(LENGTHS_S)[:, None]).sum())

    def room(self, counted: list[Counted]) -> Array:
        """Return the calls and tokens that the likeliest way may let in now."""
        i, way = self._best
        return np.maximum(self._high[i, :, way] - counted[i].needs(NOTHING, most=True)[:, way], 0.0)

    @property
    def told_truly(self) -> bool:
        """Return whether limits were told, and none far below was found."""
        i, way = self._best
        lower = (self._found_at[i, :, way] > -inf) & (self._high[i, :, way] < 0.6 * self._cap[i, :, way])
        return (self._told[0] is not None or self._told[1] is not None) and not lower.any()

    @property
    def _begins_anew(self) -> bool:
        """Return whether, as refusals show, a window begins anew: limits hold in each, not over their bounds."""
        found = (self._found_at[:, :, :PHASES] > -inf).any(axis=1)
        return float(self._weights[:, :PHASES][found].sum()) > _SHOWN

    @property
    def _best(self) -> tuple[int, int]:
        fixed = self._weights[:, :PHASES]
        kinds = np.stack([fixed.sum(axis=1), self._weights[:, SLIDING], self._weights[:, BUCKET]], axis=1)
        i, kind = divmod(int(kinds.argmax()), 3)
        return i, (int(fixed[i].argmax()), SLIDING, BUCKET)[kind]

    # ------------------------------------------------------------ what left, and chances

    def count(self, when: float, calls: float, tokens: float) -> None:
        """Count what left at *when*, or take back what is negative."""
        for history in self._histories:
            history.add(when, calls, tokens)

    def counted(self, when: float) -> list[Counted]:
        """Return what the ways of each length have counted."""
        return [history.at(when) for history in self._histories]

    def chances(self, counted: list[Counted], more: Array, size: Array, now: float) -> Chances:
        """Return the chance that a call of *size* is refused, if with it *more* leaves than was *counted*."""
        self._largest = np.maximum(self._largest, size)
        need = np.stack([each.needs(more, most=True) for each in counted])
        below = self._below(need, now, trial=True)
        known = np.where((self._found_at > -inf) | (need > 1.001 * self._cap), below, 0.0)
        chances = (float((self._weights * _either(each)).sum()) for each in (below, known))
        if (need[-1, :, BUCKET] > np.maximum(self._kept, size) * (1 + 1e-9)).any() and not self._begins_anew:
            return Chances(1.0, 1.0)
        until = self._stated[1]
        return Chances(*(1 - (1 - chance) * (1 - self._trust) if now < until else chance for chance in chances))

    def waits_s(self, counted: list[Counted], more: Array) -> tuple[Array, Array]:
        """Return the seconds until *more* may leave by each way, in rising order, and the ways' weights."""
        limits = np.maximum(np.where(self._found_at > -inf, self._low, self._high), self._largest[:, None])
        waits = np.stack([each.waits_s(more, limits[i]) for i, each in enumerate(counted)]).ravel()
        order = waits.argsort()
        return waits[order], self._weights.ravel()[order]

    def held_s(self, now: float) -> float:
        """Return the seconds of a stated wait that is trusted."""
        return max(0.0, self._stated[1] - now) if self._trust > 0.5 else 0.0

    def _below(self, need: Array, now: float, *, low: Array | None = None, trial: bool = False) -> Array:
        """
        Return the chances that the limits are below *need*, lengths x resources x ways.

        For a *trial*, where the bracket is too narrow for its outcome to teach anything, as if it were above.
        """
        found = self._found_at > -inf
        largest = self._largest[:, None]
        low, high = np.maximum(self._low if low is None else low, largest), np.maximum(self._high, 1.001 * largest)
        told = np.array([limit is not None for limit in self._told[:2]])[:, None]
        unknown = np.where(told, _DOUBLING_TOLD, _DOUBLING) * (1 - low / np.maximum(need, 1e-9))
        if self._told[1] is not None:  # evenly between the counts that a provider may have
            begin, end = self._cap[:, 1] * (_COUNTED_LESS / _COUNTED_MORE), self._cap[:, 1]
            was, is_ = (np.clip((amount - begin) / (end - begin), 0.0, 0.999) for amount in (low[:, 1], need[:, 1]))
            unknown[:, 1] = np.maximum(unknown[:, 1], (is_ - was) / (1 - was))
        width = np.where(found, np.maximum(high - low, 1e-9), 1.0)
        inside = np.clip(np.where(found, (need - low) / width, unknown), 0.0, 0.99)
        risen = np.where(found, np.minimum((now - self._found_at) / (2 * _STALE_S * 2.0**self._firm), 0.5), 0.0)
        above = np.where(need > self._cap, 1 - 1e-4, 1 - _CLEAR - risen)
        narrow = trial & found & (width < _NARROW * high)
        return np.where(need <= low, 0.0, np.where((need >= high) | narrow, above, inside))

    # ------------------------------------------------------------ fates

    def let_in(self, when: float, size: Array, now: float) -> None:
        """Learn that a call that left at *when*, and was counted, was let in."""
        need = np.stack([each.needs(NOTHING, most=False) for each in self.counted(when)])
        over = need - self._high
        clearly = over > _NEAR * np.where(self._high < inf, self._high, 0.0) + size[:, None]
        if (self._weights * (over > 0.5 * size[:, None]).any(axis=1)).sum() > 0.5:
            self._firm = 0  # it has risen
        self._weigh(1 - _either(self._below(need, now, low=self._low / _SURE)), clearly.any(axis=1))
        wider = need + np.maximum(size[:, None], 2 * (self._high - self._low))
        self._high = np.where(clearly, self._cap, np.where(over >= 0, np.minimum(wider, self._cap), self._high))
        self._found_at = np.where(clearly, -inf, self._found_at)
        self._low = np.maximum(self._low, np.minimum(need * _SURE, self._cap))
        since, until = self._stated
        if since < when < until and now < until:
            self._trust *= _SURPRISE  # it was no true wait
            self._stated = (since, -inf)

    def refused(self, when: float, size: Array, now: float, *, closed: bool) -> bool:
        """
        Learn that a call that left at *when* was refused; return whether that is a surprise.

        A surprise of a provider that is *closed*, as it let nothing in since the last, says nothing of limits.
        """
        need = np.stack([each.needs(size, most=True) for each in self.counted(when)])
        below = self._below(need, now)
        chance = float((self._weights * _either(below)).sum())
        if closed and chance < 0.5:
            return True
        if chance < _SURPRISE:
            self._firm = 0
        elif chance > 0.9 and when > self._found_at.max() + _TRIAL_S:
            self._firm = min(self._firm + 1, _FIRMEST)
        clearly: NDArray[np.bool_] = need < (1 - _NEAR) * self._low - size[:, None]
        self._weigh(_either(below), np.all(clearly, axis=1))
        most = below.max(axis=1, keepdims=True)
        near = need / np.maximum(self._low, 1e-9)
        nearest = near > near.max(axis=1, keepdims=True) - _NEAR  # of calls and tokens, if neither was expected
        binds = ((below >= 0.5 * most) | ((most < _SURPRISE) & nearest)) & (need > size[:, None])
        lower = binds & (need < self._high)
        self._high = np.where(lower, need, self._high)
        self._found_at = np.where(binds, now, self._found_at)
        fallen = np.where(clearly, _FALLEN * need, need - size[:, None])
        self._low = np.where(lower & (self._low >= need), np.maximum(fallen, 0.0), self._low)
        return chance < 0.5

    def hear_wait(self, sent: float, size: Array, wait: float, now: float, *, closed: bool, surprise: bool) -> None:
        """
        Let the *wait* that the refusal of a call of *size* stated speak for the ways that foretell it.

        After a *surprise* that no way foretold it tells nothing of whether stated waits are true.
        """
        if sent <= self._stated[0]:  # of the same moment
            return
        if closed and sent > self._stated[1] > self._stated[0]:
            self._trust *= _USELESS  # it was waited out in vain
        counted = self.counted(now)
        longest, shortest = (
            np.stack([each.waits_s(size, np.maximum(limits[i], size[:, None])) for i, each in enumerate(counted)])
            for limits in (self._low, self._high)
        )
        # It may be rounded up to a second. What foretells any wait foretells this one with a small chance.
        least, most = 0.98 * wait - 1.1, 1.02 * wait + 0.3
        sharp = np.minimum((most - least) / np.maximum(longest - shortest, 1e-9), 1.0)
        fits: Array = np.where((longest > least) & (shortest < most), sharp, 0.0)
        match = self._trust * float((self._weights * fits).sum())
        if not surprise:
            trust = match / (match + (1 - self._trust) * _USELESS)
            self._trust = min(max(trust, 1 - _MOST_TRUST), _MOST_TRUST)
        self._weigh(self._trust * fits + (1 - self._trust) * _USELESS, False)
        self._stated = (now, now + wait)

    def heed(self, sent: float, signals: Signals, now: float) -> None:
        """Take in the headers of a reply to a call that left at *sent*: what remains of told limits, and until when."""
        if now - self._heeded_at < _HEED_S:
            return
        self._heeded_at = now
        remaining = (signals.remaining_requests, signals.remaining_tokens)
        resets = (signals.reset_requests_s, signals.reset_tokens_s)
        fits = np.ones_like(self._weights, dtype=bool)
        for i, (length, before, after) in enumerate(zip(LENGTHS_S, self.counted(sent), self.counted(now), strict=True)):
            if now - sent > _SOON * length:
                continue
            least, most = before.needs(NOTHING, most=False), after.needs(NOTHING, most=True)
            for r, (left, limit, reset_s) in enumerate(zip(remaining, self._told[:2], resets, strict=True)):
                if left is None or limit is None:
                    continue
                whole = limit * length / MINUTE_S
                used, slack = whole - left, _SLACK * whole + 3 * self._largest[r]
                fits[i] &= (used > _USED_LEAST * least[r] - slack) & (used < _USED_MOST * most[r] + slack)
                if reset_s is not None and used > slack:
                    own = np.append(length - after.since_s, [length, used / whole * length])
                    later = reset_s - own  # stated between then and now, and perhaps in whole seconds
                    may_be_off = min(_SLACK * length + 0.2, _ROUNDED_S)
                    fits[i] &= (later > -may_be_off) & (later < may_be_off + now - sent)
        self._weigh(np.where(fits, 1.0, _USELESS), False)

    def _weigh(self, likelihood: Array, ruled_out: NDArray[np.bool_] | bool) -> None:
        weights = self._weights * np.maximum(likelihood, np.where(ruled_out, _CLEAR, _SURPRISE))
        weights = np.maximum(weights / weights.sum(), _LEAST_WEIGHT * self._prior)
        self._weights = weights / weights.sum()


def _either(chances: Array) -> Array:
    """Return the chances that calls or tokens are below, lengths x ways."""
    either: Array = 1 - (1 - chances).prod(axis=1)
    return either
