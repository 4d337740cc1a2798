"""
Do better rankings make better summaries? Each system's retrieval beside its summaries, and how the two correlate.

Over systems: the settings of one summarizer, each by its means (MSRS, Tables 4 to 7). Over queries: those of one
system. Both sides of a correlation are of the same queries. A system whose every ranking is perfect was told the gold
documents: it stands in the table and in no correlation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Literal, NamedTuple, TypedDict

import numpy as np

from longform.keys import stable_seed
from longform.metrics.correlation import FEWEST, Correlation, Resampling
from longform.metrics.measure import Measure
from longform.metrics.retrieval import MEASURES, ndcg_at
from longform.metrics.statistics import Array, EstimateColumns, pooled_mean, ratio
from longform.results.aggregate import (
    Averaging,
    Scored,
    averaged,
    cluster_totals,
    estimate,
    final_summaries,
    scored_summaries,
    systems_of,
)
from longform.results.columns import OfJudge
from longform.results.evidence import Evidence
from longform.results.ranked import Ranker

Level = Literal["systems", "queries"]
_CONSTANT = "all values of a side are the same"


class GenerationCell(TypedDict):
    """The score of a system's summaries by a measure, under a judge or none."""

    judge: str | None
    measure: str
    score: EstimateColumns


class JointRow(TypedDict):
    """A system: measures of its ranking at K and of its summaries."""

    dataset: str | None
    summarizer: str
    setting: str
    perfect: bool  # whether every ranking is perfect: left out of correlations
    retrieval: dict[str, EstimateColumns]  # by measure; empty: it ranks nothing
    generation: list[GenerationCell]


class CorrelationRow(OfJudge):
    """A measure of rankings at K against one of summaries."""

    level: Level
    summarizer: str
    setting: str | None  # of the system whose queries are the points; null: the points are systems
    ranking_measure: str
    measure: str
    n: int  # points
    n_queries: int
    pearson: EstimateColumns
    spearman: EstimateColumns
    reason: str | None  # why there is no correlation; null: there is one


class RetrievalAgainstGeneration(TypedDict):
    k: int
    systems: list[JointRow]
    correlations: list[CorrelationRow]


def retrieval_against_generation(evidence: Evidence) -> RetrievalAgainstGeneration | None:
    """Return the table and the correlations; None if a run ranks nothing, scores nothing, or judges no document."""
    measures = [measure for measure in evidence.measures if measure.unit in ("points", "share")]
    values = _values(evidence)
    if not values or not measures:
        return None
    systems = list(_systems(evidence, measures, values))
    return {
        "k": max(evidence.cutoffs),
        "systems": [_joint_row(group, evidence.averaging) for group in _by_name(systems).values()],
        "correlations": [*_over_systems(systems, evidence.averaging), *_over_queries(systems, evidence.averaging)],
    }


Values = Mapping[Ranker, Mapping[str, Mapping[str, float]]]
"""Ranker -> measure -> query -> value."""


def _values(evidence: Evidence) -> Values:
    """Measure all rankings at the largest cutoff."""
    gold = {query: set[str]().union(*targets.values()) for query, targets in evidence.gold.items()}
    listed = [measure for measure in evidence.ranking_measures if measure in MEASURES]
    found: dict[Ranker, dict[str, dict[str, float]]] = {}
    for ranked in evidence.rankings() if gold and listed and evidence.cutoffs else ():
        for measure in listed:
            value = measure.at(ranked.doc_ids, gold.get(ranked.query_id, set()), max(evidence.cutoffs))
            if value is not None:
                found.setdefault(ranked.ranker, {}).setdefault(measure.name, {})[ranked.query_id] = value
        if found.get(ranked.ranker) and ranked.query_id in gold:
            perfect = ndcg_at(ranked.doc_ids, gold[ranked.query_id], max(evidence.cutoffs))
            found[ranked.ranker].setdefault(_PERFECT, {})[ranked.query_id] = perfect or 0.0
    return found


_PERFECT = "perfect"  # no measure is called so; nDCG, whether or not it is listed


class _System(NamedTuple):
    """
    The summaries of a system under a judge.

    Attributes:
        judge: None: of measures that need none.
        measures: That its summaries were scored by.
        group: The summaries, one a query and repeat.
        values: Measure of rankings -> query -> value; empty: it ranks nothing.
    """

    judge: str | None
    measures: Sequence[Measure]
    group: Sequence[Scored]
    values: Mapping[str, Mapping[str, float]]

    @property
    def name(self) -> tuple[str | None, str, str]:
        info = self.group[0].info
        return info.dataset, info.summarizer, info.setting

    @property
    def ranked(self) -> Mapping[str, Mapping[str, float]]:
        return {name: values for name, values in self.values.items() if name != _PERFECT}

    @property
    def is_perfect(self) -> bool:
        return bool(self.values) and all(value > 1 - 1e-9 for value in self.values[_PERFECT].values())


def _systems(evidence: Evidence, measures: Sequence[Measure], values: Values) -> Iterator[_System]:
    """Yield each system under each judge; no twins, and none whose documents were ordered on purpose."""
    table = evidence.score_table
    for judge in table.judges:
        own = [measure for measure in measures if measure.name in table.measures(judge)]
        summaries = [
            one
            for one in final_summaries(scored_summaries(table, judge, evidence.infos))
            if one.info.twin_of is None and one.info.order in (None, "given") and one.info.axes is not None
        ]
        for dataset in dict.fromkeys(one.info.dataset for one in summaries):
            for group in systems_of([one for one in summaries if one.info.dataset == dataset]).values():
                axes = group[0].info.axes
                assert axes is not None, "others are left out above"
                yield _System(judge, own, group, values.get(Ranker(axes.retriever, axes.reranker), {}))


def _by_name(systems: Sequence[_System]) -> dict[tuple[str | None, str, str], list[_System]]:
    found: dict[tuple[str | None, str, str], list[_System]] = {}
    for system in systems:
        found.setdefault(system.name, []).append(system)
    return found


# ---------------------------------------------------------------- the table


def _joint_row(group: Sequence[_System], how: Averaging) -> JointRow:
    """Return the row of one system, which *group* has under each judge."""
    first = group[0]
    dataset, summarizer, setting = first.name
    queries = dict.fromkeys(one.info.query_id for one in first.group)
    return {
        "dataset": dataset,
        "summarizer": summarizer,
        "setting": setting,
        "perfect": first.is_perfect,
        "retrieval": {name: _mean(values, queries, how) for name, values in first.ranked.items()},
        "generation": [
            {
                "judge": system.judge,
                "measure": measure.name,
                "score": estimate(system.group, measure.name, how).scaled(measure.factor).as_json(),
            }
            for system in group
            for measure in system.measures
        ],
    }


def _mean(values: Mapping[str, float], queries: Mapping[str, None], how: Averaging) -> EstimateColumns:
    own = {query: values[query] for query in queries if query in values}
    totals, counts = np.array(list(own.values())), np.ones(len(own))
    return pooled_mean(totals, counts, list(own), seed=how.seed, resamples=how.resamples).as_json()


# ---------------------------------------------------------------- correlations


def _over_systems(systems: Sequence[_System], how: Averaging) -> Iterator[CorrelationRow]:
    """Yield the rows whose points are the settings of one summarizer."""
    families: dict[tuple[str | None, str | None, str], list[_System]] = {}
    for system in systems:
        if system.ranked and not system.is_perfect:
            families.setdefault((system.judge, *system.name[:2]), []).append(system)
    for members in families.values():
        clusters = sorted({one.info.cluster for member in members for one in member.group})
        resampling = Resampling(clusters, seed=_seed(how, members[0]), resamples=how.resamples)
        for name, measure in product(members[0].ranked, members[0].measures):
            sides = [_sides(member, name, measure.name, clusters, how) for member in members]
            both = [(first, second) for first, second in sides if first[:, 1].any() and second[:, 1].any()]
            found = resampling.of_means(*(np.array(side) for side in zip(*both, strict=True))) if both else _NOTHING
            queries = {one.info.query_id for member in members for one in member.group}
            yield _row("systems", members[0], name, measure.name, found, n_queries=len(queries))


def _over_queries(systems: Sequence[_System], how: Averaging) -> Iterator[CorrelationRow]:
    """Yield the rows whose points are the queries of one system."""
    for system in systems:
        if not system.ranked or system.is_perfect:
            continue
        cluster_of = {one.info.query_id: one.info.cluster for one in system.group}
        resampled: dict[tuple[str, ...], Resampling] = {}
        for name, measure in product(system.ranked, system.measures):
            ranked, written = system.ranked[name], _by_query(system, measure.name)
            queries = tuple(query for query in cluster_of if query in ranked and query in written)
            if queries not in resampled:
                clusters = [cluster_of[query] for query in queries]
                resampled[queries] = Resampling(clusters, seed=_seed(how, system), resamples=how.resamples)
            x, y = (np.array([side[query] for query in queries]) for side in (ranked, written))
            found = resampled[queries].of_items(x, y)
            yield _row("queries", system, name, measure.name, found, n_queries=len(queries))


def _seed(how: Averaging, system: _System) -> int:
    return stable_seed(how.seed, "retrieval against generation", *system.name)


_NOTHING = Resampling(["nothing"], seed=0, resamples=0).of_items(np.array([]), np.array([]))


def _sides(system: _System, name: str, measure: str, clusters: Sequence[str], how: Averaging) -> tuple[Array, Array]:
    """Return totals and counts of each cluster, of rankings and of summaries; of queries that have both."""
    ranked, written = system.ranked[name], _by_query(system, measure)
    own = [one for one in system.group if one.info.query_id in ranked and one.info.query_id in written]
    place = {cluster: index for index, cluster in enumerate(clusters)}
    sums = np.zeros((len(clusters), 2))
    for query, cluster in {one.info.query_id: one.info.cluster for one in own}.items():
        sums[place[cluster]] += (ranked[query], 1)
    return sums, cluster_totals(own, clusters, measure, how.aggregate)


def _by_query(system: _System, measure: str) -> dict[str, float]:
    """Query -> the score of its summary; repeats are averaged."""
    by_query: dict[str, list[Scored]] = {}
    for one in system.group:
        by_query.setdefault(one.info.query_id, []).append(one)
    found = {query: averaged(group, measure) for query, group in by_query.items()}
    sums = {query: np.array([[row.total, row.n] for row in rows]).sum(axis=0) for query, rows in found.items() if rows}
    return {query: float(ratio(total[None, :])[0]) for query, total in sums.items()}


def _row(
    level: Level, system: _System, name: str, measure: str, found: Correlation, *, n_queries: int
) -> CorrelationRow:
    dataset, summarizer, setting = system.name
    n, reason = found.pearson.n, None
    if n < FEWEST:
        reason = f"expected {FEWEST} or more {level} that have both, found {n}"
    elif found.pearson.value is None:
        reason = _CONSTANT
    return {
        "judge": system.judge,
        "dataset": dataset,
        "level": level,
        "summarizer": summarizer,
        "setting": None if level == "systems" else setting,
        "ranking_measure": name,
        "measure": measure,
        "n": n,
        "n_queries": n_queries,
        "pearson": found.pearson.as_json(),
        "spearman": found.spearman.as_json(),
        "reason": reason,
    }
