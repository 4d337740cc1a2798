"""
Two runs on the queries that both have: every difference of a pair of systems, tested together with all others.

All tests of a comparison are one family of `longform.metrics.paired_differences`: over all data sets, judges, measures
and pairs of systems. So p-values are adjusted for all of them, and an interval excludes 0 exactly if its p is at most
0.05. Pairs that have too few clusters for any difference to be shown are no members.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from longform.evidence.scan import pl
from longform.evidence.scores import ScoreTable, facts_of, final, means, under, with_facts
from longform.metrics.cited_support import MAIN
from longform.metrics.measure import Description
from longform.metrics.paired_differences import Difference, n_sign_changes, paired_differences, smallest_p
from longform.metrics.statistics import LEVEL, Array, Estimate
from longform.results.aggregate import Aggregate, Averaging, clusters_in, sums_of, systems_of
from longform.results.pairs import MEASURE, NOT_DISTINGUISHABLE, TOO_FEW, signs_seed
from longform.settings.system_names import SystemName
from longform.tables.names import DATASET, JUDGE
from longform.tables.table import Axes, Column, Table, Unit, Value

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
        summaries: Those of the queries that are compared.
        table: All scores.
    """

    label: str
    summaries: pl.DataFrame
    table: ScoreTable

    def of_judge(self, judge: str | None, dataset: str | None) -> dict[SystemName, pl.DataFrame]:
        """Return the scores of each system by a judge, of one data set, with the facts of their summaries."""
        return systems_of(of_dataset(self.by_judge(judge), dataset)) if judge in self.table.judges else {}

    def by_judge(self, judge: str | None) -> pl.DataFrame:
        """Return the scores by a judge, with the facts of their summaries."""
        scores = means(under(self.table.frame, judge))
        return with_facts(scores, final(facts_of(scores, self.summaries.lazy())))


class Differences(NamedTuple):
    """
    Differences of two runs, or of their rankings.

    Attributes:
        table: A row for each pair of systems and measure.
        family: The numbers that all tests share: n_tests, n_clusters, n_sign_changes, level.
    """

    table: Table
    family: Mapping[str, float]


class PairSums(NamedTuple):
    """A test before it is made: totals and counts of each cluster of its data set, shape (clusters, 2)."""

    dataset: str | None
    judge: str | None
    measure: Description
    names: tuple[object, object]  # of systems or rankers, which say themselves in words
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


def of_dataset(rows: pl.DataFrame, dataset: str | None) -> pl.DataFrame:
    """Return the rows of a data set."""
    return rows.filter(pl.col("dataset").eq_missing(pl.lit(dataset, pl.Categorical)))


def datasets_of(*sides: RunScores) -> list[str | None]:
    """Return the data sets of all summaries, in order of appearance."""
    return list(
        dict.fromkeys(dataset for side in sides for dataset in side.summaries["dataset"].unique(maintain_order=True))
    )


def compare_runs(
    runs: tuple[RunScores, RunScores],
    *,
    judges: Sequence[str | None],
    measures: Sequence[Description],
    pairs: Sequence[tuple[SystemName, SystemName]],
    how: Averaging,
) -> Differences:
    """
    Return all differences of two runs on their common queries, as second less first.

    Args:
        runs: Scores of the common queries alone.
        judges: Those that both have; None: measures without a judge.
        measures: Measures in the order of the rows; those that both have of a judge are compared.
        pairs: Systems of the first and of the second run.
        how: The averaging, and the seed of drawn signs.
    """
    found = []
    for dataset in datasets_of(*runs):
        for judge in judges:
            sides = [run.of_judge(judge, dataset) for run in runs]
            both = set.intersection(*(set(run.table.measures(judge)) for run in runs))
            for measure in (one for one in measures if one["name"] in both):
                for names in pairs:
                    groups = [side.get(name) for side, name in zip(sides, names, strict=True)]
                    if there := [group for group in groups if group is not None]:
                        known = [there[0].clear() if group is None else group for group in groups]
                        sums = _summary_sums(known, measure["name"], how.aggregate)
                        found.append(PairSums(dataset, judge, measure, names, *sums))
    labels = (runs[0].label, runs[1].label)
    return tested(found, labels, Table("differences", [], [], "Differences"), seed=how.seed)


def tested(pairs: Sequence[PairSums], labels: tuple[str, str], empty: Table, *, seed: int) -> Differences:
    """
    Test all *pairs* as one family.

    Args:
        pairs: Pairs in the order of the rows.
        labels: The names of the two runs.
        empty: The table without columns and rows.
        seed: The seed of the runs.
    """
    differences = _differences(pairs, signs_seed(seed))
    n_clusters = len({(one.dataset, cluster) for one in pairs for cluster in one.clusters})
    family = {
        "n_tests": sum(not _too_few(one) for one in pairs),
        "n_clusters": n_clusters,
        "n_sign_changes": n_sign_changes(n_clusters),
        "level": LEVEL,
    }
    rows = [_row(labels, pair, made) for pair, made in zip(pairs, differences, strict=True)]
    key = ("dataset", "judge", "measure", "first_system", "second_system")
    apart = ("dataset", "judge")
    told = _family_words(family)
    columns = _columns(labels)
    table = empty._replace(columns=columns, rows=rows, told=told, key=key, apart=apart, aside="aside", plot=_PLOT)
    return Differences(table, family)


def _summary_sums(
    groups: Sequence[pl.DataFrame], measure: str, aggregate: Aggregate
) -> tuple[list[str], Array, Array, int, int]:
    """Return the last fields of `PairSums`: of two systems, over the queries of which both have a value."""
    valued = [group.filter(pl.col("measure") == measure, pl.col("n") > 0) for group in groups]
    both = {*valued[0]["query_id"]} & {*valued[1]["query_id"]}
    there = {query for group in groups for query in group["query_id"]}
    kept = [one.filter(pl.col("query_id").cast(pl.String).is_in(list(both))) for one in valued]
    clusters = clusters_in(kept[0])
    first, second = (sums_of(one, clusters, aggregate) for one in kept)
    return clusters, first, second, len(both), len(there - both)


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


UNITS: Mapping[str, Unit] = {"points": "points", "share": "share", "rating": "rating"}
"""The unit of a measure -> that of its mean in a table; the others are shown as words are."""


def _row(labels: tuple[str, str], pair: PairSums, made: Difference | None) -> dict[str, Value]:
    finding = _finding(pair, made)
    low, high = (None if bound is None else bound * pair.factor for bound in _bounds(made))
    p, p_alone = (None, None) if made is None or _too_few(pair) else (made.p, made.p_alone)
    return {
        "dataset": pair.dataset,
        "judge": pair.judge,
        "measure": pair.measure["name"],
        "unit": UNITS.get(pair.measure["unit"], "words"),
        "first_system": str(pair.names[0]),
        "second_system": str(pair.names[1]),
        "first": _mean(pair.first, pair.factor),
        "second": _mean(pair.second, pair.factor),
        "difference": None if made is None else Estimate(made.value * pair.factor, low, high, pair.n_queries),
        "p": p,
        "p_alone": p_alone,
        "n_queries": pair.n_queries,
        "n_left_out": pair.n_left_out,
        "n_clusters": pair.n_clusters,
        "finding": finding,
        "better": _better(finding, labels),
        "aside": NO_COMMON_QUERY if finding == "none" else None,
    }


_PLOT = Axes("dots", "measure", "difference", by="first_system")


def _columns(labels: tuple[str, str]) -> list[Column]:
    first, second = labels
    return [
        DATASET,
        JUDGE,
        Column("measure"),
        Column("unit", shown=False),
        Column("first_system", title="system", beside="second_system"),
        Column("second_system", title="against", shown=False),
        Column("first", "stated", first, unknown=NO_COMMON_QUERY),
        Column("second", "stated", second, unknown=NO_COMMON_QUERY),
        Column("difference", "stated", told=f"{second} less {first}, on queries that have a score of both", signed=True,
               unknown=NO_COMMON_QUERY, brackets="95 % intervals of all differences together"),
        Column("p", "p", told="adjusted for all tests of the family", unknown=TOO_FEW),
        Column("p_alone", "p", shown=False),
        Column("n_queries", "count", "queries", beside="n_left_out"),
        Column("n_left_out", "count", "left out", shown=False),
        Column("n_clusters", "count", shown=False),
        Column("finding", shown=False),
        Column("better"),
        Column("aside", shown=False),
    ]  # fmt: skip


def _family_words(family: Mapping[str, float]) -> str:
    return (
        f"All {family['n_tests']:,} comparisons that could show anything are one family: p is adjusted for all of them "
        f"(max-T of Westfall and Young, by {family['n_sign_changes']:,} changes of sign of {family['n_clusters']:,} "
        "independent queries or haystacks), and an interval excludes 0 exactly if p is at most "
        f"{1 - family['level']:.2f}. Else neither is better: they are {NOT_DISTINGUISHABLE}, which does not mean that "
        "they are the same."
    )


def _better(finding: Finding, labels: tuple[str, str]) -> str:
    first, second = labels
    words: Mapping[Finding, str] = {
        "none": "neither",
        "too few": TOO_FEW,
        "not distinguishable": "neither",
        "first better": first,
        "second better": second,
        "first higher": f"{first} is higher",
        "second higher": f"{second} is higher",
    }
    return words[finding]


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


def told_of(finding: object, labels: Sequence[str], n_clusters: object) -> str:
    """Return a finding in words."""
    words = {
        "none": NO_COMMON_QUERY,
        "too few": f"{TOO_FEW} ({n_clusters}): no difference could be shown",
        "not distinguishable": NOT_DISTINGUISHABLE,
        **{f"{side} {what}": f"{label} is {what}" for side, label in zip(("first", "second"), labels, strict=True)
           for what in ("better", "higher")},
    }  # fmt: skip
    return words[str(finding)]


def main_measure(measures: Sequence[Description], having: Sequence[Collection[str]]) -> Description | None:
    """
    Return the measure that heads: the joint score, else the share of supported sentences, else their mean number.

    Else it is the first measure in points with a direction that all have.
    """
    both = [one for one in measures if all(one["name"] in names for names in having)]
    joint = [one for name in (MEASURE, *MAIN) for one in both if one["name"] == name]
    return next(iter([*joint, *(one for one in both if one["unit"] == "points" and one["better"])]), None)
