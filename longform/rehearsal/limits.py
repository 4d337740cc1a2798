"""Limits of a fake provider on requests and on tokens: a token bucket, a sliding window or a fixed one."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping
from typing import Protocol

from longform.rehearsal.settings import FakeSettings

_ROUNDING = 1e-6  # seconds of wait that are none, so that arithmetic refuses nobody


class Limit(Protocol):
    """One limit on amounts (requests or tokens); times are seconds that never go back."""

    def wait_s(self, amount: float, now: float) -> float:
        """Seconds until *amount* would be let in, if nothing else came; 0: now."""
        ...

    def take(self, amount: float, now: float) -> None:
        """Count *amount*, whose wait is over."""
        ...

    def left(self, now: float) -> float:
        """Return the amount that could be let in now."""
        ...

    def full_in_s(self, now: float) -> float:
        """Seconds until nothing counts any more, if nothing else came."""
        ...


class Bucket:
    """
    A token bucket that refills continuously and holds the worth of *window_s* seconds, and at least 1.

    An amount above that is let in when the bucket is full, and leaves it in debt.
    """

    def __init__(self, per_minute: float, window_s: float = 1.0) -> None:
        self._rate = per_minute / 60
        self._size = max(self._rate * window_s, 1.0)
        self._level, self._at = self._size, 0.0

    def wait_s(self, amount: float, now: float) -> float:
        return max(0.0, min(amount, self._size) - self._filled(now)) / self._rate

    def take(self, amount: float, now: float) -> None:
        self._level, self._at = self._filled(now) - amount, now

    def left(self, now: float) -> float:
        return max(0.0, self._filled(now))

    def full_in_s(self, now: float) -> float:
        return (self._size - self._filled(now)) / self._rate

    def _filled(self, now: float) -> float:
        return min(self._size, self._level + (now - self._at) * self._rate)


class Sliding:
    """
    A sliding window: its share of the minute's limit within any *window_s* seconds (longer if that is below 1).

    An amount above that is let in when the window is empty, and counts for as much longer.
    """

    def __init__(self, per_minute: float, window_s: float) -> None:
        self._window_s = max(window_s, 60 / per_minute)
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
        self._counted.append((now + self._window_s * max(1.0, amount / self._size), amount))
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


class FixedWindow:
    """
    A window that begins anew every *window_s* seconds (longer if its share of the minute's limit is below 1).

    An amount above that share is let in if nothing was let in before it in its window.
    """

    def __init__(self, per_minute: float, window_s: float) -> None:
        self._window_s = max(window_s, 60 / per_minute)
        self._size = per_minute * self._window_s / 60
        self._number, self._sum = 0, 0.0

    def wait_s(self, amount: float, now: float) -> float:
        self._begin(now)
        return self.full_in_s(now) if self._sum + min(amount, self._size) > self._size * (1 + _ROUNDING) else 0.0

    def take(self, amount: float, now: float) -> None:
        self._begin(now)
        self._sum += amount

    def left(self, now: float) -> float:
        self._begin(now)
        return max(0.0, self._size - self._sum)

    def full_in_s(self, now: float) -> float:
        self._begin(now)
        return (self._number + 1) * self._window_s - now if self._sum else 0.0

    def _begin(self, now: float) -> None:
        number = int((now + _ROUNDING) // self._window_s)
        if number > self._number:
            self._number, self._sum = number, 0.0


class BothLimits:
    """Both limits together: a request is let in when both let it, and counts against both or neither."""

    def __init__(self, settings: FakeSettings) -> None:
        self._settings = settings
        self._requests = _quota(settings, settings.requests_per_minute)
        self._tokens = _quota(settings, settings.tokens_per_minute)

    def wait_s(self, tokens: float, now: float) -> float:
        """Seconds until a request of so many tokens would be let in; 0: now."""
        waits = [
            quota.wait_s(amount, now)
            for quota, amount in ((self._requests, 1), (self._tokens, tokens))
            if quota is not None
        ]
        wait = max(waits, default=0.0)
        return wait if wait > _ROUNDING else 0.0

    def let_in(self, tokens: float, now: float) -> None:
        if self._requests is not None:
            self._requests.take(1, now)
        if self._tokens is not None:
            self._tokens.take(tokens, now)

    def headers(self, now: float) -> dict[str, str]:
        """Return OpenAI's `x-ratelimit-*`, if they are wanted."""
        if not self._settings.limit_headers:
            return {}
        stated: dict[str, str] = {}
        for kind, quota, limit in (
            ("requests", self._requests, self._settings.requests_per_minute),
            ("tokens", self._tokens, self._settings.tokens_per_minute),
        ):
            if quota is not None:
                stated[f"x-ratelimit-limit-{kind}"] = f"{limit:.0f}"
                stated[f"x-ratelimit-remaining-{kind}"] = f"{math.floor(quota.left(now))}"
                stated[f"x-ratelimit-reset-{kind}"] = f"{math.ceil(quota.full_in_s(now) * 1000)}ms"
        return stated


def refusal_headers(settings: FakeSettings, wait_s: float) -> dict[str, str]:
    """Return the headers of a refusal about the wait, true or false by the settings."""
    if settings.retry_after == "missing":
        return {}
    said_s = wait_s if settings.retry_after == "right" else settings.wrong_retry_after_s
    stated = {"retry-after": str(math.ceil(said_s))}
    return stated | {"retry-after-ms": str(math.ceil(said_s * 1000))} if settings.retry_after_ms else stated


def _quota(settings: FakeSettings, per_minute: float | None) -> Limit | None:
    if per_minute is None:
        return None
    return _KINDS[settings.limiter](per_minute, settings.window_s)


_KINDS: Mapping[str, Callable[[float, float], Limit]] = {"bucket": Bucket, "window": Sliding, "fixed": FixedWindow}
