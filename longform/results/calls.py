"""Calls and costs of each stage: the rows of the study of calls."""

from __future__ import annotations

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
    reused: int
    planned: Planned | None
    since_plan: MadeOfPlan | None
