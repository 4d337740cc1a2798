"""Rankings and prompts as measures of retrieval read them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from longform.axes import Axes
from longform.metrics.measure import RankingMeasure
from longform.metrics.retrieval import MEASURES
from longform.metrics.statistics import Array

Values = Mapping[str, tuple[float, int]]
"""Query -> total and count."""


class Ranker(NamedTuple):
    """A retriever, with its reranker; None: none."""

    retriever: str
    reranker: str | None

    @property
    def words(self) -> str:
        """The name that a report gives it."""
        return Axes(self.retriever, self.reranker).ranking


class RankedQuery(NamedTuple):
    """One ranker's list for one query."""

    ranker: Ranker
    query_id: str
    doc_ids: Sequence[str]


class PackedQuery(NamedTuple):
    """One prompt's documents."""

    ranker: Ranker
    budget_tokens: int | None
    query_id: str
    doc_ids: Sequence[str]
    cut_share: float


def ranked_values(
    rankings: Sequence[RankedQuery],
    gold: Mapping[str, Collection[str]],
    measures: Sequence[RankingMeasure],
    cutoffs: Sequence[int],
) -> dict[tuple[RankingMeasure, str], dict[str, Values]]:
    """Return (measure, its name with the cutoff) -> ranker in words -> its value for each query with gold documents."""
    found: dict[tuple[RankingMeasure, str], dict[str, dict[str, tuple[float, int]]]] = {}
    for measure, k in product(measures, cutoffs):
        of_measure = found.setdefault((measure, f"{measure.name}@{k}"), {})
        for one in rankings:
            if (value := measure.at(one.doc_ids, gold.get(one.query_id, ()), k)) is not None:
                of_measure.setdefault(one.ranker.words, {})[one.query_id] = (value, 1)
    return {measure: dict(values) for measure, values in found.items()}


def value_sums(values: Values, clusters: Sequence[str], cluster_of: Mapping[str, str]) -> Array:
    """Return totals and counts of each cluster, shape (clusters, 2)."""
    place = {cluster: row for row, cluster in enumerate(clusters)}
    sums: Array = np.zeros((len(clusters), 2))
    for query, (total, n) in values.items():
        sums[place[cluster_of[query]]] += (total, n)
    return sums


def ranking_rows(
    rankings: Sequence[RankedQuery],
    gold: Mapping[str, set[str]],
    datasets: Mapping[str, str | None],
    cutoffs: Sequence[int],
) -> list[dict[str, Any]]:
    """Return means in percent, one row a data set, system and cutoff; none of a data set without gold documents."""
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
) -> dict[str, Any]:
    """Return the means of *rankings*, each a list of documents and its gold."""
    p, r, ndcg, mean_precision = (
        100 * float(np.mean([measure.at(doc_ids, gold, k) for doc_ids, gold in rankings])) for measure in MEASURES
    )
    n = len(rankings)
    means = {"P": p, "R": r, "NDCG": ndcg, "MAP": mean_precision}
    return {"dataset": dataset, "system": system, "k": k, **means, "n": n}
