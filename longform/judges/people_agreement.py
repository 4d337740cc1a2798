"""
People among themselves, and judges against people, by one measure: the ceiling that a judge can be held against.

SummHay, section 4.2: annotators of a common part of the study reach a coverage correlation of 0.77 and the same link in
95 % of cases. Every figure here is a mean over pairs of annotators, or over a judge with each annotator, on items that
both have answered. A judge is held against the items that two or more people labelled, so that both means are of the
same items. Intervals resample summaries.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from longform.keys import in_groups
from longform.metrics.agreement import Label, between_annotators
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

Pair = tuple[Label, Label]


Findings = dict[str, Any]
"""Findings as JSON values."""

ONE_ANNOTATOR = "no item has labels of two annotators"


def people_agreement(
    people: Sequence[Label],
    judges: Mapping[str, Sequence[Label]],
    counts: Mapping[str, float],
    *,
    seed: int,
    resamples: int,
) -> Findings | None:
    """
    Hold people against each other and judges against people.

    Args:
        people: Labels of all annotators.
        judges: Judge -> its answers to the same items.
        counts: What each answer counts.
        seed: Of the intervals.
        resamples: Of each interval.

    Returns:
        None if no item has labels of two annotators.
    """
    by_item = in_groups((label.item, label) for label in people)
    common = {item: labels for item, labels in by_item.items() if len({one.annotator for one in labels}) > 1}
    if not common:
        return None
    labels = [label for of_item in common.values() for label in of_item]
    settings = {"seed": seed, "resamples": resamples}
    measured = _Measured(counts, list(dict.fromkeys(label.summary_id for label in labels)), settings)
    among = _by_annotators(pair for of_item in common.values() for pair in combinations(_by_name(of_item), 2))
    against = {name: _by_annotators(_with_judge(labels, answers)) for name, answers in judges.items()}
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


def _with_judge(labels: Sequence[Label], answers: Iterable[Label]) -> Iterable[Pair]:
    of_item = {answer.item: answer for answer in answers}
    return ((label, of_item[label.item]) for label in labels if label.item in of_item)


def _by_annotators(pairs: Iterable[Pair]) -> list[list[Pair]]:
    return list(in_groups(((first.annotator, second.annotator), (first, second)) for first, second in pairs).values())


class _Measured(NamedTuple):
    """The measures of lists of pairs, a list for each two who are compared."""

    counts: Mapping[str, float]
    summaries: list[str]
    settings: Mapping[str, int]

    def means(self, parts: Sequence[Sequence[Pair]]) -> Findings:
        linked = [[pair for pair in part if None not in (pair[0].link, pair[1].link)] for part in parts]
        return {
            "n_pairs": len(parts),
            "pearson": self._mean(parts, self._moments, pearson_of_sums),
            "kappa": self._mean(parts, self._table, kappa_of_sums),
            "same": self._mean(parts, _same_answers, ratio),
            "links": self._mean(linked, _same_links, ratio),
        }

    def less(self, against: Sequence[Sequence[Sequence[Pair]]], among: Sequence[Sequence[Pair]]) -> list[Contrast]:
        """Return the mean correlation of each judge with people less that of people with each other."""
        theirs = self._sums(among, self._moments)
        family = [
            Compared(
                np.hstack([self._sums(parts, self._moments), theirs]),
                _difference_of_means(len(parts)),
                sum(map(len, parts)),
            )
            for parts in against
            if parts
        ]
        found = iter(contrasts(family, **self.settings))
        nothing: Contrast = {"value": None, "low": None, "high": None, "p": None, "n": 0, "n_clusters": 0}
        return [next(found) if parts else nothing for parts in against]

    def _mean(
        self,
        parts: Sequence[Sequence[Pair]],
        columns: Callable[[Sequence[Pair]], Array],
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

    def _sums(self, parts: Sequence[Sequence[Pair]], columns: Callable[[Sequence[Pair]], Array]) -> Array:
        """Return the column sums of each summary, the columns of each part beside those of the part before."""
        place = {summary: index for index, summary in enumerate(self.summaries)}
        blocks = []
        for part in parts:
            rows = columns(part)
            block = np.zeros((len(place), rows.shape[1]))
            np.add.at(block, [place[first.summary_id] for first, _ in part], rows)
            blocks.append(block)
        return np.hstack(blocks)

    def _moments(self, pairs: Sequence[Pair]) -> Array:
        x, y = (np.array([self._number(pair[side]) for pair in pairs]) for side in (0, 1))
        x, y = x - x.mean(), y - y.mean()
        return np.column_stack([np.ones_like(x), x, y, x * x, y * y, x * y])

    def _number(self, label: Label) -> float:
        return self.counts[label.answer] if label.number is None else label.number

    def _table(self, pairs: Sequence[Pair]) -> Array:
        place = {answer: index for index, answer in enumerate(self.counts)}
        k = len(place)
        rows = np.zeros((len(pairs), k * k))
        rows[np.arange(len(pairs)), [place[one.answer] * k + place[two.answer] for one, two in pairs]] = 1
        return rows


def _same_answers(pairs: Sequence[Pair]) -> Array:
    return np.array([[float(one.answer == two.answer), 1.0] for one, two in pairs]).reshape(-1, 2)


def _same_links(pairs: Sequence[Pair]) -> Array:
    return np.array([[float(one.link == two.link), 1.0] for one, two in pairs]).reshape(-1, 2)


def _mean_of_blocks(statistic: Callable[[Array], Array], n_blocks: int) -> Callable[[Array], Array]:
    """Return the mean over blocks of columns of a statistic of each; an undefined block is left out."""

    def of_sums(sums: Array) -> Array:
        values = np.stack([statistic(block) for block in np.hsplit(sums, n_blocks)])
        found: Array = np.nanmean(values, axis=0)
        return found

    return of_sums


def _difference_of_means(n_first: int) -> Callable[[Array], Array]:
    def of_sums(sums: Array) -> Array:
        width = 6 * n_first
        first = _mean_of_blocks(pearson_of_sums, n_first)(sums[:, :width])
        second = _mean_of_blocks(pearson_of_sums, sums.shape[1] // 6 - n_first)(sums[:, width:])
        found: Array = first - second
        return found

    return of_sums
