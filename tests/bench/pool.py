"""
The chat pool: limits kept and used, faults, fairness, what it costs, and what one would use instead.

Each cell runs on a Ray cluster of two simulated nodes beside its head, four workers, against a fake provider whose
replies take 200 ms, 1 % of them 4 s. A busy machine makes seconds worse, so that its load stands beside each figure.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from longform.chat.failures import may_pass
from longform.quota.leases import QuotaLimits
from longform.rehearsal.settings import FAULTS, FakeSettings
from tests.bench import pool_peers, pool_resume
from tests.bench.measure import Figure
from tests.bench.pool_load import MEAN_TOKENS, WORKERS, Load, Outcome, in_process, on_cluster, two_nodes
from tests.longform.rehearsal.windows import Window

PER_S = 75
"""Calls a second that the limits of a second let in."""

PER_MINUTE = 1250.0
"""Calls that those of a minute let in: 3,000 calls take two minutes and a little."""

_FAULTY = 0.05  # of each kind
_DEADLINE_S = 6.0  # beyond the slowest reply
_SLOW_REPLY_S = 1.0  # at 200 ms, 256 in flight are 1,000 calls/s, which two cores cannot ask for and answer
_ROUNDS = 3
_IN_FLIGHT = (64, 256)
_MOST_CPU_MS = 0.4


class Goals(NamedTuple):
    """At most: seconds over those of a perfect client, refusals a call, the same in the second half."""

    over_perfect: float
    refused: float | None = None
    refused_late: float | None = None


KNOWN = Goals(1.05, 0.005)
UNKNOWN_REFUSED = 0.03
FOUND = Goals(1.10, 0.25, 0.05)


class Cell(NamedTuple):
    name: str
    load: Load
    goals: Goals


def known(fake: FakeSettings) -> QuotaLimits:
    """Limits of a configuration that knows the provider's."""
    return QuotaLimits(fake.requests_per_minute, fake.tokens_per_minute)


def ten_times(fake: FakeSettings) -> QuotaLimits:
    """Limits of a configuration that are ten times too high."""
    return QuotaLimits(*(None if limit is None else 10 * limit for limit in known(fake)[:2]))


REQUESTS: Mapping[str, float] = {"requests_per_minute": 60.0 * PER_S}
TOKENS: Mapping[str, float] = {"tokens_per_minute": 60.0 * PER_S * MEAN_TOKENS}
MINUTE: Mapping[str, Any] = {"limiter": Window, "window_s": 60.0}
"""Lets a whole minute's worth in at once, and nothing more within any minute."""


def cells() -> list[Cell]:
    """One cell for each kind of limit and fault."""
    requests, tokens = FakeSettings(**REQUESTS), FakeSettings(limiter=Window, **TOKENS)
    minute = FakeSettings(requests_per_minute=PER_MINUTE, **MINUTE)
    minute_tokens = FakeSettings(tokens_per_minute=PER_MINUTE * MEAN_TOKENS, **MINUTE)
    told_minute = FakeSettings(requests_per_minute=PER_MINUTE, limit_headers=True, **MINUTE)
    unsaid = FakeSettings(retry_after="missing", **REQUESTS)
    wrong = FakeSettings(limiter=Window, retry_after="wrong", **TOKENS)
    faulty = FakeSettings(faults={kind: _FAULTY / len(FAULTS) for kind in FAULTS}, **REQUESTS)
    very_faulty = FakeSettings(faults=dict.fromkeys(FAULTS, _FAULTY), **REQUESTS)
    return [
        Cell("requests of a minute, known", Load(fake=minute, told=known(minute)), Goals(1.06, 0.005)),
        Cell("requests of a minute, in headers", Load(fake=told_minute), Goals(1.06, UNKNOWN_REFUSED)),
        Cell("tokens of a minute, known", Load(fake=minute_tokens, told=known(minute_tokens)), Goals(1.08, 0.005)),
        Cell("bucket of requests, known", Load(fake=requests, told=known(requests)), Goals(1.03, 0.005)),
        Cell("bucket of requests, told 10x", Load(fake=requests, told=ten_times(requests)), Goals(1.10, 0.03)),
        Cell("requests of a minute, told 10x", Load(fake=minute, told=ten_times(minute)), Goals(1.10, 0.03)),
        Cell("window of tokens, known", Load(fake=tokens, told=known(tokens)), KNOWN),
        Cell("bucket of requests, unknown, no Retry-After", Load(fake=unsaid), FOUND),
        Cell("window of tokens, told 10x, wrong Retry-After", Load(fake=wrong, told=ten_times(wrong)), FOUND),
        Cell("5 % faults", Load(fake=faulty, told=known(faulty), timeout_s=_DEADLINE_S), Goals(1.10)),
        Cell("5 % of each fault", Load(fake=very_faulty, told=known(very_faulty), timeout_s=_DEADLINE_S), Goals(1.10)),
        Cell("64 in flight, no limit", Load(fake=FakeSettings(), in_flight=64), Goals(1.05)),
        Cell("256 in flight, no limit", Load(fake=FakeSettings(delay_s=_SLOW_REPLY_S)), Goals(1 / 0.9)),
    ]


def figures() -> list[Figure]:
    found = [_processor_time(in_flight) for in_flight in _IN_FLIGHT]
    with two_nodes():
        found += [_processor_time_on_cluster(in_flight) for in_flight in _IN_FLIGHT]
        for cell in cells():
            found += cell_figures(cell)
        found += _two_jobs()
        found += pool_peers.figures()
    return [*found, *pool_resume.figures()]


def cell_figures(cell: Cell, measure: Callable[[Load], Outcome] = on_cluster) -> list[Figure]:
    """One line for the time, and one for each goal that counts refusals."""
    outcome, goals = measure(cell.load), cell.goals
    lines = [_figure(f"Pool, {cell.name}", outcome.ratio, "x perfect", goals.over_perfect, told(outcome, cell.load))]
    if goals.refused is not None:
        lines.append(
            _figure("  refused", outcome.refused_share, "a call", goals.refused, f"{outcome.refused} requests")
        )
    if goals.refused_late is not None:
        lines.append(_figure("  refused, second half", outcome.refused_late_share, "a call", goals.refused_late, ""))
    return lines


def _figure(name: str, value: float, unit: str, most: float, note: str) -> Figure:
    return Figure(name, value, None, unit, None, most, note, at_most=True)


def told(outcome: Outcome, load: Load) -> str:
    """Describe the outcome of the calls."""
    n_faults = sum(outcome.failures.values())
    final = {seen for fault, seen in FAULTS.items() if load.fake.faults.get(fault) and not may_pass(seen)}
    passing = {reason: n for reason, n in outcome.failures.items() if reason not in final}
    parts = [
        f"{outcome.seconds:.1f} s to {outcome.perfect_s:.1f}",
        "nothing lost" if outcome.lost == 0 else f"LOST {outcome.lost}",
        f"{n_faults} with a reason" + (f" ({passing} after {load.attempts} attempts)" if passing else ""),
        f"CPU {outcome.cpu_ms:.1f} ms a request",
        f"load {os.getloadavg()[0]:.0f}",
    ]
    if outcome.served_again:
        parts.append(f"SERVED AGAIN {outcome.served_again}")
    return ", ".join(parts)


def _two_jobs() -> list[Figure]:
    """A job of three workers and one of one, on one quota: the share of the first while both have calls to make."""
    fake = FakeSettings(**REQUESTS)
    load = Load(fake=fake, told=known(fake), n=2000, jobs=(3, 1))
    outcome = on_cluster(load)
    share = share_of_first(outcome)
    uneven = abs(share - 0.5)
    note = f"{share:.3f} of the calls went to the job of three workers; {told(outcome, load)}"
    return [
        _figure("Pool, two jobs of 3 and 1 workers, from an even share", uneven, "of the calls", 0.05, note),
        _figure("  refused", outcome.refused_share, "a call", 0.005, f"{outcome.refused} requests"),
    ]


def share_of_first(outcome: Outcome) -> float:
    """Return the first job's share of the calls let in before either of two jobs had made its last."""
    ends = min(max(at for at, job in outcome.served if job == number) for number in range(2))
    both = [job for at, job in outcome.served if at <= ends]
    return both.count(0) / len(both)


def _processor_time(in_flight: int) -> Figure:
    """Measure one worker with its governor and keeper, in this process: the least of rounds that alternate."""
    load = Load(fake=FakeSettings(), n=1000, in_flight=in_flight, jobs=(1,))
    rounds = [(in_process(load).cpu_ms, in_process(load, plain=True).cpu_ms) for _ in range(_ROUNDS)]
    pool, plain = (min(side) for side in zip(*rounds, strict=True))
    return _above_plain(f"one process, {in_flight} in flight", pool, plain)


def _processor_time_on_cluster(in_flight: int) -> Figure:
    """Measure four workers, their governor and keeper, which speak by calls of Ray actors."""
    load = Load(fake=FakeSettings(), n=2000, in_flight=in_flight)
    name = f"{WORKERS} workers, {in_flight} in flight"
    return _above_plain(name, on_cluster(load).cpu_ms, on_cluster(load, plain=True).cpu_ms)


def _above_plain(name: str, pool: float, plain: float) -> Figure:
    note = f"pool {pool:.2f}, plain client {plain:.2f}, load {os.getloadavg()[0]:.0f}"
    return _figure(f"Pool, CPU above the plain client: {name}", pool - plain, "ms a call", _MOST_CPU_MS, note)
