"""Values of rankings: of rankers, of systems beside their summaries, and of two runs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from longform.evidence.scan import pl
from longform.evidence.scores import final, means, under, with_facts
from longform.metrics.measure import Description, Measure, RankingMeasure
from longform.metrics.retrieval import MEASURES, ndcg_at
from longform.metrics.statistics import Array, Estimate
from longform.results.aggregate import systems_of
from longform.results.compared_runs import Differences, PairSums, tested
from longform.results.evidence import Evidence, RankedQuery, Ranker, summaries_under
from longform.tables.table import Table, Value

Values = Mapping[str, tuple[float, int]]
"""Query -> total and count."""


def ranked_values(
    rankings: Sequence[RankedQuery],
    gold: Mapping[str, Collection[str]],
    measures: Sequence[RankingMeasure],
    cutoffs: Sequence[int],
) -> dict[tuple[RankingMeasure, str], dict[str, Values]]:
    """Return (measure, its name with the cutoff) -> ranker in words -> its value for each query with gold documents."""
    found: dict[tuple[RankingMeasure, str], dict[str, dict[str, tuple[float, int]]]] = {}
    for measure, k in product(measures, cutoffs):
        of_measure = found.setdefault((measure, f"{measure.name}@{k}"), {})
        for one in rankings:
            if (value := measure.at(one.doc_ids, gold.get(one.query_id, ()), k)) is not None:
                of_measure.setdefault(one.ranker.words, {})[one.query_id] = (value, 1)
    return {measure: dict(values) for measure, values in found.items()}


def value_sums(values: Values, clusters: Sequence[str], cluster_of: Mapping[str, str]) -> Array:
    """Return totals and counts of each cluster, shape (clusters, 2)."""
    place = {cluster: row for row, cluster in enumerate(clusters)}
    sums: Array = np.zeros((len(clusters), 2))
    for query, (total, n) in values.items():
        sums[place[cluster_of[query]]] += (total, n)
    return sums


def ranking_rows(
    rankings: Sequence[RankedQuery],
    gold: Mapping[str, set[str]],
    datasets: Mapping[str, str | None],
    cutoffs: Sequence[int],
) -> list[dict[str, Any]]:
    """Return means in percent, one row a data set, system and cutoff; none of a data set without gold documents."""
    members: dict[tuple[str | None, str], list[RankedQuery]] = {}
    for ranked in rankings:
        if gold.get(ranked.query_id):
            members.setdefault((datasets.get(ranked.query_id), ranked.ranker.words), []).append(ranked)
    return [
        _ranking_row(dataset, system, k, [(one.doc_ids, gold[one.query_id]) for one in found])
        for (dataset, system), found in members.items()
        for k in cutoffs
    ]


def _ranking_row(
    dataset: str | None, system: str, k: int, rankings: Sequence[tuple[Sequence[str], set[str]]]
) -> dict[str, Any]:
    """Return the means of *rankings*, each a list of documents and its gold."""
    p, r, ndcg, mean_precision = (
        100 * float(np.mean([measure.at(doc_ids, gold, k) for doc_ids, gold in rankings])) for measure in MEASURES
    )
    n = len(rankings)
    means = {"P": p, "R": r, "NDCG": ndcg, "MAP": mean_precision}
    return {"dataset": dataset, "system": system, "k": k, **means, "n": n}


# ---------------------------------------------------------------- systems


_PERFECT = "every ranking is perfect, as an oracle's is"
_WHOLE = "prompts hold all documents, whatever their rank"
_ROUNDING = 1e-9

_Placed = tuple[str | None, Ranker]
"""A ranker on a data set."""


def _gold(evidence: Evidence) -> dict[str, set[str]]:
    """Query -> its gold documents."""
    return {query: set[str]().union(*targets.values()) for query, targets in evidence.gold.items()}


def _values(evidence: Evidence, rankings: Sequence[RankedQuery]) -> dict[str, dict[str, Mapping[str, float]]]:
    """Measure all rankings at the largest cutoff: ranker in words -> measure -> query -> value."""
    listed = [measure for measure in evidence.ranking_measures if measure in MEASURES]
    found: dict[str, dict[str, Mapping[str, float]]] = {}
    for (measure, _), of_rankers in ranked_values(rankings, _gold(evidence), listed, [max(evidence.cutoffs)]).items():
        for ranker, values in of_rankers.items():
            found.setdefault(ranker, {})[measure.name] = {query: value for query, (value, _) in values.items()}
    return found


def _of_queries(evidence: Evidence, column: str) -> dict[str, Any]:
    """Query -> a column of its summaries."""
    return dict(evidence.frames.summaries.select("query_id", column).collect().iter_rows())


def _perfect(evidence: Evidence, rankings: Sequence[RankedQuery]) -> set[_Placed]:
    """Return the rankers whose first documents are gold ones for every query of a data set, as many as there are."""
    gold, datasets, found = _gold(evidence), _of_queries(evidence, "dataset"), dict[_Placed, bool]()
    for ranked in rankings:
        gain = ndcg_at(ranked.doc_ids, gold.get(ranked.query_id, set()), max(evidence.cutoffs))
        if gain is not None:
            key = datasets.get(ranked.query_id), ranked.ranker
            found[key] = found.get(key, True) and gain > 1 - _ROUNDING
    return {ranker for ranker, is_perfect in found.items() if is_perfect}


def _showing_all(evidence: Evidence) -> set[_Placed]:
    """Return the rankers whose prompts without a budget hold all documents of each haystack of a data set."""
    haystack_of, datasets = (_of_queries(evidence, column) for column in ("haystack_id", "dataset"))
    n_documents: dict[str, int] = {}
    found: dict[_Placed, bool] = {}
    for packed in evidence.contexts():
        haystack = haystack_of.get(packed.query_id)
        if packed.budget_tokens is None and haystack is not None:
            if haystack not in n_documents:
                n_documents[haystack] = len(evidence.documents(haystack))
            shows_all = len(packed.doc_ids) == n_documents[haystack]
            key = datasets.get(packed.query_id), packed.ranker
            found[key] = found.get(key, True) and shows_all
    return {ranker for ranker, shows_all in found.items() if shows_all}


class RankedSystem(NamedTuple):
    """
    The summaries of a system under a judge.

    Attributes:
        judge: None: of measures that need none.
        name: Data set, summarizer and setting.
        measures: The measures of its summaries.
        facts: Its summaries.
        scores: Means over the repeats of the judge, with `facts`.
        ranked: Measure of rankings -> query -> value; empty: it ranks nothing.
        left_out: Why it stands in no correlation; None: it does.
    """

    judge: str | None
    name: tuple[str | None, str, str]
    measures: Sequence[Measure]
    facts: pl.DataFrame
    scores: pl.DataFrame
    ranked: Mapping[str, Mapping[str, float]]
    left_out: str | None

    @property
    def correlates(self) -> bool:
        return bool(self.ranked) and self.left_out is None

    def by(self, measure: str) -> pl.DataFrame:
        return self.scores.filter(pl.col("measure") == measure)


_ARMS = pl.col("order").is_not_null() & (pl.col("order") != "given")
_OTHERS = pl.col("elsewhere") | pl.col("retriever").is_null()  # a ranker of the same name in this run is another


def ranked_systems(evidence: Evidence, measures: Sequence[Measure]) -> Iterator[RankedSystem]:
    """
    Yield each system under each judge; no twins, and none whose documents were ordered on purpose.

    There are none if the run ranks nothing, or no document is judged.
    """
    rankings = evidence.rankings() if measures and evidence.cutoffs else ()
    if not rankings or not (values := _values(evidence, rankings)):
        return
    table, perfect, whole = evidence.score_table, _perfect(evidence, rankings), _showing_all(evidence)
    for judge in table.judges:
        own = [measure for measure in measures if measure.name in table.measures(judge)]
        facts = final(summaries_under(evidence, judge)).filter(pl.col("twin_of").is_null(), ~_ARMS, ~_OTHERS)
        listed = under(table.frame, judge).filter(pl.col("measure").is_in([measure.name for measure in own]))
        scores = means(listed)
        for of_dataset in facts.partition_by("dataset", maintain_order=True):
            for name, group in systems_of(of_dataset).items():
                first = group.row(0, named=True)
                ranker = Ranker(first["retriever"], first["reranker"])
                unlimited = all(first[limit] is None for limit in ("budget_tokens", "n_documents", "length_tokens"))
                placed = first["dataset"], ranker
                why = _PERFECT if placed in perfect else _WHOLE if unlimited and placed in whole else None
                known = with_facts(scores, group)
                yield RankedSystem(judge, (placed[0], *name), own, group, known, values.get(ranker.words, {}), why)


# ---------------------------------------------------------------- of two runs


class RankedHow(NamedTuple):
    """
    The measures of two runs' rankings.

    Attributes:
        measures: The measures in the order of the rows.
        cutoffs: K of each.
        only: Names, with or without a cutoff, such as nDCG or nDCG@10; none: all.
        seed: The seed of drawn sign changes.
    """

    measures: Sequence[RankingMeasure]
    cutoffs: Sequence[int]
    only: frozenset[str]
    seed: int


def compare_rankings(
    rankings: Mapping[str, Sequence[RankedQuery]],
    *,
    queries: pl.DataFrame,
    gold: Mapping[str, Collection[str]],
    pairs: Sequence[tuple[Ranker, Ranker]],
    how: RankedHow,
) -> Differences:
    """
    Return all differences of two runs' rankings, as second less first: a family of their own.

    So whether a run ranks moves no p-value of its summaries.

    Args:
        rankings: The name of each run -> its rankings, of any queries.
        queries: The common ones, with the data set and the cluster of each.
        gold: Query -> its gold documents.
        pairs: Rankers of the first and of the second run.
        how: The measures.
    """
    common = {*queries["query_id"]}
    first, second = (
        ranked_values([one for one in own if one.query_id in common], gold, how.measures, how.cutoffs)
        for own in rankings.values()
    )
    found = [
        pair
        for own in queries.partition_by("dataset", maintain_order=True)
        for (measure, name), values in first.items()
        if not how.only or how.only & {name, measure.name}
        for one, other in pairs
        for pair in _ranking_sums(
            {**_OF_RANKINGS, "name": name, "title": name, "told": measure.told},
            (one, other),
            (values.get(one.words, {}), second[measure, name].get(other.words, {})),
            own,
        )
    ]
    labels = tuple(rankings)
    tested_ = tested(found, (labels[0], labels[1]), Table("retrieval", [], [], "Retrieval"), seed=how.seed)
    return tested_ if any(row["aside"] is None and _moved(row) for row in tested_.table.rows) else _unmoved(tested_)


_OF_RANKINGS: Description = {
    "name": "", "title": "", "unit": "points", "better": "higher", "told": "", "judged_by": None,
}  # fmt: skip


def _moved(row: Mapping[str, Value]) -> bool:
    difference = row["difference"]
    return isinstance(difference, Estimate) and difference[:3] != (0, 0, 0)


def _unmoved(found: Differences) -> Differences:
    """Keep rankings that are the same in both runs out of reports, but for a sentence."""
    why = "the rankings of both runs have the same scores on every query"
    rows = [{**row, "aside": row["aside"] or why} for row in found.table.rows]
    return found._replace(table=found.table._replace(rows=rows))


def _ranking_sums(
    measure: Description,
    rankers: tuple[Ranker, Ranker],
    values: tuple[Values, Values],
    queries: pl.DataFrame,
) -> Iterator[PairSums]:
    """Yield the sums of two rankers on the *queries* of one data set; nothing if one of them ranks nothing of it."""
    clusters_of = dict(queries.select("query_id", "cluster").iter_rows())
    there = [{query: value for query, value in side.items() if query in clusters_of} for side in values]
    if not all(there):
        return
    both = [query for query in clusters_of if all(query in side for side in there)]
    cluster_of = {query: clusters_of[query] for query in both}
    clusters = sorted(set(cluster_of.values()))
    first, second = (value_sums({query: side[query] for query in both}, clusters, cluster_of) for side in there)
    left_out = len(set().union(*there)) - len(both)
    names = (rankers[0].words, rankers[1].words)
    yield PairSums(queries.item(0, "dataset"), None, measure, names, clusters, first, second, len(both), left_out)
