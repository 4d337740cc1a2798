"""
Do better rankings make better summaries? Each system's retrieval beside its summaries, and how the two correlate.

Over systems: the settings of one summarizer, each by its means (MSRS, Tables 4 to 7). Over queries: those of one
system. Both sides of a correlation are of the same queries. A system that was told the gold documents, or that shows
all documents whatever their rank, stands in the table and in no correlation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Literal, TypedDict

import numpy as np

from longform.keys import stable_seed
from longform.metrics.correlation import FEWEST, Correlation, Resampling
from longform.metrics.statistics import Array, EstimateColumns, pooled_mean, ratio
from longform.results.aggregate import (
    Averaging,
    Scored,
    averaged,
    cluster_totals,
    estimate,
)
from longform.results.columns import OfJudge
from longform.results.evidence import Evidence
from longform.results.ranked_systems import RankedSystem, ranked_systems

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
    left_out: str | None  # why it stands in no correlation; null: it stands in them, or ranks nothing
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
    systems = list(ranked_systems(evidence, measures))
    if not systems:
        return None
    return {
        "k": max(evidence.cutoffs),
        "systems": [_joint_row(group, evidence.averaging) for group in _by_name(systems).values()],
        "correlations": [*_over_systems(systems, evidence.averaging), *_over_queries(systems, evidence.averaging)],
    }


def _by_name(systems: Sequence[RankedSystem]) -> dict[tuple[str | None, str, str], list[RankedSystem]]:
    found: dict[tuple[str | None, str, str], list[RankedSystem]] = {}
    for system in systems:
        found.setdefault(system.name, []).append(system)
    return found


# ---------------------------------------------------------------- the table


def _joint_row(group: Sequence[RankedSystem], how: Averaging) -> JointRow:
    """Return the row of one system, which *group* has under each judge."""
    first = group[0]
    dataset, summarizer, setting = first.name
    queries = dict.fromkeys(one.info.query_id for one in first.group)
    return {
        "dataset": dataset,
        "summarizer": summarizer,
        "setting": setting,
        "left_out": first.left_out,
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


def _over_systems(systems: Sequence[RankedSystem], how: Averaging) -> Iterator[CorrelationRow]:
    """Yield the rows whose points are the settings of one summarizer."""
    families: dict[tuple[str | None, str | None, str], list[RankedSystem]] = {}
    for system in systems:
        if system.correlates:
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


def _over_queries(systems: Sequence[RankedSystem], how: Averaging) -> Iterator[CorrelationRow]:
    """Yield the rows whose points are the queries of one system."""
    for system in systems:
        if not system.correlates:
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


def _seed(how: Averaging, system: RankedSystem) -> int:
    return stable_seed(how.seed, "retrieval against generation", *system.name)


_NOTHING = Resampling(["nothing"], seed=0, resamples=0).of_items(np.array([]), np.array([]))


def _sides(
    system: RankedSystem, name: str, measure: str, clusters: Sequence[str], how: Averaging
) -> tuple[Array, Array]:
    """Return totals and counts of each cluster, of rankings and of summaries; of queries that have both."""
    ranked, written = system.ranked[name], _by_query(system, measure)
    own = [one for one in system.group if one.info.query_id in ranked and one.info.query_id in written]
    place = {cluster: index for index, cluster in enumerate(clusters)}
    sums = np.zeros((len(clusters), 2))
    for query, cluster in {one.info.query_id: one.info.cluster for one in own}.items():
        sums[place[cluster]] += (ranked[query], 1)
    return sums, cluster_totals(own, clusters, measure, how.aggregate)


def _by_query(system: RankedSystem, measure: str) -> dict[str, float]:
    """Query -> the score of its summary; repeats are averaged."""
    by_query: dict[str, list[Scored]] = {}
    for one in system.group:
        by_query.setdefault(one.info.query_id, []).append(one)
    found = {query: averaged(group, measure) for query, group in by_query.items()}
    sums = {query: np.array([[row.total, row.n] for row in rows]).sum(axis=0) for query, rows in found.items() if rows}
    return {query: float(ratio(total[None, :])[0]) for query, total in sums.items()}


def _row(
    level: Level, system: RankedSystem, name: str, measure: str, found: Correlation, *, n_queries: int
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
