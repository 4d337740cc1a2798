"""
Judges of a task beside each other on the same labels: agreement, cost, differences, and people's own agreement.

People's agreement is the ceiling that a judge can be held against. SummHay, section 4.2: annotators of a common part of
the study reach a coverage correlation of 0.77 and the same link in 95 % of cases. Its figures are means over pairs of
annotators, or over a judge with each annotator, on items that two or more people labelled, so that both means are of
the same items. Intervals resample summaries.

What the other figures are is told by the worth of the judges' kind.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from longform.judges.card_columns import Adversarial, CostColumns, LabelSet
from longform.judges.worth import LabelledItem, Parts, Places, Settings, Worth, pairs_of, sums_of
from longform.keys import in_groups
from longform.metrics.agreement import JudgedPair, Label, answers_of_people, between_annotators, scores_of
from longform.metrics.contrasts import Compared, Contrast, contrasts
from longform.metrics.statistics import (
    Array,
    Estimate,
    EstimateColumns,
    bootstrap,
    kappa_of_sums,
    pearson_of_sums,
    ratio,
)

Findings = dict[str, Any]
"""Findings as JSON values."""

ONE_ANNOTATOR = "no item has labels of two annotators"
NOT_EACH = "the documents were not judged each apart (mode document)"


class HeldJudge(NamedTuple):
    """A judge with its answers beside people's labels."""

    name: str
    items: Sequence[LabelledItem]  # all labels, with its answers; the same labels in the same order for all judges
    fitted: frozenset[str]  # the sources that it was fitted on
    cost: CostColumns
    card: str | None  # one line; None: it has none
    more: Findings  # findings of its family alone
    adversarial: Adversarial | None = None  # the card's section on perturbed summaries; None: it has none

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
    Hold judges of a task, one or more, beside each other on the same labels.

    A judge's figures of a part of the labels leave out `n_unjudged` of `n_labels`; it is `in_sample` if the judge was
    fitted on some of them. *unanswered* says why judges have no answers to labels; None: they have.
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
        "judges": [
            {
                "judge": judge.name,
                "card": judge.card,
                "adversarial": judge.adversarial,
                "cost": judge.cost,
                "parts": {part: _part(worth, judge, sets, settings) for part, sets in parts.items()},
                **judge.more,
            }
            for judge in judges
        ],
        "differences": [] if unanswered else list(_differences(worth, judges, parts, settings)),
        "differences_reason": unanswered,
        "people": among,
        "people_reason": None if among else ONE_ANNOTATOR,
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


# ---------------------------------------------------------------- people among themselves


def people_agreement(
    people: Sequence[Label],
    judges: Mapping[str, Sequence[Label]],
    counts: Mapping[str, float],
    *,
    seed: int,
    resamples: int,
) -> Findings | None:
    """
    Hold people against each other and judges against people; None if no item has labels of two annotators.

    *judges* have answers to the same items as *people*. *counts* maps an answer to the number that it counts.
    """
    by_item = in_groups((label.item, label) for label in people)
    common = {item: labels for item, labels in by_item.items() if len({one.annotator for one in labels}) > 1}
    if not common:
        return None
    labels = [label for of_item in common.values() for label in of_item]
    settings = {"seed": seed, "resamples": resamples}
    measured = _Measured(counts, list(dict.fromkeys(label.summary_id for label in labels)), settings)
    among = measured.by_annotators(two for of_item in common.values() for two in combinations(_by_name(of_item), 2))
    against = {name: measured.by_annotators(_with_judge(labels, answers)) for name, answers in judges.items()}
    less = measured.less(list(against.values()), among)
    found = [
        {"judge": name, **measured.means(parts), "less_people": less[place]}
        for place, (name, parts) in enumerate(against.items())
    ]
    return {
        "annotators": sorted({label.annotator for label in labels}),
        "n_items": len(common),
        "n_summaries": len(measured.summaries),
        "pairs": between_annotators(labels, counts, seed=seed, resamples=resamples),
        "people": measured.means(among),
        "judges": found,
    }


def _by_name(labels: Iterable[Label]) -> list[Label]:
    once = {label.annotator: label for label in labels}
    return [once[name] for name in sorted(once)]


def _with_judge(labels: Sequence[Label], answers: Iterable[Label]) -> Iterable[tuple[Label, Label]]:
    of_item = {answer.item: answer for answer in answers}
    return ((label, of_item[label.item]) for label in labels if label.item in of_item)


Pairs = Sequence[JudgedPair]


class _Measured(NamedTuple):
    """The measures of lists of pairs, a list for each two who are compared."""

    counts: Mapping[str, float]
    summaries: list[str]
    settings: Mapping[str, int]

    def by_annotators(self, pairs: Iterable[tuple[Label, Label]]) -> list[list[JudgedPair]]:
        made = (JudgedPair(first.summary_id, first, second, self.counts) for first, second in pairs)
        return list(in_groups(((one.human.annotator, one.judge.annotator), one) for one in made).values())

    def means(self, parts: Sequence[Pairs]) -> Findings:
        linked = [[pair for pair in part if None not in (pair.human.link, pair.judge.link)] for part in parts]
        return {
            "n_pairs": len(parts),
            "pearson": self._mean(parts, _products, pearson_of_sums),
            "kappa": self._mean(parts, self._table, kappa_of_sums),
            "same": self._mean(parts, lambda of: _shares([one.human.answer == one.judge.answer for one in of]), ratio),
            "links": self._mean(linked, lambda of: _shares([one.human.link == one.judge.link for one in of]), ratio),
        }

    def less(self, against: Sequence[Sequence[Pairs]], among: Sequence[Pairs]) -> list[Contrast]:
        """Return the mean correlation of each judge with people less that of people with each other."""
        theirs, mean_of_theirs = self._sums(among, _products), _mean_of_blocks(pearson_of_sums, len(among))

        def compared(parts: Sequence[Pairs]) -> Compared:
            mean, own = _mean_of_blocks(pearson_of_sums, len(parts)), self._sums(parts, _products)

            def difference(sums: Array) -> Array:
                return mean(sums[:, : own.shape[1]]) - mean_of_theirs(sums[:, own.shape[1] :])

            return Compared(np.hstack([own, theirs]), difference, sum(map(len, parts)))

        found = iter(contrasts([compared(parts) for parts in against if parts], **self.settings))
        nothing: Contrast = {"value": None, "low": None, "high": None, "p": None, "n": 0, "n_clusters": 0}
        return [next(found) if parts else nothing for parts in against]

    def _mean(
        self,
        parts: Sequence[Pairs],
        columns: Callable[[Pairs], Array],
        statistic: Callable[[Array], Array],
    ) -> EstimateColumns:
        n = sum(map(len, parts))
        if not n:
            return Estimate(None, None, None, 0).as_json()
        mean = _mean_of_blocks(statistic, len(parts))
        sums = self._sums(parts, columns)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of means of nothing but NaN
            return bootstrap(sums, range(len(sums)), mean, n=n, **self.settings).as_json()

    def _sums(self, parts: Sequence[Pairs], columns: Callable[[Pairs], Array]) -> Array:
        """Return the column sums of each summary, the columns of each part beside those of the part before."""
        return np.hstack([sums_of(part, columns(part), self.summaries) for part in parts])

    def _table(self, pairs: Pairs) -> Array:
        place = {answer: index for index, answer in enumerate(self.counts)}
        k = len(place)
        rows = np.zeros((len(pairs), k * k))
        rows[np.arange(len(pairs)), [place[one.human.answer] * k + place[one.judge.answer] for one in pairs]] = 1
        return rows


def _products(pairs: Pairs) -> Array:
    x, y = answers_of_people(pairs), scores_of(pairs)
    x, y = x - x.mean(), y - y.mean()
    return np.column_stack([np.ones_like(x), x, y, x * x, y * y, x * y])


def _shares(equal: Sequence[bool]) -> Array:
    return np.column_stack([np.array(equal, dtype=np.float64), np.ones(len(equal))])


def _mean_of_blocks(statistic: Callable[[Array], Array], n_blocks: int) -> Callable[[Array], Array]:
    """Return the mean over blocks of columns of a statistic of each; an undefined block is left out."""

    def of_sums(sums: Array) -> Array:
        values = np.stack([statistic(block) for block in np.hsplit(sums, n_blocks)])
        found: Array = np.nanmean(values, axis=0)
        return found

    return of_sums
