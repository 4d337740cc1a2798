"""
A discrete-event simulation of workers that share a quota, against servers that count exactly.

    python tests/longform/quota/quota_simulation.py

prints every cell of (server, limit, what is known, Retry-After): the makespan beside that of a perfect client, which
calls first come, first served, at the very moment the server lets it; and refusals a call, in the whole run and in its
second half.
"""

from __future__ import annotations

import heapq
import math
import random
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, product
from typing import Literal

from longform.chat.answers import read_signals
from longform.chat.call import Signals
from longform.quota.leases import Accepted, Lease, LeaseAsk, Left, QuotaLimits, Refused
from longform.quota.quota import Quota
from longform.rehearsal.limits import BothLimits
from longform.rehearsal.settings import FakeSettings
from tests.longform.rehearsal.windows import LIMITERS

SLOW_FACTOR, SLOW_SHARE = 20.0, 0.01
MEAN_TOKENS = 650


@dataclass(frozen=True)
class Provider:
    """
    Limits a second, None: no limit.

    `window_s` is what a window counts and a bucket holds; `closed` a time span in which everything is refused.
    """

    kind: Literal["bucket", "window", "fixed"]
    requests: float | None = None
    tokens: float | None = None
    window_s: float = 1.0
    headers: bool = False
    delay_s: float = 0.2
    closed: tuple[float, float] = (math.inf, math.inf)

    def gate(self) -> BothLimits:
        return BothLimits(
            FakeSettings(
                limiter=LIMITERS[self.kind],
                window_s=self.window_s,
                limit_headers=self.headers,
                requests_per_minute=None if self.requests is None else 60 * self.requests,
                tokens_per_minute=None if self.tokens is None else 60 * self.tokens,
            )
        )


@dataclass
class Server:
    provider: Provider
    accepted: list[float] = field(default_factory=list)
    refused: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.gate = self.provider.gate()

    def admit(self, now: float, tokens: float) -> float:
        """0 where the call is let in, else the seconds until it would be."""
        begin, end = self.provider.closed
        wait = end - now if begin <= now < end else self.gate.wait_s(tokens, now)
        if wait > 0:
            self.refused.append(now)
            return wait
        self.gate.let_in(tokens, now)
        self.accepted.append(now)
        return 0.0

    def counted(self, call: Call) -> float:
        """Return the tokens that the server counts for *call*."""
        return call.tokens

    def signals(self, now: float) -> Signals | None:
        return read_signals(self.gate.headers(now), now=now) if self.provider.headers else None


RETRY_AFTER: dict[str, Callable[[float], float | None]] = {
    "whole seconds": lambda wait: float(math.ceil(wait)),
    "exact": lambda wait: wait,
    "missing": lambda _wait: None,
    "30 s": lambda _wait: 30.0,
    "0 s": lambda _wait: 0.0,
}


@dataclass(frozen=True)
class Call:
    tokens: int
    estimate: float
    slow: bool


def draw_calls(n: int, seed: int) -> list[Call]:
    rng = random.Random(seed)
    calls = []
    for _ in range(n):
        tokens = rng.randint(400, 900)
        slow = rng.random() < SLOW_SHARE
        calls.append(Call(tokens, tokens * rng.gauss(1, 0.03), slow))
    return calls


def delay(provider: Provider, call: Call) -> float:
    return provider.delay_s * (SLOW_FACTOR if call.slow else 1.0)


def perfect_makespan(provider: Provider, calls: list[Call], slots: int = 256) -> float:
    server, now, busy, last = Server(provider), 0.0, [0.0] * slots, 0.0
    for call in calls:
        now = max(now, busy[0])
        while wait := server.admit(now, server.counted(call)):
            now += wait
        done = now + delay(provider, call)
        heapq.heapreplace(busy, done)
        last = max(last, done)
    return last


@dataclass
class Worker:
    name: str
    job: str
    backlog: deque[Call]
    slots: int
    quota: Quota
    waiting: deque[Call] = field(default_factory=deque)
    under_way: int = 0
    left: list[tuple[float, Call]] = field(default_factory=list)
    accepted: list[tuple[float, Call]] = field(default_factory=list)
    refused: list[tuple[float, float, Call, float | None]] = field(default_factory=list)
    asking: bool = False
    asks: int = 0
    turn: int = 0  # of its next ask, so that an older plan is void
    known: QuotaLimits | None = None
    signals: tuple[float, Signals] | None = None  # when their call was sent
    dead: bool = False

    def pull(self) -> None:
        while self.backlog and self.under_way + len(self.waiting) < self.slots:
            self.waiting.append(self.backlog.popleft())

    def ask(self, now: float) -> LeaseAsk:
        accepted = tuple(Accepted(now - sent, call.estimate, call.tokens) for sent, call in self.accepted)
        refused = tuple(
            Refused(now - sent, call.estimate, None if retry is None else retry - (now - heard))
            for sent, heard, call, retry in self.refused
        )
        sent, signals = self.signals or (now, None)
        left = tuple(Left(now - sent, call.estimate) for sent, call in self.left)
        self.left, self.accepted, self.refused, self.signals = [], [], [], None
        sizes = tuple(call.estimate for call in self.waiting)
        return LeaseAsk(
            self.name, self.job, sizes, len(sizes), self.under_way, (), accepted, refused, signals, self.known,
            now - sent, left,
        )  # fmt: skip


class Simulation:
    """Workers, a quota and a server under one event queue. `backlogs`: a worker's job -> its calls, shared in a job."""

    def __init__(
        self,
        provider: Provider | Server,
        quota: Quota | Sequence[Quota],
        workers: list[tuple[str, deque[Call]]],
        *,
        retry_after: str | Callable[[float], float | None],
        seed: int,
        slots: int = 64,
        told: QuotaLimits | None = None,
    ) -> None:
        self.server = provider if isinstance(provider, Server) else Server(provider)
        self.retry_after = RETRY_AFTER[retry_after] if isinstance(retry_after, str) else retry_after
        self.told = told
        quotas = [quota] * len(workers) if isinstance(quota, Quota) else quota
        self.workers = [
            Worker(f"w{i}", job, backlog, slots, own)
            for i, ((job, backlog), own) in enumerate(zip(workers, quotas, strict=True))
        ]
        self._rng = random.Random(seed)
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._order = count()
        self.now = 0.0
        self.done: list[tuple[float, str]] = []  # when and of which job
        for worker in self.workers:
            self._plan_ask(worker, self._rng.uniform(0, 0.01))

    def run(self, until: float = math.inf) -> None:
        while self._events and self._events[0][0] <= until:
            self.now, _, happen = heapq.heappop(self._events)
            happen()

    def at(self, when: float, happen: Callable[[], None]) -> None:
        heapq.heappush(self._events, (when, next(self._order), happen))

    def _latency(self) -> float:
        return self._rng.uniform(0.001, 0.005)

    # ------------------------------------------------------------ leases

    def _plan_ask(self, worker: Worker, seconds: float) -> None:
        worker.turn += 1
        turn = worker.turn
        self.at(self.now + seconds, lambda: self._ask(worker, turn))

    def _ask(self, worker: Worker, turn: int) -> None:
        worker.pull()
        idle = not (worker.waiting or worker.under_way or worker.accepted or worker.refused)
        if turn != worker.turn or worker.asking or worker.dead or idle:
            return
        worker.asking = True
        worker.asks += 1
        left = self.now

        def answer() -> None:
            ask = worker.ask(self.now)
            lease = worker.quota.lease(self.now, ask, self.told)
            self.at(self.now + self._latency(), lambda: self._leased(worker, lease))

        self.at(left + self._latency(), answer)

    def _leased(self, worker: Worker, lease: Lease) -> None:
        worker.asking = False
        worker.known = lease.limits
        for _ in range(lease.calls):
            worker.under_way += 1
            self._send(worker, worker.waiting.popleft())
        self._plan_ask(worker, 0.0 if worker.refused else lease.again_s)

    # ------------------------------------------------------------ calls

    def _send(self, worker: Worker, call: Call) -> None:
        sent = self.now
        worker.left.append((sent, call))

        def arrive() -> None:
            wait = self.server.admit(self.now, self.server.counted(call))
            if wait:
                retry = self.retry_after(wait)
                self.at(self.now + self._latency(), lambda: self._refused(worker, call, sent, retry))
            else:
                self.at(self.now + delay(self.server.provider, call), lambda: self._accepted(worker, call, sent))

        if not worker.dead:
            self.at(sent + self._latency(), arrive)

    def _accepted(self, worker: Worker, call: Call, sent: float) -> None:
        worker.under_way -= 1
        if (signals := self.server.signals(self.now)) is not None:
            worker.signals = (sent, signals)
        worker.accepted.append((sent, call))
        self.done.append((self.now, worker.job))
        starved = not worker.waiting
        worker.pull()
        if starved and worker.waiting:
            self._plan_ask(worker, 0.0)

    def _refused(self, worker: Worker, call: Call, sent: float, retry: float | None) -> None:
        worker.under_way -= 1
        worker.waiting.appendleft(call)
        worker.refused.append((sent, self.now, call, retry))
        if not worker.asking:
            self._plan_ask(worker, 0.0)


@dataclass(frozen=True)
class Outcome:
    makespan: float
    perfect: float
    refusals: float  # a call
    late_refusals: float  # a call, in the second half
    asks: float  # a call

    @property
    def ratio(self) -> float:
        return self.makespan / self.perfect


def play(
    provider: Provider, told: QuotaLimits, retry_after: str, *, n: int = 3000, workers: int = 4, seed: int = 0
) -> Outcome:
    calls = draw_calls(n, seed)
    backlog = deque(calls)
    simulation = Simulation(provider, Quota(told), [("job", backlog)] * workers, retry_after=retry_after, seed=seed)
    simulation.run()
    assert len(simulation.done) == n, "a call was lost"
    ended = max(when for when, _ in simulation.done)
    half = sorted(simulation.server.accepted)[n // 2]
    late = sum(when > half for when in simulation.server.refused)
    return Outcome(
        ended,
        perfect_makespan(provider, calls),
        len(simulation.server.refused) / n,
        late / (n / 2),
        sum(w.asks for w in simulation.workers) / n,
    )


def told(provider: Provider, knowledge: str) -> QuotaLimits:
    factor = {"known": 60.0, "10x": 600.0, "unknown": None}[knowledge]
    if factor is None:
        return QuotaLimits()
    return QuotaLimits(provider.requests and factor * provider.requests, provider.tokens and factor * provider.tokens)


def cells() -> Iterator[tuple[Provider, str, str]]:
    for resource, kind, per_s, knowledge in product(
        ("requests", "tokens"), ("bucket", "window"), (50, 100), ("known", "unknown", "10x")
    ):
        limit = per_s if resource == "requests" else per_s * MEAN_TOKENS
        provider = Provider(kind, **{resource: limit})
        for retry_after in RETRY_AFTER if knowledge != "known" else ["whole seconds"]:
            yield provider, knowledge, retry_after


def main(seeds: int = 3) -> None:
    print(f"{'server':8} {'limit':>15} {'told':8} {'Retry-After':14} ratio  worst  refused  late  asks")
    for provider, knowledge, retry_after in cells():
        outcomes = [play(provider, told(provider, knowledge), retry_after, seed=seed) for seed in range(seeds)]
        limit = f"{provider.requests} calls" if provider.requests else f"{provider.tokens} tokens"
        ratios = [o.ratio for o in outcomes]
        refusals, late = max(o.refusals for o in outcomes), max(o.late_refusals for o in outcomes)
        asks = outcomes[0].asks
        print(
            f"{provider.kind:8} {limit:>15} {knowledge:8} {retry_after:14} {sum(ratios) / seeds:.3f}  {max(ratios):.3f}"
            f"  {refusals:.4f}  {late:.4f}  {asks:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
