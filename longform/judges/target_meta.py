"""
Several judges of a summary's targets beside each other: agreement, cost, bias, people's own agreement, differences.

SummHay, table 1 (insight-level Pearson correlation, linking accuracy and cost of each judge) and table 4 (bias by
family of summarizers and its average over families; words a bullet against score and against bias).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import NamedTuple

import numpy as np

from longform.judges.card_columns import Adversarial, CostColumns
from longform.judges.card_figures import LabelledTarget, labels_of_targets, sample_bias
from longform.judges.people_agreement import ONE_ANNOTATOR, Findings, people_agreement
from longform.metrics import agreement
from longform.metrics.agreement import JudgedPair, Label
from longform.metrics.contrasts import Compared, contrasts
from longform.metrics.statistics import (
    Array,
    Estimate,
    bootstrap,
    cluster_sums,
    pearson_of_sums,
)
from longform.rows import SummaryRow

ALL = "all"
"""The part of the labels that is all of them."""

NO_KIND = "text of unknown kind"


class TargetJudge(NamedTuple):
    """
    A judge with its answers beside people's labels.

    Attributes:
        name: Its name.
        targets: All labels of people, with its verdicts; the same labels in the same order for all judges.
        fitted_haystacks: Whose summaries it was fitted on.
        cost: Of its verdicts.
        card: The line of its card.
        adversarial: The card's section on perturbed summaries; None: it has none.
    """

    name: str
    targets: Sequence[LabelledTarget]
    fitted_haystacks: frozenset[str]
    cost: CostColumns
    card: str
    adversarial: Adversarial | None = None


Settings = Mapping[str, int]


def target_meta(
    judges: Sequence[TargetJudge], summaries: Mapping[str, SummaryRow], *, task: str, settings: Settings
) -> Findings:
    """
    Hold several judges of a task beside each other, one or more, of the same labels.

    A judge's figures of a part of the labels leave out `n_unjudged` of `n_labels`; it is `in_sample` if the judge was
    fitted on some of them. Biases are a judge's mean score less that of people, of 1, over summaries.
    """
    targets = judges[0].targets
    parts = _parts(targets)
    people = people_agreement(
        _people(targets), {judge.name: _answers(judge) for judge in judges}, targets[0].counts, **settings
    )
    return {
        "task": task,
        "labels": labels_of_targets(targets),
        "n_labels": sum(one.label["answer"] is not None for one in targets),
        "parts": list(parts),
        "judges": [_judge(judge, parts, summaries, settings) for judge in judges],
        "differences": [
            found for part, belongs in parts.items() for found in _differences(judges, part, belongs, settings)
        ],
        "people": people,
        "people_reason": None if people else ONE_ANNOTATOR,
    }


Belongs = Callable[[LabelledTarget], bool]


def _parts(targets: Sequence[LabelledTarget]) -> dict[str, Belongs]:
    """Return all labels, and those of each kind of text if there are several."""
    kinds = sorted({one.text for one in targets}, key=str)
    found: dict[str, Belongs] = {ALL: lambda _one: True}
    if len(kinds) > 1:
        found |= {kind or NO_KIND: partial(_is_of, kind) for kind in kinds}
    return found


def _is_of(kind: str | None, target: LabelledTarget) -> bool:
    return target.text == kind


def _pairs(targets: Sequence[LabelledTarget]) -> list[JudgedPair]:
    return [one.pair for one in targets if one.pair is not None]


def _judge(
    judge: TargetJudge, parts: Mapping[str, Belongs], summaries: Mapping[str, SummaryRow], settings: Settings
) -> Findings:
    return {
        "judge": judge.name,
        "card": judge.card,
        "adversarial": judge.adversarial,
        "cost": judge.cost,
        "parts": {
            part: _part([one for one in judge.targets if belongs(one)], judge, settings)
            for part, belongs in parts.items()
        },
        "bias": {
            **sample_bias(_pairs(judge.targets), summaries, settings),
            "average": _average(_pairs(judge.targets), summaries, settings).as_json(),
        },
    }


def _part(targets: Sequence[LabelledTarget], judge: TargetJudge, settings: Settings) -> Findings:
    labelled = [one for one in targets if one.label["answer"] is not None]
    pairs = _pairs(labelled)
    return {
        "pearson": agreement.score_agreement(pairs, **settings).as_json(),
        "linking_accuracy": agreement.linking_accuracy(pairs, **settings).as_json(),
        "n_labels": len(labelled),
        "n_unjudged": len(labelled) - len(pairs),
        "in_sample": any(one.haystack_id in judge.fitted_haystacks for one in targets),
    }


# ---------------------------------------------------------------- bias


def _average(pairs: Sequence[JudgedPair], summaries: Mapping[str, SummaryRow], settings: Settings) -> Estimate:
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


# ---------------------------------------------------------------- differences


def _differences(judges: Sequence[TargetJudge], part: str, belongs: Belongs, settings: Settings) -> Iterator[Findings]:
    """Yield the differences of each two judges' correlations, on the labels that both judged, as one family."""
    numbers = [[_number(one.pair) for one in judge.targets if belongs(one)] for judge in judges]
    own = [one for one in judges[0].targets if belongs(one)]
    people = [None if one.label["answer"] is None else one.counts[_as_one(one)] for one in own]
    clusters = [one.summary_id for one in own]
    pairs = list(combinations(range(len(judges)), 2))
    family = [_compared(numbers[a], numbers[b], people, clusters) for a, b in pairs]
    for (a, b), found in zip(pairs, contrasts(family, **settings), strict=True):
        yield {
            "first": judges[a].name,
            "second": judges[b].name,
            "part": part,
            "difference": found,
            "in_sample": [
                judges[place].name
                for place in (a, b)
                if any(one.haystack_id in judges[place].fitted_haystacks for one in own)
            ],
        }


def _as_one(one: LabelledTarget) -> str:
    answer = one.label["answer"] or ""
    return one.as_one.get(answer, answer)


def _number(pair: JudgedPair | None) -> float | None:
    if pair is None:
        return None
    return pair.counts[pair.judge] if pair.probability is None else pair.probability


def _compared(
    first: Sequence[float | None],
    second: Sequence[float | None],
    people: Sequence[float | None],
    clusters: Sequence[str],
) -> Compared:
    """Compare two correlations with people on the items that have all three numbers."""
    rows = np.array([(a, b, c) for a, b, c in zip(first, second, people, strict=True)], dtype=np.float64)
    there = ~np.isnan(rows).any(axis=1)
    rows = rows - (rows[there].mean(axis=0) if there.any() else 0.0)
    x, y, z = rows.T
    columns = np.column_stack([np.ones_like(x), x, z, x * x, z * z, x * z, y, y * y, y * z])
    columns[~there] = 0.0

    def of_sums(sums: Array) -> Array:
        second = np.column_stack([sums[:, 0], sums[:, 6], sums[:, 2], sums[:, 7], sums[:, 4], sums[:, 8]])
        found: Array = pearson_of_sums(sums[:, :6]) - pearson_of_sums(second)
        return found

    return Compared(cluster_sums(columns, clusters), of_sums, int(there.sum()))


# ---------------------------------------------------------------- people


def _people(targets: Sequence[LabelledTarget]) -> list[Label]:
    return [
        Label(one.annotator, one.summary_id, (one.summary_id, one.target_id), _as_one(one), one.label["linked_unit"])
        for one in targets
        if one.label["answer"] is not None
    ]


def _answers(judge: TargetJudge) -> list[Label]:
    found = {}
    for one in judge.targets:
        verdict = one.verdict
        if verdict is not None and (answer := verdict["answer"]) is not None:
            item = (one.summary_id, one.target_id)
            said = one.as_one.get(answer, answer)
            number = verdict["probability"]
            found[item] = Label(judge.name, one.summary_id, item, said, verdict["linked_unit"], number)
    return list(found.values())
