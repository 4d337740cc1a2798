"""
A judge against people: agreement, linking, bias.

SummHay, section 4.2, table 1 (insight-level Pearson, linking accuracy) and appendix A.3, table 4 (bias by summarizer
and by length), with chance-corrected agreement beside them. Coverage counts 1, 0.5, 0. Intervals resample summaries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple, TypedDict

import numpy as np

from longform.metrics.coverage import ANSWERS
from longform.metrics.label_sets import labels_in
from longform.metrics.statistics import Array, Estimate, EstimateColumns, kappa, pearson, pooled_mean

WEIGHTS: Mapping[str, float] = {"full": 1.0, "partial": 0.5, "none": 0.0}


class JudgedPair(NamedTuple):
    """One pair of summary and target that both people and the judge gave an answer to."""

    summary_id: str
    human: str
    human_link: int | None  # bullet, from 0
    judge: str
    judge_link: int | None
    probability: float | None  # the judge's own number, if it gives one
    counts: Mapping[str, float] = WEIGHTS  # what each answer counts


def score_agreement(pairs: Sequence[JudgedPair], *, seed: int, resamples: int) -> Estimate:
    """Insight-level Pearson correlation of the judge's score with people's; its own number where it gives one."""
    scores = np.array([p.counts[p.judge] if p.probability is None else p.probability for p in pairs])
    return pearson(scores, _human(pairs), _clusters(pairs), seed=seed, resamples=resamples)


def answer_agreement(pairs: Sequence[JudgedPair], *, seed: int, resamples: int) -> Estimate:
    """The same of the answers alone."""
    return pearson(_judge(pairs), _human(pairs), _clusters(pairs), seed=seed, resamples=resamples)


def answer_kappa(pairs: Sequence[JudgedPair], *, seed: int, resamples: int) -> Estimate:
    """Cohen's kappa of the answers, unweighted."""
    judge, human = [p.judge for p in pairs], [p.human for p in pairs]
    classes = tuple(pairs[0].counts) if pairs else ANSWERS
    return kappa(judge, human, classes, _clusters(pairs), seed=seed, resamples=resamples)


def label_kappa(pairs: Sequence[JudgedPair], label: str, *, seed: int, resamples: int) -> Estimate:
    """Cohen's kappa of having one label, of answers that have several."""
    judge = [str(label in labels_in(pair.judge)) for pair in pairs]
    human = [str(label in labels_in(pair.human)) for pair in pairs]
    return kappa(judge, human, (str(True), str(False)), _clusters(pairs), seed=seed, resamples=resamples)


def linking_accuracy(pairs: Sequence[JudgedPair], *, seed: int, resamples: int) -> Estimate:
    """Share of right links where both linked a bullet, whatever they answered (the release's rule)."""
    return _link_share([p for p in pairs if p.human_link is not None and p.judge_link is not None], seed, resamples)


def linking_recall(pairs: Sequence[JudgedPair], *, seed: int, resamples: int) -> Estimate:
    """Share of right links over all pairs that people linked: a judge that links less does not look better."""
    return _link_share([p for p in pairs if p.human_link is not None], seed, resamples)


def mean_bias(pairs: Sequence[JudgedPair], *, seed: int, resamples: int) -> Estimate:
    """Mean of judge minus people over pairs, as a share: above 0 the judge is generous."""
    deltas = _judge(pairs) - _human(pairs)
    return pooled_mean(deltas, np.ones(len(pairs)), _clusters(pairs), seed=seed, resamples=resamples)


class SampleBias(NamedTuple):
    """One summary: its mean score by the judge, and how far that is above people's."""

    summary_id: str
    score: float
    bias: float


def sample_biases(pairs: Iterable[JudgedPair]) -> list[SampleBias]:
    """Each summary's means over its insights (SummHay, table 4, averages these)."""
    groups: dict[str, list[JudgedPair]] = {}
    for pair in pairs:
        groups.setdefault(pair.summary_id, []).append(pair)
    return [
        SampleBias(summary_id, float(_judge(group).mean()), float((_judge(group) - _human(group)).mean()))
        for summary_id, group in groups.items()
    ]


def sample_mean(values: Sequence[float], clusters: Sequence[Hashable], *, seed: int, resamples: int) -> Estimate:
    """The mean of one value a summary."""
    return pooled_mean(np.array(values), np.ones(len(values)), clusters, seed=seed, resamples=resamples)


def correlation(
    x: Sequence[float], y: Sequence[float], clusters: Sequence[Hashable], *, seed: int, resamples: int
) -> Estimate:
    """Pearson correlation of two values a summary."""
    return pearson(np.array(x), np.array(y), clusters, seed=seed, resamples=resamples)


def _link_share(pairs: Sequence[JudgedPair], seed: int, resamples: int) -> Estimate:
    right = np.array([float(p.human_link == p.judge_link) for p in pairs])
    return pooled_mean(right, np.ones(len(pairs)), _clusters(pairs), seed=seed, resamples=resamples)


def _human(pairs: Sequence[JudgedPair]) -> Array:
    return np.array([p.counts[p.human] for p in pairs])


def _judge(pairs: Sequence[JudgedPair]) -> Array:
    return np.array([p.counts[p.judge] for p in pairs])


def _clusters(pairs: Sequence[JudgedPair]) -> list[str]:
    return [p.summary_id for p in pairs]


# ---------------------------------------------------------------- people among themselves


class Label(NamedTuple):
    """
    The answer of an annotator.

    Attributes:
        item: What is labelled: two annotators' labels of one item are a pair.
        link: The bullet that the answer names, from 0.
        number: The annotator's own number in [0, 1], if it gives one beside its answer.
    """

    annotator: str
    summary_id: str
    item: Hashable
    answer: str
    link: int | None = None
    number: float | None = None


class BetweenColumns(TypedDict):
    """`Between` as JSON values."""

    annotators: list[str]
    same: EstimateColumns
    kappa: EstimateColumns
    free_kappa: EstimateColumns
    pearson: EstimateColumns
    links: EstimateColumns
    by_label: dict[str, EstimateColumns]


class Between(NamedTuple):
    """
    The agreement of two annotators on what both have labelled; intervals resample summaries.

    Attributes:
        same: Share of equal answers.
        kappa: Cohen's: chance agreement as often as each annotator gives each answer.
        free_kappa: Randolph's free-marginal kappa: chance agreement as if all answers were given equally often.
        pearson: Correlation of what the answers count.
        links: Share of equal links over the pairs that both linked.
        by_label: Label -> Cohen's kappa of having it, of answers that have several labels.
    """

    annotators: tuple[str, str]
    same: Estimate
    kappa: Estimate
    free_kappa: Estimate
    pearson: Estimate
    links: Estimate
    by_label: Mapping[str, Estimate] = {}

    def as_json(self) -> BetweenColumns:
        return {
            "annotators": list(self.annotators),
            "same": self.same.as_json(),
            "kappa": self.kappa.as_json(),
            "free_kappa": self.free_kappa.as_json(),
            "pearson": self.pearson.as_json(),
            "links": self.links.as_json(),
            "by_label": {label: one.as_json() for label, one in self.by_label.items()},
        }


def free_marginal_kappa(
    items: Sequence[Sequence[str]], n_answers: int, clusters: Sequence[Hashable], *, seed: int, resamples: int
) -> Estimate:
    """
    Compute the free-marginal multi-rater kappa: (observed - 1 / k) / (1 - 1 / k) (Randolph 2005).

    Args:
        items: The answers of two or more annotators to each item.
        n_answers: k, how many answers there are to choose from; two or more.
        clusters: Of each item; the interval resamples them.
        seed: Of the interval.
        resamples: Of the interval.

    Returns:
        1 if all agree, 0 if they agree as often as by chance; null without items.
    """
    observed = np.array([_agreeing(answers) for answers in items])
    chance = 1 / n_answers
    free = (observed - chance) / (1 - chance)
    return pooled_mean(free, np.ones(len(items)), clusters, seed=seed, resamples=resamples)


def _agreeing(answers: Sequence[str]) -> float:
    """Return the share of pairs of annotators who gave an item the same answer."""
    n = len(answers)
    return sum(count * (count - 1) for count in Counter(answers).values()) / (n * (n - 1))


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

    Args:
        labels: Of all annotators.
        counts: What each answer counts.
        seed: Of the intervals.
        resamples: Of each interval.
        named: The labels of which an answer may have several.
    """
    by_annotator: dict[str, dict[Hashable, Label]] = {}
    for label in labels:
        by_annotator.setdefault(label.annotator, {})[label.item] = label
    found = []
    for first, second in combinations(sorted(by_annotator), 2):
        other = by_annotator[second]
        both = [(one, other[item]) for item, one in by_annotator[first].items() if item in other]
        if both:
            pairs = [_as_pair(one, two, counts) for one, two in both]
            by_label = {name: label_kappa(pairs, name, seed=seed, resamples=resamples) for name in named}
            found.append(_between((first, second), pairs, seed, resamples)._replace(by_label=by_label))
    return found


def _as_pair(first: Label, second: Label, counts: Mapping[str, float]) -> JudgedPair:
    return JudgedPair(first.summary_id, first.answer, first.link, second.answer, second.link, None, counts)


def _between(annotators: tuple[str, str], pairs: Sequence[JudgedPair], seed: int, resamples: int) -> Between:
    same = np.array([float(pair.human == pair.judge) for pair in pairs])
    return Between(
        annotators,
        pooled_mean(same, np.ones(len(pairs)), _clusters(pairs), seed=seed, resamples=resamples),
        answer_kappa(pairs, seed=seed, resamples=resamples),
        free_marginal_kappa(
            [(pair.human, pair.judge) for pair in pairs],
            len(pairs[0].counts),
            _clusters(pairs),
            seed=seed,
            resamples=resamples,
        ),
        answer_agreement(pairs, seed=seed, resamples=resamples),
        linking_accuracy(pairs, seed=seed, resamples=resamples),
    )
