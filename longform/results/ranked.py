"""Values of rankings: of rankers, of systems beside their summaries, and of two runs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from longform.axes import SystemAxes
from longform.evidence.scan import pl
from longform.evidence.scores import final, means, under, with_facts
from longform.metrics.measure import Measure, RankingMeasure
from longform.metrics.retrieval import AT_BUDGET, MEASURES, gold_recall
from longform.metrics.statistics import Estimate
from longform.results.aggregate import systems_of
from longform.results.differences import compare_runs
from longform.results.evidence import Evidence, summaries_under
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


# ---------------------------------------------------------------- systems


_PERFECT = "every ranking is perfect, as an oracle's is"
_WHOLE = "prompts hold all documents, whatever their rank"
_ROUNDING = 1e-9

_Placed = tuple[str | None, str]
"""A ranker in words on a data set."""


def _values(values: pl.DataFrame) -> dict[str, dict[str, dict[str, float]]]:
    """Ranker in words -> measure -> query -> value."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for ranker, measure, query, value in values.select("system", "name", "query_id", "total").iter_rows():
        found.setdefault(ranker, {}).setdefault(measure, {})[query] = value
    return found


def _showing_all(evidence: Evidence, queries: pl.DataFrame) -> set[_Placed]:
    """Return the rankers whose prompts without a budget hold all documents of each haystack of a data set."""
    packed = evidence.contexts().filter(pl.col("budget_tokens").fill_null(0) == 0)
    known = packed.join(queries, on="query_id").drop_nulls("haystack_id")
    n_documents = {one: len(evidence.documents(one)) for one in known["haystack_id"].unique()}
    n_all = pl.Series("n_all", [n_documents[one] for one in known["haystack_id"]], dtype=pl.Int64)
    return _always(known.with_columns(n_all), pl.col("doc_ids").list.len() == pl.col("n_all"))


def _always(rows: pl.DataFrame, holds: pl.Expr) -> set[_Placed]:
    """Return the rankers on a data set of which something holds in all *rows*."""
    found = rows.group_by("dataset", "system").agg(holds=holds.all())
    return {(dataset, system) for dataset, system, of_all in found.iter_rows() if of_all}


class RankedSystem(NamedTuple):
    """The summaries of a system under a judge, or by measures that need none."""

    judge: str | None
    name: tuple[str | None, str, str]  # data set, summarizer and setting
    measures: Sequence[Measure]
    facts: pl.DataFrame
    scores: pl.DataFrame  # means over the repeats of the judge, with `facts`
    ranked: Mapping[str, Mapping[str, float]]  # measure of rankings -> query -> value; empty: it ranks nothing
    left_out: str | None  # why it stands in no correlation; None: it does

    @property
    def correlates(self) -> bool:
        return bool(self.ranked) and self.left_out is None

    def by(self, measure: str) -> pl.DataFrame:
        return self.scores.filter(pl.col("measure") == measure)


def ranked_systems(evidence: Evidence, measures: Sequence[Measure]) -> Iterator[RankedSystem]:
    """
    Yield each system under each judge; no twins, and none whose documents were ordered on purpose.

    There are none if the run ranks nothing, or no document is judged.
    """
    if not measures or not evidence.cutoffs:
        return
    columns = pl.col("query_id", "dataset", "haystack_id").cast(pl.String)
    queries = evidence.frames.summaries.select(columns).unique("query_id", keep="last").collect()
    every = ranked_values(evidence.rankings(), evidence.gold, queries, MEASURES, [max(evidence.cutoffs)])
    listed = every.filter(pl.col("name").is_in([one.name for one in evidence.ranking_measures]))
    if not (values := _values(listed)):
        return
    perfect = _always(every.filter(pl.col("name") == "nDCG"), pl.col("total") > 1 - _ROUNDING)
    table, whole = evidence.score_table, _showing_all(evidence, queries)
    arms = pl.col("order").is_not_null() & (pl.col("order") != "given")
    others = pl.col("elsewhere") | pl.col("retriever").is_null()  # a ranker of the same name in this run is another
    for judge in table.judges:
        own = [measure for measure in measures if measure.name in table.measures(judge)]
        facts = final(summaries_under(evidence, judge)).filter(pl.col("twin_of").is_null(), ~arms, ~others)
        listed = under(table.frame, judge).filter(pl.col("measure").is_in([measure.name for measure in own]))
        scores = means(listed)
        for of_dataset in facts.partition_by("dataset", maintain_order=True):
            for name, group in systems_of(of_dataset).items():
                first = group.row(0, named=True)
                ranker = SystemAxes(first["retriever"], first["reranker"]).ranking
                unlimited = all(first[limit] is None for limit in ("budget_tokens", "n_documents", "length_tokens"))
                placed = first["dataset"], ranker
                why = _PERFECT if placed in perfect else _WHOLE if unlimited and placed in whole else None
                known = with_facts(scores, group)
                yield RankedSystem(judge, (placed[0], *name), own, group, known, values.get(ranker, {}), why)


# ---------------------------------------------------------------- of two runs


def compare_rankings(
    values: pl.DataFrame,
    runs: tuple[str, str],
    *,
    datasets: Sequence[str | None],
    pairs: Sequence[tuple[str, str]],
    seed: int,
) -> tuple[Table, Mapping[str, float]]:
    """
    Return all differences of two runs' rankings, as second less first: a family of their own.

    So whether a run ranks moves no p-value of its summaries. Rankings that are the same in both runs stand in no
    report, but for a sentence. The *values* are `ranked_values` of both on their common queries, with the name of the
    `run`; *pairs* are rankers of the first and of the second run, in words, and rows stand in the order of *datasets*.
    """
    names = values["measure"].unique(maintain_order=True)
    table, family = compare_runs(
        values.with_columns(judge=pl.lit(None, pl.String)),
        runs,
        "retrieval",
        datasets=datasets,
        measures={None: [{"name": name, "unit": "points", "better": "higher"} for name in names]},
        pairs=pairs,
        seed=seed,
        enough=all,
    )
    differing = (row["difference"] for row in table.rows if row["aside"] is None)
    if any(isinstance(one, Estimate) and one[:3] != (0, 0, 0) for one in differing):
        return table, family
    why = "the rankings of both runs have the same scores on every query"
    return table._replace(rows=[{**row, "aside": row["aside"] or why} for row in table.rows]), family
