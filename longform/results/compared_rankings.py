"""
The rankings of two runs on the queries that both have: differences by every measure and cutoff.

The tests are those of `longform.results.compared_runs`, as a family of their own: whether a run ranks moves no p-value
of its summaries.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from longform.metrics.measure import Description, RankingMeasure
from longform.results.aggregate import SummaryInfo
from longform.results.compared_runs import Family, PairedRow, PairSums, tested
from longform.results.ranked import RankedQuery, Ranker
from longform.results.retrieval_pairs import Values, ranked_values, value_sums


class RunRankings(NamedTuple):
    """
    The rankings of one run.

    Attributes:
        label: The run's name.
        rankings: Of any queries.
    """

    label: str
    rankings: Sequence[RankedQuery]


class RankedHow(NamedTuple):
    """
    The measures of two runs' rankings.

    Attributes:
        measures: In the order of the rows.
        cutoffs: K of each.
        only: Names, with or without a cutoff, such as nDCG or nDCG@10; none: all.
        seed: Of drawn sign changes.
    """

    measures: Sequence[RankingMeasure]
    cutoffs: Sequence[int]
    only: frozenset[str]
    seed: int


def compare_rankings(
    first: RunRankings,
    second: RunRankings,
    *,
    infos: Mapping[str, SummaryInfo],
    gold: Mapping[str, Collection[str]],
    pairs: Sequence[tuple[Ranker, Ranker]],
    how: RankedHow,
) -> tuple[list[PairedRow], Family]:
    """
    Return all differences, as second less first, and what they share.

    Args:
        first: The one run.
        second: The other.
        infos: Query -> any summary of it, whose data set and cluster are the query's; of common queries.
        gold: Query -> its gold documents.
        pairs: Rankers of the first and of the second run.
        how: The measures.
    """
    sides = [
        ranked_values([one for one in run.rankings if one.query_id in infos], gold, how.measures, how.cutoffs)
        for run in (first, second)
    ]
    found = [
        pair
        for dataset in dict.fromkeys(info.dataset for info in infos.values())
        for (measure, name), values in sides[0].items()
        if not how.only or how.only & {name, measure.name}
        for rankers in pairs
        for pair in _sums(
            _description(measure, name),
            rankers,
            (values.get(rankers[0].words, {}), sides[1][measure, name].get(rankers[1].words, {})),
            {query: info for query, info in infos.items() if info.dataset == dataset},
        )
    ]
    return tested(found, (first.label, second.label), seed=how.seed)


def _description(measure: RankingMeasure, name: str) -> Description:
    return {
        "name": name,
        "title": name,
        "unit": "points",
        "better": "higher",
        "told": measure.told,
        "judged_by": None,
    }


def _sums(
    measure: Description,
    rankers: tuple[Ranker, Ranker],
    values: tuple[Values, Values],
    infos: Mapping[str, SummaryInfo],
) -> Iterator[PairSums]:
    """Yield the sums of two rankers on one data set; nothing if one of them ranks nothing of it."""
    there = [{query: value for query, value in side.items() if query in infos} for side in values]
    if not all(there):
        return
    both = [query for query in infos if all(query in side for side in there)]
    cluster_of = {query: infos[query].cluster for query in both}
    clusters = sorted(set(cluster_of.values()))
    first, second = (value_sums({query: side[query] for query in both}, clusters, cluster_of) for side in there)
    left_out = len(set().union(*there)) - len(both)
    dataset = next(iter(infos.values())).dataset
    names = (rankers[0].words, rankers[1].words)
    yield PairSums(dataset, None, measure, names, clusters, first, second, len(both), left_out)
