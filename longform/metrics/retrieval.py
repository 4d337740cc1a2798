"""
Measures of one query's ranking, and of the documents that reached a prompt.

The measures at K see the first K documents only and read relevance as binary, as MSRS's released evaluation does:
nDCG's ideal holds min(gold, K) documents; average precision divides by all gold documents. A query without gold
documents has no score: None.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import log2

from longform.metrics.measure import RankingMeasure


def precision_at(ranking: Sequence[str], gold: Collection[str], k: int) -> float | None:
    """Gold documents among the first *k*, divided by *k* even where the ranking is shorter."""
    hits = _hits(ranking, gold, k)
    return sum(hits) / k if gold else None


def recall_at(ranking: Sequence[str], gold: Collection[str], k: int) -> float | None:
    """Share of the gold documents that stand among the first *k*."""
    hits = _hits(ranking, gold, k)
    return sum(hits) / len(set(gold)) if gold else None


def ndcg_at(ranking: Sequence[str], gold: Collection[str], k: int) -> float | None:
    """Discounted gain of the first *k* over that of the best possible list: gain 1, discount log2(rank from 0 + 2)."""
    hits = _hits(ranking, gold, k)
    if not gold:
        return None
    gain = sum(hit / log2(rank + 2) for rank, hit in enumerate(hits))
    return gain / sum(1 / log2(rank + 2) for rank in range(min(len(set(gold)), k)))


def average_precision_at(ranking: Sequence[str], gold: Collection[str], k: int) -> float | None:
    """Precision at each gold document among the first *k*, summed and divided by the number of gold documents."""
    hits = _hits(ranking, gold, k)
    if not gold:
        return None
    return sum(sum(hits[: rank + 1]) / (rank + 1) for rank, hit in enumerate(hits) if hit) / len(set(gold))


def gold_recall(context: Collection[str], gold: Collection[str]) -> float | None:
    """Share of one target's gold documents that a prompt holds, whole or cut; None if the target has none."""
    return len(set(gold) & set(context)) / len(set(gold)) if gold else None


def _hits(ranking: Sequence[str], gold: Collection[str], k: int) -> list[bool]:
    if k < 1:
        raise ValueError(f"a cutoff counts documents: expected at least 1, found {k}")
    first = ranking[:k]
    if len(set(first)) < len(first):
        raise ValueError(f"a ranking names a document twice among its first {k}")
    return [doc_id in gold for doc_id in first]


MEASURES = (
    RankingMeasure("P", precision_at, told="share of gold documents among the first K"),
    RankingMeasure("R", recall_at, told="share of the gold documents that stand among the first K"),
    RankingMeasure("nDCG", ndcg_at, told="discounted gain of the first K over that of the best possible list"),
    RankingMeasure("MAP", average_precision_at, told="mean precision at each gold document among the first K"),
)
AT_BUDGET = RankingMeasure(
    "recall_at_budget",
    lambda context, gold, _k: gold_recall(context, gold),  # the budget cuts, not a number of documents
    title="recall at budget",
    told="share of an insight's documents that reach the prompt, mean over insights",
)
