"""The worth of a judge in one plain phrase, to stand beside the scores that it gave."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from longform.judges.card_columns import Card, SupportCard, TargetCard, TextRow
from longform.judges.cards import shipped_card
from longform.judges.printed_judges import TABLE_1
from longform.judges.target_cards import by_measure, topics_kept_out
from longform.metrics.statistics import EstimateColumns

Reach = Mapping[int, EstimateColumns]
"""Number of labels of a kind of text -> the correlation with people on them."""


def worth(card: Card) -> str:
    """
    Return a verb phrase that says what a judge is worth, for readers who know no coefficients; the card has these.

    A judge of targets is put beside the language model whose correlation with people is nearest to its own on the
    same labels. Figures are of text that the judge was not fitted on, if there is such text.
    """
    return _of_support(card) if "data_sets" in card else _of_targets(card)


def _of_support(card: SupportCard) -> str:
    accuracy, sets = card["mean"]["balanced_accuracy"], card["data_sets"]
    if accuracy is None:
        return "was measured against people on too few labels to say how often it is right"
    where = "" if len(sets) == 1 else f", the mean of {len(sets)} data sets"
    return f"is right on {100 * accuracy:.0f} of 100 labels by people, where guessing is right on 50{where}"


def _of_targets(card: TargetCard) -> str:
    own = _reach(card)
    if not own:
        return "was measured against people only on text that it was fitted on, where any judge looks better"
    peers = {title: reach for title, reach in _peers(card) if reach.keys() >= own.keys()}
    if not peers or _mean(own, own) is None:
        return _alone(own)
    title, peer = min(peers.items(), key=lambda one: abs((_mean(one[1], own) or 0.0) - (_mean(own, own) or 0.0)))
    n = sum(row["n_summaries"] for row in card["texts"] if len(row["texts"]) == 1 and row["n"] in own)
    return f"agrees with people {_beside(own, peer)} {title} does on the same {n} summaries"


def _reach(card: TargetCard) -> Reach:
    """Return the correlations on text that the judge was not fitted on, else by fits without the measured topic."""
    if unseen := [row for row in card["texts"] if not row["fitted"]]:
        return _by_labels(unseen)
    topics = topics_kept_out(card)
    found = [by_measure(rows)["pearson"] for rows in topics.values()] if len(topics) > 1 else []
    return {row["n"]: row for row in found}


def _by_labels(rows: Sequence[TextRow]) -> Reach:
    """Return the correlation on each kind of text; rows that pool several kinds say nothing more."""
    return {row["n"]: row["pearson"] for row in rows if len(row["texts"]) == 1}


def _peers(card: TargetCard) -> Iterator[tuple[str, Reach]]:
    """Yield the name and the correlations of each other language model that was held against the same labels."""
    for judge, printed in TABLE_1.items():
        peer = shipped_card(judge)
        if judge != card["judge"] and peer and "texts" in peer and peer["labels"]["hash"] == card["labels"]["hash"]:
            yield printed.title, _by_labels(peer["texts"])


def _mean(reach: Reach, labels: Reach) -> float | None:
    values = [value for n in labels if (value := reach[n]["value"]) is not None]
    return sum(values) / len(values) if len(values) == len(labels) else None


def _beside(own: Reach, peer: Reach) -> str:
    """Say how a judge stands beside another; of overlapping intervals neither is called better."""
    if all(_is_above(own[n], peer[n]) for n in own):
        return "better than"
    return "less than" if all(_is_above(peer[n], own[n]) for n in own) else "about as well as"


def _is_above(one: EstimateColumns, other: EstimateColumns) -> bool:
    return one["low"] is not None and other["high"] is not None and one["low"] > other["high"]


def _alone(own: Reach) -> str:
    known = [one["value"] for one in own.values() if one["value"] is not None]
    if not known:
        return "was measured against people on too few labels to say how far it agrees"
    values = " and ".join(f"{value:.2f}" for value in known)
    return f"agrees with people by a correlation of {values}, where 1 is full agreement"
