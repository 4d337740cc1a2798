"""Calls and cost of each stage, and what was planned beside what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from longform.metrics.statistics import Estimate
from longform.results.calls import NO_PRICE, UNSETTLED, CallsRow, calls_told
from longform.results.evidence import Evidence
from longform.tables.table import Column, Table, Value

_NOT_STATED = "the provider did not say"
_NOT_SETTLED = "some calls are unsettled, or of unknown cost"
_STAGE = [Column("ledger", shown=False), Column("stage"), Column("model", beside="answered_models")]
_CALLED = [
    *_STAGE,
    Column("answered_models", title="answered as", shown=False),
    Column("judge", told="that the stage asks", shown=False),
    Column("reranker", told="that the stage asks", shown=False),
    Column("calls", "count", told="attempts, those that failed or were refused among them"),
    Column("answered", "count"),
    Column("failed", "count"),
    Column("refused", "count", shown=False),
    Column("reused", "count", told="replies that the ledger had, which cost nothing"),
    Column(
        "input_tokens", "count", "input tokens", "what no cache held; no token is of two classes", unknown=_NOT_STATED
    ),
    Column("cached_tokens", "count", "cached tokens", "input from the provider's cache", unknown=_NOT_STATED),
    Column("output_tokens", "count", "output tokens", "visible output", unknown=_NOT_STATED),
    Column("reasoning_tokens", "count", "reasoning tokens", "hidden output", unknown=_NOT_STATED),
    Column("cached_share", "share", "share cached", "of all input; higher is cheaper", unknown=_NOT_STATED),
    Column(
        "saved_usd",
        "usd",
        "dollars saved",
        "what the cached tokens would have cost more without the cache",
        unknown="the provider did not say, or the price of cached tokens is not known",
    ),
    Column("known_usd", "usd", "dollars", beside="n_unknown_usd", unknown=NO_PRICE),
    Column("n_unknown_usd", "count", "calls of unknown cost", shown=False),
    Column("open", "count", "unsettled calls", UNSETTLED, beside="unsettled_usd, n_unsettled_unknown_usd"),
    Column("unsettled_usd", "usd", "at most", shown=False),
    Column("n_unsettled_unknown_usd", "count", "of unknown price", shown=False),
]
_QUANTITIES = (
    Column("calls", "count"),
    Column("input_tokens", "count", "tokens in", "with what a cache held"),
    Column("output_tokens", "count", "tokens out", "with what was hidden"),
    Column("usd", "usd", "dollars"),
    Column("minutes", told="in which the stages were at work, of all commands", unit="number", digits=1),
)


class Calls:
    """The calls and the cost of each stage and model, and the plan of those that were planned."""

    name = "calls"
    needs = ("calls",)

    def result(self, evidence: Evidence) -> list[Table] | None:
        """Return both tables; None if no model was asked."""
        return None if evidence.calls is None else tables(evidence.calls)


def tables(rows: Sequence[CallsRow]) -> list[Table]:
    """Return what was called, and below it what was planned if anything was."""
    called = Table(
        "calls",
        _CALLED,
        (),
        title="Calls and cost",
        told=calls_told(rows, goes_on=None),
        key=["ledger", "stage", "model"],
        page="cost",
    ).having(_called(row) for row in rows)
    found = [row for row in rows if row["planned"]]
    planned = Table(
        "calls_planned",
        [*_STAGE[:-1], Column("model"), *(column for one in _QUANTITIES for column in _both_of(one))],
        [_planned(row) for row in found],
        told="What was planned before the calls, and what came of it since.",
        key=["ledger", "stage", "model"],
        reasons=[_reasons(row) for row in found],
        section="calls",
        page="cost",
    )
    return [called, *([planned] if found else [])]


def _called(row: CallsRow) -> dict[str, Any]:
    found = {name: value for name, value in row.items() if name not in ("planned", "since_plan")}
    known = row["answered"] + row["failed"] - row["refused"] - row["n_unknown_usd"]
    return found if known or not row["n_unknown_usd"] else {**found, "known_usd": None}


def _both_of(quantity: Column) -> list[Column]:
    name, reason = quantity.name, _NOT_SETTLED if quantity.name == "usd" else _NOT_STATED
    planned = quantity._replace(
        name=f"{name}_planned",
        title=f"{quantity.head}, planned",
        unknown="not planned",
        brackets="the planned interval",
    )
    return [planned, quantity._replace(name=f"{name}_made", title=f"{quantity.head}, made", told="", unknown=reason)]


def _planned(row: CallsRow) -> dict[str, Value]:
    found: dict[str, Value] = {name: row[name] for name in ("ledger", "stage", "model")}
    planned: Mapping[str, Any] = row["planned"] or {}
    made: Mapping[str, Any] = row["since_plan"] or {}
    for quantity in _QUANTITIES:
        found[f"{quantity.name}_planned"] = _bounded(planned.get(quantity.name))
        found[f"{quantity.name}_made"] = made.get(quantity.name)
    return found


def _bounded(planned: Mapping[str, Any] | float | None) -> Value:
    """Return a planned quantity; one without a width has no bounds."""
    if planned is None or isinstance(planned, int | float):
        return planned
    low, high = planned["low"], planned["high"]
    exact = low == planned["expected"] == high
    return Estimate(planned["expected"], None if exact else low, None if exact else high, 1)


def _reasons(row: CallsRow) -> dict[str, str]:
    return {f"{name}_planned": why for name, why in (row["planned"] or {"reasons": {}})["reasons"].items()}


def missing_ledgers(urls: Sequence[str]) -> list[Table]:
    """Return the ledgers of a run that are not there; none if all are."""
    missing = Table(
        "missing_ledgers",
        [Column("ledger")],
        [{"ledger": url} for url in urls],
        title="Missing ledgers",
        told="Ledgers that are not there: what was called from them is not known.",
        key=["ledger"],
        section="calls",
        page="cost",
    )
    return [missing] if urls else []
