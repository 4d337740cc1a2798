"""
The providers of the arena over real sockets: a fake provider in a process of its own, the pool in this one.

Twenty providers from the seed of the arena on, each with calls for eight seconds beside its window. Times are over
those of a perfect client, computed. A wait that a refusal states as a date is stated in seconds.
"""

from __future__ import annotations

import os
from collections import Counter
from math import ceil
from statistics import mean, median

from longform.quota.leases import QuotaLimits
from longform.rehearsal.settings import FakeSettings
from tests.bench.arena import FIRST_SEED, Drawn, drawn
from tests.bench.measure import Figure
from tests.bench.pool_load import MEAN_TOKENS, Load, Outcome, in_process
from tests.longform.rehearsal.windows import LIMITERS

_DRAWS = ceil(20 * float(os.environ.get("LONGFORM_BENCH_SHARE", "1")))
_BESIDE_S = 8.0  # beside its window


def figures() -> list[Figure]:
    """Return one figure of all providers, and one of each."""
    met = {seed: in_process(load_of(drawn(seed))) for seed in range(FIRST_SEED, FIRST_SEED + _DRAWS)}
    ratios = [outcome.ratio for outcome in met.values()]
    refused = [outcome.refused_share for outcome in met.values()]
    failed = sum((outcome.failures for outcome in met.values()), Counter[str]())
    lost = sum(outcome.lost for outcome in met.values())
    note = f"worst {max(ratios):.2f}; refused a call {mean(refused):.3f}, lost {lost}, failed {dict(failed)}"
    of_all = Figure(f"{_DRAWS} providers", median(ratios), 1.0, "x perfect", None, None, note)
    return [of_all, *(_of_one(drawn(seed), outcome) for seed, outcome in met.items())]


def load_of(provider: Drawn) -> Load:
    """Return the load of one worker on a fake provider that counts as *provider* does, by its own rule for tokens."""
    calls, tokens = (None if rate is None else 60 * rate for rate in (provider.calls_a_s, provider.tokens_a_s))
    rate = provider.calls_a_s or (provider.tokens_a_s or 0.0) / MEAN_TOKENS
    says = provider.retry_after
    fake = FakeSettings(
        limiter=LIMITERS[provider.kind],
        window_s=provider.window_s,
        requests_per_minute=calls,
        tokens_per_minute=None if tokens is None else tokens / provider.counts,
        limit_headers=provider.headers,
        retry_after="missing" if says == "absent" else "wrong" if says == "1 s" else "right",
        wrong_retry_after_s=1,
        retry_after_ms=says == "ms",
        delay_s=provider.delay_s,
        slow_share=0.0,
    )
    told = provider.limits_told
    return Load(fake=fake, told=QuotaLimits(*told[:2]), n=round(rate * (provider.window_s + _BESIDE_S)), jobs=(1,))


def _of_one(provider: Drawn, met: Outcome) -> Figure:
    counted = [name for name, rate in (("calls", provider.calls_a_s), ("tokens", provider.tokens_a_s)) if rate]
    note = (
        f"{provider.kind} of {provider.window_s:.0f} s of {' and '.join(counted)}, told {provider.told}, waits "
        f"{provider.retry_after}; least {met.perfect_s:.1f} s; refused a call {met.refused_share:.3f}"
    )
    return Figure(f"seed {provider.seed}", met.ratio, 1.0, "x perfect", None, None, note)
