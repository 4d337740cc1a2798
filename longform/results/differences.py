"""
Two runs on the queries that both have: every difference of a pair of systems, tested together with all others.

All tests of a comparison are one family of `longform.metrics.paired_differences`: over all data sets, judges, measures
and pairs of systems. So p-values are adjusted for all of them, and an interval excludes 0 exactly if its p is at most
0.05. Pairs that have too few clusters for any difference to be shown are no members.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np

from longform.evidence.scan import pl
from longform.evidence.scores import ScoreTable, facts_of, final, means, of_judge, samples, with_facts
from longform.metrics.cited_support import MAIN
from longform.metrics.measure import Description
from longform.metrics.paired_differences import ALPHA, family_tests, n_sign_changes, smallest_p
from longform.metrics.statistics import LEVEL, Estimate
from longform.results.aggregate import Aggregate
from longform.results.pairs import MEASURE, NOT_DISTINGUISHABLE, TOO_FEW, signs_seed
from longform.tables.table import DATASET, JUDGE, Axes, Column, Table, Unit, Value

_POINTS = 100.0
NO_COMMON_QUERY = "no query has a score of both"
OF = ("dataset", "judge", "measure")
"""The columns that values and pairs of systems have in common."""
_SYSTEMS = ("first_system", "second_system")
_SUMS = ("total", "n", "total_second", "n_second")
_FEWEST = next(n for n in count(1) if smallest_p(n) <= ALPHA)  # clusters that can show a difference


def scored(summaries: pl.DataFrame, table: ScoreTable, judges: Sequence[str | None] = ()) -> pl.DataFrame:
    """
    Return the scores of *summaries* with their facts, a judge after the other; those of no judge have a null.

    *judges* are all of the table if there are none.
    """

    def by(judge: str | None) -> pl.DataFrame:
        scores = means(of_judge(table.frame, judge))
        found = with_facts(scores, final(facts_of(scores, summaries.lazy())))
        return found.with_columns(pl.col("summary_id", "query_id", *OF).cast(pl.String), pl.col("n").cast(pl.Float64))

    return pl.concat(map(by, judges or table.judges), how="diagonal_relaxed")


def datasets_of(*sides: pl.DataFrame) -> list[str | None]:
    """Return the data sets of summaries, in order of appearance."""
    found = pl.concat(side.select(pl.col("dataset").cast(pl.String)) for side in sides)
    return found["dataset"].unique(maintain_order=True).to_list()


def of_dataset(rows: pl.DataFrame, dataset: str | None) -> pl.DataFrame:
    """Return the rows of a data set."""
    return rows.filter(pl.col("dataset").cast(pl.String).eq_missing(pl.lit(dataset)))


def compare_runs(
    values: pl.DataFrame,
    runs: tuple[str, str],
    name: str,
    *,
    datasets: Sequence[str | None],
    measures: Mapping[str | None, Sequence[Mapping[str, object]]],
    pairs: Sequence[tuple[object, object]],
    seed: int,
    enough: Callable[[Iterable[bool]], bool] = any,
) -> tuple[Table, Mapping[str, float]]:
    """
    Return all differences of two runs as a table, tested as one family, and the numbers that all tests share.

    A difference is the second run's less the first run's; the numbers are n_tests, n_clusters, n_sign_changes, level.
    *values* are those of the common queries, as `differences` takes them, and *measures* the name, unit and better
    direction of each measure by its judge, None if it has none. *enough* says of both systems of a pair, which may be
    there or not, whether the pair has a row.
    """
    there = {*values.select("run", "dataset", "judge", "system").unique().iter_rows()}
    rows = [
        (dataset, judge, measure["name"], *names, measure["unit"], measure["better"])
        for dataset in datasets
        for judge, own in measures.items()
        for measure in own
        for names in (tuple(map(str, pair)) for pair in pairs)
        if enough((run, dataset, judge, system) in there for run, system in zip(runs, names, strict=True))
    ]
    asked = pl.DataFrame(rows, schema=dict.fromkeys((*OF, *_SYSTEMS, "unit", "direction"), pl.String), orient="row")
    found = differences(values, asked, runs, seed=signs_seed(seed))
    n_clusters = max(found["n_family"], default=0)
    family = {
        "n_tests": found["p"].count(),
        "n_clusters": n_clusters,
        "n_sign_changes": n_sign_changes(n_clusters),
        "level": LEVEL,
    }
    table = Table(
        name,
        _columns(runs),
        [_row(runs, **row) for row in found.drop("n_family").iter_rows(named=True)],
        name.capitalize(),
        _family_words(family),
        (*OF, *_SYSTEMS),
        apart=("dataset", "judge"),
        aside="aside",
        plot=Axes("dots", "measure", "difference", by="first_system"),
    )
    return table, family


def values_of(scores: pl.DataFrame, aggregate: Aggregate) -> pl.DataFrame:
    """Return what each query adds to the mean of a system of a run: total and n, 0 of 0 if it has no value."""
    system = pl.concat_str("summarizer", "setting", separator=", ")
    return samples(scores.with_columns(system=system), aggregate, "run", *OF, "system", with_empty=True)


def differences(values: pl.DataFrame, pairs: pl.DataFrame, runs: Sequence[str], *, seed: int) -> pl.DataFrame:
    """
    Return *pairs* with both means over the queries of which both have a value, and their difference as one family.

    `difference` is `second` less `first`, and `half` is half the width of its interval; `p` is null if so few clusters
    show nothing. `n_family` counts the clusters of all pairs.

    *values* are `total` and `n` of each query of a system, with the columns run, OF, system, query_id and cluster;
    *pairs* have OF, and a `first_system` and `second_system` of these *runs*.
    """
    asked = pairs.with_row_index("pair")
    first, second = (
        asked.join(values.filter(pl.col("run") == run), left_on=[*OF, name], right_on=[*OF, "system"], nulls_equal=True)
        .group_by("pair", "dataset", "query_id")
        .agg(pl.col("cluster").first(), pl.col("total", "n").sum())
        for name, run in zip(_SYSTEMS, runs, strict=True)
    )
    some = pl.col("n") > 0
    both = first.filter(some).join(second.filter(some), on=["pair", "query_id"], suffix="_second")
    sums = both.group_by("pair", "dataset", "cluster").agg(pl.col(_SUMS).sum(), n_queries=pl.len())
    sums = sums.sort("pair", "cluster")
    counted = sums.group_by("pair").agg(pl.col(*_SUMS, "n_queries").sum(), n_clusters=pl.len())
    there = pl.concat([first, second]).group_by("pair").agg(n_there=pl.col("query_id").n_unique())
    for more in (counted, there, _tests(sums, seed)):
        asked = asked.join(more, on="pair", how="left", maintain_order="left")
    known = asked.with_columns(pl.col("n_queries", "n_clusters").fill_null(0))
    mean, second_mean = pl.col("total") / pl.col("n"), pl.col("total_second") / pl.col("n_second")
    return known.select(
        *pairs.columns,
        first=mean,
        second=second_mean,
        difference=pl.coalesce("value", second_mean - mean),
        half="half",
        p="p",
        p_alone="p_alone",
        n_queries="n_queries",
        n_left_out=pl.col("n_there") - pl.col("n_queries"),
        n_clusters="n_clusters",
        n_family=pl.lit(sums.select("dataset", "cluster").n_unique()),
    )


def _tests(sums: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Return the tests of the pairs that have enough clusters, from totals and counts of each pair and cluster."""
    members = sums.filter(pl.len().over("pair") >= _FEWEST)
    pairs, clusters = (
        members.select(key).unique(maintain_order=True).with_row_index("place")
        for key in (["pair"], ["dataset", "cluster"])
    )
    stacked = np.zeros((len(clusters), len(pairs), len(_SUMS)))
    placed = members.join(pairs, on="pair").join(clusters, on=["dataset", "cluster"], nulls_equal=True, suffix="_row")
    stacked[placed["place_row"], placed["place"]] = placed.select(_SUMS).to_numpy()
    found = family_tests(stacked[..., 2:], stacked[..., :2], seed=seed)
    tests = {name: getattr(found, name) for name in ("value", "half", "p", "p_alone")}
    return pairs.select("pair", **{name: pl.Series(values, nan_to_null=True) for name, values in tests.items()})


UNITS: Mapping[str, Unit] = {"points": "points", "share": "share", "rating": "rating"}
"""The unit of a measure -> that of its mean in a table; the others are shown as words are."""


def _row(runs: tuple[str, str], *, half: float | None, direction: str | None, **row: Any) -> dict[str, Value]:
    """Return a row of `differences` in the unit of its measure, with its finding."""
    value, unit = row["difference"], row["unit"]
    low, high = (None, None) if half is None else (value - half, value + half)
    difference, factor = Estimate(value, low, high, row["n_queries"]), _POINTS if unit == "points" else 1.0
    finding = _finding(row["n_clusters"], row["p"], difference, direction)
    return {
        **row,
        "unit": UNITS.get(unit, "words"),
        **{side: None if row[side] is None else factor * row[side] for side in ("first", "second")},
        "difference": None if value is None else difference.scaled(factor),
        "finding": finding,
        "better": _better(finding, runs),
        "aside": NO_COMMON_QUERY if finding == "none" else None,
    }


def _finding(n_clusters: int, p: float | None, difference: Estimate, direction: str | None) -> str:
    if not n_clusters:
        return "none"
    if p is None:
        return "too few"
    value, low, high, _ = difference
    if value is None or low is None or high is None or low <= 0 <= high:
        return "not distinguishable"
    if direction is None:
        return "second higher" if value > 0 else "first higher"
    return "second better" if (value > 0) == (direction == "higher") else "first better"


def _better(finding: str, runs: Sequence[str]) -> str:
    side, _, what = finding.partition(" ")
    if side in ("first", "second"):
        run = runs[side == "second"]
        return run if what == "better" else f"{run} is {what}"
    return TOO_FEW if finding == "too few" else "neither"


def _columns(runs: tuple[str, str]) -> list[Column]:
    first, second = runs
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
    n = family["n_tests"]
    tested = f"All {n:,} comparisons that could show anything are one family: p is adjusted for all of them"
    return (
        f"{'One comparison could show something: p is of it alone' if n == 1 else tested} "
        f"(max-T of Westfall and Young, by {family['n_sign_changes']:,} changes of sign of {family['n_clusters']:,} "
        "independent queries or haystacks), and an interval excludes 0 exactly if p is at most "
        f"{1 - family['level']:.2f}. Else neither is better: they are {NOT_DISTINGUISHABLE}, which does not mean that "
        "they are the same."
    )


def told_of(finding: object, runs: Sequence[str], n_clusters: object) -> str:
    """Return a finding in words."""
    words = {
        "none": NO_COMMON_QUERY,
        "too few": f"{TOO_FEW} ({n_clusters}): no difference could be shown",
        "not distinguishable": NOT_DISTINGUISHABLE,
    }
    side, _, what = str(finding).partition(" ")
    return words.get(str(finding)) or f"{runs[side == 'second']} is {what}"


def compared_measure(measures: Sequence[Description], having: Sequence[Collection[str]]) -> Description | None:
    """
    Return the measure that heads: the joint score, else the share of supported sentences, else their mean number.

    Else it is the first measure in points with a direction that all have.
    """
    both = [one for one in measures if all(one["name"] in names for names in having)]
    joint = [one for name in (MEASURE, *MAIN) for one in both if one["name"] == name]
    return next(iter([*joint, *(one for one in both if one["unit"] == "points" and one["better"])]), None)
