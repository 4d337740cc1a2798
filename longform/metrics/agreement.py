"""
Agreement of a judge with people, of people among themselves, and of a judge with itself.

SummHay, section 4.2, table 1 (insight-level Pearson, linking accuracy) and appendix A.3, table 4 (bias by summarizer
and by length), with chance-corrected agreement beside them. Coverage counts 1, 0.5, 0. Intervals resample summaries.

A judge is asked the same question several times. Its repeats are interchangeable, so kappa is Fleiss' (Measuring
nominal scale agreement among many raters, Psychological Bulletin 76, 1971), with the expected agreement of the answers
that all repeats give. The other figure, r, is the intraclass correlation by double entry (Fisher, Statistical Methods
for Research Workers, 1925, section 38). Intervals resample clusters, which are queries or summaries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple, TypedDict

import numpy as np

from longform.keys import in_groups
from longform.metrics.coverage import ANSWERS
from longform.metrics.statistics import (
    Array,
    Estimate,
    EstimateColumns,
    bootstrap,
    kappa,
    pearson,
    pearson_of_sums,
    pooled_mean,
    ratio,
)
from longform.metrics.verdict_means import labels_in

WEIGHTS: Mapping[str, float] = {"full": 1.0, "partial": 0.5, "none": 0.0}


class Label(NamedTuple):
    """The answer of an annotator, who may be a judge."""

    annotator: str
    summary_id: str
    item: Hashable  # the thing labelled: two annotators' labels of one item are a pair
    answer: str
    link: int | None = None  # the bullet that the answer names, from 0
    number: float | None = None  # the annotator's own, in [0, 1], if it gives one beside its answer


class JudgedPair(NamedTuple):
    """An item that both people and a judge, or two people, gave an answer to."""

    cluster: Hashable  # the thing that is resampled
    human: Label
    judge: Label
    counts: Mapping[str, float] = WEIGHTS  # answer -> the number that it counts


def score_agreement(pairs: Sequence[JudgedPair], *, seed: int, resamples: int) -> Estimate:
    """Insight-level Pearson correlation of the judge's score with people's; its own number where it gives one."""
    return pearson(scores_of(pairs), answers_of_people(pairs), _clusters(pairs), seed=seed, resamples=resamples)


def answer_agreement(pairs: Sequence[JudgedPair], *, seed: int, resamples: int) -> Estimate:
    """The same of the answers alone."""
    return pearson(answers_of(pairs), answers_of_people(pairs), _clusters(pairs), seed=seed, resamples=resamples)


def answer_kappa(pairs: Sequence[JudgedPair], *, seed: int, resamples: int) -> Estimate:
    """Cohen's kappa of the answers, unweighted."""
    judge, human = [p.judge.answer for p in pairs], [p.human.answer for p in pairs]
    classes = tuple(pairs[0].counts) if pairs else ANSWERS
    return kappa(judge, human, classes, _clusters(pairs), seed=seed, resamples=resamples)


def label_kappa(pairs: Sequence[JudgedPair], label: str, *, seed: int, resamples: int) -> Estimate:
    """Cohen's kappa of having one label, of answers that have several."""
    judge = [str(label in labels_in(pair.judge.answer)) for pair in pairs]
    human = [str(label in labels_in(pair.human.answer)) for pair in pairs]
    return kappa(judge, human, (str(True), str(False)), _clusters(pairs), seed=seed, resamples=resamples)


def linking_accuracy(pairs: Sequence[JudgedPair], *, seed: int, resamples: int) -> Estimate:
    """Share of right links where both linked a bullet, whatever they answered (the release's rule)."""
    return _link_share([p for p in pairs if p.human.link is not None and p.judge.link is not None], seed, resamples)


def linking_recall(pairs: Sequence[JudgedPair], *, seed: int, resamples: int) -> Estimate:
    """Share of right links over all pairs that people linked: a judge that links less does not look better."""
    return _link_share([p for p in pairs if p.human.link is not None], seed, resamples)


def mean_bias(pairs: Sequence[JudgedPair], *, seed: int, resamples: int) -> Estimate:
    """Mean of judge minus people over pairs, as a share: above 0 the judge is generous."""
    deltas = answers_of(pairs) - answers_of_people(pairs)
    return pooled_mean(deltas, np.ones(len(pairs)), _clusters(pairs), seed=seed, resamples=resamples)


def sample_biases(pairs: Iterable[JudgedPair]) -> tuple[list[str], Array, Array]:
    """Return summaries, their mean scores by the judge, and how far those are above people's (SummHay, table 4)."""
    groups = in_groups((pair.human.summary_id, pair) for pair in pairs)
    scores = [answers_of(group).mean() for group in groups.values()]
    biases = [(answers_of(group) - answers_of_people(group)).mean() for group in groups.values()]
    return list(groups), np.array(scores), np.array(biases)


def _link_share(pairs: Sequence[JudgedPair], seed: int, resamples: int) -> Estimate:
    right = np.array([float(p.human.link == p.judge.link) for p in pairs])
    return pooled_mean(right, np.ones(len(pairs)), _clusters(pairs), seed=seed, resamples=resamples)


def answers_of_people(pairs: Sequence[JudgedPair]) -> Array:
    """Return what people's answers count."""
    return np.array([p.counts[p.human.answer] for p in pairs])


def answers_of(pairs: Sequence[JudgedPair]) -> Array:
    """Return what the judge's answers count."""
    return np.array([p.counts[p.judge.answer] for p in pairs])


def scores_of(pairs: Sequence[JudgedPair]) -> Array:
    """Return the judge's numbers, or what its answers count if it gives none."""
    return np.array([p.counts[p.judge.answer] if p.judge.number is None else p.judge.number for p in pairs])


def _clusters(pairs: Sequence[JudgedPair]) -> list[Hashable]:
    return [p.cluster for p in pairs]


# ---------------------------------------------------------------- people among themselves


class Between(TypedDict):
    """The agreement of two annotators on what both have labelled; intervals resample summaries."""

    annotators: list[str]
    same: EstimateColumns  # share of equal answers
    kappa: EstimateColumns  # Cohen's: chance agreement as often as each annotator gives each answer
    # Randolph's free-marginal kappa (2005), (same - 1 / k) / (1 - 1 / k) of k answers: chance agreement as if all were
    # given equally often
    free_kappa: EstimateColumns
    pearson: EstimateColumns  # correlation of the numbers that answers count
    links: EstimateColumns  # share of equal links over the pairs that both linked
    by_label: dict[str, EstimateColumns]  # label -> Cohen's kappa of having it, for answers that have several labels


def between_annotators(
    labels: Iterable[Label],
    counts: Mapping[str, float],
    *,
    seed: int,
    resamples: int,
    named: Sequence[str] = (),
) -> list[Between]:
    """
    Compare each two annotators who have labelled the same items.

    *counts* maps an answer to the number that it counts. *named* are the labels of which an answer may have several.
    """
    by_annotator: dict[str, dict[Hashable, Label]] = {}
    for label in labels:
        by_annotator.setdefault(label.annotator, {})[label.item] = label
    found = []
    for first, second in combinations(sorted(by_annotator), 2):
        other = by_annotator[second]
        both = [(one, other[item]) for item, one in by_annotator[first].items() if item in other]
        if both:
            pairs = [JudgedPair(one.summary_id, one, two, counts) for one, two in both]
            found.append(_between([first, second], pairs, named, {"seed": seed, "resamples": resamples}))
    return found


def _between(
    annotators: list[str], pairs: Sequence[JudgedPair], named: Sequence[str], settings: Mapping[str, int]
) -> Between:
    same = np.array([float(pair.human.answer == pair.judge.answer) for pair in pairs])
    chance = 1 / len(pairs[0].counts)
    each, clusters = np.ones(len(pairs)), _clusters(pairs)
    return {
        "annotators": annotators,
        "same": pooled_mean(same, each, clusters, **settings).as_json(),
        "kappa": answer_kappa(pairs, **settings).as_json(),
        "free_kappa": pooled_mean((same - chance) / (1 - chance), each, clusters, **settings).as_json(),
        "pearson": answer_agreement(pairs, **settings).as_json(),
        "links": linking_accuracy(pairs, **settings).as_json(),
        "by_label": {name: label_kappa(pairs, name, **settings).as_json() for name in named},
    }


# ---------------------------------------------------------------- a judge with itself


class RepeatedPair(NamedTuple):
    """The answers of a judge to one question."""

    cluster: Hashable  # the unit of resampling that the question belongs to
    answers: Sequence[str | None]  # one for each repeat; None: unjudged
    numbers: Sequence[float | None]  # one in [0, 1] for each repeat; None: unjudged


class Retest(TypedDict):
    """The agreement of a judge with itself."""

    n_repeats: int
    n_pairs: int  # questions with two or more answers
    n_without: int  # questions with fewer
    same: EstimateColumns  # share of two repeats that give the same answer
    kappa: EstimateColumns  # null: all answers are the same
    r: EstimateColumns  # of the numbers; null: they do not vary
    spread: float | None  # standard deviation of one answer's number about the mean of its question


def retest(pairs: Sequence[RepeatedPair], *, seed: int, resamples: int) -> Retest:
    """Return the agreement between the repeats of *pairs*; questions with fewer than two answers count in no figure."""
    known = [pair for pair in pairs if sum(answer is not None for answer in pair.answers) > 1]
    clusters = [pair.cluster for pair in known]
    classes = sorted({answer for pair in known for answer in pair.answers if answer is not None})
    shares = np.array([_shares(pair, classes) for pair in known]).reshape(-1, 2 + len(classes))
    moments = np.array([_moments(pair) for pair in known]).reshape(-1, 6)
    variances = [float(np.var(_numbers(pair), ddof=1)) for pair in known]

    def of(columns: Array, statistic: Callable[[Array], Array]) -> EstimateColumns:
        return bootstrap(columns, clusters, statistic, n=len(known), seed=seed, resamples=resamples).as_json()

    return {
        "n_repeats": max((len(pair.answers) for pair in pairs), default=0),
        "n_pairs": len(known),
        "n_without": len(pairs) - len(known),
        "same": of(shares[:, [1, 0]], ratio),
        "kappa": of(shares, _kappa),
        "r": of(moments, pearson_of_sums),
        "spread": float(np.sqrt(np.mean(variances))) if variances else None,
    }


def _shares(pair: RepeatedPair, classes: Sequence[str]) -> list[float]:
    """Return 1, the share of two repeats that agree, and the share of each answer."""
    votes = Counter(answer for answer in pair.answers if answer is not None)
    n = votes.total()
    return [1.0, sum(of * (of - 1) for of in votes.values()) / (n * (n - 1)), *(votes[name] / n for name in classes)]


def _kappa(sums: Array) -> Array:
    """Return Fleiss' kappa of sums of `_shares`, shape (m, 2 + classes) -> (m,)."""
    n, observed = sums[:, 0], sums[:, 1] / sums[:, 0]
    expected = ((sums[:, 2:] / n[:, None]) ** 2).sum(axis=1)
    apart = expected < 1 - 1e-12
    return np.where(apart, (observed - expected) / np.where(apart, 1 - expected, 1.0), np.nan)


def _numbers(pair: RepeatedPair) -> Array:
    return np.array([number for number in pair.numbers if number is not None])


def _moments(pair: RepeatedPair) -> list[float]:
    """Return the means of 1, x, y, xx, yy and xy over both orders of two repeats, about 1/2 for their precision."""
    numbers = _numbers(pair) - 0.5
    n = len(numbers)
    mean, square = float(numbers.mean()), float((numbers**2).mean())
    product = (n * n * mean * mean - n * square) / (n * (n - 1))
    return [1.0, mean, mean, square, square, product]
