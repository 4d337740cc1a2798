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

from longform.evidence.scan import pl
from longform.evidence.scores import means
from longform.metrics.faithfulness import RECOMMENDED
from longform.metrics.statistics import EstimateColumns, pooled_mean
from longform.results.aggregate import Averaging, by_system, systems_of
from longform.results.evidence import Evidence, Family, families
from longform.tables.table import DATASET, JUDGE, SYSTEM, Column, Table

RECALL, PRECISION = "KPR", RECOMMENDED.name
POOLED = "key_point_recall"
Row = Mapping[str, Any]

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
        supported = {(one.judge, one.dataset): _values(one, PRECISION) for one in families(evidence, PRECISION)}
        rows: list[Row] = []
        by_judge: dict[str | None, dict[str, pl.DataFrame]] = {}
        for own in judged:
            recall, pooled = _values(own, RECALL), _values(own, POOLED)
            summaries = own.final.join(recall, on="summary_id", how="left", maintain_order="left")
            by_judge.setdefault(own.dataset, {})[str(own.judge)] = summaries
            of_dataset = {judge: found for (judge, dataset), found in supported.items() if dataset == own.dataset}
            for support_judge, precision in (of_dataset or {None: recall.clear()}).items():
                both = summaries.join(
                    precision, on="summary_id", how="left", maintain_order="left", suffix="_precision"
                )
                for (setting, summarizer), group in by_system(both).items():
                    how = evidence.averaging.own(RECALL, own.judge, support_judge, setting, summarizer)
                    names = {"judge": own.judge, "dataset": own.dataset, "support_judge": support_judge}
                    system = {"setting": setting, "summarizer": summarizer}
                    points = group.select("summary_id", "cluster").join(pooled, on="summary_id", maintain_order="left")
                    rows.append({**names, **system, **_figures(group, points, how)})
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


def _figures(group: pl.DataFrame, points: pl.DataFrame, how: Averaging) -> Row:
    """
    Return the means of a system.

    *group* has the recall and precision of each of its summaries as `value` and `value_precision`, null if there is
    none; *points* has the totals and counts of those with key points.
    """
    recall, precision = pl.col("value"), pl.col("value_precision")
    f1_of_each = (2 * precision * recall / (precision + recall)).fill_nan(0.0)
    return {
        "recall": _mean(group, recall, how),
        "recall_pooled": _estimate(points, how),
        "precision": _mean(group, precision, how),
        "f1": _mean(group, f1_of_each, how),
        "n_questions": group.filter(recall.is_not_null())["query_id"].n_unique(),
        "n_without": group.filter(recall.is_null())["query_id"].n_unique(),
    }


def _values(own: Family, measure: str) -> pl.DataFrame:
    """Return the values of summaries by a measure, in [0, 1], with their totals and counts."""
    scores = means(own.scores.filter(pl.col("measure") == measure)).filter(pl.col("n") > 0)
    return scores.select("summary_id", "total", "n", value=pl.col("total") / pl.col("n"))


def _mean(group: pl.DataFrame, value: pl.Expr, how: Averaging) -> EstimateColumns:
    return _estimate(group.select("cluster", total=value, n=1.0).drop_nulls("total"), how)


def _estimate(group: pl.DataFrame, how: Averaging) -> EstimateColumns:
    totals, counts = group["total"].to_numpy(), group["n"].to_numpy()
    clusters = group["cluster"].to_physical().to_list()
    return pooled_mean(totals, counts, clusters, seed=how.seed, resamples=how.resamples).scaled(100.0).as_json()


# ---------------------------------------------------------------- judges among themselves


def _pairs(by_judge: Mapping[str | None, Mapping[str, pl.DataFrame]], how: Averaging) -> Iterator[Row]:
    for dataset, judges in by_judge.items():
        for first, second in combinations(judges, 2):
            other = judges[second].select("summary_id", other="value")
            both = judges[first].join(other, on="summary_id", maintain_order="left").drop_nulls(["value", "other"])
            yield {"dataset": dataset, "judges": [first, second], **_compared(both, how.own("judges", first, second))}


def _compared(both: pl.DataFrame, how: Averaging) -> Row:
    """Compare two judges by the summaries that *both* have a value of, the second one's as `other`."""
    systems = {
        str(name): [float(np.mean(group[one].to_numpy())) for one in ("value", "other")]
        for name, group in systems_of(both).items()
    }
    signs = {pair: _same_order(*(systems[name] for name in pair)) for pair in combinations(systems, 2)}
    told = [sign for sign in signs.values() if sign]
    return {
        "n_systems": len(systems),
        "kendall_tau": sum(told) / len(told) if told else None,
        "swapped": [" with ".join(pair) for pair, sign in signs.items() if sign < 0],
        "shift": _mean(both, pl.col("other") - pl.col("value"), how),
    }


def _same_order(one: Sequence[float], other: Sequence[float]) -> int:
    """Return 1 if both judges order two systems alike, -1 if they swap them, 0 if one of them ties."""
    return int(np.sign(one[0] - other[0]) * np.sign(one[1] - other[1]))
