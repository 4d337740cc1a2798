"""
Every pair of rankers by every measure of rankings, with the tests of `longform.results.pairwise`.

A measure and cutoff is a family of its own, as a measure of summaries is. The independent units are those of the
summaries: queries, or haystacks if there are enough of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product
from typing import TypedDict

import numpy as np

from longform.metrics.measure import RankingMeasure
from longform.metrics.paired_differences import ALPHA, smallest_p
from longform.metrics.retrieval import AT_BUDGET, MEASURES, gold_recall
from longform.metrics.statistics import Array
from longform.results.aggregate import SummaryInfo
from longform.results.evidence import Evidence
from longform.results.pairs import all_pairs, best_of, signs_seed
from longform.results.pairwise import BestColumns, Sample, Tested, TestedColumns, best_columns, tested_columns
from longform.results.ranked import PackedQuery, RankedQuery

_POINTS = 100.0

Values = Mapping[str, tuple[float, int]]
"""Query -> total and count."""


class RankerColumns(TypedDict):
    """A ranker of a family."""

    system: str  # its name; for recall at budget with the budget
    score: float


class RankerFamily(TestedColumns):
    """All pairs of rankers by one measure, in points."""

    best: BestColumns | None  # null: nothing could be shown
    systems: list[RankerColumns]


def retrieval_pairs(evidence: Evidence) -> list[RankerFamily]:
    """Return the families of every data set, measure and cutoff; none of fewer than two rankers with gold documents."""
    rankings, contexts = evidence.rankings(), evidence.contexts()
    if not evidence.gold:
        return []
    infos = {info.query_id: info for info in evidence.infos.values()}
    found: list[RankerFamily] = []
    for dataset in dict.fromkeys(info.dataset for info in infos.values()):
        own = {query: info for query, info in infos.items() if info.dataset == dataset}
        named = [
            *ranked_values(
                [one for one in rankings if one.query_id in own],
                {query: frozenset[str]().union(*targets.values()) for query, targets in evidence.gold.items()},
                [measure for measure in evidence.ranking_measures if measure in MEASURES],
                evidence.cutoffs,
            ).items(),
            *_packed_values([one for one in contexts if one.query_id in own], evidence),
        ]
        for (measure, name), values in named:
            if family := _family(measure, name, values, own, seed=evidence.averaging.seed):
                found.append(family)
    return found


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


def _packed_values(
    contexts: Sequence[PackedQuery], evidence: Evidence
) -> Iterator[tuple[tuple[RankingMeasure, str], dict[str, Values]]]:
    """Yield recall at budget, a mean over insights; nothing if it is not listed."""
    if AT_BUDGET not in evidence.ranking_measures:
        return
    found: dict[str, dict[str, tuple[float, int]]] = {}
    for one in contexts:
        recalls = [gold_recall(one.doc_ids, documents) for documents in evidence.gold.get(one.query_id, {}).values()]
        known = [recall for recall in recalls if recall is not None]
        if known:
            budget = "no limit" if one.budget_tokens is None else f"{one.budget_tokens:,} tokens"
            found.setdefault(f"{one.ranker.words}, {budget}", {})[one.query_id] = (sum(known), len(known))
    yield (AT_BUDGET, AT_BUDGET.name), dict(found)


def _family(
    measure: RankingMeasure,
    name: str,
    values: Mapping[str, Values],
    infos: Mapping[str, SummaryInfo],
    *,
    seed: int,
) -> RankerFamily | None:
    systems = list(values)
    if len(systems) < 2:
        return None
    queries = {query for of_system in values.values() for query in of_system}
    own = [infos[query] for query in infos if query in queries]
    clusters = sorted({info.cluster for info in own})
    sums = [value_sums(values[system], clusters, {info.query_id: info.cluster for info in own}) for system in systems]
    scores = [float(total / n) for total, n in (of.sum(axis=0) for of in sums)]
    pairs = all_pairs(sums, seed=signs_seed(seed))
    shown = pairs is not None and smallest_p(len(clusters)) <= ALPHA
    best = best_of(pairs, scores, range(len(systems)), "higher") if shown else None
    tested = tested_columns(
        Tested(name, measure.title or name, "points", "higher", len(systems)),
        pairs,
        judge=None,
        dataset=own[0].dataset,
        sample=Sample.of(own, len(clusters)),
        factor=_POINTS,
    )
    return {
        **tested,
        "best": best_columns(systems, best),
        "systems": [
            {"system": system, "score": _POINTS * score} for system, score in zip(systems, scores, strict=True)
        ],
    }


def value_sums(values: Values, clusters: Sequence[str], cluster_of: Mapping[str, str]) -> Array:
    """Return totals and counts of each cluster, shape (clusters, 2)."""
    place = {cluster: row for row, cluster in enumerate(clusters)}
    sums: Array = np.zeros((len(clusters), 2))
    for query, (total, n) in values.items():
        sums[place[cluster_of[query]]] += (total, n)
    return sums
