"""
A judge against people: agreement, linking, bias.

SummHay, section 4.2, table 1 (insight-level Pearson, linking accuracy) and appendix A.3, table 4 (bias by summarizer
and by length), with chance-corrected agreement beside them. Coverage counts 1, 0.5, 0. Intervals resample summaries.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from longform.metrics.coverage import ANSWERS
from longform.metrics.statistics import Array, Estimate, kappa, pearson, pooled_mean

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
