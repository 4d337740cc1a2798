"""Limits of a fake provider on requests and on tokens, and what its replies tell of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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


class BothLimits:
    """Both limits together: a request is let in when both let it, and counts against both or neither."""

    def __init__(self, settings: FakeSettings) -> None:
        self._shows = settings.limit_headers
        stated = {"requests": settings.requests_per_minute, "tokens": settings.tokens_per_minute}
        self._limits = {
            kind: (per_minute, settings.limiter(per_minute, settings.window_s))
            for kind, per_minute in stated.items()
            if per_minute is not None
        }

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


def refusal_headers(settings: FakeSettings, wait_s: float) -> dict[str, str]:
    """Return the headers of a refusal about the wait, true or false by the settings."""
    if settings.retry_after == "missing":
        return {}
    said_s = wait_s if settings.retry_after == "right" else settings.wrong_retry_after_s
    stated = {"retry-after": str(math.ceil(said_s))}
    return stated | {"retry-after-ms": str(math.ceil(said_s * 1000))} if settings.retry_after_ms else stated
