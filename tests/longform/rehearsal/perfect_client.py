"""The best that a client of a fake provider can do: it knows the limits and asks in order, never too early."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Sequence

from longform.chat.failures import may_pass
from longform.rehearsal.limits import BothLimits
from longform.rehearsal.settings import FAULTS, FakeSettings, draw_fate


def perfect_makespan(
    settings: FakeSettings, calls: Sequence[tuple[str, int]], *, in_flight: int, deadline_s: float
) -> float:
    """
    Seconds from the first call to the last reply of a first-come-first-served client that knows the limits.

    Each of its places takes the next call as soon as it is free, and sends it as soon as the limits let it in. What
    goes wrong and may pass is tried again at once, by the same place.

    Args:
        settings: Behaviour of the provider.
        calls: Content hash, and tokens of prompt and reply together, in the order they are made.
        in_flight: Places.
        deadline_s: Time that a call that hangs costs.
    """
    gate = BothLimits(settings)
    seen: Counter[str] = Counter()
    waiting = iter(calls)
    free: list[tuple[float, int, tuple[str, int] | None]] = [(0.0, place, None) for place in range(in_flight)]
    sent_at = last = 0.0
    while free:
        at, place, again = heapq.heappop(free)
        call = again or next(waiting, None)
        if call is None:
            continue
        content, tokens = call
        sent_at = max(sent_at, at)
        sent_at += gate.wait_s(tokens, sent_at)
        gate.let_in(tokens, sent_at)
        fate = draw_fate(settings, content, seen[content])
        seen[content] += 1
        done = sent_at + (deadline_s if fate.fault == "hang" else fate.delay_s)
        last = max(last, done)
        retried = fate.fault is not None and may_pass(FAULTS[fate.fault])
        heapq.heappush(free, (done, place, call if retried else None))
    return last
