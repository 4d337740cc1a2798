"""Rank quality of each retriever, and the gold in its prompts: one row a system and measure, intervals over queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from longform.evidence.scan import pl
from longform.metrics.retrieval import AT_BUDGET, MEASURES
from longform.metrics.statistics import Estimate, pooled_mean
from longform.results.aggregate import Averaging
from longform.results.differences import of_dataset
from longform.results.evidence import Evidence
from longform.results.ranked import packed_values, ranked_values
from longform.tables.table import CUT, DATASET, Column, Table

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
        if rankings.is_empty() or not evidence.gold:
            return None
        of_queries = [*evidence.datasets.items()]
        queries = pl.DataFrame(of_queries, schema={"query_id": pl.String, "dataset": pl.String}, orient="row")
        listed = [measure for measure in evidence.ranking_measures if measure in MEASURES]
        values = ranked_values(rankings, evidence.gold, queries, listed, evidence.cutoffs)
        packed = packed_values(contexts, evidence.gold).join(queries, on="query_id", maintain_order="left")
        names = pl.concat(own.select("system", "retriever", "reranker") for own in (rankings, contexts))
        named, how = {row["system"]: row for row in names.unique("system").to_dicts()}, evidence.averaging
        rows: list[Row] = []
        for dataset in dict.fromkeys(evidence.datasets.values()):
            means: dict[str, dict[str, Estimate]] = {}
            for (system, measure), own in _parts(of_dataset(values, dataset), "measure"):
                means.setdefault(system, {})[measure] = _mean(own, how)
            prompts = {
                (system, budget): (_mean(own.filter(pl.col("n") > 0), how), float(own["cut_share"].to_numpy().mean()))
                for (system, budget), own in _parts(of_dataset(packed, dataset), "budget_tokens")
            }
            rows += [{"dataset": dataset, **row, **named[row["system"]]} for row in measured(means, prompts)]
        return table(rows) if rows else None


def _parts(values: pl.DataFrame, by: str) -> Iterable[tuple[tuple[Any, ...], pl.DataFrame]]:
    return values.partition_by("system", by, as_dict=True, maintain_order=True).items()


def _mean(own: pl.DataFrame, how: Averaging) -> Estimate:
    total, n = (own[name].cast(pl.Float64).to_numpy() for name in ("total", "n"))
    return pooled_mean(total, n, own["query_id"].to_list(), seed=how.seed, resamples=how.resamples)


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


def measured(
    rankings: Mapping[str, Mapping[str, Estimate]], prompts: Mapping[tuple[str, int | None], tuple[Estimate, float]]
) -> list[Row]:
    """
    Return rows of each ranker and budget, best recall first; a ranker without a prompt has them of no budget.
    *rankings* maps a ranker and a measure to its mean, *prompts* a ranker and a budget to the recall, and the share of
    its prompts that the budget cut.
    """
    with_prompts = {system for system, _ in prompts}
    others = {(system, None): (_UNKNOWN, None) for system in rankings if system not in with_prompts}
    found = [*prompts.items(), *others.items()]
    return [
        {
            "system": system,
            "in_sample": [],
            "budget_tokens": budget,
            "measure": measure,
            "score": score.as_json(),
            "cut_share": cut_share,
        }
        for (system, budget), (recall, cut_share) in sorted(
            found, key=lambda one: (-(one[1][0].value or 0.0), one[0][0])
        )
        for measure, score in {AT_BUDGET.name: recall, **rankings.get(system, {})}.items()
    ]
