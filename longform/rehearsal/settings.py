"""
Settings of a fake provider, and the fate of each request: its delay and its fault.

Fates are drawn from the seed, the content of a request and how often that content was let in before, never from the
order of arrival: another worker count meets the same ones.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from longform.rehearsal.limits import Bucket

FAULTS = {
    "http_500": "http_500",
    "http_503": "http_503",
    "reset": "connection",  # closed hard, without a reply
    "garbage": "bad_body",  # HTTP 200, and a body that is no completion
    "hang": "timeout",  # no reply as long as the client waits
    "empty": "empty_reply",
    "length": "length",  # cut, and says so
}
"""The kinds of fault, and the failure that a client sees."""

BODY_FAULTS = {
    "html": "bad_body",  # HTTP 200, and a page
    "drip": "timeout",  # a byte now and then, without an end
    "endless": "reply_too_large",  # as fast as the client reads, without an end
    "huge": "reply_too_large",  # a completion of 100 MB
}
"""The same of bodies that strain a client."""

ALL_FAULTS = FAULTS | BODY_FAULTS


@dataclass(frozen=True, kw_only=True)
class FakeSettings:
    """Behaviour of the fake; the defaults are a provider without limits or faults. A limit that is None is none."""

    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None  # of prompt and reply together, charged when a request is let in
    limiter: Callable[[float, float], Bucket] = Bucket  # of a limit a minute and `window_s`
    window_s: float = 1.0
    retry_after: Literal["right", "missing", "wrong"] = "right"  # of a refusal; wrong: `wrong_retry_after_s`
    wrong_retry_after_s: int = 20
    retry_after_ms: bool = False  # say the wait in milliseconds too
    limit_headers: bool = False  # `x-ratelimit-*` on every reply
    delay_s: float = 0.2  # of a reply
    slow_share: float = 0.01  # of replies that take `slow_factor` times as long
    slow_factor: float = 20.0
    faults: Mapping[str, float] = field(default_factory=dict)  # share of each kind; they come when the reply would have
    seed: int = 0  # of delays and faults
    context_window: int | None = None  # tokens of prompt and output limit above which a request is a 400
    refused_parameters: tuple[str, ...] = ()  # those that are a 400, as newer models refuse `temperature`
    key: str | None = field(default=None, repr=False)  # requests without it are a 401; None: anyone may ask
    unauthorized_after: int | None = None  # requests let in before all others are a 401, as with a key that expires
    refused_after: int | None = None  # requests let in before all others are a 429, as with a quota for a day
    batch_s: float = 0.0  # how long a batch takes
    batch_failed_share: float = 0.0  # of a batch's items that fail
    batch_done_share: float | None = None  # of a batch's items that are done when it expires; None: it does not

    def __post_init__(self) -> None:
        unknown = set(self.faults) - set(ALL_FAULTS)
        if unknown or sum(self.faults.values()) > 1:
            msg = f"faults: expected shares of {sorted(ALL_FAULTS)} that sum to at most 1, found {dict(self.faults)}"
            raise ValueError(msg)


class Fate(NamedTuple):
    """The fate of a request that is let in: a kind of fault or None, after so many seconds."""

    fault: str | None
    delay_s: float


def draw_fate(settings: FakeSettings, content: str, nth: int) -> Fate:
    """The fate of the request with this content hash, when it is let in for the *nth* time (from 0)."""
    faulty, slow = _uniforms(f"{settings.seed}:{content}:{nth}")
    delay_s = settings.delay_s * (settings.slow_factor if slow < settings.slow_share else 1.0)
    for kind in ALL_FAULTS:
        faulty -= settings.faults.get(kind, 0.0)
        if faulty < 0:
            return Fate(kind, delay_s)
    return Fate(None, delay_s)


def batch_item_fails(settings: FakeSettings, content: str, nth: int) -> bool:
    return _uniforms(f"batch:{settings.seed}:{content}:{nth}")[0] < settings.batch_failed_share


def _uniforms(text: str) -> tuple[float, float]:
    """Two numbers in [0, 1) that follow from *text* alone."""
    drawn = hashlib.sha256(text.encode()).digest()
    return int.from_bytes(drawn[:7]) / 2**56, int.from_bytes(drawn[8:15]) / 2**56
