"""Rank quality of each retriever, and the gold in its prompts: one row a system, intervals over queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import NotRequired, TypedDict

import numpy as np

from longform.metrics.measure import RankingMeasure
from longform.metrics.retrieval import MEASURES, gold_recall
from longform.metrics.statistics import Estimate, pooled_mean
from longform.results.columns import with_columns
from longform.results.evidence import Evidence
from longform.results.ranked import PackedQuery, RankedQuery, Ranker

_UNKNOWN = Estimate(None, None, None, 0)
_NO_BUDGET = "a length in documents or tokens ends its prompts; the tables of scores say how much of them was cut"


class RetrievalRow(TypedDict):
    """A system and budget; a column for each measure and cutoff, such as P@5."""

    system: str
    retriever: str
    reranker: str | None
    budget_tokens: int | None
    cut_share: float | None  # null: a number of documents ends each prompt, and no budget
    recall_at_budget: float | None
    intervals: dict[str, list[float | None]]  # of all measures
    reasons: NotRequired[dict[str, str]]  # by column: why its value is unknown
    dataset: str | None
    in_sample: list[str]


def retrieval(evidence: Evidence) -> list[RetrievalRow]:
    """Return one row a data set, system and budget; none if the run retrieves nothing, or no document is judged."""
    rankings, contexts = evidence.rankings(), evidence.contexts()
    if not rankings or not evidence.gold:
        return []
    by_query = {query: set().union(*targets.values()) for query, targets in evidence.gold.items()}
    _, seed, resamples = evidence.averaging
    rows: list[RetrievalRow] = []
    for dataset in dict.fromkeys(evidence.datasets.values()):
        own = {query_id for query_id, of_query in evidence.datasets.items() if of_query == dataset}
        rows += table(
            ranking_table(
                [one for one in rankings if one.query_id in own],
                by_query,
                [measure for measure in evidence.ranking_measures if measure in MEASURES],
                cutoffs=evidence.cutoffs,
                seed=seed,
                resamples=resamples,
            ),
            recall_at_budget(
                [one for one in contexts if one.query_id in own], evidence.gold, seed=seed, resamples=resamples
            ),
            dataset=dataset,
        )
    return rows


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


def ranking_table(
    rankings: Sequence[RankedQuery],
    gold: Mapping[str, set[str]],
    measures: Sequence[RankingMeasure] = MEASURES,
    *,
    cutoffs: Sequence[int],
    seed: int,
    resamples: int,
) -> dict[Ranker, dict[str, Estimate]]:
    """Ranker -> P@K, R@K, nDCG@K, MAP@K -> mean over the queries that have gold documents."""
    values: dict[Ranker, dict[str, list[tuple[float, str]]]] = {}
    for ranked in rankings:
        own = gold.get(ranked.query_id, set())
        for measure, k in product(measures, cutoffs):
            if (value := measure.at(ranked.doc_ids, own, k)) is not None:
                found = values.setdefault(ranked.ranker, {}).setdefault(f"{measure.name}@{k}", [])
                found.append((value, ranked.query_id))
    return {
        ranker: {name: _mean(found, seed=seed, resamples=resamples) for name, found in measures.items()}
        for ranker, measures in values.items()
    }


def recall_at_budget(
    contexts: Sequence[PackedQuery], gold: Mapping[str, Mapping[str, frozenset[str]]], *, seed: int, resamples: int
) -> dict[tuple[Ranker, int | None], tuple[Estimate, float]]:
    """
    (ranker, budget) -> mean recall of gold documents over targets, and the mean share of tokens cut.

    Args:
        contexts: One for each query, ranker and budget.
        gold: Query id -> target id -> documents that state it; a query judged as a whole has one target.
        seed: Of the intervals.
        resamples: Of each interval.
    """
    recalls: dict[tuple[Ranker, int | None], list[tuple[float, str]]] = {}
    cuts: dict[tuple[Ranker, int | None], list[float]] = {}
    for context in contexts:
        key = (context.ranker, context.budget_tokens)
        cuts.setdefault(key, []).append(context.cut_share)
        for documents in gold.get(context.query_id, {}).values():
            recall = gold_recall(context.doc_ids, documents)
            if recall is not None:
                recalls.setdefault(key, []).append((recall, context.query_id))
    return {
        key: (_mean(recalls.get(key, []), seed=seed, resamples=resamples), float(np.mean(shares)))
        for key, shares in cuts.items()
    }


def table(
    rankings: Mapping[Ranker, Mapping[str, Estimate]],
    budgets: Mapping[tuple[Ranker, int | None], tuple[Estimate, float]],
    *,
    dataset: str | None = None,
) -> list[RetrievalRow]:
    """Return one row for each (ranker, budget), best recall first; a ranker without a prompt has one of no budget."""
    rows = []
    measured = {ranker for ranker, _ in budgets}
    others = {(ranker, None): (_UNKNOWN, None) for ranker in rankings if ranker not in measured}
    for (ranker, budget), (recall, cut_share) in [*budgets.items(), *others.items()]:
        estimates = {"recall_at_budget": recall, **rankings.get(ranker, {})}
        row: RetrievalRow = {
            "system": ranker.words,
            "retriever": ranker.retriever,
            "reranker": ranker.reranker,
            "budget_tokens": budget,
            "cut_share": cut_share,
            "recall_at_budget": recall.value,
            "intervals": {name: [found.low, found.high] for name, found in estimates.items()},
            "dataset": dataset,
            "in_sample": [],
        }
        if cut_share is None:
            row["reasons"] = dict.fromkeys(("recall_at_budget", "cut_share"), _NO_BUDGET)
        rows.append(with_columns(row, {name: found.value for name, found in estimates.items()}))
    return sorted(rows, key=lambda row: (-(row["recall_at_budget"] or 0.0), row["system"]))


def _mean(found: Sequence[tuple[float, str]], *, seed: int, resamples: int) -> Estimate:
    values = np.array([value for value, _ in found])
    return pooled_mean(values, np.ones(len(found)), [query for _, query in found], seed=seed, resamples=resamples)
