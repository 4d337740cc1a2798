"""
Key points beyond recall: precision and F1 of each question, and judges of key points held against each other.

LONG2RAG, sections 5.8 and 6.4. Precision is the share of a response's sentences that the documents of its prompt
support, by a judge of support; F1 is computed for each question and averaged then (the printed F1 is no harmonic mean
of the printed means). Two judges are compared by the order in which they put the systems, and by how lenient they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from longform.metrics.faithfulness import RECOMMENDED
from longform.metrics.statistics import Array, EstimateColumns, pooled_mean
from longform.results.aggregate import Averaging, Scored, final_summaries, systems_of
from longform.results.evidence import Evidence, families
from longform.tables.names import DATASET, JUDGE, SYSTEM
from longform.tables.table import Column, Table

RECALL, PRECISION = "KPR", RECOMMENDED.name
POOLED = "key_point_recall"
Row = Mapping[str, Any]
Values = Mapping[str, float]
"""Summary id -> a value in [0, 1]."""


_NO_QUESTION = "no question has a value"
_NO_SUPPORT = "no judge of support was asked"
_SYSTEMS = [
    DATASET,
    *SYSTEM[1::-1],
    JUDGE,
    Column("support_judge", title="support by"),
    Column(
        "recall",
        "points",
        "key point recall",
        "KPR, the share of a question's key points that the response entails, mean over questions",
        unknown=_NO_QUESTION,
    ),
    Column(
        "recall_pooled",
        "points",
        "pooled recall",
        "the same over all key points, so that questions with many count more",
        unknown=_NO_QUESTION,
    ),
    Column(
        "precision",
        "points",
        "precision",
        "KPP, the share of the response's sentences that the documents of its prompt support",
        unknown=_NO_QUESTION,
    ),
    Column("f1", "points", "F1", "KPF, of the two, computed for each question and then averaged", unknown=_NO_QUESTION),
    Column("n_questions", "count", "questions", "with key points and a readable judgement; the others are left out"),
    Column("n_without", "count", "questions left out"),
]
_JUDGES = [
    DATASET,
    Column("judges"),
    Column("n_systems", "count", "systems"),
    Column(
        "kendall_tau",
        "coefficient",
        "Kendall's tau",
        "of the orders in which they put the systems",
        unknown="fewer than two systems that differ",
    ),
    Column(
        "shift",
        "difference",
        told="key point recall by the second judge less that by the first, positive if the second is more lenient",
    ),
    Column("swapped", told="pairs of systems in different orders"),
]


class KeyPoints:
    """Recall, precision and F1 of key points, and what judges of key points make of the same systems."""

    name = "key_points"
    needs = ("scores", "summaries")
    measures = (RECALL, POOLED, PRECISION)

    def result(self, evidence: Evidence) -> list[Table] | None:
        """Return both tables; None if no judge of key points was asked."""
        judged = list(families(evidence, RECALL))
        if not judged:
            return None
        supported = {
            (one.judge, one.dataset): _values(one.summaries, PRECISION) for one in families(evidence, PRECISION)
        }
        rows: list[Row] = []
        by_judge: dict[str | None, dict[str, Sequence[Scored]]] = {}
        for own in judged:
            summaries = final_summaries(own.summaries)
            by_judge.setdefault(own.dataset, {})[str(own.judge)] = summaries
            of_dataset = {judge: found for (judge, dataset), found in supported.items() if dataset == own.dataset}
            for support_judge, precision in (of_dataset or {None: {}}).items():
                for (setting, summarizer), group in sorted(systems_of(summaries).items()):
                    how = evidence.averaging.own(RECALL, own.judge, support_judge, setting, summarizer)
                    names = {"judge": own.judge, "dataset": own.dataset, "support_judge": support_judge}
                    system = {"setting": setting, "summarizer": summarizer}
                    rows.append({**names, **system, **_figures(group, precision, how)})
        return tables(rows, list(_pairs(by_judge, evidence.averaging)))


def tables(systems: Sequence[Row], judges: Sequence[Row]) -> list[Table]:
    """Return the table of systems, and that of pairs of judges below it."""
    several = len({row["support_judge"] for row in systems}) > 1
    columns = [column if column.name != "support_judge" else column._replace(shown=several) for column in _SYSTEMS]
    if all(row["support_judge"] is None for row in systems):
        columns = [one._replace(unknown=_NO_SUPPORT) if one.name in ("precision", "f1") else one for one in columns]
    head = Table(
        "key_points",
        columns,
        (),
        title="Key points",
        told="Key points that responses entail, and sentences that their documents support.",
        key=["dataset", "setting", "summarizer", "judge", "support_judge"],
        page="scores",
    )
    below = Table(
        "key_points_judges",
        _JUDGES,
        (),
        told="Two judges of key points on the same responses.",
        key=["dataset", "judges"],
        section="key_points",
    )
    return [head.having(systems), *([below.having(judges)] if judges else [])]


def f1(precision: float, recall: float) -> float:
    """Return the harmonic mean; 0 if both are 0."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def _figures(group: Sequence[Scored], precision: Values, how: Averaging) -> Row:
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


def _pairs(by_judge: Mapping[str | None, Mapping[str, Sequence[Scored]]], how: Averaging) -> Iterator[Row]:
    for dataset, judges in by_judge.items():
        for first, second in combinations(judges, 2):
            yield _compared(dataset, (first, judges[first]), (second, judges[second]), how)


def _compared(
    dataset: str | None, first: tuple[str, Sequence[Scored]], second: tuple[str, Sequence[Scored]], how: Averaging
) -> Row:
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
        "swapped": [" with ".join(pair) for pair, sign in signs.items() if sign < 0],
        "shift": _mean(both, shift, how.own("judges", first[0], second[0])),
    }


def _same_order(one: Sequence[float], other: Sequence[float]) -> int:
    """Return 1 if both judges order two systems alike, -1 if they swap them, 0 if one of them ties."""
    return int(np.sign(one[0] - other[0]) * np.sign(one[1] - other[1]))
