"""
Cards of support judges: how well their numbers tell supported from unsupported, in each data set that people labelled.

A card is of one way of merging, the recommended one: the maximum over documents, the mean over sentences where labels
are of whole summaries.
"""

from __future__ import annotations

from collections.abc import Sequence

from longform.judges.card_columns import DataSetRow, Graded, GridRow, SupportCard, SupportFigures
from longform.judges.meta_evaluation import LabelledSummary
from longform.keys import content_key
from longform.metrics.statistics import EstimateColumns

_CHANCE = 0.5
"""AUROC of a judge that tosses a coin."""


def support_card(
    found: Graded,
    summaries: Sequence[LabelledSummary],
    *,
    fitted_articles: Sequence[str],
    annotators: Sequence[str],
) -> SupportFigures:
    """
    Return the figures of a card, as JSON values.

    Args:
        found: What calibration found: `scoring`, `data_sets` (counts) and `grid`. A data set that the judge was fitted
            on is `held_out`: its figures are of models that have not seen the article.
        summaries: With people's labels.
        fitted_articles: The articles that the judge was fitted on, by the hash of their documents.
        annotators: Whose labels.

    Raises:
        ValueError: The documents were not judged each apart.
    """
    row = shown_row(found)
    if row is None:
        raise ValueError("expected cells of mode document, which a card is of, found none")
    data_sets: list[DataSetRow] = [{**counts, **row["data_sets"][counts["data_set"]]} for counts in found["data_sets"]]
    return {
        "documents": row["documents"],
        "sentences": row["sentences"],
        **found["scoring"],
        "data_sets": data_sets,
        "mean": row["mean"],
        "n": sum(one["balanced_accuracy"]["n"] for one in data_sets),
        "n_unjudged": sum(one["n_unjudged"] for one in data_sets),
        "labels": {
            "hash": content_key([_label_key(summary) for summary in summaries]),
            "annotators": list(annotators),
            "n_summaries": len(summaries),
            "n_articles": len({summary.article for summary in summaries}),
        },
        "fitted_articles": list(fitted_articles),
    }


def _label_key(summary: LabelledSummary) -> list[str | Sequence[int]]:
    places = [summary.places] if summary.places else []
    return [summary.summary_id, summary.article, summary.level, summary.labels, *places]


def shown_row(found: Graded) -> GridRow | None:
    """The recommended merging's row of the grid; None: it was not asked for."""
    rows = (row for row in found["grid"] if (row["documents"], row["sentences"]) == ("max", "mean"))
    return next(rows, None)


def support_words(card: SupportCard, annotators: str) -> list[str]:
    """Return the parts of the card's line that other cards have not."""
    labels = card["labels"]
    return [
        f"support against {annotators}: {'; '.join(_data_set(row) for row in card['data_sets'])}",
        f"{card['documents']} over documents, {card['sentences']} over sentences",
        f"supported above {card['threshold']:g}",
        f"{card['n']} labels of {labels['n_summaries']} summaries, {labels['n_articles']} articles",
    ]


def _data_set(row: DataSetRow) -> str:
    unit = "sentence" if row["level"] == "sentence" else "summary"
    name = f"{row['data_set']} by {unit}{', held out' if row['held_out'] else ''}"
    if row["reason"]:
        return f"{name}: unknown ({row['reason']})"
    balanced = with_interval(row["balanced_accuracy"], 100, 1)
    warning = ", no better than chance: do not use it for such texts" if _is_chance(row["auroc"]) else ""
    return f"{name}: balanced accuracy {balanced} %, AUROC {with_interval(row['auroc'], 1, 2)}{warning}"


def _is_chance(auroc: EstimateColumns) -> bool:
    """Return whether the interval holds the value of a coin; False: it does not, or is unknown."""
    return auroc["low"] is not None and auroc["low"] <= _CHANCE


def with_interval(estimate: EstimateColumns, factor: float, digits: int) -> str:
    """The value times *factor*, with its 95 % interval if there is one; `unknown` without a value."""
    value, low, high = estimate["value"], estimate["low"], estimate["high"]
    if value is None:
        return "unknown"
    if low is None or high is None:
        return f"{factor * value:.{digits}f}"
    return f"{factor * value:.{digits}f} [{factor * low:.{digits}f}, {factor * high:.{digits}f}]"
