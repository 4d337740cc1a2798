"""Several runs side by side: all their systems under the judges that are the same, and groups on common queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import NamedTuple

from longform.evidence.scan import pl
from longform.evidence.summaries import clustered
from longform.keys import stable_seed
from longform.metrics.measure import Described, Description
from longform.metrics.statistics import Estimate
from longform.results.aggregate import Averaging, marks_of, mean_of, why_unknown
from longform.results.differences import MEASURE, UNITS, compared_measure, datasets_of, of_dataset, values_of
from longform.results.pairs import Member, PairedFamily
from longform.tables.table import DATASET, JUDGE, SYSTEM, Column, Table, Value

Row = dict[str, Value]


class SameJudge(NamedTuple):
    """Runs whose scores may stand in one table; both frames say in `run` whose a row is."""

    judge: str | None  # None: measures without a judge
    dataset_hash: str
    summaries: pl.DataFrame
    scores: pl.DataFrame  # by the judge, as `longform.results.differences.scored` has them
    averaging: Mapping[str, Averaging]  # by run
    measures: Sequence[Description]  # those that any of them lists

    def measured(self, run: str) -> set[str]:
        """Return the names of the measures that a run has scores of."""
        return {*self.scores.filter(pl.col("run") == run)["measure"].unique()}


def several_tables(same: Sequence[SameJudge]) -> list[Table]:
    """Return the scores of all systems, and their groups."""
    apart = ("benchmark", "runs", "dataset", "judge")
    benchmark = Column("benchmark", told="the hash of its data set", shown=False)
    of = [benchmark, Column("runs"), DATASET, JUDGE]
    scores: list[Row] = []
    found: list[Row] = []
    for one in same:
        for dataset in datasets_of(one.summaries):
            if not (own := of_dataset(one.scores, dataset)).is_empty():
                runs = ", ".join(own["run"].unique(maintain_order=True))
                named: Row = {"benchmark": one.dataset_hash, "runs": runs, "dataset": dataset, "judge": one.judge}
                scores += [{**named, **row} for row in _score_rows(one, own)]
                found += [{**named, **row} for row in _group_rows(one, of_dataset(one.summaries, dataset), own)]
    reasons = [{"score": str(why)} if (why := row.pop("why")) else {} for row in scores]
    several = len({one.dataset_hash for one in same}) > 1
    kept = apart if several else apart[1:]
    return [
        Table(
            "systems",
            [*of, Column("run"), *SYSTEM, Column("measure"), Column("unit", shown=False),
             Column("score", "stated", unknown="not scored in this run"),
             Column("n_queries", "count", "queries", "those with a score")],
            scores,
            "All systems",
            "Scores of one table are of the same judge on the same benchmark. Intervals are those of each system by "
            "itself: two that overlap may differ all the same, see the groups, or longform compare RUN RUN.",
            key=[*apart, "run", "setting", "summarizer"],
            apart=kept,
            across="measure",
            reasons=reasons,
        ),
        Table(
            "groups",
            [*of, Column("measure"), Column("place", "count", "group"),
             Column("systems", unknown="too few independent queries or haystacks, or too many groups"),
             Column("n_common", "count", "queries", "those that all these runs have"),
             Column("n_clusters", "count", "independent", "queries or haystacks")],
            found,
            "Systems that cannot be told apart",
            "A group holds systems of which no pair can be told apart, with all pairs of all runs tested together; "
            "best first. A system may stand in several groups. The report of one run tests its own systems alone.",
            key=[*apart, "measure", "place"],
            apart=kept,
        ),
    ]  # fmt: skip


def _score_rows(same: SameJudge, scores: pl.DataFrame) -> list[Row]:
    """Return a row for each system and measure that any has a value of, by the first measure with a direction."""
    rows: list[Row] = []
    for name, group in scores.partition_by(*_SYSTEM, as_dict=True, maintain_order=True).items():
        run, marks, failed = str(name[0]), marks_of(group), group["failure"].null_count() == 0
        measured = same.measured(run) & {one["name"] for one in same.measures}
        having = group.filter(pl.col("measure").is_in(measured), pl.col("n") > 0)
        for one in same.measures:
            own = group.filter(pl.col("measure") == one["name"])
            score = mean_of(own, same.averaging[run]).scaled(100.0 if one["unit"] == "points" else 1.0)
            row: Row = {
                **dict(zip(_SYSTEM, map(str, name), strict=True)),
                "twin_of": marks["twin_of"],
                "cited_by": marks["cited_by"],
                "measure": one["name"],
                "unit": UNITS.get(one["unit"], "words"),
                "score": score if one["name"] in measured else None,
                "n_queries": having["query_id"].n_unique(),
                "why": why_unknown(own, all_failed=failed) if one["name"] in measured and score.value is None else None,
            }
            rows.append(row)
    values = {
        (*(row[of] for of in _SYSTEM), row["measure"]): row["score"].value
        for row in rows
        if isinstance(row["score"], Estimate) and row["score"].value is not None
    }
    scored = {measure for *_, measure in values}
    listed = [one for one in same.measures if one["name"] in scored]
    directed = [one for one in listed if one["better"]] or listed
    heading = next(iter([one for one in directed if one["name"] == MEASURE] or directed), None)

    def rank(row: Row) -> float:
        value = values.get((*(row[of] for of in _SYSTEM), heading["name"])) if heading else None
        return inf if value is None else value if heading and heading["better"] == "lower" else -value

    return sorted((row for row in rows if row["measure"] in scored), key=rank)


_SYSTEM = ("run", "summarizer", "setting")


def _group_rows(same: SameJudge, summaries: pl.DataFrame, scores: pl.DataFrame) -> list[Row]:
    """Return the groups of all systems but twins, whose citations somebody else chose, on common queries."""
    runs = list(summaries["run"].unique(maintain_order=True))
    common = summaries.filter(pl.col("run").n_unique().over("query_id") == len(runs), pl.col("twin_of").is_null())
    n_common = common["query_id"].n_unique()
    measure = compared_measure(same.measures, [same.measured(run) for run in runs])
    if len(runs) < 2 or not n_common or same.judge is None or measure is None:
        return []
    query = pl.col("query_id").cast(pl.String)
    clusters = clustered(common)[0].select(query, "cluster").unique()
    own = scores.filter(pl.col("twin_of").is_null()).drop("cluster").join(clusters, on="query_id")
    rows = grouped(own, same.judge, measure, same.averaging[runs[0]])
    return [{"measure": measure["name"], "n_common": n_common, **row} for row in rows]


def grouped(scores: pl.DataFrame, judge: str, measure: Description, how: Averaging) -> list[Row]:
    """Return a row for each group of the systems of all runs, best first; one without systems if none can be made."""
    name = pl.concat_str("run", pl.lit(": "), "summarizer", pl.lit(", "), "setting")
    own = scores.filter(pl.col("measure") == measure["name"]).with_columns(system=name)
    valued = own.filter((pl.col("n") > 0).any().over("system"))
    members = [Member([system]) for system in valued["system"].unique(maintain_order=True)]
    n_clusters = valued["cluster"].n_unique()
    family = PairedFamily(
        Described(measure["name"], better=measure["better"]),
        members,
        values_of(valued, how.aggregate),
        {"n_clusters": n_clusters},
        stable_seed(how.seed, judge, measure["name"], "groups of runs"),
        most=len(members),
    )
    if len(members) < 2:
        return []
    groups = None if family.few else family.groups
    return [
        {"place": place, "systems": None if one is None else [member.words for member in one], "n_clusters": n_clusters}
        for place, one in enumerate([None] if groups is None else groups, start=1)
    ]
