"""Means of rankings at a cutoff, in percent: what commands print that end before any summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

import numpy as np

from longform.metrics.retrieval import MEASURES
from longform.results.ranked import RankedQuery


class RankingRow(TypedDict):
    """Means of a system's rankings at a cutoff, in percent, over the *n* queries that have gold documents."""

    dataset: str | None
    system: str
    k: int
    P: float
    R: float
    NDCG: float
    MAP: float
    n: int


def ranking_rows(
    rankings: Sequence[RankedQuery],
    gold: Mapping[str, set[str]],
    datasets: Mapping[str, str | None],
    cutoffs: Sequence[int],
) -> list[RankingRow]:
    """Return one row a data set, system and cutoff; none of a data set without gold documents."""
    members: dict[tuple[str | None, str], list[RankedQuery]] = {}
    for ranked in rankings:
        if gold.get(ranked.query_id):
            members.setdefault((datasets.get(ranked.query_id), ranked.ranker.words), []).append(ranked)
    return [
        _ranking_row(dataset, system, k, [(one.doc_ids, gold[one.query_id]) for one in found])
        for (dataset, system), found in members.items()
        for k in cutoffs
    ]


def _ranking_row(
    dataset: str | None, system: str, k: int, rankings: Sequence[tuple[Sequence[str], set[str]]]
) -> RankingRow:
    """Return the means of *rankings*, each a list of documents and its gold."""
    p, r, ndcg, mean_precision = (
        100 * float(np.mean([measure.at(doc_ids, gold, k) for doc_ids, gold in rankings])) for measure in MEASURES
    )
    n = len(rankings)
    return RankingRow(dataset=dataset, system=system, k=k, P=p, R=r, NDCG=ndcg, MAP=mean_precision, n=n)
