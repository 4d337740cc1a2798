"""
Providers that nobody chose: drawn at random from the family that exists, met by the pool's quota and by two others.

A provider counts calls, tokens or both, in a window, sliding or fixed, or a bucket, of 1, 10 or 60 seconds. Its limits
are told right, ten times too high, or not at all; it states headers or none, and a `Retry-After` that is right, absent,
always one second, in milliseconds or a date. It counts tokens by a rule of its own, of what is reserved or of what is
used; its limits may change on the way; a second process may use the key, on the same machine, where the two share one
quota. Each is met on a simulated clock by the quota of the pool, by the plain `openai` client with ten retries, and by
one that knows everything, with 256 calls in flight at most, of the client 64. Times are over those of the last. A limit
that was told right and rises is used as told. The last figure has the processes apart, as on two machines.

LONGFORM_BENCH_SEED is the first provider, by default the date; LONGFORM_BENCH_SHARE the share of 200 draws.
"""

from __future__ import annotations

import heapq
import math
import os
import random
import statistics
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, NamedTuple

from longform.chat.answers import read_signals
from longform.chat.call import Signals
from longform.quota.leases import QuotaLimits
from longform.quota.quota import Quota
from longform.rehearsal.limits import BothLimits
from longform.rehearsal.settings import FakeSettings
from tests.bench.measure import Figure, Spread
from tests.longform.quota.quota_simulation import MEAN_TOKENS, Call, Provider, Server, Simulation
from tests.longform.rehearsal.windows import LIMITERS

_DRAWS = round(200 * float(os.environ.get("LONGFORM_BENCH_SHARE", "1")))
FIRST_SEED = int(os.environ.get("LONGFORM_BENCH_SEED", datetime.now(UTC).strftime("%Y%m%d")))
_SLOTS, _CLIENT_SLOTS, _RETRIES = 256, 64, 10  # calls in flight of all processes; of the client, and its tries again
_LENGTHS_S = (1.0, 10.0, 60.0)
_TOLD = ("right", "10x", "nothing")
_FACTOR = {"right": 60.0, "10x": 600.0}  # of what is told a minute, over the limit a second


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A provider and what is known of it."""

    seed: int
    kind: Literal["bucket", "window", "fixed"]
    window_s: float
    calls_a_s: float | None
    tokens_a_s: float | None
    told: str  # right, 10x or nothing
    headers: bool
    retry_after: str
    counts: float  # its tokens over ours
    reserved: bool  # it counts what a call may use at most, not what it used
    change: tuple[float, float] | None  # from when on, and to what share of the limits before
    processes: int
    delay_s: float
    n: int

    @property
    def limits_told(self) -> QuotaLimits:
        if self.told == "nothing":
            return QuotaLimits()
        calls, tokens = (
            None if rate is None else _FACTOR[self.told] * rate for rate in (self.calls_a_s, self.tokens_a_s)
        )
        return QuotaLimits(calls, tokens)


def drawn(seed: int) -> Drawn:
    """Return the provider of *seed*."""
    rng = random.Random(f"provider {seed}")
    calls_a_s = math.exp(rng.uniform(math.log(6), math.log(30)))
    counted = rng.choice(["calls", "tokens", "both"])
    tokens_a_s = calls_a_s * MEAN_TOKENS * (rng.uniform(0.7, 1.3) if counted == "both" else 1.0)
    window_s = rng.choice(_LENGTHS_S)
    n = round(calls_a_s * (window_s + rng.uniform(25.0, 100.0)))
    return Drawn(
        seed=seed,
        kind=rng.choice(["bucket", "window", "fixed"]),
        window_s=window_s,
        calls_a_s=None if counted == "tokens" else calls_a_s,
        tokens_a_s=None if counted == "calls" else tokens_a_s,
        told=rng.choice(_TOLD),
        headers=rng.random() < 0.4,
        retry_after=rng.choice(["right", "absent", "1 s", "ms", "date"]),
        counts=rng.uniform(0.8, 1.3),
        reserved=rng.random() < 0.5,
        change=(rng.uniform(0.2, 0.7) * n / calls_a_s, rng.choice([0.5, 0.7, 1.5])) if rng.random() < 0.15 else None,
        processes=2 if rng.random() < 0.2 else 1,
        delay_s=rng.choice([0.2, 1.0, 4.0]),
        n=n,
    )


class ChangingServer(Server):
    """A server that a `Drawn` describes; its clock began some time before."""

    def __init__(self, provider: Drawn) -> None:
        self.drawn = provider
        self._began_s = random.Random(f"phase {provider.seed}").uniform(100.0, 200.0)
        super().__init__(Provider("bucket", headers=provider.headers, delay_s=provider.delay_s))
        self.gate = self._gate(1.0)
        self._let_in: deque[tuple[float, float]] = deque()
        self._change = provider.change

    def counted(self, call: Call) -> float:
        return self.drawn.counts * (call.estimate if self.drawn.reserved else call.tokens)

    def admit(self, now: float, tokens: float) -> float:
        if self._change is not None and now >= self._change[0]:
            self.gate, self._change = self._gate(self._change[1]), None
            for when, amount in self._let_in:
                if when > now - self.drawn.window_s:
                    self.gate.let_in(amount, self._began_s + when)
        wait = self.gate.wait_s(tokens, self._began_s + now)
        if wait > 0:
            self.refused.append(now)
            return wait
        self.gate.let_in(tokens, self._began_s + now)
        self.accepted.append(now)
        self._let_in.append((now, tokens))
        return 0.0

    def signals(self, now: float) -> Signals | None:
        return read_signals(self.gate.headers(self._began_s + now), now=now) if self.drawn.headers else None

    def _gate(self, share: float) -> BothLimits:
        calls, tokens = self.drawn.calls_a_s, self.drawn.tokens_a_s
        if self.drawn.told == "right":
            share = min(share, 1.0)  # what is told is never exceeded, so that more of it is no one's to use
        return BothLimits(
            FakeSettings(
                limiter=LIMITERS[self.drawn.kind],
                window_s=self.drawn.window_s,
                limit_headers=self.drawn.headers,
                requests_per_minute=None if calls is None else 60 * calls * share,
                tokens_per_minute=None if tokens is None else 60 * tokens * share,
            )
        )


def calls_of(provider: Drawn) -> list[Call]:
    """Return the calls that are made: estimates are of what is reserved, to a few percent."""
    rng = random.Random(f"calls {provider.seed}")
    tokens = [rng.randint(400, 900) for _ in range(provider.n)]
    return [Call(t, t * rng.gauss(1, 0.03), slow=False) for t in tokens]


def stated_wait(retry_after: str, wait: float) -> float | None:
    """Return what a refusal says of a true *wait*."""
    match retry_after:
        case "absent":
            return None
        case "1 s":
            return 1.0
        case "ms":
            return math.ceil(wait * 1000) / 1000
    return float(math.ceil(wait))


class Met(NamedTuple):
    """A client's time and refusals at a provider."""

    seconds: float  # from the first call in to the last reply out
    refused: float  # a call
    lost: int


def of_pool(provider: Drawn, *, apart: bool = False) -> Met:
    """Meet *provider* with the quota of all processes, of two workers each, or *apart* with a quota of each."""
    server = ChangingServer(provider)
    quotas = [Quota() for _ in range(provider.processes)] if apart else [Quota()] * provider.processes
    calls = calls_of(provider)
    backlogs = [deque(calls[place :: provider.processes]) for place in range(provider.processes)]
    workers = [(f"job{place}", backlog) for place, backlog in enumerate(backlogs) for _ in range(2)]
    simulation = Simulation(
        server,
        [quota for quota in quotas for _ in range(2)],
        workers,
        retry_after=lambda wait: stated_wait(provider.retry_after, wait),
        seed=provider.seed,
        slots=_SLOTS // len(workers),
        told=provider.limits_told,
    )
    simulation.run(until=4000.0)
    return _met(server, [when for when, _ in simulation.done], provider.n)


def _met(server: Server, done: Sequence[float], n: int) -> Met:
    began = min(server.accepted, default=0.0)
    return Met(max(done, default=math.inf) - began, len(server.refused) / n, n - len(done))


def of_perfect(provider: Drawn) -> Met:
    """Meet *provider* as one that knows when each call would be let in."""
    server, now, busy, done = ChangingServer(provider), 0.0, [0.0] * _SLOTS, []
    for call in calls_of(provider):
        now = max(now, busy[0])
        while wait := server.admit(now, server.counted(call)):
            now += min(wait, 0.05 if provider.change else wait)
        done.append(now + _delay(provider, call))
        heapq.heapreplace(busy, done[-1])
    server.refused.clear()
    return _met(server, done, provider.n)


def of_openai(provider: Drawn) -> Met:
    """Meet *provider* as the `openai` client does: a stated wait of up to a minute, or 0.5 s doubled up to 8 s."""
    server, rng = ChangingServer(provider), random.Random(provider.seed)
    waiting, done = deque(calls_of(provider)), []
    events = [(0.0, place, None, 0) for place in range(_CLIENT_SLOTS)]
    order = _CLIENT_SLOTS
    while events:
        now, _, call, tries = heapq.heappop(events)
        if call is None:
            if not waiting:
                continue
            call = waiting.popleft()
        wait = server.admit(now, server.counted(call))
        again: tuple[Call | None, int] = (None, 0)
        if not wait:
            at = now + _delay(provider, call)
            done.append(at)
        elif tries == _RETRIES:
            at = now
        else:
            stated = stated_wait(provider.retry_after, wait)
            own = min(0.5 * 2.0**tries, 8.0) * (1 - 0.25 * rng.random())
            at = now + (stated if stated is not None and 0 < stated <= 60 else own)
            again = (call, tries + 1)
        order += 1
        heapq.heappush(events, (at, order, *again))
    return _met(server, done, provider.n)


def _delay(provider: Drawn, call: Call) -> float:
    return provider.delay_s


class Meeting(NamedTuple):
    """One provider as all clients met it."""

    provider: Drawn
    pool: Met
    openai: Met
    perfect: Met

    @property
    def ratios(self) -> tuple[float, float]:
        """Return the seconds of the pool and of the client over those of one that knows everything."""
        return self.pool.seconds / self.perfect.seconds, self.openai.seconds / self.perfect.seconds


def meeting(seed: int) -> Meeting:
    """Meet the provider of *seed* with all clients."""
    provider = drawn(seed)
    return Meeting(provider, of_pool(provider), of_openai(provider), of_perfect(provider))


def figures() -> list[Figure]:
    """Return a figure for all providers, for each knowledge of them, and for each length in which they count."""
    met = [meeting(seed) for seed in range(FIRST_SEED, FIRST_SEED + _DRAWS)]
    groups = {"all providers": met}
    groups |= {f"told {told}": [m for m in met if m.provider.told == told] for told in _TOLD}
    groups |= {f"counts {length:.0f} s": [m for m in met if m.provider.window_s == length] for length in _LENGTHS_S}
    groups["two machines"] = [m._replace(pool=of_pool(m.provider, apart=True)) for m in met if m.provider.processes > 1]
    return [_figure(name, group) for name, group in groups.items() if group]


def _figure(name: str, met: Sequence[Meeting]) -> Figure:
    pool, openai = zip(*(m.ratios for m in met), strict=True)
    refused = [statistics.median(m.pool.refused for m in met), statistics.median(m.openai.refused for m in met)]
    lost = [sum(m.pool.lost for m in met), sum(m.openai.lost for m in met)]
    worst = max(met, key=lambda m: m.ratios[0])
    refused_by_pool = [m.pool.refused for m in met]
    note = (
        f"{len(met)} from seed {FIRST_SEED}; 95 % {_quantile(pool, 0.95):.2f}, "
        f"worst {max(pool):.2f} ({worst.provider.seed}); "
        f"refused a call {refused[0]:.3f}, mean {statistics.mean(refused_by_pool):.3f}, "
        f"at most {max(refused_by_pool):.3f}, lost {lost[0]}; "
        f"client: worst {max(openai):.2f}, refused {refused[1]:.3f}, lost {lost[1]}"
    )
    times = Spread.of([theirs / ours for ours, theirs in zip(pool, openai, strict=True)])
    return Figure(name, statistics.median(pool), statistics.median(openai), "x perfect", times, None, note)


def _quantile(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, math.ceil(share * len(values)) - 1)]
