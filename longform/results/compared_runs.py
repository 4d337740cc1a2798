"""
Two runs on the queries that both have: every difference of a pair of systems, tested together with all others.

All tests of a comparison are one family of `longform.metrics.paired_differences`: over all data sets, judges, measures
and pairs of systems. So p-values are adjusted for all of them, and an interval excludes 0 exactly if its p is at most
0.05. Pairs that have too few clusters for any difference to be shown are no members.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, NotRequired, TypedDict

import numpy as np

from longform.keys import stable_seed
from longform.metrics.cited_support import MAIN
from longform.metrics.measure import Description
from longform.metrics.paired_differences import Difference, n_sign_changes, paired_differences, smallest_p
from longform.metrics.statistics import LEVEL, Array
from longform.results.aggregate import (
    Averaging,
    Scored,
    SummaryInfo,
    cluster_totals,
    clusters_of,
    final_summaries,
    scored_summaries,
    systems_of,
)
from longform.results.columns import OfJudge
from longform.results.comparisons import MEASURE, NOT_DISTINGUISHABLE, TOO_FEW
from longform.results.groups import groups
from longform.results.pairs import signs_seed
from longform.results.score_table import ScoreTable
from longform.settings.system_names import SystemName

_POINTS = 100.0
NO_COMMON_QUERY = "no query has a score of both"
Finding = Literal[
    "first better", "second better", "first higher", "second higher", "not distinguishable", "too few", "none"
]


class RunScores(NamedTuple):
    """
    The scores of one run.

    Attributes:
        label: The run's name.
        infos: Summary id -> what is known of it, of the queries that are compared.
        table: All scores.
    """

    label: str
    infos: Mapping[str, SummaryInfo]
    table: ScoreTable

    def of_judge(self, judge: str | None, dataset: str | None) -> dict[SystemName, list[Scored]]:
        """Return the summaries of each system that have scores of a judge, of one data set."""
        if judge not in self.table.judges:
            return {}
        summaries = [one for one in scored_summaries(self.table, judge, self.infos) if one.info.dataset == dataset]
        found = systems_of(final_summaries(summaries))
        return {SystemName(summarizer, setting): group for (setting, summarizer), group in found.items()}

    def systems(self) -> list[SystemName]:
        """Return the systems that have summaries, in order of appearance."""
        return list(dict.fromkeys(SystemName(one.summarizer, one.setting) for one in self.infos.values()))


class PairedRow(OfJudge):
    """The difference of one pair of systems by one measure, in the measure's unit."""

    measure: str
    title: str
    unit: str
    first_system: str
    second_system: str
    first: float | None
    second: float | None
    difference: float | None  # second less first
    low: float | None
    high: float | None
    p: float | None  # adjusted for all tests of the comparison
    p_alone: NotRequired[float | None]  # of the pair alone, as in a run's own comparisons
    n_queries: int  # that have a score of both
    n_left_out: int  # common queries of which one of the two has no score
    n_clusters: int
    finding: Finding
    told: str


class GroupsRow(OfJudge):
    """Groups of systems of both runs that cannot be told apart."""

    measure: str
    title: str
    systems: list[str]  # with their runs, best first
    groups: list[list[str]] | None  # null: too few clusters, or too many groups
    n_clusters: int


class Family(TypedDict):
    """The numbers that all tests share."""

    n_tests: int
    n_clusters: int
    n_sign_changes: int
    level: float


class Tested(NamedTuple):
    """All differences of two runs."""

    rows: list[PairedRow]
    family: Family


class _Asked(NamedTuple):
    """The question to two runs: judges, measures, pairs of systems, and the averaging."""

    judges: Sequence[str | None]
    measures: Sequence[Description]
    pairs: Sequence[tuple[SystemName, SystemName]]
    how: Averaging


class PairSums(NamedTuple):
    """A test before it is made: totals and counts of each cluster of its data set, shape (clusters, 2)."""

    dataset: str | None
    judge: str | None
    measure: Description
    names: tuple[object, object]  # that say themselves in words
    clusters: Sequence[str]
    first: Array
    second: Array
    n_queries: int
    n_left_out: int

    @property
    def n_clusters(self) -> int:
        return int(((self.first[:, 1] > 0) & (self.second[:, 1] > 0)).sum())

    @property
    def factor(self) -> float:
        return _POINTS if self.measure["unit"] == "points" else 1.0


def clustered(*sides: Mapping[str, SummaryInfo]) -> list[dict[str, SummaryInfo]]:
    """Return the summaries of each run with the unit that is resampled, the same for all runs of a data set."""
    kinds = {row.dataset: row.kind for row in clusters_of(info for side in sides for info in side.values())}
    return [{key: info._replace(cluster_kind=kinds[info.dataset]) for key, info in side.items()} for side in sides]


def compare_runs(
    first: RunScores,
    second: RunScores,
    *,
    judges: Sequence[str | None],
    measures: Sequence[Description],
    pairs: Sequence[tuple[SystemName, SystemName]],
    how: Averaging,
) -> Tested:
    """
    Return all differences of two runs, as second less first.

    Args:
        first: The one run, of the common queries alone.
        second: The other, likewise.
        judges: That both have; None: measures without a judge.
        measures: In the order of the rows; those that both have of a judge are compared.
        pairs: Systems of the first and of the second run.
        how: Means are averaged, and signs drawn.
    """
    found = list(_pairs(first, second, _Asked(judges, measures, pairs, how)))
    return Tested(*tested(found, (first.label, second.label), seed=how.seed))


def tested(pairs: Sequence[PairSums], labels: tuple[str, str], *, seed: int) -> tuple[list[PairedRow], Family]:
    """
    Test all *pairs* as one family; return their rows, and what they share.

    Args:
        pairs: In the order of the rows.
        labels: Of the two runs.
        seed: Of the runs.
    """
    differences = _differences(pairs, signs_seed(seed))
    n_clusters = len({(one.dataset, cluster) for one in pairs for cluster in one.clusters})
    family: Family = {
        "n_tests": sum(not _too_few(one) for one in pairs),
        "n_clusters": n_clusters,
        "n_sign_changes": n_sign_changes(n_clusters),
        "level": LEVEL,
    }
    return [_row(*labels, pair, made) for pair, made in zip(pairs, differences, strict=True)], family


def _pairs(first: RunScores, second: RunScores, asked: _Asked) -> Iterator[PairSums]:
    for dataset in _datasets(first, second):
        for judge in asked.judges:
            sides = first.of_judge(judge, dataset), second.of_judge(judge, dataset)
            for measure in _in_both(asked.measures, first, second, judge):
                for names in asked.pairs:
                    one, other = (side.get(name, []) for side, name in zip(sides, names, strict=True))
                    if one or other:
                        sums = _paired_sums((one, other), measure["name"], asked.how)
                        yield PairSums(dataset, judge, measure, names, *sums)


def _datasets(*runs: RunScores) -> list[str | None]:
    return list(dict.fromkeys(info.dataset for run in runs for info in run.infos.values()))


def _in_both(
    measures: Iterable[Description], first: RunScores, second: RunScores, judge: str | None
) -> list[Description]:
    both = set(first.table.measures(judge)) & set(second.table.measures(judge))
    return [measure for measure in measures if measure["name"] in both]


class _Sums(NamedTuple):
    """The last fields of a `PairSums`."""

    clusters: Sequence[str]
    first: Array
    second: Array
    n_queries: int
    n_left_out: int


def _paired_sums(sides: tuple[Sequence[Scored], Sequence[Scored]], measure: str, how: Averaging) -> _Sums:
    """Return the sums of two systems over the queries of which both have a value."""
    having = [_queries(side, measure) for side in sides]
    both, there = having[0] & having[1], {one.info.query_id for side in sides for one in side}
    kept = [[one for one in side if one.info.query_id in both] for side in sides]
    clusters = sorted({one.info.cluster for one in kept[0]})
    first, second = (cluster_totals(side, clusters, measure, how.aggregate) for side in kept)
    return _Sums(clusters, first, second, len(both), len(there - both))


def _queries(group: Iterable[Scored], measure: str) -> set[str]:
    """Return the queries of which a system has a value."""
    return {one.info.query_id for one in group if one.has(measure)}


def _too_few(pair: PairSums) -> bool:
    return not pair.n_clusters or smallest_p(pair.n_clusters) > 1 - LEVEL


def _differences(pairs: Sequence[PairSums], seed: int) -> list[Difference | None]:
    """Return the difference of each pair: those of enough clusters as one family, the others without bounds."""
    members = [pair for pair in pairs if not _too_few(pair)]
    place = {key: n for n, key in enumerate(dict.fromkeys((p.dataset, c) for p in members for c in p.clusters))}
    stacked = np.zeros((2, len(place), len(members), 2))
    for n, pair in enumerate(members):
        rows = [place[pair.dataset, cluster] for cluster in pair.clusters]
        stacked[0, rows, n], stacked[1, rows, n] = pair.second, pair.first
    tested = iter(paired_differences(stacked[0], stacked[1], seed=seed) if members else ())
    return [_alone(pair, seed) if _too_few(pair) else next(tested) for pair in pairs]


def _alone(pair: PairSums, seed: int) -> Difference | None:
    if not len(pair.clusters):
        return None
    return paired_differences(pair.second[:, None, :], pair.first[:, None, :], seed=seed)[0]


def _row(first: str, second: str, pair: PairSums, made: Difference | None) -> PairedRow:
    finding = _finding(pair, made)
    bounds = [None if made is None or bound is None else bound * pair.factor for bound in _bounds(made)]
    return {
        "dataset": pair.dataset,
        "judge": pair.judge,
        "measure": pair.measure["name"],
        "title": pair.measure["title"],
        "unit": pair.measure["unit"],
        "first_system": str(pair.names[0]),
        "second_system": str(pair.names[1]),
        "first": _mean(pair.first, pair.factor),
        "second": _mean(pair.second, pair.factor),
        "difference": None if made is None else made.value * pair.factor,
        "low": bounds[0],
        "high": bounds[1],
        "p": None if made is None or _too_few(pair) else made.p,
        "p_alone": None if made is None or _too_few(pair) else made.p_alone,
        "n_queries": pair.n_queries,
        "n_left_out": pair.n_left_out,
        "n_clusters": pair.n_clusters,
        "finding": finding,
        "told": _told(finding, first, second, pair.n_clusters),
    }


def _bounds(made: Difference | None) -> tuple[float | None, float | None]:
    return (None, None) if made is None else (made.low, made.high)


def _mean(sums: Array, factor: float) -> float | None:
    total, n = sums.sum(axis=0) if len(sums) else (0.0, 0.0)
    return factor * float(total / n) if n else None


def _finding(pair: PairSums, made: Difference | None) -> Finding:
    if made is None:
        return "none"
    if _too_few(pair):
        return "too few"
    if not made.distinguishable:
        return "not distinguishable"
    second = made.value > 0
    better = pair.measure["better"]
    if better is None:
        return "second higher" if second else "first higher"
    return "second better" if second == (better == "higher") else "first better"


def _told(finding: Finding, first: str, second: str, n_clusters: int) -> str:
    words: Mapping[Finding, str] = {
        "none": NO_COMMON_QUERY,
        "too few": f"{TOO_FEW} ({n_clusters}): no difference could be shown",
        "not distinguishable": NOT_DISTINGUISHABLE,
        "first better": f"{first} is better",
        "second better": f"{second} is better",
        "first higher": f"{first} is higher",
        "second higher": f"{second} is higher",
    }
    return words[finding]


# ---------------------------------------------------------------- groups over the systems of all runs


def grouped(
    runs: Sequence[RunScores], *, judges: Sequence[str | None], measures: Sequence[Description], how: Averaging
) -> list[GroupsRow]:
    """Return for each data set and judge the groups of all systems of *runs*, by the main measure that all have."""
    found = []
    for dataset in _datasets(*runs):
        for judge in judges:
            measure = main_measure(measures, [run.table.measures(judge) for run in runs])
            if measure is not None and judge is not None and (row := _groups(runs, dataset, judge, measure, how)):
                found.append(row)
    return found


def main_measure(measures: Sequence[Description], having: Sequence[Collection[str]]) -> Description | None:
    """
    Return the measure that heads: the joint score, else the share of supported sentences, else their mean number.

    Else it is the first measure in points with a direction that all have.
    """
    both = [one for one in measures if all(one["name"] in names for names in having)]
    joint = [one for name in (MEASURE, *MAIN) for one in both if one["name"] == name]
    return next(iter([*joint, *(one for one in both if one["unit"] == "points" and one["better"])]), None)


def _groups(
    runs: Sequence[RunScores], dataset: str | None, judge: str, measure: Description, how: Averaging
) -> GroupsRow | None:
    systems = {
        f"{run.label}: {name}": group
        for run in runs
        for name, group in run.of_judge(judge, dataset).items()
        if _queries(group, measure["name"])
    }
    if len(systems) < 2:
        return None
    clusters = sorted({one.info.cluster for group in systems.values() for one in group})
    sums = {name: cluster_totals(group, clusters, measure["name"], how.aggregate) for name, group in systems.items()}
    direction = -1.0 if measure["better"] == "higher" else 1.0
    ordered = sorted(sums, key=lambda name: direction * (_mean(sums[name], 1.0) or 0.0))
    few = smallest_p(len(clusters)) > 1 - LEVEL
    seed = stable_seed(how.seed, judge, measure["name"], "groups of runs")
    sets = None if few else groups([sums[name] for name in ordered], seed=seed)
    return {
        "dataset": dataset,
        "judge": judge,
        "measure": measure["name"],
        "title": measure["title"],
        "systems": ordered,
        "groups": None if sets is None else [[ordered[place] for place in one] for one in sets],
        "n_clusters": len(clusters),
    }
