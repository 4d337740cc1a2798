"""The report's retrieval table, from a run's rankings and contexts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from longform.records import Qrel
from longform.results.retrieval_tables import PackedQuery, RankedQuery, ranking_table, recall_at_budget, table

_RANKING_COLUMNS = ["work_id", "query_id", "system", "doc_id", "rank"]
_CONTEXT_COLUMNS = ["system", "budget_tokens", "order", "query_id", "doc_ids", "cut_share"]


def retrieval_rows(
    run: Folder,
    benchmark: Benchmark,
    *,
    ranking_ids: Iterable[str],
    context_ids: Iterable[str],
    cutoffs: tuple[int, ...],
    seed: int,
    resamples: int,
) -> list[dict[str, Any]]:
    """One row a data set, system and budget; nothing where the benchmark judges no documents."""
    by_target = gold_by_query(benchmark.qrels)
    if not by_target:
        return []
    by_query = {query: set().union(*targets.values()) for query, targets in by_target.items()}
    rankings, contexts = list(_rankings(run, ranking_ids, max(cutoffs))), list(_contexts(run, context_ids))
    rows = []
    for dataset in dict.fromkeys(query.dataset for query in benchmark.queries.values()):
        own = {query_id for query_id, query in benchmark.queries.items() if query.dataset == dataset}
        ranked = [ranking for ranking in rankings if ranking.query_id in own]
        packed = [context for context in contexts if context.query_id in own]
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


def _rankings(run: Folder, work_ids: Iterable[str], depth: int) -> Iterator[RankedQuery]:
    for part in run.batches("rankings", work_ids=work_ids, columns=_RANKING_COLUMNS):
        found: dict[tuple[str, str], list[tuple[int, str]]] = {}
        for row in part.to_pylist():
            if row["rank"] < depth:
                found.setdefault((row["system"], row["query_id"]), []).append((row["rank"], row["doc_id"]))
        for (system, query_id), ranked in found.items():
            yield RankedQuery(system, query_id, [doc_id for _, doc_id in sorted(ranked)])


def _contexts(run: Folder, work_ids: Iterable[str]) -> Iterator[PackedQuery]:
    """One for each query, system and budget: the order changes nothing that retrieval is measured by."""
    seen: set[tuple[str, int | None, str]] = set()
    for part in run.batches("contexts", work_ids=work_ids, columns=_CONTEXT_COLUMNS):
        for row in part.to_pylist():
            key = (row["system"], row["budget_tokens"], row["query_id"])
            if key not in seen:
                seen.add(key)
                yield PackedQuery(*key, doc_ids=row["doc_ids"], cut_share=row["cut_share"])
