"""
Messages between a worker and the authority over a quota: an ask, with the worker's news, and a lease.

A quota domain is counted together by its provider: one provider, base URL, key and model, or several models that share
one upstream quota. Every duration is relative (seconds ago, seconds from now), so that no two clocks need agree.
"""

from __future__ import annotations

from typing import NamedTuple

from longform.chat.call import Signals

MINUTE_S = 60.0


class QuotaLimits(NamedTuple):
    """Limits of a quota; None if not known."""

    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None  # input and output together
    in_flight: int | None = None  # calls at once


class Left(NamedTuple):
    """A leased call that has left: it may have waited for a place."""

    sent_s_ago: float
    reserved_tokens: float


class Accepted(NamedTuple):
    """A call that the provider let in, answered or not."""

    sent_s_ago: float
    reserved_tokens: float
    actual_tokens: float | None  # None: the provider did not say; the reservation stands


class Refused(NamedTuple):
    """A call that met a limit (429): it did not count."""

    sent_s_ago: float
    reserved_tokens: float
    retry_after_s: float | None  # from now; None: not said


class LeaseAsk(NamedTuple):
    """A worker's request, with its news since the last one."""

    worker: str  # one process's name, never used again
    job: str  # jobs share a quota evenly, with any number of workers
    # tokens to reserve for each of the next waiting calls, in their order; not all that wait need be here
    sizes: tuple[float, ...]
    waiting: int  # all that wait
    in_flight: int  # calls under way, and leased ones about to leave
    returned: tuple[float, ...] = ()  # tokens of leased calls that will not be made
    accepted: tuple[Accepted, ...] = ()  # answered since
    refused: tuple[Refused, ...] = ()  # refused since; an ask with one comes at once
    signals: Signals | None = None  # the last headers that said something
    known: QuotaLimits | None = None  # the limits of the worker's last lease, from which a restarted authority goes on
    signals_sent_s_ago: float = 0.0  # when the call left that they answer
    left: tuple[Left, ...] = ()  # leased calls that left since, answered or not


class Lease(NamedTuple):
    """
    Leave for the first `calls` of the requested sizes, at once; ask again in `again_s`.

    `limits` are those the authority now believes, told or found.
    """

    calls: int
    again_s: float
    limits: QuotaLimits
