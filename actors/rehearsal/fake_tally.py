"""Counters of a fake provider."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from time import monotonic
from typing import NotRequired, TypedDict

from longform.rehearsal.settings import ALL_FAULTS


@dataclass
class Served:
    """A request that was let in; `outcome` is None while it is under way."""

    content: str
    tokens: int
    at_s: float
    done_s: float | None = None
    outcome: str | None = None


class Counters(TypedDict):
    """Numbers of requests; `accepted` ones end `completed`, by one of the `faults`, or `gone`: the client left."""

    accepted: int
    refused: int
    unauthorized: int
    bad_requests: int
    completed: int
    gone: int
    faults: dict[str, int]
    in_flight: int
    max_in_flight: int
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    distinct: int
    served_again: int
    batch: NotRequired[dict[str, int]]


@dataclass
class Tally:
    """Counts since the start or the last reset."""

    started: float = field(default_factory=monotonic)
    refused: int = 0
    unauthorized: int = 0
    bad_requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    in_flight: int = 0
    max_in_flight: int = 0
    seen: Counter[str] = field(default_factory=Counter)
    served: list[Served] = field(default_factory=list)
    refused_at_s: list[float] = field(default_factory=list)

    def counters(self) -> Counters:
        outcomes = Counter(one.outcome for one in self.served)
        return {
            "accepted": len(self.served),
            "refused": self.refused,
            "unauthorized": self.unauthorized,
            "bad_requests": self.bad_requests,
            "completed": outcomes["completed"],
            "gone": outcomes["gone"],
            "faults": {kind: outcomes[kind] for kind in ALL_FAULTS},
            "in_flight": self.in_flight,
            "max_in_flight": self.max_in_flight,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "cached_tokens": self.cached_tokens,
            "distinct": len(self.seen),
            "served_again": len(self.served) - len(self.seen),
        }
