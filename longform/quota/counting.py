"""
The ways in which a provider may count, and what each has counted.

A window of some length slides or begins anew at fixed times; a bucket refills evenly and holds what is let in within
its length. For each way there is a least limit that lets a call in, given what left before: its *need*.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LENGTHS_S = (1.0, 10.0, 60.0)
PHASES = 200  # begins of a window that are told apart
SLIDING, BUCKET = PHASES, PHASES + 1  # places of ways; those before are windows that begin at a phase of their length
WAYS = PHASES + 2
JITTER_S = 0.006  # between the ways of two calls to the provider

_BIN_S = {1.0: 0.0025, 10.0: 0.01, 60.0: 0.05}  # fine enough for thousands of calls that leave within a second
_PHASE = (np.arange(PHASES) + 0.5) / PHASES

Array = NDArray[np.float64]

NOTHING: Array = np.zeros(2)


class History:
    """The calls and tokens that left and were not refused, by bins of time; times are seconds that never go back."""

    def __init__(self, length_s: float) -> None:
        self.length_s, self.bin_s = length_s, _BIN_S[length_s]
        self.bins = round(length_s / self.bin_s)  # of the length
        self._kept = round(1.1 * self.bins)
        self._amounts = np.zeros((2, 2 * self._kept))
        self._first: int | None = None  # the number of the first bin
        # A bucket counts what left since it was full, however long ago: an anchor, and what left from it to the first.
        self._anchor, self._before = np.zeros(2, dtype=int), np.zeros(2)

    def add(self, when: float, calls: float, tokens: float) -> None:
        """Add amounts, which may be negative, of calls that left at *when*."""
        if (column := self._column(when)) >= 0:
            self._amounts[:, column] += (calls, tokens)

    def at(self, when: float) -> Counted:
        """Return what each way has counted at a time."""
        column = max(self._column(when), 0)
        sums = np.cumsum(self._amounts[:, column::-1], axis=1)
        return Counted(self, when, sums, *self._since_full(sums))

    def _since_full(self, sums: Array) -> tuple[Array, Array]:
        """Return what left within some numbers of bins, and these numbers, for each time when a bucket may be full."""
        assert self._first is not None
        n = sums.shape[1]
        ages = np.broadcast_to(np.arange(n + 1.0), (2, n + 1)).copy()
        ages[:, n] = self._first + n - 1 - self._anchor
        return np.concatenate([sums, (self._before + sums[:, -1])[:, None]], axis=1), ages

    def _column(self, when: float) -> int:
        """Return the column of a time, negative if it is forgotten; for a late one, what is too old is forgotten."""
        number = int(when / self.bin_s + 1e-6)
        if self._first is None:
            self._first = number - self._kept
            self._anchor[:] = self._first
        if number - self._first >= self._amounts.shape[1]:
            self._forget(self._first, number - self._first - self._kept)
        return max(number - self._first, -1)

    def _forget(self, first: int, n: int) -> None:
        """Forget the first *n* bins but for what a bucket of now has counted since before."""
        width = self._amounts.shape[1]
        left, ages = self._since_full(np.cumsum(self._amounts[:, ::-1], axis=1))
        fullest = (left / (1 + ages / self.bins)).argmax(axis=1)
        for r in (0, 1):
            if fullest[r] < width:
                self._anchor[r], self._before[r] = first + width - 1 - fullest[r], 0.0
            self._before[r] += self._amounts[r, max(self._anchor[r] - first, 0) : n].sum()
            self._anchor[r] = min(self._anchor[r], first + n)
        kept = self._amounts[:, n:].copy()
        self._amounts[:] = 0.0
        self._amounts[:, : kept.shape[1]] = kept
        self._first = first + n


class Counted:
    """The amounts that each way to count has counted at one time."""

    def __init__(self, history: History, when: float, sums: Array, left: Array, ages: Array) -> None:
        self._history, self._sums, self._left, self._ages = history, sums, left, ages
        self._padded = np.concatenate([np.zeros((2, 1)), sums], axis=1)
        number, bins, jitter = when / history.bin_s, history.bins, JITTER_S / history.bin_s
        self._to_come = int(number + 1e-6) + 1 - number  # of the last bin
        since = (number - _PHASE * bins) % bins  # bins since each window began
        self.since_s = since * history.bin_s
        half = 0.5 / PHASES * bins + jitter  # a window begins so much before or after its phase
        most = np.where(since < half, since + bins, since) + jitter
        least = np.where(since > bins - half, 0.0, np.maximum(since - jitter, 0.0))
        self._most = self._within(np.ceil(np.append(most, bins + jitter) + self._to_come))
        self._least = self._within(np.floor(np.append(least, bins - jitter) + self._to_come))
        self._refilled = 1 + np.maximum(np.stack([ages + jitter, ages - jitter]), 0.0) / bins

    def needs(self, more: Array, *, most: bool) -> Array:
        """Return the needs if *more* (2) leaves now, resources x ways: the *most* that they may be, or the least."""
        need = np.empty((2, WAYS))
        need[:, :BUCKET] = (self._most if most else self._least) + more[:, None]
        need[:, BUCKET] = ((self._left + more[:, None]) / self._refilled[int(most)]).max(axis=1)
        return need

    def waits_s(self, more: Array, limits: Array) -> Array:
        """Return the seconds until *more* (2) may leave by each way, if its limits are *limits* (2 x ways)."""
        history, waits = self._history, np.zeros((2, WAYS))
        opens = (1 + 0.5 / PHASES) * history.length_s - self.since_s + JITTER_S
        fits = self.needs(more, most=True) <= limits * (1 + 1e-9)
        waits[:, :PHASES] = np.where(fits[:, :PHASES], 0.0, opens)
        for r in (0, 1):
            sums, room = self._sums[r, : history.bins + 1], limits[r, SLIDING] * (1 + 1e-9) - more[r]
            if sums[-1] > room:
                waits[r, SLIDING] = (history.bins + 1 - int(np.searchsorted(sums, room, "right"))) * history.bin_s
            full = (self._left[r] + more[r]) / max(limits[r, BUCKET], 1e-9) - 1
            wait = float((history.length_s * full - self._ages[r] * history.bin_s).max())
            waits[r, BUCKET] = wait + JITTER_S if wait > -JITTER_S else 0.0
        longest: Array = waits.max(axis=0)
        return longest

    def _within(self, bins: Array) -> Array:
        """Return the amounts that left within the last *bins*, which are whole."""
        within: Array = self._padded[:, np.clip(bins, 0, self._padded.shape[1] - 1).astype(int)]
        return within
