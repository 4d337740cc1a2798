"""Rank quality of each retriever, and the gold in its prompts: one row a system and measure, intervals over queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from longform.metrics.measure import RankingMeasure
from longform.metrics.retrieval import AT_BUDGET, MEASURES, gold_recall
from longform.metrics.statistics import Estimate, pooled_mean
from longform.results.evidence import Evidence, PackedQuery, RankedQuery, Ranker
from longform.tables.names import CUT, DATASET
from longform.tables.table import Column, Table

Row = Mapping[str, Any]
_UNKNOWN = Estimate(None, None, None, 0)
_NO_BUDGET = "a length in documents or tokens ends its prompts; the tables of scores say how much of them was cut"
_TOLD = (
    "recall at budget is the share of an insight's documents that reach the prompt, mean over insights. P@K is the "
    "share of the first K documents that state an insight of the query. R@K is the share of the documents that do "
    "which stand among the first K. nDCG@K is their discounted gain over that of the best possible list. MAP@K is the "
    "mean precision at each of them"
)


class Retrieval:
    """Rankings and prompts held against the documents that are judged."""

    name = "retrieval"
    needs = ("rankings", "contexts", "qrels")

    def result(self, evidence: Evidence) -> Table | None:
        """Return a row a data set, system, budget and measure; None if nothing is ranked, or no document is judged."""
        rankings, contexts = evidence.rankings(), evidence.contexts()
        if not rankings or not evidence.gold:
            return None
        by_query = {query: set().union(*targets.values()) for query, targets in evidence.gold.items()}
        _, seed, resamples = evidence.averaging
        rows: list[Row] = []
        for dataset in dict.fromkeys(evidence.datasets.values()):
            own = {query_id for query_id, of_query in evidence.datasets.items() if of_query == dataset}
            rows += measured(
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
        return table(rows) if rows else None


def table(rows: Sequence[Row]) -> Table:
    """Return the means as a table that describes itself."""
    no_budget = {"score": _NO_BUDGET}
    lacking = [row["measure"] == AT_BUDGET.name and row["cut_share"] is None for row in rows]
    return Table(
        "retrieval",
        [
            DATASET,
            Column("system", title="documents by"),
            Column("retriever", shown=False),
            Column("reranker", shown=False),
            Column("in_sample", told="setting: a fitted ranker saw these data", shown=False),
            Column("budget_tokens", "count", "budget in tokens", none="no limit"),
            Column("measure"),
            Column("score", "share", "score", _TOLD, "higher", unknown="no document of its queries is judged"),
            CUT._replace(unknown=_NO_BUDGET),
        ],
        (),
        title="Retrieval",
        told="The documents that each ranking puts first, held against those that state an insight.",
        key=["dataset", "system", "budget_tokens", "measure"],
        reasons=[no_budget if lacks else {} for lacks in lacking] if any(lacking) else (),
        across="measure",
        page="retrieval",
    ).having(rows)


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


def measured(
    rankings: Mapping[Ranker, Mapping[str, Estimate]],
    budgets: Mapping[tuple[Ranker, int | None], tuple[Estimate, float]],
    *,
    dataset: str | None = None,
) -> list[Row]:
    """Return rows of each (ranker, budget), best recall first; a ranker without a prompt has them of no budget."""
    with_prompts = {ranker for ranker, _ in budgets}
    others = {(ranker, None): (_UNKNOWN, None) for ranker in rankings if ranker not in with_prompts}
    found = [*budgets.items(), *others.items()]
    found.sort(key=lambda one: (-(one[1][0].value or 0.0), one[0][0].words))
    return [row for one in found for row in _rows(*one, rankings=rankings, dataset=dataset)]


def _rows(
    key: tuple[Ranker, int | None],
    prompts: tuple[Estimate, float | None],
    *,
    rankings: Mapping[Ranker, Mapping[str, Estimate]],
    dataset: str | None,
) -> Iterator[Row]:
    """Yield a row for each measure of a ranker under a budget, and the share of its prompts that the budget cut."""
    (ranker, budget), (recall, cut_share) = key, prompts
    for measure, score in {AT_BUDGET.name: recall, **rankings.get(ranker, {})}.items():
        yield {
            "dataset": dataset,
            "system": ranker.words,
            "retriever": ranker.retriever,
            "reranker": ranker.reranker,
            "in_sample": [],
            "budget_tokens": budget,
            "measure": measure,
            "score": score.as_json(),
            "cut_share": cut_share,
        }


def _mean(found: Sequence[tuple[float, str]], *, seed: int, resamples: int) -> Estimate:
    values = np.array([value for value, _ in found])
    return pooled_mean(values, np.ones(len(found)), [query for _, query in found], seed=seed, resamples=resamples)
