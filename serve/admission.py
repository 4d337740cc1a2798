"""Tells by expected waiting time whether a request may join a replica's queue. Pure: every time is an argument."""

from __future__ import annotations

_KEPT = 0.7
"""Share of what was measured before that still counts after a batch (guess): five batches make five sixths of it."""

SHORTEST_S, LONGEST_S = 1.0, 60.0
"""Bounds of `Retry-After`; later than a minute, other replicas may have started."""


class ServiceRate:
    """Measures how long a replica computes for a token. Recent batches count most, and large ones more than small."""

    def __init__(self) -> None:
        self._tokens = 0.0
        self._seconds = 0.0

    def learn(self, tokens: int, seconds: float) -> None:
        """Add a batch that was computed."""
        self._tokens = _KEPT * self._tokens + tokens
        self._seconds = _KEPT * self._seconds + seconds

    def seconds_a_token(self, running_tokens: int, running_s: float) -> float:
        """
        The mean that was measured, or the pace of the batch that runs now if that is slower already.

        Args:
            running_tokens: Of the batch that runs; 0: none runs.
            running_s: Since it began.
        """
        measured = self._seconds / self._tokens if self._tokens else 0.0
        return max(measured, running_s / running_tokens if running_tokens else 0.0)


def expected_wait_s(rate: ServiceRate, *, waiting_tokens: int, running_tokens: int, running_s: float) -> float:
    """Return the seconds until all that runs and waits now is computed; 0 if nothing does, or nothing is known."""
    pace = rate.seconds_a_token(running_tokens, running_s)
    return max(0.0, pace * (running_tokens + waiting_tokens) - running_s)


def may_join(wait_s: float, own_s: float, *, max_wait_s: float, within_s: float | None) -> bool:
    """
    Return whether a request may join the queue.

    Whoever finds nobody before them may always: were they refused because of a rate that is wrong, nothing would be
    computed, and the rate would stay wrong.

    Args:
        wait_s: Until the request's turn.
        own_s: That the request itself takes.
        max_wait_s: Nobody waits longer for their turn.
        within_s: Seconds for which the caller waits; None if it did not say.
    """
    if wait_s <= 0:
        return True
    return wait_s <= max_wait_s and (within_s is None or wait_s + own_s <= within_s)


def retry_after_s(wait_s: float) -> float:
    """Return when to ask again: when all that waits now is computed. Sooner, all who were refused would meet again."""
    return min(max(SHORTEST_S, wait_s), LONGEST_S)
