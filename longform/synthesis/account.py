"""The account of a synthesis of any kind: counts of accepted and rejected items, and what was given up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, TypedDict

from pydantic import JsonValue

from longform.synthesis.asking import Attempt


class CheckCounts(TypedDict):
    """Attempts of one check, by what became of them."""

    check: str
    accepted_if: str
    attempts: int
    accepted: int
    rejected: int
    exhausted: int


class GivenUp(TypedDict):
    """A subject that a check rejected to the last, with the last reason."""

    haystack_id: str
    check: str
    subject: str
    attempt: int
    reason: str | None


class Account(TypedDict):
    """The content of `synthesis.json`."""

    longform: str
    dataset_hash: str
    models: dict[str, str]
    prompts: list[str]
    config: dict[str, JsonValue]
    checks: list[CheckCounts]
    haystacks: list[Any]  # a dict each, by the kind of synthesis, with `haystack_id` and `checks`
    exhausted: list[GivenUp]


def check_rows(attempts: Iterable[Attempt], checks: Mapping[str, str]) -> list[CheckCounts]:
    """
    Count for each check its attempts and what became of them; attempts = accepted + rejected + exhausted.

    Args:
        attempts: Of all works.
        checks: Check -> when it accepts.
    """
    counts = Counter((attempt.check, attempt.verdict) for attempt in attempts)
    rows: list[CheckCounts] = []
    for check, meaning in checks.items():
        accepted, rejected, exhausted = (counts[check, verdict] for verdict in ("accepted", "rejected", "exhausted"))
        rows.append(
            {
                "check": check,
                "accepted_if": meaning,
                "attempts": accepted + rejected + exhausted,
                "accepted": accepted,
                "rejected": rejected,
                "exhausted": exhausted,
            }
        )
    return rows


def exhausted_rows(haystack_id: str, attempts: Iterable[Attempt]) -> list[GivenUp]:
    """Return the given-up items, with the last reason of each."""
    return [
        {
            "haystack_id": haystack_id,
            "check": attempt.check,
            "subject": attempt.subject,
            "attempt": attempt.number,
            "reason": attempt.reason,
        }
        for attempt in attempts
        if attempt.verdict == "exhausted"
    ]
