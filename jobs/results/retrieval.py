"""Rankings and prompts of a run, for the study of retrieval and for commands that end before it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import pyarrow as pa

from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.stages.pack import Packed
from jobs.stages.retrieve import Ranked
from jobs.stages.stage import Plan
from longform.evidence.scan import as_frame, pl
from longform.keys import in_groups
from longform.metrics.retrieval import MEASURES
from longform.records import Qrel
from longform.results.ranked import ranked_values, ranking_rows
from longform.retrieval.own_documents import grades_told, own_documents_told
from longform.retrieval.ranking import NOT_RANKED
from longform.schemas import CONTEXTS
from longform.settings.experiment import Experiment

_RANKING_COLUMNS = ["work_id", "doc_id", "rank"]
_CONTEXT_COLUMNS = ["work_id", "doc_ids", "cut_share"]


def gold_by_query(qrels: Iterable[Qrel]) -> Mapping[str, Mapping[str, frozenset[str]]]:
    """Query id -> target id -> its gold documents; a query judged as a whole is one target of its own id."""
    by_query = in_groups(
        (qrel.query_id, (qrel.target_id or qrel.query_id, qrel.doc_id)) for qrel in qrels if qrel.relevance > 0
    )
    return {
        query: {target: frozenset(documents) for target, documents in in_groups(own).items()}
        for query, own in by_query.items()
    }


def ranked_queries(run: Folder, wanted: Mapping[str, Ranked], depth: int) -> pl.DataFrame:
    """Return the first *depth* documents of each ranking, in the order of *wanted*, which is by work id."""
    asked = [(work_id, key.retriever, key.reranker, key.query_id) for work_id, key in wanted.items()]
    names = dict.fromkeys(("work_id", "retriever", "reranker", "query_id"), pl.String)
    found = ranked_documents(run.batches("rankings", work_ids=wanted, columns=_RANKING_COLUMNS), depth, "work_id")
    return in_words(pl.DataFrame(asked, schema=names, orient="row").join(found, on="work_id", maintain_order="left"))


def ranked_documents(parts: Iterable[pa.Table], depth: int, *by: str) -> pl.DataFrame:
    """Return the first *depth* documents of each ranking that *by* tells apart; of two of one rank the first."""
    columns = {**dict.fromkeys((*by, "doc_id"), pl.String), "rank": pl.Int64}
    kept = (pl.col("rank") < depth) & (pl.col("doc_id") != NOT_RANKED)
    rows = pl.concat(
        [
            pl.DataFrame(schema=columns),
            *(as_frame(part).select(pl.col(n).cast(t) for n, t in columns.items()).filter(kept) for part in parts),
        ]
    )
    ranks = rows.unique([*by, "rank"], keep="first", maintain_order=True)
    return ranks.group_by(by, maintain_order=True).agg(doc_ids=pl.col("doc_id").sort_by("rank"))


def in_words(rows: pl.DataFrame) -> pl.DataFrame:
    """Return rows of rankers with the name that a report gives each."""
    reranked = pl.when(pl.col("reranker").is_not_null()).then(pl.format("{}+{}", "retriever", "reranker"))
    return rows.with_columns(system=pl.coalesce(reranked, "retriever"))


def retrieval_so_far(run: Folder, benchmark: Benchmark, experiment: Experiment, plan: Plan) -> list[dict[str, Any]]:
    """Return the quality of the rankings that stand in a run; empty if no document of the benchmark is judged."""
    gold = gold_by_query(benchmark.qrels)
    wanted = {ranking.work_id: ranking.key for ranking in plan.of(Ranked)}
    datasets = [(query_id, query.dataset) for query_id, query in benchmark.queries.items()]
    queries = pl.DataFrame(datasets, schema={"query_id": pl.String, "dataset": pl.String}, orient="row")
    rankings = ranked_queries(run, wanted if gold else {}, max(experiment.cutoffs, default=0))
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


def packed_queries(run: Folder, wanted: Mapping[str, Packed]) -> pl.DataFrame:
    """
    Return one prompt for each query, ranker and budget, the first in the order of *wanted*, which is by work id.

    Retrieval is measured whatever the order of documents in the prompt.
    """
    made, names = run.locate("contexts"), ("retriever", "reranker", "budget_tokens", "query_id")
    asked = [(one, *(getattr(key, name) for name in names)) for one, key in wanted.items() if one in made]
    columns = {name: pl.Int64 if name == "budget_tokens" else pl.String for name in ("work_id", *names)}
    first = pl.DataFrame(asked, schema=columns, orient="row").unique(names, keep="first", maintain_order=True)
    parts = run.batches("contexts", work_ids={*first["work_id"]}, columns=_CONTEXT_COLUMNS)
    nothing = CONTEXTS.empty_table().select(_CONTEXT_COLUMNS)
    found = pl.concat(as_frame(part) for part in (nothing, *parts))
    return in_words(first.join(found, on="work_id", maintain_order="left"))
