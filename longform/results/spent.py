"""The cost of writing summaries: dollars, tokens and seconds of each, and their means over a system."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

TOLD = (
    "Cost is the mean of a summary over the calls that wrote it, judges apart, and $0 only if no model is asked or its "
    "price is 0."
)


class Spent(NamedTuple):
    """
    The calls behind one summary, those of its method's steps among them; None: not known.

    Attributes:
        usd_a_summary: Dollars; 0 only if no model is asked, or the price is 0.
        tokens_in: Cached ones too.
        tokens_out: Hidden ones too.
        seconds: Of its calls one after another.
    """

    usd_a_summary: float | None
    tokens_in: float | None
    tokens_out: float | None
    seconds: float | None


NOTHING = Spent(0.0, 0.0, 0.0, None)
"""Spent by a summarizer that asks no model."""

_WHY = {
    "usd_a_summary": "price or usage not known",
    "tokens_in": "the provider did not say",
    "tokens_out": "the provider did not say",
    "seconds": "not recorded",
}


def summed(parts: Collection[Spent]) -> Spent:
    """Return the sum of *parts*; a field that one of them does not know is unknown."""

    def of(values: Sequence[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return sum(known) if values and len(known) == len(values) else None

    return Spent(*(of(values) for values in zip(*parts, strict=True))) if parts else Spent(None, None, None, None)


def mean_spent(summary_ids: Iterable[str], spent: Mapping[str, Spent]) -> tuple[Spent, dict[str, str]]:
    """
    Return the mean cost of a system's summaries, and by field why it is not known.

    Failed summaries count: their calls are paid. Twins cost what their originals do; their own repair is not in it.
    """
    found = [spent.get(summary_id, Spent(None, None, None, None)) for summary_id in summary_ids]
    means = Spent(*(None if total is None else total / len(found) for total in summed(found)))
    missing = {name: sum(getattr(one, name) is None for one in found) for name in Spent._fields}
    of = {name: "all" if n == len(found) else f"{n} of {len(found)}" for name, n in missing.items() if n}
    return means, {name: f"{_WHY[name]} of {many} summaries" for name, many in of.items()}
