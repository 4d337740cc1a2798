"""Calls and costs of each stage, with their sums in words, and the cost of writing a summary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from longform.evidence.scan import pl

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


# ---------------------------------------------------------------- of summaries

SPENT = {
    "usd_a_summary": "price or usage not known",
    "tokens_in": "the provider did not say",
    "tokens_out": "the provider did not say",
    "seconds": "not recorded",
}
"""
Column of what the calls behind a summary took, those of its method's steps too -> why it may be unknown.

Dollars are 0 only if no model is asked or the price is 0; tokens are with cached and with hidden ones; seconds are of
the calls one after another.
"""


def mean_spent(summary_ids: Iterable[str], spent: pl.DataFrame) -> tuple[dict[str, float | None], dict[str, str]]:
    """
    Return the mean cost of a system's summaries, and by column why it is not known.

    Failed summaries count: their calls are paid. Twins cost what their originals do; their own repair is not in it.
    """
    ids = pl.Series("summary_id", summary_ids).cast(pl.String)
    own = ids.to_frame().join(spent, on="summary_id", how="left").select(*SPENT)
    missing = {name: n for name, n in own.null_count().row(0, named=True).items() if n}
    means = {
        name: None if name in missing else total / len(own) for name, total in own.sum().row(0, named=True).items()
    }
    of = {name: "all" if n == len(own) else f"{n} of {len(own)}" for name, n in missing.items()}
    return means, {name: f"{SPENT[name]} of {many} summaries" for name, many in of.items()}


def tokens_spent(row: CallsRow) -> dict[str, float | None]:
    """Return the tokens that a row counts, in and out; None: the provider did not say."""
    both = {"tokens_in": ("input_tokens", "cached_tokens"), "tokens_out": ("output_tokens", "reasoning_tokens")}
    return {
        name: None if row[stated] is None else float(row[stated] + (row[beside] or 0))
        for name, (stated, beside) in both.items()
    }
