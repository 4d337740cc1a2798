"""Calls and costs of each stage, and their sums in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

CallsRow = Mapping[str, Any]
"""
A ledger, stage and model, with the columns that `longform.studies.calls` describes.

`planned` has the same quantities as `since_plan`, what came of them, and the `reasons` of unknown ones; a planned
quantity is a number, or low, expected and high, of which `expected` is null if nothing says where it lies.
"""
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
