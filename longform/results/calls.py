"""Calls and costs of each stage, and their sums in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict


class Bounds(TypedDict):
    """A planned quantity; `expected` is null if nothing says where in between it lies."""

    low: float
    expected: float | None
    high: float


class MadeOfPlan(TypedDict):
    """The outcome of a plan, in its quantities."""

    calls: float
    input_tokens: float | None
    output_tokens: float | None
    usd: float | None
    minutes: float


class Planned(TypedDict):
    """The plan of a stage and model."""

    calls: Bounds | float | None
    input_tokens: Bounds | float | None
    output_tokens: Bounds | float | None
    usd: Bounds | float | None
    minutes: Bounds | float | None
    reasons: dict[str, str]


class PlannedRow(Planned):
    """The same in the plan."""

    stage: str | None
    model: str | None


class Spent(TypedDict):
    """Sums of a ledger; null: the provider or the price list did not say."""

    calls: int
    answered: int
    failed: int
    refused: int
    open: int
    input_tokens: int | None
    cached_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    known_usd: float
    n_unknown_usd: int
    unsettled_usd: float
    n_unsettled_unknown_usd: int
    cached_share: float | None
    saved_usd: float | None
    answered_models: list[str]


class CallsRow(Spent):
    """A ledger, stage and model."""

    ledger: str
    stage: str | None
    model: str | None
    judge: str | None  # that the stage asks; null: it asks none
    reranker: str | None  # likewise
    reused: int
    planned: Planned | None
    since_plan: MadeOfPlan | None


NO_PRICE = "the price or the usage is not known"
UNSETTLED = "in flight when a process died; may have been paid without use"


def calls_told(rows: Sequence[CallsRow], *, goes_on: bool | None = False) -> str:
    """Return the sums of calls and dollars in words; *goes_on*: whether the run does; None: not known."""
    n_unknown = sum(row["n_unknown_usd"] for row in rows)
    n_known = sum(row["calls"] - row["refused"] - row["open"] for row in rows) - n_unknown
    calls = f"{sum(row['calls'] for row in rows):,} calls"
    dollars = f"${sum(row['known_usd'] or 0.0 for row in rows):,.4f}"
    if not n_unknown:
        told = [f"{calls} cost {dollars}."]
    elif n_known:
        told = [f"{calls} cost at least {dollars}: what {n_unknown:,} of them cost is not known."]
    else:
        told = [f"{calls}, and what they cost is not known: {NO_PRICE}."]
    if n_open := sum(row["open"] for row in rows):
        unknown = sum(row["n_unsettled_unknown_usd"] for row in rows)
        more = f" and an unknown sum for {unknown:,} of them" if unknown else ""
        at_most = f"at most ${sum(row['unsettled_usd'] for row in rows):,.4f}{more}"
        if goes_on is None:
            told.append(f"{n_open:,} calls are not settled, {at_most}: under way if the run goes on, else {UNSETTLED}.")
        elif goes_on:
            told.append(f"{n_open:,} calls are under way, {at_most}.")
        else:
            told.append(f"{n_open:,} calls are unsettled, {at_most}: {UNSETTLED}.")
    return " ".join(told)
