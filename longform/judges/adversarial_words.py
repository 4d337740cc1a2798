"""The section of a card on perturbed summaries, in words."""

from __future__ import annotations

from collections.abc import Mapping

from longform.judges.adversarial import PRECISION
from longform.judges.card_columns import Adversarial, AdversarialRow, Card
from longform.judges.support_cards import with_interval
from longform.metrics.statistics import EstimateColumns

TOLD: Mapping[str, str] = {
    "copy": "copied from the reference into a bullet of its own",
    "paraphrase": "said by another system's bullet",
    "merge": "all bullets are merged into one, which is not split",
    "prose": "all bullets are a paragraph, which is read as statements",
    "pad": "each bullet is doubled with foreign text",
    "cite all": "every bullet cites all documents",
    "negate": "negated",
    "number": "given other numbers",
    "shuffle": "its words are shuffled",
    "echo": "the query replaces every bullet",
}
"""Perturbation -> words that follow "when"."""


def section_of(card: Card) -> Adversarial | None:
    """Return the section of a card; None if it has none."""
    return None if "data_sets" in card else card.get("adversarial")


def adversarial_words(card: Card) -> list[str]:
    """Return the section as one paragraph of lines; nothing if the card has none."""
    found = section_of(card)
    if found is None:
        return []
    if found["reason"]:
        return [f"perturbed summaries: not judged ({found['reason']})"]
    lines = [f"  {row['perturbation']}: {row_words(row)}" for row in found["rows"]]
    lines += [f"  {name}: not measured ({why})" for name, why in found["missing"].items()]
    return ["\n".join(["perturbed summaries (score from 0 to 1, fully covered insights unless said):", *lines])]


def row_words(row: AdversarialRow) -> str:
    """Say what a row means, with its interval and counts."""
    if row["before"]["value"] is None:
        return f"unknown: no insight was judged on both sides ({row['n_unjudged']} unjudged)"
    unjudged = f", {row['n_unjudged']} unjudged" if row["n_unjudged"] else ""
    n = row["drop"]["n"]
    which = {"all": "all insights, ", "covered by the judge": "insights that it links, "}.get(row["rows"], "")
    return f"{_meaning(row)} ({which}n {n}, {row['n_summaries']} summaries{unjudged})"


_SHOULD = {"full": "should count 1", "same": "should keep it", "less": "should lose much", "nothing": "should lose all"}


def should_words(row: AdversarialRow) -> str:
    """Say what a perturbation is, and what it should do to the measure."""
    should = "should fall" if row["measure"] == PRECISION else _SHOULD[row["should"]]
    return f"when {TOLD[row['perturbation']]}; {should}"


def _meaning(row: AdversarialRow) -> str:
    said = f"counts {with_interval(row['after'], 1, 2)}" if row["should"] == "full" else _moved(row)
    return f"{f'{PRECISION} {_moved(row)}' if row['measure'] == PRECISION else said} {should_words(row)}"


def _moved(row: AdversarialRow) -> str:
    drop, of = row["drop"], f"{row['before']['value']:.2f}"
    value, low, high = drop["value"], drop["low"], drop["high"]
    assert value is not None, "a row with a value before has a drop"
    if value == low == high == 0:
        return f"keeps its {of}"
    if low is not None and high is not None and low <= 0 <= high:
        return f"keeps its {of} within chance (loses {with_interval(drop, 1, 2)})"
    return f"{'loses' if value > 0 else 'gains'} {with_interval(_size(drop), 1, 2)} of {of}"


def _size(drop: EstimateColumns) -> EstimateColumns:
    """Return a drop as it is, and a rise by its size."""
    value, low, high = drop["value"], drop["low"], drop["high"]
    if value is None or value > 0:
        return drop
    bounds = (None, None) if low is None or high is None else (-high, -low)
    return {"value": -value, "low": bounds[0], "high": bounds[1], "n": drop["n"]}
