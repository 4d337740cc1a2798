"""A figure, and how two ways of doing the same work are timed against each other."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

Clock = Callable[[], float]


class Spread(NamedTuple):
    """Spread of several runs."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        return cls(statistics.median(values), min(values), max(values))


class Figure(NamedTuple):
    """One line of the table; `ours` and `reference` are medians in `unit`."""

    name: str
    ours: float
    reference: float | None  # null: nothing to compare with
    unit: str
    ratio: Spread | None  # above 1 ours is ahead; null: no reference
    target: float | None  # of the ratio, or of `ours` where there is no ratio; null: the figure is for information
    note: str
    at_most: bool = False  # the target is a ceiling

    @property
    def met(self) -> bool | None:
        """None: no target."""
        if self.target is None:
            return None
        found = self.ratio.median if self.ratio else self.ours
        return found <= self.target if self.at_most else found >= self.target


class Pairs(NamedTuple):
    """Seconds of each round, in the order they ran: ours, the reference, ours, the reference."""

    ours: list[float]
    reference: list[float]

    def rates(self, name: str, *, items: int, unit: str, target: float | None, note: str) -> Figure:
        """Return how many items a second each side does, and the ratio of the two in each round."""
        ratios = [reference / ours for ours, reference in zip(self.ours, self.reference, strict=True)]
        medians = [items / statistics.median(seconds) for seconds in self]
        return Figure(name, medians[0], medians[1], unit, Spread.of(ratios), target, note)

    def times(self, name: str, *, note: str) -> Figure:
        """Seconds of each side; the ratio says how many times faster ours is."""
        ratios = [reference / ours for ours, reference in zip(self.ours, self.reference, strict=True)]
        medians = [statistics.median(seconds) for seconds in self]
        return Figure(name, medians[0], medians[1], "seconds", Spread.of(ratios), None, note)


def paired(ours: Callable[[], object], reference: Callable[[], object], *, rounds: int) -> Pairs:
    """
    Both sides in turn, after one untimed run of each.

    Seconds are of this process's processor: both sides do all their work in one thread of it, and what else the
    machine does must not decide who is ahead.
    """
    ours()
    reference()
    found = Pairs([], [])
    for _ in range(rounds):
        found.ours.append(seconds(ours, clock=time.process_time))
        found.reference.append(seconds(reference, clock=time.process_time))
    return found


def seconds(work: Callable[[], object], *, clock: Clock) -> float:
    """Return the seconds that *work* takes; earlier work leaves it no garbage to collect."""
    gc.collect()
    started = clock()
    work()
    return clock() - started
