"""Limits of providers that count in windows: sliding ones, or fixed ones."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from functools import partial

from longform.rehearsal.limits import Bucket

_ROUNDING = 1e-6  # seconds of wait that are none, so that arithmetic refuses nobody


class Window(Bucket):
    """
    A window: its share of the minute's limit in *window_s* seconds (longer if that is below 1).

    A sliding window holds what was let in within any so many seconds; a fixed one begins anew every so many. An amount
    above its share is let in when the window is empty, and counts for as much longer in a sliding one.
    """

    def __init__(self, per_minute: float, window_s: float, *, is_fixed: bool = False) -> None:
        self._window_s, self._is_fixed = max(window_s, 60 / per_minute), is_fixed
        self._size = per_minute * self._window_s / 60
        self._counted: deque[tuple[float, float]] = deque()  # (end, amount), the first to end first
        self._sum = 0.0

    def wait_s(self, amount: float, now: float) -> float:
        self._forget(now)
        excess = self._sum + min(amount, self._size) - self._size
        wait = 0.0
        for end, counted in self._counted:
            if excess <= self._size * _ROUNDING:
                break
            excess -= counted
            wait = end - now
        return wait

    def take(self, amount: float, now: float) -> None:
        if self._is_fixed:
            end = ((now + _ROUNDING) // self._window_s + 1) * self._window_s
        else:
            end = now + self._window_s * max(1.0, amount / self._size)
        self._counted.append((end, amount))
        self._sum += amount

    def left(self, now: float) -> float:
        self._forget(now)
        return max(0.0, self._size - self._sum)

    def full_in_s(self, now: float) -> float:
        self._forget(now)
        return self._counted[-1][0] - now if self._counted else 0.0

    def _forget(self, now: float) -> None:
        while self._counted and self._counted[0][0] <= now + _ROUNDING:
            self._sum -= self._counted.popleft()[1]
        if not self._counted:
            self._sum = 0.0  # without what rounding left


LIMITERS: Mapping[str, Callable[[float, float], Bucket]] = {
    "bucket": Bucket,
    "window": Window,
    "fixed": partial(Window, is_fixed=True),
}
