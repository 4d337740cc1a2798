"""The worth of a judge in one plain phrase, to stand beside the scores that it gave."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from longform.judges.card_columns import Card, SupportCard, TargetCard
from longform.judges.cards import shipped_card
from longform.judges.printed_judges import TABLE_1
from longform.judges.target_cards import by_measure, topics_kept_out
from longform.metrics.statistics import EstimateColumns


def worth(card: Card) -> str:
    """
    Return a verb phrase that says what a judge is worth, for readers who know no coefficients; the card has these.

    A judge of targets is put beside the language model whose correlation with people is nearest to its own on the
    same labels. Figures are of text that the judge was not fitted on, if there is such text.
    """
    return _of_support(card) if "data_sets" in card else _of_targets(card)


def _of_support(card: SupportCard) -> str:
    accuracy, n = card["mean"]["balanced_accuracy"], len(card["data_sets"])
    if accuracy is None:
        return "was measured against people on too few labels to say how often it is right"
    told = f"is right on {100 * accuracy:.0f} of 100 labels by people, where guessing is right on 50"
    return told if n == 1 else f"{told}, the mean of {n} data sets"


def _of_targets(card: TargetCard) -> str:
    topics = [by_measure(rows)["pearson"] for rows in topics_kept_out(card).values()]
    own = _reach(card) or {row["n"]: row for row in topics if len(topics) > 1}
    if not own and all(row["fitted"] for row in card["texts"]):
        return "was measured against people only on text that it was fitted on, where any judge looks better"
    if not own:
        return "was measured against people on too few labels to say how far it agrees"
    peers = {title: reach for title, reach in _peers(card) if reach.keys() >= own.keys()}
    if not peers:
        values = " and ".join(f"{one['value']:.2f}" for one in own.values())
        return f"agrees with people by a correlation of {values}, where 1 is full agreement"
    title = min(peers, key=lambda name: abs(_sum(peers[name], own) - _sum(own, own)))
    n = sum(row["n_summaries"] for row in card["texts"] if len(row["texts"]) == 1 and row["n"] in own)
    return f"agrees with people {_beside(own, peers[title])} {title} does on the same {n} summaries"


def _reach(card: TargetCard) -> dict[int, EstimateColumns]:
    """Return the known correlation on each kind of text that the judge was not fitted on, by its number of labels."""
    rows = [row for row in card["texts"] if not row["fitted"] and len(row["texts"]) == 1]
    return {row["n"]: row["pearson"] for row in rows if row["pearson"]["value"] is not None}


def _peers(card: TargetCard) -> Iterator[tuple[str, Mapping[int, EstimateColumns]]]:
    """Yield the name and the figures of each other language model that was held against the same labels."""
    for judge, printed in TABLE_1.items():
        peer = shipped_card(judge)
        if judge != card["judge"] and peer and "texts" in peer and peer["labels"]["hash"] == card["labels"]["hash"]:
            yield printed.title, _reach(peer)


def _sum(reach: Mapping[int, EstimateColumns], labels: Iterable[int]) -> float:
    return sum(reach[n]["value"] or 0.0 for n in labels)


def _beside(own: Mapping[int, EstimateColumns], peer: Mapping[int, EstimateColumns]) -> str:
    """Say how a judge stands beside another; of overlapping intervals neither is called better."""
    if all((own[n]["low"] or -1.0) > (peer[n]["high"] or 1.0) for n in own):
        return "better than"
    return "less than" if all((peer[n]["low"] or -1.0) > (own[n]["high"] or 1.0) for n in own) else "about as well as"
