"""
The figures of cards, and their words: what verdicts on targets and verdicts on sentences are worth against people.

Of targets: how well the judge's marks agree with people's, for each kind of text. The figures are of text that the
judge was not fitted on, if there is such text. What a fitted judge reaches on the text that it was fitted on stands
behind them, with what it reaches there when a part is left out.

Of sentences: how well its numbers tell supported from unsupported, in each data set that people labelled, by one way of
merging, the recommended one: the maximum over documents, the mean over sentences where labels are of whole summaries.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import compress
from typing import Any

import numpy as np

from longform.judges.card_columns import Bias, DataSetRow, Figures, LabelSet, Reach, TextRow
from longform.judges.worth import LabelledItem, Settings, pairs_of
from longform.keys import content_key
from longform.metrics import agreement
from longform.metrics.agreement import JudgedPair
from longform.metrics.statistics import Array, Estimate, EstimateColumns, bootstrap, pearson, pooled_mean
from longform.rows import LabelRow, SummaryRow
from longform.text.citations import words_per_bullet

TOPIC_KEPT_OUT = "topic kept out"
"""Names figures on a topic of which no label was fitted on."""

SCALE_NAMES: Mapping[str, str] = {"people": "people", "gpt-4o": "GPT-4o", "people-vectors": "people, by vectors"}
"""Offline judge of coverage -> its name in tables of reach."""


def target_figures(
    items: Sequence[LabelledItem],
    summaries: Mapping[str, SummaryRow],
    labels: LabelSet,
    *,
    fitted: frozenset[str],
    settings: Settings,
) -> Figures:
    """
    Return the figures of a card of correlation, with biases and a row for each kind of text.

    *items* are all labels, with the judge's answers; *summaries* are rows by summary id; *fitted* names haystacks whose
    summaries the judge was fitted on.
    """
    unseen = [one for one in items if one.source not in fitted]
    pairs = pairs_of(unseen or items)
    whole = _text_row(unseen or items, not unseen, [], settings)
    return {
        "fitted_haystacks": sorted(fitted),
        "in_sample": not unseen,
        "n": len(pairs),
        "pearson": whole["pearson"],
        "pearson_of_answers": whole["pearson_of_answers"],
        "kappa": whole["kappa"],
        "linking_accuracy": whole["linking_accuracy"],
        "linking_recall": whole["linking_recall"],
        "bias": {
            "mean": whole["bias_of_answers"],
            **sample_bias(pairs, summaries, settings),
        },
        "texts": _texts(items, fitted, settings),
        "n_unjudged": len(items) - len(pairs_of(items)),
        "unjudged": dict(Counter(one.failure or "" for one in items if one.pair is None)),
        "labels": labels,
    }


def target_labels(rows: Sequence[LabelRow], summaries: Mapping[str, SummaryRow]) -> LabelSet:
    """Name a set of labels of targets by its hash, annotators and size."""
    keys = [
        [row["summary_id"], row["target_id"], row["annotator"], row["answer"], str(row["linked_unit"])] for row in rows
    ]
    labelled = {row["summary_id"] for row in rows}
    return {
        "hash": content_key(sorted(keys)),
        "annotators": sorted({row["annotator"] for row in rows}),
        "n_summaries": len(labelled),
        "n_topics": len({summaries[one]["haystack_id"] for one in labelled}),
    }


def _texts(items: Sequence[LabelledItem], fitted: frozenset[str], settings: Settings) -> list[TextRow]:
    """A row for each kind of text, first those that the judge was not fitted on, each part pooled where it has two."""
    rows: list[TextRow] = []
    for is_fitted in (False, True):
        part = [one for one in items if (one.source in fitted) == is_fitted]
        kinds = sorted({one.part for one in part}, key=str)
        if len(kinds) > 1:
            rows.append(_text_row(part, is_fitted, list(kinds), settings))
        rows += [_text_row([one for one in part if one.part == kind], is_fitted, [kind], settings) for kind in kinds]
    return rows


def _text_row(part: Sequence[LabelledItem], fitted: bool, kinds: list[str | None], settings: Settings) -> TextRow:
    pairs = pairs_of(part)
    return {
        "texts": kinds,
        "fitted": fitted,
        "n": len(pairs),
        "n_summaries": len({one.summary_id for one in part}),
        "n_topics": len({one.source for one in part}),
        "pearson": agreement.score_agreement(pairs, **settings).as_json(),
        "pearson_of_answers": agreement.answer_agreement(pairs, **settings).as_json(),
        "kappa": agreement.answer_kappa(pairs, **settings).as_json(),
        "linking_accuracy": agreement.linking_accuracy(pairs, **settings).as_json(),
        "linking_recall": agreement.linking_recall(pairs, **settings).as_json(),
        "bias_of_answers": agreement.mean_bias(pairs, **settings).as_json(),
    }


def sample_bias(pairs: Sequence[JudgedPair], summaries: Mapping[str, SummaryRow], settings: Settings) -> Bias:
    """Return how far a judge's means of summaries are above people's, of 1, and what goes with their lengths."""
    ids, scores, biases = agreement.sample_biases(pairs)
    families = np.array([summaries[one]["summarizer"] for one in ids])
    lengths = np.array([words_per_bullet((summaries[one]["text"] or "").split("\n")) or 0.0 for one in ids])
    own = {name: families == name for name in sorted(set(families.tolist()))}
    means = {
        name: pooled_mean(biases[of], np.ones(int(of.sum())), list(compress(ids, of)), **settings)
        for name, of in own.items()
    }
    return {
        "by_summarizer": [{"summarizer": name, **mean.as_json()} for name, mean in means.items()],
        "length_to_score": pearson(lengths, scores, ids, **settings).as_json(),
        "length_to_bias": pearson(lengths, biases, ids, **settings).as_json(),
    }


def average_bias(pairs: Sequence[JudgedPair], summaries: Mapping[str, SummaryRow], settings: Settings) -> Estimate:
    """Return the mean over families of their mean bias; a family that a resample lacks is left out of it."""
    ids, _, biases = agreement.sample_biases(pairs)
    families = [summaries[one]["summarizer"] for one in ids]
    names = sorted(set(families))
    belongs = np.array([[family == name for name in names] for family in families], dtype=np.float64)
    belongs = belongs.reshape(len(ids), len(names))  # (summaries, families), also of none

    def of_sums(sums: Array) -> Array:
        found: Array = np.nanmean(sums[:, : len(names)] / sums[:, len(names) :], axis=1)
        return found

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of means of nothing but NaN
        columns = np.hstack([belongs * biases[:, None], belongs])
        return bootstrap(columns, ids, of_sums, n=len(ids), **settings)


def support_figures(found: Mapping[str, Any], labels: LabelSet) -> Figures:
    """
    Return the figures of a card of balanced accuracy; no judge of support is fitted on articles with labels.

    Raises:
        ValueError: The documents were not judged each apart.
    """
    row, rule = shown_row(found), found["scoring"]
    if row is None:
        raise ValueError("expected cells of mode document, which a card is of, found none")
    data_sets: list[Any] = [{**counts, **row["data_sets"][counts["data_set"]]} for counts in found["data_sets"]]
    return {
        "documents": row["documents"],
        "sentences": row["sentences"],
        "fidelity": rule["fidelity"],
        "threshold": rule["threshold"],
        "seed": rule["seed"],
        "resamples": rule["resamples"],
        "data_sets": data_sets,
        "mean": row["mean"],
        "n": sum(one["balanced_accuracy"]["n"] for one in data_sets),
        "n_unjudged": sum(one["n_unjudged"] for one in data_sets),
        "labels": labels,
        "fitted_articles": [],
    }


def shown_row(found: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The recommended merging's row of the grid; None: it was not asked for."""
    rows = (row for row in found["grid"] if (row["documents"], row["sentences"]) == ("max", "mean"))
    return next(rows, None)


# ---------------------------------------------------------------- in words


def target_words(card: Figures, annotators: str) -> list[str]:
    """Return the parts of the card's line that other cards have not: text that the judge was not fitted on first."""
    unseen = [row for row in card["texts"] if not row["fitted"]]
    fitted = [row for row in card["texts"] if row["fitted"]]
    told = [_row_words(row, first=place == 0) for place, row in enumerate(unseen)]
    if not told and len(topics_kept_out(card)) <= 1:
        told = ["text that it was not fitted on: not measured"]
    topics = "a topic" if unseen and unseen[0]["n_topics"] == 1 else "topics"
    transfer = f"on {topics} kept out, " if card["fitted_haystacks"] and unseen else ""
    first, *others = [*told, *(_held_out(card, fitted) if card.get("held_out") else [])]
    return [f"against {annotators}, {transfer}{first}", *others]


def topics_kept_out(card: Figures) -> dict[str, list[Reach]]:
    """Return the figures of fits on another topic, by the labels that they were measured on."""
    rows = [row for row in card.get("held_out", []) if f", {TOPIC_KEPT_OUT}: " in row["measure"]]
    return {place: [row for row in rows if row["scored_on"] == place] for place in _places(rows)}


def _places(rows: Sequence[Reach]) -> list[str]:
    """Return the sets of labels that agreement was measured on; figures of systems have other places."""
    return list(dict.fromkeys(row["scored_on"] for row in rows if row["measure"].endswith(": pearson")))


def _row_words(row: TextRow, *, first: bool) -> str:
    figures = [f"r {with_interval(row['pearson'], 1, 2)}"]
    if first:
        figures.append(f"kappa {with_interval(row['kappa'], 1, 2)}")
    if first and row["linking_recall"]["n"]:
        both, all_linked = (with_interval(one, 100, 1) for one in (row["linking_accuracy"], row["linking_recall"]))
        figures.append(f"right links {both} % where both link, {all_linked} % of those that people link")
    figures.append(f"bias {with_interval(row['bias_of_answers'], 1, 2)}")
    return f"{_text_words(row['texts'])} ({_counts(row)}): {', '.join(figures)}"


def _text_words(kinds: Sequence[str | None]) -> str:
    return " and ".join("text of unknown kind" if kind is None else kind for kind in kinds)


def _counts(row: TextRow) -> str:
    counts = (
        (row["n"], "label", "labels"),
        (row["n_summaries"], "summary", "summaries"),
        (row["n_topics"], "topic", "topics"),
    )
    return ", ".join(f"{n} {one if n == 1 else several}" for n, one, several in counts)


def _held_out(card: Figures, fitted: Sequence[TextRow]) -> list[str]:
    """
    Say what the judge reaches on text it was fitted on: by a fit on another topic, then with a part left out.

    A judge that was fitted on several topics has both for each of them.
    """
    topics = topics_kept_out(card)
    part = [row for row in card["held_out"] if f", {TOPIC_KEPT_OUT}: " not in row["measure"]]
    kinds = _text_words(list(dict.fromkeys(kind for row in fitted for kind in row["texts"])))
    several = len(_places(part)) > 1
    others = [
        f"fitted on another topic ({rows[0]['fitted_on']}), on {place if several else kinds}: {_held_out_words(rows)}"
        for place, rows in topics.items()
    ]
    homes = [
        _home_words(
            place if several else f"{kinds} that it was fitted on", [r for r in part if r["scored_on"] == place]
        )
        for place in _places(part)
    ]
    return [*others, *(["the judge that ships was fitted on all of these topics"] if several else []), *homes]


def _home_words(place: str, rows: Sequence[Reach]) -> str:
    figures = by_measure(rows)
    drops = [
        f"{word} {figures[f'drop by {name}, fully covered']['value']:.2f}"
        for word, name in (("negated", "negate"), ("another number", "number"), ("shuffled", "shuffle"))
    ]
    return (
        f"within {place} ({rows[0]['fitted_on']}): {_held_out_words(rows)}; "
        f"there a covered insight loses {', '.join(drops)}"
    )


def _held_out_words(rows: Sequence[Reach]) -> str:
    figures = by_measure(rows)
    measures = (("r", "pearson"), ("kappa", "kappa"), ("bias", "bias of answers"))
    return ", ".join(f"{name} {with_interval(figures[key], 1, 2)}" for name, key in measures)


def by_measure(rows: Sequence[Reach]) -> dict[str, Reach]:
    """Return the rows of one judge and one set of labels by their measure."""
    return {row["measure"].partition(": ")[2]: row for row in rows}


# ---------------------------------------------------------------- support

_CHANCE = 0.5
"""AUROC of a judge that tosses a coin."""


def support_words(card: Figures, annotators: str) -> list[str]:
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
    low = row["auroc"]["low"]  # of an interval that may hold the value of a coin; None: unknown
    at_chance = low is not None and low <= _CHANCE
    warning = ", no better than chance: do not use it for such texts" if at_chance else ""
    return f"{name}: balanced accuracy {balanced} %, AUROC {with_interval(row['auroc'], 1, 2)}{warning}"


def with_interval(estimate: EstimateColumns, factor: float, digits: int) -> str:
    """The value times *factor*, with its 95 % interval if there is one; `unknown` without a value."""
    value, low, high = estimate["value"], estimate["low"], estimate["high"]
    if value is None:
        return "unknown"
    if low is None or high is None:
        return f"{factor * value:.{digits}f}"
    return f"{factor * value:.{digits}f} [{factor * low:.{digits}f}, {factor * high:.{digits}f}]"
