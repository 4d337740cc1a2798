"""
Differences of pairs of systems: paired, resampled by clusters, and adjusted for the family that they are tested in.

Every test of two systems, of one run or of two, by summaries or by rankings, is one of `differences`. A family is what
is read together (docs/measures.md has the list): its p-values are adjusted for all of it, and an interval excludes 0
exactly if its p is at most 0.05.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from longform.evidence.scan import pl
from longform.evidence.scores import ScoreTable, facts_of, final, means, of_judge, samples, with_facts
from longform.keys import stable_seed
from longform.metrics.cited_support import MAIN
from longform.metrics.measure import Description
from longform.metrics.paired_differences import ALPHA, FamilyTests, family_tests, n_sign_changes, smallest_p
from longform.metrics.statistics import LEVEL, Array, Estimate
from longform.results.aggregate import Aggregate
from longform.tables.table import DATASET, JUDGE, Axes, Column, Table, Unit, Value

MEASURE = "joint"
"""The measure that systems are compared by if a run has it."""
NOT_DISTINGUISHABLE = "not distinguishable"
TOO_FEW = "too few clusters"
NO_COMMON_QUERY = "no query has a score of both"
_SAME_RANKINGS = "the rankings of both runs have the same scores on every query"
OF = ("dataset", "judge", "measure")
"""The columns that values and pairs of systems have in common."""
_SYSTEMS = ("first_system", "second_system")
Places = NDArray[np.int64]
_POINTS = 100.0
_FEWEST = next(n for n in count(1) if smallest_p(n) <= ALPHA)  # clusters that can show a difference


def differences(
    values: pl.DataFrame,
    pairs: pl.DataFrame,
    families: Sequence[str] = (),
    *,
    seed: int,
    unit: str = "cluster",
    fewest: int = 1,
    tests: Callable[..., FamilyTests] = family_tests,
) -> pl.DataFrame:
    """
    Return *pairs* with the difference of each, first less second, and its test among those of its family.

    Added are the `value`, with `half` the width of its interval and its standard `error`, `p` and `p_alone`, the means
    `first` and `second`; `n_units` that both have and `n_left_out`, `n_clusters` of these, True in `few` if they show
    nothing; and of the family its `critical` value and `n_family`, the clusters of all its pairs.

    *values* has the `total` and `n` of a system, with the `cluster`, for which signs are drawn in the order of rows.
    *pairs* has columns that tell of both systems, and `first_X` and `second_X` for each column X of *values* that tells
    them apart, such as the system and its run. A family has the pairs that are equal in the columns *families*.

    A value counts if both systems have one of the same *unit*, `cluster` or `query_id`. A member of a family has
    *fewest* clusters or more; the p of a pair with fewer is null. *tests* are `family_tests` or `stepwise_tests`.
    """
    numbered = pairs.with_row_index("pair")
    parts = numbered.partition_by(*families, maintain_order=True) if families and len(pairs) else [numbered]
    tested = partial(tests, seed=seed)
    return pl.concat(_family(values, own, unit, fewest, tested) for own in parts).sort("pair").drop("pair")


def _family(
    values: pl.DataFrame, pairs: pl.DataFrame, unit: str, fewest: int, tests: Callable[[Array, Array], FamilyTests]
) -> pl.DataFrame:
    first, second, there, clusters = _sides(values, pairs, unit)
    shared = (first[..., 1] > 0) & (second[..., 1] > 0)  # (units, pairs)
    first[~shared] = second[~shared] = 0.0
    first, second = _by_cluster(first, clusters), _by_cluster(second, clusters)
    n_clusters = (first[..., 1] > 0).sum(axis=0)
    members = n_clusters >= fewest
    found = tests(first, second) if members.all() else tests(first[:, members], second[:, members])
    with np.errstate(divide="ignore", invalid="ignore"):
        one, other = (side[..., 0].sum(axis=0) / side[..., 1].sum(axis=0) for side in (first, second))
    tested = {name: np.full(len(pairs), np.nan) for name in ("half", "error", "p", "p_alone")}
    for name, column in tested.items():
        column[members] = getattr(found, name)
    value, few = one - other, np.ones(len(pairs), bool)
    value[members], few[members] = found.value, found.few
    numbers = {"value": value, **tested, "first": one, "second": other}
    n_units = shared.sum(axis=0)
    return pairs.with_columns(
        **{name: pl.Series(column, nan_to_null=True) for name, column in numbers.items()},
        n_units=pl.Series(n_units, dtype=pl.Int64),
        n_left_out=pl.Series(there - n_units, dtype=pl.Int64),
        n_clusters=pl.Series(n_clusters, dtype=pl.Int64),
        few=pl.Series(few),
        critical=pl.lit(found.critical),
        n_family=pl.lit(int((first[..., 1] > 0).any(axis=1).sum())),
    )


def _sides(values: pl.DataFrame, pairs: pl.DataFrame, unit: str) -> tuple[Array, Array, Places, Places]:
    """
    Return totals and counts of the first and of the second systems, each of shape (units, pairs, 2).

    Beside them stand the number of units of which either has a row, and the place of each unit's cluster.
    """
    apart = [name.removeprefix("first_") for name in pairs.columns if name.startswith("first_")]
    of = [name for name in pairs.columns if name in values.columns]
    named = [pairs.select(*of, **{name: f"{side}_{name}" for name in apart}) for side in ("first", "second")]
    systems = pl.concat(named).unique(maintain_order=True).with_row_index("place")
    key: Any = {"on": [*of, *apart], "nulls_equal": True, "maintain_order": "left"}
    held = values.join(systems, **key)
    of_cluster = [*(name for name in of if name == "dataset"), "cluster"]
    of_unit = list(dict.fromkeys([*of_cluster, unit]))
    clusters = held.select(of_cluster).unique(maintain_order=True).with_row_index("at")
    units = held.select(of_unit).unique(maintain_order=True).with_row_index("row")
    rows, units = held.join(units, **key | {"on": of_unit}), units.join(clusters, **key | {"on": of_cluster})
    sums = np.zeros((len(units), len(systems), 3))
    np.add.at(sums, (rows["row"].to_numpy(), rows["place"].to_numpy()), rows.select("total", "n", there=1.0).to_numpy())
    one, other = (own.join(systems, how="left", **key)["place"].to_numpy() for own in named)
    n_there = (sums[:, one, 2] + sums[:, other, 2] > 0).sum(axis=0)
    first, second = (sums[..., :2].take(places, axis=1) for places in (one, other))  # sums in the order of clusters
    return first, second, n_there, units["at"].cast(pl.Int64).to_numpy()


def _by_cluster(sums: Array, clusters: Places) -> Array:
    """Return the sums of units, shape (units, ...), by the place of their cluster."""
    n = clusters.max(initial=-1) + 1
    if n == len(sums):  # each is a cluster
        return sums
    found = np.zeros((n, *sums.shape[1:]))
    np.add.at(found, clusters, sums)
    return found


def finding(row: Mapping[str, Any], better: str | None = "higher") -> str:
    """
    Return what a row of `differences` shows of its first system, by a measure of which *better* values are better.

    It is none, too few, not distinguishable, better or worse, or, if no direction is better, higher or lower.
    """
    if not row["n_clusters"]:
        return "none"
    if row["few"]:
        return "too few"
    if row["half"] is None or abs(row["value"]) <= row["half"]:
        return NOT_DISTINGUISHABLE
    if better is None:
        return "higher" if row["value"] > 0 else "lower"
    return "better" if (row["value"] > 0) == (better == "higher") else "worse"


def told_of(finding: object, n_clusters: object, runs: Sequence[str] = (), *, none: str = NO_COMMON_QUERY) -> str:
    """Return a finding in words; those of two *runs* name the run."""
    words = {"none": none, "too few": f"{TOO_FEW} ({n_clusters}): no difference could be shown"}
    side, _, what = str(finding).partition(" ")
    named = f"{runs[side == 'second']} is {what}" if side in ("first", "second") else str(finding)
    return words.get(str(finding), named)


def finding_words(row: Mapping[str, Any], better: str | None = "higher") -> str:
    """Return the finding of a row of `differences` in words, for tables of one run."""
    return told_of(finding(row, better), row["n_clusters"], none="no query in common")


def interval(row: Mapping[str, Any], n: int, factor: float = 1.0) -> Estimate:
    """Return the difference of a row of `differences` with its interval; it is *n*'s."""
    value, half = row["value"], row["half"]
    low, high = (None, None) if value is None or half is None else (value - half, value + half)
    return Estimate(value, low, high, n).scaled(factor)


def signs_seed(seed: int) -> int:
    """Return the seed of drawn sign changes, one for all tests of a run: a pair alone is then the same everywhere."""
    return stable_seed(seed, "changes of sign")


# ---------------------------------------------------------------- two runs


def scored(summaries: pl.DataFrame, table: ScoreTable, judges: Sequence[str | None] = ()) -> pl.DataFrame:
    """
    Return the scores of *summaries* with their facts, a judge after the other; those of no judge have a null.

    *judges* are all of the table if there are none.
    """

    def by(judge: str | None) -> pl.DataFrame:
        scores = means(of_judge(table.frame, judge))
        found = with_facts(scores, final(facts_of(scores, summaries.lazy())))
        texts, n = pl.col("summary_id", "query_id", *OF).cast(pl.String), pl.col("n").cast(pl.Float64)
        return found.with_columns(texts, n, system=pl.concat_str("summarizer", "setting", separator=", "))

    return pl.concat(map(by, judges or table.judges), how="diagonal_relaxed")


def datasets_of(*sides: pl.DataFrame) -> list[str | None]:
    """Return the data sets of summaries, in order of appearance."""
    found = pl.concat(side.select(pl.col("dataset").cast(pl.String)) for side in sides)
    return found["dataset"].unique(maintain_order=True).to_list()


def of_dataset(rows: pl.DataFrame, dataset: str | None) -> pl.DataFrame:
    """Return the rows of a data set."""
    return rows.filter(pl.col("dataset").cast(pl.String).eq_missing(pl.lit(dataset)))


def values_of(scores: pl.DataFrame, aggregate: Aggregate, *by: str, with_empty: bool = False) -> pl.DataFrame:
    """
    Return what each query adds to the mean of a `system`, or of what *by* tells apart beside it, clusters in order.

    Queries without a value stand there *with_empty*, with 0 of 0.
    """
    found = samples(scores, aggregate, *by, "system", with_empty=with_empty)
    return found.with_columns(pl.col("system", "cluster").cast(pl.String)).sort("cluster", maintain_order=True)


def compare_runs(
    values: pl.DataFrame,
    runs: tuple[str, str],
    name: str,
    *,
    datasets: Sequence[str | None],
    measures: Mapping[str | None, Sequence[Mapping[str, object]]],
    pairs: Sequence[tuple[object, object]],
    seed: int,
    of_rankings: bool = False,
) -> Table:
    """
    Return all differences of two runs as a table, tested as one family.

    A difference is the second run's less the first run's. Pairs that have too few clusters for any difference to be
    shown are no members. *values* are those of the common queries, with the run, OF and the system; *measures* have the
    name, unit and better direction of each measure by its judge, None if it has none. A pair *of_rankings* has a row
    only if both runs have its rankers.
    """
    enough = all if of_rankings else any
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
    known = values.with_columns(pl.col("cluster").cast(pl.String))
    found = differences(
        pl.concat(of_dataset(known, dataset).sort("cluster", maintain_order=True) for dataset in datasets),
        asked.with_columns(first_run=pl.lit(runs[0]), second_run=pl.lit(runs[1])),
        seed=signs_seed(seed),
        unit="query_id",
        fewest=_FEWEST,
    )
    nothing = ((pl.col("value") == 0) & (pl.col("half") == 0)).fill_null(value=False)
    same = of_rankings and found.filter(pl.col("n_clusters") > 0).select(nothing.all()).item()
    return Table(
        name,
        _columns(runs),
        [_row(runs, row, _SAME_RANKINGS if same else None) for row in found.iter_rows(named=True)],
        name.capitalize(),
        _family_words(found["p"].count(), max(found["n_family"], default=0)),
        (*OF, *_SYSTEMS),
        apart=("dataset", "judge"),
        aside="aside",
        plot=Axes("dots", "measure", "difference", by="first_system"),
    )


MEASURED = (DATASET, JUDGE, Column("measure"), Column("unit", shown=False))
"""The first columns of a table whose figures are of measures."""
UNITS: Mapping[str, Unit] = {"points": "points", "share": "share", "rating": "rating"}
"""The unit of a measure -> that of its mean in a table; the others are shown as words are."""


def _row(runs: tuple[str, str], row: Mapping[str, Any], aside: str | None) -> dict[str, Value]:
    """Return a row of `differences` in the unit of its measure, with its finding, as the second run less the first."""
    factor = _POINTS if row["unit"] == "points" else 1.0
    shown = _FINDINGS.get(found := finding(row, row["direction"]), found)
    better = told_of(shown, row["n_clusters"], runs)
    of_second = {**row, "value": None if row["value"] is None else 0.0 - row["value"]}  # 0, and not -0
    return {
        **{name: row[name] for name in (*OF, *_SYSTEMS)},
        "unit": UNITS.get(row["unit"], "words"),
        **{side: None if row[side] is None else factor * row[side] for side in ("first", "second")},
        "difference": None if row["value"] is None else interval(of_second, row["n_units"], factor),
        **{name: row[name] for name in ("p", "p_alone")},
        "n_queries": row["n_units"],
        **{name: row[name] for name in ("n_left_out", "n_clusters")},
        "finding": shown,
        "better": {"too few": TOO_FEW}.get(shown, "neither") if shown == found else better.removesuffix(" is better"),
        "aside": NO_COMMON_QUERY if shown == "none" else aside,
    }


_FINDINGS = {"better": "first better", "worse": "second better", "higher": "first higher", "lower": "second higher"}
"""Finding of the first system of a pair -> that of both runs."""


def _columns(runs: tuple[str, str]) -> list[Column]:
    first, second = runs
    return [
        *MEASURED,
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


def _family_words(n: int, n_clusters: int) -> str:
    tested = f"All {n:,} comparisons that could show anything are one family: p is adjusted for all of them"
    return (
        f"{'One comparison could show something: p is of it alone' if n == 1 else tested} "
        f"(max-T of Westfall and Young, by {n_sign_changes(n_clusters):,} changes of sign of {n_clusters:,} "
        "independent queries or haystacks), and an interval excludes 0 exactly if p is at most "
        f"{1 - LEVEL:.2f}. Else neither is better: they are {NOT_DISTINGUISHABLE}, which does not mean that "
        "they are the same."
    )


def compared_measure(measures: Sequence[Description], having: Sequence[Collection[str]]) -> Description | None:
    """
    Return the measure that heads: the joint score, else the share of supported sentences, else their mean number.

    Else it is the first measure in points with a direction that all have.
    """
    both = [one for one in measures if all(one["name"] in names for names in having)]
    joint = [one for name in (MEASURE, *MAIN) for one in both if one["name"] == name]
    return next(iter([*joint, *(one for one in both if one["unit"] == "points" and one["better"])]), None)
