"""The report's retrieval table, from a run's rankings and contexts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.stages.pack import Packed
from jobs.stages.retrieve import Ranked
from longform.records import Qrel
from longform.results.retrieval_tables import PackedQuery, RankedQuery, Ranker, ranking_table, recall_at_budget, table

_RANKING_COLUMNS = ["work_id", "doc_id", "rank"]
_CONTEXT_COLUMNS = ["work_id", "doc_ids", "cut_share"]


def retrieval_rows(
    run: Folder,
    benchmark: Benchmark,
    *,
    rankings: Mapping[str, Ranked],
    contexts: Mapping[str, Packed],
    cutoffs: tuple[int, ...],
    seed: int,
    resamples: int,
) -> list[dict[str, Any]]:
    """
    One row a data set, ranker and budget; nothing if the benchmark judges no documents.

    *rankings* and *contexts* are by work id.
    """
    by_target = gold_by_query(benchmark.qrels)
    if not by_target:
        return []
    by_query = {query: set().union(*targets.values()) for query, targets in by_target.items()}
    all_ranked, all_packed = list(_rankings(run, rankings, max(cutoffs))), list(_contexts(run, contexts))
    rows = []
    for dataset in dict.fromkeys(query.dataset for query in benchmark.queries.values()):
        own = {query_id for query_id, query in benchmark.queries.items() if query.dataset == dataset}
        ranked = [ranking for ranking in all_ranked if ranking.query_id in own]
        packed = [context for context in all_packed if context.query_id in own]
        found = table(
            ranking_table(ranked, by_query, cutoffs=cutoffs, seed=seed, resamples=resamples),
            recall_at_budget(packed, by_target, seed=seed, resamples=resamples),
        )
        rows += [row | {"dataset": dataset} for row in found]
    return rows


def gold_by_query(qrels: Iterable[Qrel]) -> Mapping[str, Mapping[str, frozenset[str]]]:
    """Query id -> target id -> its gold documents; a query judged as a whole is one target of its own id."""
    found: dict[str, dict[str, set[str]]] = {}
    for qrel in qrels:
        if qrel.relevance > 0:
            target = qrel.target_id or qrel.query_id
            found.setdefault(qrel.query_id, {}).setdefault(target, set()).add(qrel.doc_id)
    return {
        query: {target: frozenset(documents) for target, documents in targets.items()}
        for query, targets in found.items()
    }


def _rankings(run: Folder, wanted: Mapping[str, Ranked], depth: int) -> Iterator[RankedQuery]:
    for part in run.batches("rankings", work_ids=wanted, columns=_RANKING_COLUMNS):
        found: dict[Ranked, list[tuple[int, str]]] = {}
        for row in part.to_pylist():
            if row["rank"] < depth:
                found.setdefault(wanted[row["work_id"]], []).append((row["rank"], row["doc_id"]))
        for (query_id, retriever, reranker), ranked in found.items():
            yield RankedQuery(Ranker(retriever, reranker), query_id, [doc_id for _, doc_id in sorted(ranked)])


def _contexts(run: Folder, wanted: Mapping[str, Packed]) -> Iterator[PackedQuery]:
    """One for each query, ranker and budget: the order changes nothing that retrieval is measured by."""
    seen: set[tuple[Ranker, int | None, str]] = set()
    for part in run.batches("contexts", work_ids=wanted, columns=_CONTEXT_COLUMNS):
        for row in part.to_pylist():
            packed = wanted[row["work_id"]]
            key = (Ranker(packed.retriever, packed.reranker), packed.budget_tokens, packed.query_id)
            if key not in seen:
                seen.add(key)
                yield PackedQuery(*key, doc_ids=row["doc_ids"], cut_share=row["cut_share"])
