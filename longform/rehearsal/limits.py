"""Limits of a fake provider on requests and on tokens: a token bucket, a sliding window or a fixed one."""

from __future__ import annotations

import math
from collections import deque

from longform.rehearsal.settings import FakeSettings

_ROUNDING = 1e-6  # seconds of wait that are none, so that arithmetic refuses nobody


class Bucket:
    """
    A token bucket that refills continuously and holds the worth of *window_s* seconds, and at least 1.

    Amounts are requests or tokens, times are seconds that never go back. An amount above what the bucket holds is let
    in when it is full, and leaves it in debt.
    """

    def __init__(self, per_minute: float, window_s: float = 1.0) -> None:
        self._rate = per_minute / 60
        self._size = max(self._rate * window_s, 1.0)
        self._level, self._at = self._size, 0.0

    def wait_s(self, amount: float, now: float) -> float:
        """Return seconds until *amount* would be let in, if nothing else came; 0: now."""
        return max(0.0, min(amount, self._size) - self._filled(now)) / self._rate

    def take(self, amount: float, now: float) -> None:
        """Count *amount*, whose wait is over."""
        self._level, self._at = self._filled(now) - amount, now

    def left(self, now: float) -> float:
        """Return the amount that could be let in now."""
        return max(0.0, self._filled(now))

    def full_in_s(self, now: float) -> float:
        """Return seconds until nothing counts any more, if nothing else came."""
        return (self._size - self._filled(now)) / self._rate

    def _filled(self, now: float) -> float:
        return min(self._size, self._level + (now - self._at) * self._rate)


class Window:
    """
    A window with a bucket's methods: its share of the minute's limit in *window_s* seconds (longer if that is below 1).

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


Limit = Bucket | Window


class BothLimits:
    """Both limits together: a request is let in when both let it, and counts against both or neither."""

    def __init__(self, settings: FakeSettings) -> None:
        self._shows = settings.limit_headers
        stated = {"requests": settings.requests_per_minute, "tokens": settings.tokens_per_minute}
        self._limits = {kind: (limit, _limit(settings, limit)) for kind, limit in stated.items() if limit is not None}

    def wait_s(self, tokens: float, now: float) -> float:
        """Return seconds until a request of so many tokens would be let in; 0: now."""
        waits = (limit.wait_s(_amount(kind, tokens), now) for kind, (_, limit) in self._limits.items())
        wait = max(waits, default=0.0)
        return wait if wait > _ROUNDING else 0.0

    def let_in(self, tokens: float, now: float) -> None:
        for kind, (_, limit) in self._limits.items():
            limit.take(_amount(kind, tokens), now)

    def headers(self, now: float) -> dict[str, str]:
        """Return OpenAI's `x-ratelimit-*`, if they are wanted."""
        stated: dict[str, str] = {}
        for kind, (per_minute, limit) in self._limits.items() if self._shows else ():
            stated[f"x-ratelimit-limit-{kind}"] = f"{per_minute:.0f}"
            stated[f"x-ratelimit-remaining-{kind}"] = f"{math.floor(limit.left(now))}"
            stated[f"x-ratelimit-reset-{kind}"] = f"{math.ceil(limit.full_in_s(now) * 1000)}ms"
        return stated


def _amount(kind: str, tokens: float) -> float:
    return 1 if kind == "requests" else tokens


def _limit(settings: FakeSettings, per_minute: float) -> Limit:
    if settings.limiter == "bucket":
        return Bucket(per_minute, settings.window_s)
    return Window(per_minute, settings.window_s, is_fixed=settings.limiter == "fixed")


def refusal_headers(settings: FakeSettings, wait_s: float) -> dict[str, str]:
    """Return the headers of a refusal about the wait, true or false by the settings."""
    if settings.retry_after == "missing":
        return {}
    said_s = wait_s if settings.retry_after == "right" else settings.wrong_retry_after_s
    stated = {"retry-after": str(math.ceil(said_s))}
    return stated | {"retry-after-ms": str(math.ceil(said_s * 1000))} if settings.retry_after_ms else stated
