"""The worth of a judge in a few words, to stand beside every score that it gave."""

from __future__ import annotations

from collections.abc import Sequence

from longform.judges.card_columns import Card, HeldOutRow, SupportCard, TargetCard
from longform.judges.target_cards import by_measure, topics_kept_out
from longform.metrics.statistics import EstimateColumns


def brief(card: Card) -> str:
    """
    Return the agreement of a judge with people, and its bias, on text that it was not fitted on if there is such text.

    A card of support has balanced accuracy in its place, the mean over its data sets. Bias is in points of 0 to 100.
    """
    return _of_support(card) if "data_sets" in card else _of_targets(card)


def _of_support(card: SupportCard) -> str:
    accuracy, n = card["mean"]["balanced_accuracy"], len(card["data_sets"])
    where = f"{n} data {'set' if n == 1 else 'sets'}"
    if accuracy is None:
        return f"balanced accuracy with people on {where}: not known"
    return f"balanced accuracy with people {100 * accuracy:.0f} of 100 on {where}"


def _of_targets(card: TargetCard) -> str:
    unseen = [row for row in card["texts"] if not row["fitted"]]
    if not unseen and len(topics := topics_kept_out(card)) > 1:
        return (
            f"against people, by fits without the measured topic (what ships saw all): {_of_topics([*topics.values()])}"
        )
    row = next(iter(unseen or card["texts"]))
    kinds = " and ".join("text of unknown kind" if kind is None else kind for kind in row["texts"])
    if row["fitted"]:
        kinds = f"{kinds} that it was fitted on"
    elif card["fitted_haystacks"]:
        kinds = f"{kinds}, kept out of its fit"
    figures = f"r {_shown(row['pearson'])}, kappa {_shown(row['kappa'])}, bias {_points(row['bias_of_answers'])}"
    return f"against people on {kinds}: {figures}"


def _of_topics(topics: Sequence[Sequence[HeldOutRow]]) -> str:
    figures = [by_measure(rows) for rows in topics]
    r, kappa = (" and ".join(_shown(one[name]) for one in figures) for name in ("pearson", "kappa"))
    bias = " and ".join(_points(one["bias of answers"]) for one in figures)
    return f"r {r}, kappa {kappa}, bias {bias}"


def _shown(one: EstimateColumns) -> str:
    return "unknown" if one["value"] is None else f"{one['value']:.2f}"


def _points(one: EstimateColumns) -> str:
    return "unknown" if one["value"] is None else f"{100 * one['value']:+.0f} points"
