"""Every cell of the pool's limits: what is limited, how it is counted, what is known of it, what refusals say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from longform.quota.leases import QuotaLimits
from longform.rehearsal.settings import FakeSettings
from tests.bench.measure import Figure
from tests.bench.pool import FOUND, KNOWN, REQUESTS, TOKENS, Cell, cell_figures, known, ten_times
from tests.bench.pool_load import Load, two_nodes
from tests.longform.rehearsal.windows import LIMITERS

_LIMITED: Mapping[str, Mapping[str, Any]] = {"requests": REQUESTS, "tokens": TOKENS}
_RETRY_AFTER: Mapping[str, Mapping[str, Any]] = {
    "right": {"retry_after": "right"},
    "in milliseconds": {"retry_after": "right", "retry_after_ms": True},
    "missing": {"retry_after": "missing"},
    "20 s": {"retry_after": "wrong"},
    "0 s": {"retry_after": "wrong", "wrong_retry_after_s": 0},
}


def figures() -> list[Figure]:
    with two_nodes():
        return [figure for cell in _cells() for figure in cell_figures(cell)]


def _cells() -> Iterator[Cell]:
    for (limited, limits), limiter in product(_LIMITED.items(), ("bucket", "window")):
        fake = FakeSettings(limiter=LIMITERS[limiter], **limits)
        yield Cell(f"{limiter} of {limited}, known", Load(fake=fake, told=known(fake)), KNOWN)
        for said, stated in _RETRY_AFTER.items():
            fake = FakeSettings(limiter=LIMITERS[limiter], **limits, **stated)
            for knowledge, told in (("unknown", QuotaLimits()), ("told 10x", ten_times(fake))):
                name = f"{limiter} of {limited}, {knowledge}, Retry-After {said}"
                yield Cell(name, Load(fake=fake, told=told), FOUND)
