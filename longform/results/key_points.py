"""
Key points beyond recall: precision and F1 of each question, and judges of key points held against each other.

LONG2RAG, sections 5.8 and 6.4. Precision is the share of a response's sentences that the documents of its prompt
support, by a judge of support; F1 is computed for each question and averaged then (the printed F1 is no harmonic mean
of the printed means). Two judges are compared by the order in which they put the systems, and by how lenient they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TypedDict

import numpy as np

from longform.metrics.faithfulness import RECOMMENDED
from longform.metrics.statistics import Array, EstimateColumns, pooled_mean
from longform.results.aggregate import Averaging, Scored, final_summaries, systems_of
from longform.results.columns import OfJudge
from longform.results.evidence import Evidence, families

RECALL, PRECISION = "KPR", RECOMMENDED.name
POOLED = "key_point_recall"
Values = Mapping[str, float]
"""Summary id -> a value in [0, 1]."""


class _Figures(TypedDict):
    recall: EstimateColumns
    recall_pooled: EstimateColumns  # over key points: questions with many count more
    precision: EstimateColumns
    f1: EstimateColumns
    n_questions: int
    n_without: int  # questions without a value of recall


class KeyPointRow(OfJudge, _Figures):
    """A system by one judge of key points, and one of support. All estimates are points."""

    support_judge: str | None  # null: none; precision and F1 are then unknown
    setting: str
    summarizer: str


class JudgesRow(TypedDict):
    """Two judges of key points on the systems that both judged."""

    dataset: str | None
    judges: list[str]
    n_systems: int
    kendall_tau: float | None  # null: fewer than two systems, or all alike
    swapped: list[list[str]]  # pairs of systems that they put in different orders
    shift: EstimateColumns  # of the second judge's recall over the first one's, points


class KeyPoints(TypedDict):
    systems: list[KeyPointRow]
    judges: list[JudgesRow]


def key_points(evidence: Evidence) -> KeyPoints | None:
    """Return both tables; None if no judge of key points was asked."""
    judged = list(families(evidence, RECALL))
    if not judged:
        return None
    supported = {(one.judge, one.dataset): _values(one.summaries, PRECISION) for one in families(evidence, PRECISION)}
    rows: list[KeyPointRow] = []
    by_judge: dict[str | None, dict[str, Sequence[Scored]]] = {}
    for own in judged:
        summaries = final_summaries(own.summaries)
        by_judge.setdefault(own.dataset, {})[str(own.judge)] = summaries
        of_dataset = {judge: found for (judge, dataset), found in supported.items() if dataset == own.dataset}
        for support_judge, precision in (of_dataset or {None: {}}).items():
            for (setting, summarizer), group in sorted(systems_of(summaries).items()):
                how = evidence.averaging.own(RECALL, own.judge, support_judge, setting, summarizer)
                row: KeyPointRow = {
                    "judge": own.judge,
                    "dataset": own.dataset,
                    "support_judge": support_judge,
                    "setting": setting,
                    "summarizer": summarizer,
                    **_figures(group, precision, how),
                }
                rows.append(row)
    return {"systems": rows, "judges": list(_pairs(by_judge, evidence.averaging))}


def f1(precision: float, recall: float) -> float:
    """Return the harmonic mean; 0 if both are 0."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _figures(group: Sequence[Scored], precision: Values, how: Averaging) -> _Figures:
    recall = _values(group, RECALL)
    both = {key: f1(precision[key], recall[key]) for key in recall if key in precision}
    return {
        "recall": _mean(group, recall, how),
        "recall_pooled": _pooled(group, how),
        "precision": _mean(group, precision, how),
        "f1": _mean(group, both, how),
        "n_questions": len({one.info.query_id for one in group if one.info.summary_id in recall}),
        "n_without": len({one.info.query_id for one in group if one.info.summary_id not in recall}),
    }


def _values(group: Sequence[Scored], measure: str) -> dict[str, float]:
    cells = {one.info.summary_id: one.measures.get(measure, (0.0, 0, 0)) for one in group}
    return {key: total / n for key, (total, n, _) in cells.items() if n}


def _mean(group: Sequence[Scored], values: Values, how: Averaging) -> EstimateColumns:
    own = [one for one in group if one.info.summary_id in values]
    totals = np.array([values[one.info.summary_id] for one in own])
    return _estimate(totals, np.ones(len(own)), own, how)


def _pooled(group: Sequence[Scored], how: Averaging) -> EstimateColumns:
    own = [one for one in group if one.has(POOLED)]
    cells = np.array([one.measures[POOLED][:2] for one in own]).reshape(-1, 2)
    return _estimate(cells[:, 0], cells[:, 1], own, how)


def _estimate(totals: Array, counts: Array, own: Sequence[Scored], how: Averaging) -> EstimateColumns:
    clusters = [one.info.cluster for one in own]
    return pooled_mean(totals, counts, clusters, seed=how.seed, resamples=how.resamples).scaled(100.0).as_json()


# ---------------------------------------------------------------- judges among themselves


def _pairs(by_judge: Mapping[str | None, Mapping[str, Sequence[Scored]]], how: Averaging) -> Iterator[JudgesRow]:
    for dataset, judges in by_judge.items():
        for first, second in combinations(judges, 2):
            yield _compared(dataset, (first, judges[first]), (second, judges[second]), how)


def _compared(
    dataset: str | None, first: tuple[str, Sequence[Scored]], second: tuple[str, Sequence[Scored]], how: Averaging
) -> JudgesRow:
    values = [_values(group, RECALL) for _, group in (first, second)]
    both = [one for one in first[1] if all(one.info.summary_id in found for found in values)]
    systems = {
        f"{summarizer}, {setting}": [float(np.mean([found[one.info.summary_id] for one in group])) for found in values]
        for (setting, summarizer), group in systems_of(both).items()
    }
    shift = {one.info.summary_id: values[1][one.info.summary_id] - values[0][one.info.summary_id] for one in both}
    signs = {pair: _same_order(*(systems[name] for name in pair)) for pair in combinations(systems, 2)}
    told = [sign for sign in signs.values() if sign]
    return {
        "dataset": dataset,
        "judges": [first[0], second[0]],
        "n_systems": len(systems),
        "kendall_tau": sum(told) / len(told) if told else None,
        "swapped": [list(pair) for pair, sign in signs.items() if sign < 0],
        "shift": _mean(both, shift, how.own("judges", first[0], second[0])),
    }


def _same_order(one: Sequence[float], other: Sequence[float]) -> int:
    """Return 1 if both judges order two systems alike, -1 if they swap them, 0 if one of them ties."""
    return int(np.sign(one[0] - other[0]) * np.sign(one[1] - other[1]))
