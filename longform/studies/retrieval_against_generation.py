"""
Do better rankings make better summaries? Each system's retrieval beside its summaries, and how the two correlate.

Over systems: the settings of one summarizer, each by its means (MSRS, Tables 4 to 7). Over queries: those of one
system. Both sides of a correlation are of the same queries. A system that was told the gold documents, or that shows
all documents whatever their rank, stands in the table and in no correlation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Literal, NamedTuple

import numpy as np

from longform.axes import SystemAxes
from longform.evidence.scan import pl
from longform.evidence.scores import final, means, samples, under, with_facts
from longform.keys import in_groups, stable_seed
from longform.metrics.correlation import FEWEST, Correlation, Resampling
from longform.metrics.measure import Measure
from longform.metrics.retrieval import MEASURES
from longform.metrics.statistics import Array, EstimateColumns, pooled_mean
from longform.results.aggregate import Averaging, mean_of, sums_of, systems_of
from longform.results.evidence import Evidence, summaries_under
from longform.results.ranked import ranked_values
from longform.tables.table import DATASET, JUDGE, SYSTEM, Axes, Column, Table

Row = Mapping[str, Any]
Level = Literal["systems", "queries"]
NAME = "retrieval_against_generation"
_CONSTANT = "all values of a side are the same"
_NOT_RANKED = "it ranks nothing, or no document of its queries is judged"
_PARTS = ("precision", "recall")
_FEW = 10  # systems, which correlate strongly by chance alone
_IN_PARTS = "precision and recall, which F1 takes together"
_OTHER_RANKINGS = "other measures of rankings"
_POINTS: Mapping[str, str] = {
    "systems": "settings of one summarizer, by their means",
    "queries": "queries of one system",
}


class RetrievalAgainstGeneration:
    """Rankings and summaries of each system side by side, and how they correlate over systems and over queries."""

    name = NAME
    needs = ("rankings", "contexts", "documents", "qrels", "scores", "summaries")

    def result(self, evidence: Evidence) -> list[Table] | None:
        """Return the tables; None if a run ranks nothing, scores nothing, or judges no document."""
        measures = [measure for measure in evidence.measures if measure.unit in ("points", "share")]
        systems = list(ranked_systems(evidence, measures))
        if not systems:
            return None
        k = max(evidence.cutoffs)
        groups = [
            list(_joint_rows(group, evidence.averaging, k))
            for group in in_groups((one.name, one) for one in systems).values()
        ]
        correlations = [*_over_systems(systems, evidence.averaging), *_over_queries(systems, evidence.averaging)]
        return tables([row for rows in groups for row in rows], correlations, k=k)


def tables(systems: Sequence[Row], correlations: Sequence[Row], *, k: int) -> list[Table]:
    """Return the table of systems, best first, and below it those of correlations over systems and over queries."""
    rows = {level: [row for row in correlations if row["level"] == level] for level in _POINTS}
    below = [_correlated(own, level, _POINTS[level], k) for level, own in rows.items() if own]
    return [_joint(systems, k), *below] if systems else below


def _joint(rows: Sequence[Row], k: int) -> Table:
    ranked = [measure.name for measure in MEASURES if any(measure.name in row for row in rows)]
    first: dict[tuple[Any, ...], float] = {}
    for row in rows:
        first.setdefault(_name(row), row["score"]["value"] or 0.0)
    datasets = list(dict.fromkeys(row["dataset"] for row in rows))
    parts = [_IN_PARTS if row["measure"] in _PARTS else None for row in rows]
    marked = [{**row, "aside": part} for row, part in zip(rows, parts, strict=True)]
    return Table(
        NAME,
        [
            DATASET,
            *SYSTEM[:2],
            JUDGE,
            Column("k", "count", "cutoff", "documents that measures of rankings see", shown=False),
            *(Column(name, "share", f"{name}@{k}", better="higher", unknown=_NOT_RANKED) for name in ranked),
            Column("measure"),
            Column("unit", shown=False),
            Column("score", "stated", unknown="not scored"),
            Column(
                "left_out",
                title="in no correlation",
                told="why a system stands in none",
                shown=any(row["left_out"] for row in rows),
                unknown="it is in them, or it ranks nothing",
            ),
            Column("aside", shown=False),
        ],
        (),
        title="Retrieval against generation",
        told=(
            "Each system's rankings and summaries side by side: rankings over its queries that have gold documents, "
            "summaries over those that did not fail."
        ),
        key=["dataset", "judge", "summarizer", "setting", "measure"],
        plot=Axes(
            "scatter", _main(ranked), "score", by="summarizer", label="setting", apart=["judge", "dataset"],
            first=["measure"],
        ),
        apart=["judge", "dataset"],
        across="measure",
        page="retrieval",
        aside="aside",
    ).having(sorted(marked, key=lambda row: (datasets.index(row["dataset"]), -first[_name(row)])))  # fmt: skip


def _name(row: Row) -> tuple[Any, ...]:
    return row["dataset"], row["summarizer"], row["setting"]


def _main(names: Sequence[str]) -> str:
    """Return the measure of rankings that stands for all: nDCG, or the first one."""
    return "nDCG" if "nDCG" in names or not names else names[0]


def _correlated(rows: Sequence[Row], level: str, points: str, k: int) -> Table:
    main = _main(list(dict.fromkeys(row["ranking_measure"] for row in rows)))
    asides = [_aside(row, None if level == "systems" else main) for row in rows]
    whys = [row["reason"] for row, aside in zip(rows, asides, strict=True) if aside is None]
    told = (
        f"Correlation of a measure of rankings at {k} with one of summaries, over the {points}; from -1 to 1. "
        "Intervals resample queries."
    )
    if level == "systems" and any(row["n"] < _FEW for row in rows):
        told += f" Fewer than {_FEW} systems say little: unrelated measures of 4 reach 0.95 in 5 of 100 cases."
    if whys and all(whys):
        told = f"No correlation over {level}."
        asides = [row["reason"] if aside is None else whys[0] for row, aside in zip(rows, asides, strict=True)]
    setting = ["setting"] if level == "queries" else []
    reasons = [dict.fromkeys(("pearson", "spearman"), str(row["reason"])) if row["reason"] else {} for row in rows]
    return Table(
        f"{NAME}_{level}",
        [
            DATASET,
            SYSTEM[0],
            *(SYSTEM[1:2] if level == "queries" else ()),
            JUDGE,
            Column("ranking_measure", title="rankings"),
            Column("measure", title="summaries"),
            Column("pearson", "coefficient", "Pearson"),
            Column("spearman", "coefficient", "Spearman"),
            Column("n", "count", level, shown=level == "systems"),
            Column("n_queries", "count", "queries"),
            Column("reason", shown=False),
            Column("aside", shown=False),
        ],
        (),
        told=told,
        key=["dataset", "judge", "summarizer", *setting, "ranking_measure", "measure"],
        reasons=reasons,
        section=NAME,
        page="retrieval",
        aside="aside",
    ).having(
        {**{name: value for name, value in row.items() if name not in _NOT_OF[level]}, "aside": aside}
        for row, aside in zip(rows, asides, strict=True)
    )


_NOT_OF: Mapping[str, Sequence[str]] = {"systems": ("level", "setting"), "queries": ("level",)}


def _aside(row: Row, main: str | None) -> str | None:
    """Say why a row is not shown on a page, where *main* stands for all measures of rankings; None: it is shown."""
    if row["measure"] in _PARTS:
        return _IN_PARTS
    return _OTHER_RANKINGS if main not in (None, row["ranking_measure"]) else None


# ---------------------------------------------------------------- the table


def _joint_rows(group: Sequence[RankedSystem], how: Averaging, k: int) -> Iterator[Row]:
    """Yield the rows of one system, which *group* has under each judge."""
    first = group[0]
    dataset, summarizer, setting = first.name
    queries = dict.fromkeys(first.facts["query_id"])
    ranked = {name: _mean(values, queries, how) for name, values in first.ranked.items()}
    for system in group:
        for measure in system.measures:
            yield {
                "dataset": dataset,
                "summarizer": summarizer,
                "setting": setting,
                "judge": system.judge,
                "k": k,
                **ranked,
                "measure": measure.name,
                "unit": measure.unit,
                "score": mean_of(system.by[measure.name], how).scaled(measure.factor).as_json(),
                "left_out": first.left_out,
            }


def _mean(values: Mapping[str, float], queries: Mapping[str, None], how: Averaging) -> EstimateColumns:
    own = {query: values[query] for query in queries if query in values}
    totals, counts = np.array(list(own.values())), np.ones(len(own))
    return pooled_mean(totals, counts, list(own), seed=how.seed, resamples=how.resamples).as_json()


# ---------------------------------------------------------------- correlations


def _over_systems(systems: Sequence[RankedSystem], how: Averaging) -> Iterator[Row]:
    """Yield the rows whose points are the settings of one summarizer."""
    families = in_groups(((one.judge, *one.name[:2]), one) for one in systems if one.correlates)
    for members in families.values():
        clusters = sorted({cluster for member in members for cluster in member.facts["cluster"]})
        resampling = Resampling(clusters, seed=_seed(how, members[0]), resamples=how.resamples)
        for name, measure in product(members[0].ranked, members[0].measures):
            sides = [_sides(member, name, measure.name, clusters, how) for member in members]
            both = [(first, second) for first, second in sides if first[:, 1].any() and second[:, 1].any()]
            found = resampling.of_means(*(np.array(side) for side in zip(*both, strict=True))) if both else _NOTHING
            queries = {query for member in members for query in member.facts["query_id"]}
            yield _row("systems", members[0], name, measure.name, found, n_queries=len(queries))


def _over_queries(systems: Sequence[RankedSystem], how: Averaging) -> Iterator[Row]:
    """Yield the rows whose points are the queries of one system."""
    for system in systems:
        if not system.correlates:
            continue
        cluster_of = dict(system.facts.select("query_id", "cluster").iter_rows())
        resampled: dict[tuple[str, ...], Resampling] = {}
        for name, measure in product(system.ranked, system.measures):
            ranked, written = system.ranked[name], system.written[measure.name]
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
    ranked, cluster_of = system.ranked[name], dict(system.facts.select("query_id", "cluster").iter_rows())
    queries = [query for query in system.written[measure] if query in ranked]
    place = {cluster: index for index, cluster in enumerate(clusters)}
    sums = np.zeros((len(clusters), 2))
    for query in queries:
        sums[place[cluster_of[query]]] += (ranked[query], 1)
    own = system.by[measure].filter(pl.col("query_id").cast(pl.String).is_in(queries))
    return sums, sums_of(own, clusters, how.aggregate)


def _by_query(scores: pl.DataFrame) -> dict[str, float]:
    """Query -> the score of its summary; repeats are averaged."""
    shares = samples(scores, "pooled").group_by("query_id", maintain_order=True)
    return dict(shares.agg(pl.col("total").sum() / pl.col("n").sum()).iter_rows())


def _row(level: Level, system: RankedSystem, name: str, measure: str, found: Correlation, *, n_queries: int) -> Row:
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


# ---------------------------------------------------------------- systems


_PERFECT = "every ranking is perfect, as an oracle's is"
_WHOLE = "prompts hold all documents, whatever their rank"
_ROUNDING = 1e-9

_Placed = tuple[str | None, str]
"""A ranker in words on a data set."""


def _values(values: pl.DataFrame) -> dict[str, dict[str, dict[str, float]]]:
    """Ranker in words -> measure -> query -> value."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for ranker, measure, query, value in values.select("system", "name", "query_id", "total").iter_rows():
        found.setdefault(ranker, {}).setdefault(measure, {})[query] = value
    return found


def _showing_all(evidence: Evidence, queries: pl.DataFrame) -> set[_Placed]:
    """Return the rankers whose prompts without a budget hold all documents of each haystack of a data set."""
    packed = evidence.contexts().filter(pl.col("budget_tokens").fill_null(0) == 0)
    known = packed.join(queries, on="query_id").drop_nulls("haystack_id")
    n_documents = {one: len(evidence.documents(one)) for one in known["haystack_id"].unique()}
    n_all = pl.Series("n_all", [n_documents[one] for one in known["haystack_id"]], dtype=pl.Int64)
    return _always(known.with_columns(n_all), pl.col("doc_ids").list.len() == pl.col("n_all"))


def _always(rows: pl.DataFrame, holds: pl.Expr) -> set[_Placed]:
    """Return the rankers on a data set of which something holds in all *rows*."""
    found = rows.group_by("dataset", "system").agg(holds=holds.all())
    return {(dataset, system) for dataset, system, of_all in found.iter_rows() if of_all}


class RankedSystem(NamedTuple):
    """The summaries of a system under a judge, or by measures that need none."""

    judge: str | None
    name: tuple[str | None, str, str]  # data set, summarizer and setting
    measures: Sequence[Measure]
    facts: pl.DataFrame
    by: Mapping[str, pl.DataFrame]  # measure -> means over the repeats of the judge, with `facts`
    written: Mapping[str, Mapping[str, float]]  # measure -> query -> score
    ranked: Mapping[str, Mapping[str, float]]  # measure of rankings -> query -> value; empty: it ranks nothing
    left_out: str | None  # why it stands in no correlation; None: it does

    @property
    def correlates(self) -> bool:
        return bool(self.ranked) and self.left_out is None


def ranked_systems(evidence: Evidence, measures: Sequence[Measure]) -> Iterator[RankedSystem]:
    """
    Yield each system under each judge; no twins, and none whose documents were ordered on purpose.

    There are none if the run ranks nothing, or no document is judged.
    """
    if not measures or not evidence.cutoffs:
        return
    columns = pl.col("query_id", "dataset", "haystack_id").cast(pl.String)
    queries = evidence.frames.summaries.select(columns).unique("query_id", keep="last").collect()
    every = ranked_values(evidence.rankings(), evidence.gold, queries, MEASURES, [max(evidence.cutoffs)])
    listed = every.filter(pl.col("name").is_in([one.name for one in evidence.ranking_measures]))
    if not (values := _values(listed)):
        return
    perfect = _always(every.filter(pl.col("name") == "nDCG"), pl.col("total") > 1 - _ROUNDING)
    table, whole = evidence.score_table, _showing_all(evidence, queries)
    arms = pl.col("order").is_not_null() & (pl.col("order") != "given")
    others = pl.col("elsewhere") | pl.col("retriever").is_null()  # a ranker of the same name in this run is another
    for judge in table.judges:
        own = [measure for measure in measures if measure.name in table.measures(judge)]
        facts = final(summaries_under(evidence, judge)).filter(pl.col("twin_of").is_null(), ~arms, ~others)
        listed = under(table.frame, judge).filter(pl.col("measure").is_in([measure.name for measure in own]))
        scores = means(listed)
        for of_dataset in facts.partition_by("dataset", maintain_order=True):
            for name, group in systems_of(of_dataset).items():
                first = group.row(0, named=True)
                ranker = SystemAxes(first["retriever"], first["reranker"]).ranking
                unlimited = all(first[limit] is None for limit in ("budget_tokens", "n_documents", "length_tokens"))
                placed = first["dataset"], ranker
                why = _PERFECT if placed in perfect else _WHOLE if unlimited and placed in whole else None
                known = with_facts(scores, group)
                by = {measure.name: known.filter(pl.col("measure") == measure.name) for measure in own}
                written = {measure: _by_query(scores) for measure, scores in by.items()}
                yield RankedSystem(judge, (placed[0], *name), own, group, by, written, values.get(ranker, {}), why)
