"""Rankings and prompts of a run, for the study of retrieval and for commands that end before it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.stages.pack import Packed
from jobs.stages.retrieve import Ranked
from jobs.stages.stage import Plan
from longform.evidence.scan import pl
from longform.metrics.retrieval import MEASURES
from longform.records import Qrel
from longform.results.evidence import PackedQuery, RankedQuery, Ranker
from longform.results.ranked import ranked_values, ranking_rows
from longform.retrieval.own_documents import grades_told, own_documents_told
from longform.retrieval.ranking import NOT_RANKED
from longform.settings.experiment import Experiment

_RANKING_COLUMNS = ["work_id", "doc_id", "rank"]
_CONTEXT_COLUMNS = ["work_id", "doc_ids", "cut_share"]


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


def ranked_queries(run: Folder, wanted: Mapping[str, Ranked], depth: int) -> Iterator[RankedQuery]:
    """Yield the first *depth* documents of each ranking, in the order of *wanted*, which is by work id."""
    found: dict[Ranked, list[tuple[int, str]]] = {}
    for part in run.batches("rankings", work_ids=wanted, columns=_RANKING_COLUMNS):
        for row in part.to_pylist():
            if row["rank"] < depth and row["doc_id"] != NOT_RANKED:
                found.setdefault(wanted[row["work_id"]], []).append((row["rank"], row["doc_id"]))
    for key in dict.fromkeys(wanted.values()):
        if key in found:
            documents = [doc_id for _, doc_id in sorted(found[key])]
            yield RankedQuery(Ranker(key.retriever, key.reranker), key.query_id, documents)


def retrieval_so_far(run: Folder, benchmark: Benchmark, experiment: Experiment, plan: Plan) -> list[dict[str, Any]]:
    """Return the quality of the rankings that stand in a run; empty if no document of the benchmark is judged."""
    gold = {query: set[str]().union(*of.values()) for query, of in gold_by_query(benchmark.qrels).items()}
    wanted = {ranking.work_id: ranking.key for ranking in plan.of(Ranked)}
    datasets = [(query_id, query.dataset) for query_id, query in benchmark.queries.items()]
    queries = pl.DataFrame(datasets, schema={"query_id": pl.String, "dataset": pl.String}, orient="row")
    rankings = list(ranked_queries(run, wanted, max(experiment.cutoffs, default=0))) if gold else []
    return ranking_rows(ranked_values(rankings, gold, queries, MEASURES, experiment.cutoffs))


def rankings_told(benchmark: Benchmark, query_ids: Collection[str]) -> list[str]:
    """Return a sentence for each thing in judged queries by which measures of rankings differ from published ones."""
    judged = {qrel.query_id for qrel in benchmark.qrels if qrel.target_id is None}.intersection(query_ids)
    if not judged:
        return []
    queries = [query for query_id, query in benchmark.queries.items() if query_id in judged]
    documents = benchmark.folder.batches("documents", columns=["doc_id", "haystack_id", "text"])
    own = own_documents_told(queries, benchmark.qrels, documents)
    return [*grades_told(benchmark.qrels, judged), *own]


def packed_queries(run: Folder, wanted: Mapping[str, Packed]) -> Iterator[PackedQuery]:
    """
    Yield one prompt for each query, ranker and budget, the first in the order of *wanted*, which is by work id.

    Retrieval is measured whatever the order of documents in the prompt.
    """
    first: dict[tuple[Ranker, int | None, str], str] = {}
    made = run.locate("contexts")
    for work_id, packed in wanted.items():
        if work_id in made:
            key = (Ranker(packed.retriever, packed.reranker), packed.budget_tokens, packed.query_id)
            first.setdefault(key, work_id)
    found = {
        row["work_id"]: row
        for part in run.batches("contexts", work_ids=set(first.values()), columns=_CONTEXT_COLUMNS)
        for row in part.to_pylist()
    }
    for key, work_id in first.items():
        yield PackedQuery(*key, doc_ids=found[work_id]["doc_ids"], cut_share=found[work_id]["cut_share"])
