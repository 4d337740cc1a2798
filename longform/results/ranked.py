"""Values of rankings: of rankers, of systems beside their summaries, and of two runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import product
from typing import Any

from longform.evidence.scan import pl
from longform.metrics.measure import RankingMeasure
from longform.metrics.retrieval import AT_BUDGET, MEASURES, gold_recall
from longform.results.differences import compare_runs
from longform.tables.table import Table


def ranked_values(
    rankings: pl.DataFrame,
    gold: Mapping[str, Mapping[str, Collection[str]]],
    queries: pl.DataFrame,
    measures: Sequence[RankingMeasure],
    cutoffs: Sequence[int],
) -> pl.DataFrame:
    """
    Return a row for each ranking of one of *queries* that has gold documents, measure and cutoff.

    Its `total` of `n`, 1, is the value by the `measure` with its cutoff, such as nDCG@10, of which `name` and `k` are
    the parts; `system` is the ranker in words, beside the columns of its query. *gold* is by query and target.
    """
    judged = {query: set[str]().union(*targets.values()) for query, targets in gold.items()}
    rows = [
        (system, query_id, measure.name, k, f"{measure.name}@{k}", value, 1)
        for system, query_id, doc_ids in rankings.select("system", "query_id", "doc_ids").iter_rows()
        for measure, k in product(measures, cutoffs)
        if (value := measure.at(doc_ids, judged.get(query_id, ()), k)) is not None
    ]
    columns = {"system": pl.String, "query_id": pl.String, "name": pl.String, "k": pl.Int64, "measure": pl.String}
    found = pl.DataFrame(rows, schema={**columns, "total": pl.Float64, "n": pl.Int64}, orient="row")
    known = queries.with_columns(pl.col("query_id", "dataset").cast(pl.String))
    return found.join(known, on="query_id", maintain_order="left")


def packed_values(contexts: pl.DataFrame, gold: Mapping[str, Mapping[str, Collection[str]]]) -> pl.DataFrame:
    """Return a row for each prompt: `total` sums the shares of the documents of `n` insights that it holds."""
    sums = []
    for query_id, doc_ids in contexts.select("query_id", "doc_ids").iter_rows():
        recalls = [gold_recall(doc_ids, documents) for documents in gold.get(query_id, {}).values()]
        known = [recall for recall in recalls if recall is not None]
        sums.append((sum(known), len(known)))
    found = pl.DataFrame(sums, schema={"total": pl.Float64, "n": pl.Int64}, orient="row")
    return pl.concat([contexts, found], how="horizontal").with_columns(measure=pl.lit(AT_BUDGET.name))


def ranking_rows(values: pl.DataFrame) -> list[dict[str, Any]]:
    """Return means in percent, one row a data set, system and cutoff."""
    of = ["dataset", "system", "k"]
    means_ = [(100 * pl.col("total").filter(pl.col("name") == one.name).mean()).alias(one.name) for one in MEASURES]
    found = values.group_by(of, maintain_order=True).agg(*means_, n=pl.col("query_id").n_unique())
    return found.rename({"nDCG": "NDCG"}).to_dicts()


def compare_rankings(
    values: pl.DataFrame,
    runs: tuple[str, str],
    *,
    datasets: Sequence[str | None],
    pairs: Sequence[tuple[str, str]],
    seed: int,
) -> Table:
    """
    Return all differences of two runs' rankings: a family of their own, so whether a run ranks moves no other p-value.

    The *values* are `ranked_values` of both on their common queries, with the name of the `run`; *pairs* are rankers of
    the first and of the second run, in words.
    """
    measures = [
        {"name": name, "unit": "points", "better": "higher"} for name in values["measure"].unique(maintain_order=True)
    ]
    unjudged = values.with_columns(judge=pl.lit(None, pl.String))
    return compare_runs(
        unjudged,
        runs,
        "retrieval",
        datasets=datasets,
        measures={None: measures},
        pairs=pairs,
        seed=seed,
        of_rankings=True,
    )
