"""
Judges of a task beside each other on the same labels: agreement, cost, differences, and people's own agreement.

What the figures are is told by the worth of the judges' kind, and what else is told of a judge by its family: SummHay's
table 4 has biases by family of summarizers, their average, and words a bullet against score and against bias; Wan et
al. have the ways to merge and the orders of `merges`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from longform.judges.card_columns import Adversarial, CostColumns, LabelSet, SampleBias
from longform.judges.people_agreement import ONE_ANNOTATOR, Findings, people_agreement
from longform.judges.worth import LabelledItem, Parts, Places, Settings, Worth, pairs_of
from longform.metrics import agreement
from longform.metrics.agreement import JudgedPair
from longform.metrics.contrasts import contrasts
from longform.metrics.statistics import Array, Estimate, bootstrap, pearson, pooled_mean
from longform.rows import SummaryRow
from longform.text.citations import words_per_bullet

NOT_EACH = "the documents were not judged each apart (mode document)"


class HeldJudge(NamedTuple):
    """
    A judge with its answers beside people's labels.

    Attributes:
        items: All labels, with its answers; the same labels in the same order for all judges.
        fitted: The sources that it was fitted on.
        card: The line of its card; None: it has none.
        more: What its family tells of it besides.
        adversarial: The card's section on perturbed summaries; None: it has none.
    """

    name: str
    items: Sequence[LabelledItem]
    fitted: frozenset[str]
    cost: CostColumns
    card: str | None
    more: Findings
    adversarial: Adversarial | None = None

    def of(self, sets: Sequence[Places]) -> list[list[LabelledItem]]:
        return [[self.items[place] for place in of_set] for of_set in sets]

    def is_fitted_on(self, sets: Sequence[Places]) -> bool:
        return any(one.source in self.fitted for of_set in self.of(sets) for one in of_set)


def meta_evaluation(
    worth: Worth,
    judges: Sequence[HeldJudge],
    labels: LabelSet,
    *,
    task: str,
    settings: Settings,
    unanswered: str | None = None,
) -> Findings:
    """
    Hold several judges of a task beside each other, one or more, of the same labels.

    A judge's figures of a part of the labels leave out `n_unjudged` of `n_labels`; it is `in_sample` if the judge was
    fitted on some of them.

    Args:
        worth: The figures of their kind.
        judges: Those that were held against the labels.
        labels: The name of the labels.
        task: The judges' task.
        settings: Of the intervals.
        unanswered: Why judges have no answers to labels; None: they have.
    """
    items = judges[0].items
    parts = worth.parts(items)
    people = [one.people for one in items if one.people is not None]
    answers = {judge.name: [one.judge for one in judge.items if one.judge is not None] for judge in judges}
    among = people_agreement(people, {} if unanswered else answers, items[0].counts, **settings)
    return {
        "task": task,
        "labels": labels,
        "n_labels": len(people),
        "parts": list(parts),
        "judges": [_judge(worth, judge, parts, settings) for judge in judges],
        "differences": [] if unanswered else list(_differences(worth, judges, parts, settings)),
        "differences_reason": unanswered,
        "people": among,
        "people_reason": None if among else ONE_ANNOTATOR,
    }


def _judge(worth: Worth, judge: HeldJudge, parts: Parts, settings: Settings) -> Findings:
    return {
        "judge": judge.name,
        "card": judge.card,
        "adversarial": judge.adversarial,
        "cost": judge.cost,
        "parts": {part: _part(worth, judge, sets, settings) for part, sets in parts.items()},
        **judge.more,
    }


def _part(worth: Worth, judge: HeldJudge, sets: Sequence[Places], settings: Settings) -> Findings:
    items = judge.of(sets)
    n_labels = sum(one.people is not None for of_set in items for one in of_set)
    return {
        **worth.figures(items, settings),
        "n_labels": n_labels,
        "n_unjudged": n_labels - sum(len(pairs_of(of_set)) for of_set in items),
        "in_sample": judge.is_fitted_on(sets),
    }


def _differences(worth: Worth, judges: Sequence[HeldJudge], parts: Parts, settings: Settings) -> Iterator[Findings]:
    """Yield the differences of each two judges in each part, on the labels that both judged."""
    items = judges[0].items
    for family in worth.families(parts):
        clusters = list(dict.fromkeys(items[one].cluster for part in family for of in parts[part] for one in of))
        places = [(first, second, part) for first, second in combinations(judges, 2) for part in family]
        found = contrasts(
            [worth.compared(first.items, second.items, parts[part], clusters) for first, second, part in places],
            **settings,
        )
        for (first, second, part), difference in zip(places, found, strict=True):
            fitted = [judge.name for judge in (first, second) if judge.is_fitted_on(parts[part])]
            names = {"first": first.name, "second": second.name, worth.part: part}
            yield {**names, "difference": difference, "in_sample": fitted}


# ---------------------------------------------------------------- biases of the means of summaries


def sample_bias(pairs: Sequence[JudgedPair], summaries: Mapping[str, SummaryRow], settings: Settings) -> SampleBias:
    """Return how far a judge's means of summaries are above people's, of 1, and what goes with their lengths."""
    ids, scores, biases = agreement.sample_biases(pairs)
    families = np.array([summaries[one]["summarizer"] for one in ids])
    lengths = np.array([words_per_bullet((summaries[one]["text"] or "").split("\n")) or 0.0 for one in ids])

    def mean_of(name: str) -> Estimate:
        own = families == name
        clusters = [one for one, is_own in zip(ids, own, strict=True) if is_own]
        return pooled_mean(biases[own], np.ones(len(clusters)), clusters, **settings)

    return {
        "by_summarizer": [{"summarizer": name, **mean_of(name).as_json()} for name in sorted(set(families.tolist()))],
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
