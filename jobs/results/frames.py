"""Rankings, prompts and the verdicts of support judges of a run as frames, read from it a batch at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.stages.items import Item, Row
from jobs.stages.pack import Packed
from jobs.stages.retrieve import Ranked
from jobs.stages.stage import Plan
from jobs.stages.verdicts import Judged, with_repeats
from longform.evidence.scan import as_frame, pl
from longform.judges.kinds import KINDS
from longform.judges.means import merged_repeats
from longform.keys import in_groups
from longform.metrics.faithfulness import place_of, support_cells
from longform.metrics.measure import Verdict
from longform.metrics.position_bias import summary_places
from longform.metrics.retrieval import MEASURES
from longform.records import Qrel
from longform.results.ranked import ranked_values, ranking_rows
from longform.retrieval.ranking import NOT_RANKED, grades_told, own_documents_told
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


_CELL_COLUMNS = ["work_id", "doc_position", "text_index", "unit_index", "answer", "probability"]
_OF_REPEATS = ["summary_id", "mode", "target_id", "repeat", "reply", "linked_unit"]
_SUMMARIES_AT_ONCE = 64


def checked_summaries(run: Folder, checks: Sequence[Item[Judged]], *, all_cells: bool) -> pl.DataFrame:
    """
    Return a row for each support judge and summary, in the order of *checks*.

    `work_id` is that of the summary. Beside it stand what its prompt held (`is_ordered`, `n_given`), the cells of its
    verdicts (`n_cells`), and the columns of `SummaryPlaces`; those are null unless *all_cells* have a verdict.
    """
    repeats = {first.work_id: [one.work_id for one in (first, *more)] for first, *more in with_repeats(checks)}
    keys = {one.work_id: one.key for one in checks}
    asked = pl.DataFrame(
        [(name, keys[name].judge, keys[name].summary, keys[name].context) for name in repeats],
        schema=dict.fromkeys(["verdicts", "judge", "work_id", "context"], pl.String),
        orient="row",
    )
    contexts = run.read("contexts", work_ids=asked["context"].unique(), columns=["work_id", "order", "doc_ids"])
    prompts = as_frame(contexts).select(
        context="work_id", is_ordered=pl.col("order").is_not_null(), n_given=pl.col("doc_ids").list.len()
    )
    found = pl.concat([pl.DataFrame(schema=_FOUND), *_found(run, repeats, all_cells=all_cells)])
    joined = asked.join(prompts, on="context", how="left", maintain_order="left")
    joined = joined.join(found, on="verdicts", how="left", maintain_order="left")
    return joined.drop("verdicts", "context").with_columns(pl.col("n_cells").fill_null(0))


_FOUND: Mapping[str, Any] = {
    "verdicts": str,
    "n_cells": int,
    "numbers": list[float],
    "best": list[list[int]],
    "covered": list[float],
    "n_covered": list[float],
}


def _found(run: Folder, repeats: Mapping[str, Sequence[str]], *, all_cells: bool) -> Iterator[pl.DataFrame]:
    """Yield the cells of summaries part by part; *repeats* has the work ids of their verdicts by the first of them."""
    columns = _CELL_COLUMNS if all_cells else ["work_id"]
    for batch, first in _batches(run, repeats, columns):
        rows = in_groups((first[row["work_id"]], row) for row in batch.to_pylist())
        found: list[tuple[Any, ...]] = []
        for work_id, own in rows.items():
            if all_cells:
                merged = merged_repeats(KINDS["support"], own) if len(repeats[work_id]) > 1 else own
                cells = support_cells(map(_verdict, merged))
                found.append((work_id, cells.size, *(list(part) for part in summary_places(cells))))
            else:
                found.append((work_id, sum(row["work_id"] == work_id for row in own), *[None] * 4))
        yield pl.DataFrame(found, schema=_FOUND, orient="row")


def _batches(
    run: Folder, repeats: Mapping[str, Sequence[str]], columns: list[str]
) -> Iterator[tuple[pa.Table, Mapping[str, str]]]:
    """Yield verdicts part by part, or those of a few summaries at a time if these have repeats."""
    first = {one: name for name, work_ids in repeats.items() for one in work_ids}
    verdicts = run.snapshot("verdicts")
    if len(first) == len(repeats):
        yield from ((batch, first) for batch in verdicts.batches(work_ids=first, columns=columns))
        return
    names = list(repeats)
    for start in range(0, len(names), _SUMMARIES_AT_ONCE):
        some = [one for name in names[start : start + _SUMMARIES_AT_ONCE] for one in repeats[name]]
        yield verdicts.read(work_ids=some, columns=[*columns, *_OF_REPEATS]), first


def _verdict(row: Row) -> Verdict:
    number = KINDS["support"].number(row["answer"], row["probability"])
    place = place_of(row["doc_position"], row["text_index"])
    return Verdict(None, row["answer"], number, unit_index=row["unit_index"], doc_position=place)
