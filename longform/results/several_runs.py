"""Several runs side by side: all their systems under the judges that are the same, and groups on common queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from longform.evidence.scan import pl
from longform.evidence.summaries import clustered
from longform.keys import stable_seed
from longform.metrics.measure import Description
from longform.metrics.paired_differences import smallest_p
from longform.metrics.statistics import LEVEL
from longform.results.aggregate import Averaging, marks_of, mean_of, sums_of, why_unknown
from longform.results.differences import UNITS, datasets_of, main_measure, of_dataset
from longform.results.pairs import groups
from longform.tables.names import DATASET, JUDGE, SYSTEM
from longform.tables.table import Column, Table, Value

Row = dict[str, Value]


class SameJudge(NamedTuple):
    """
    Runs whose scores may stand in one table; both frames say in `run` whose a row is.

    Attributes:
        judge: The judge's name; None: measures without a judge.
        dataset_hash: The hash of their benchmark.
        summaries: All summaries of these runs.
        scores: Those by the judge, as `longform.results.differences.scored` has them.
        averaging: Run -> how it averages.
        measures: Those that any of them lists.
    """

    judge: str | None
    dataset_hash: str
    summaries: pl.DataFrame
    scores: pl.DataFrame
    averaging: Mapping[str, Averaging]
    measures: Sequence[Description]

    def measured(self, run: str) -> set[str]:
        """Return the names of the measures that a run has scores of."""
        return {*self.scores.filter(pl.col("run") == run)["measure"].unique()}


def several_tables(same: Sequence[SameJudge]) -> list[Table]:
    """Return the scores of all systems, and their groups."""
    parts = [part for one in same for part in _parts(one)]
    apart = ("benchmark", "runs", "dataset", "judge")
    benchmark = Column("benchmark", told="the hash of its data set", shown=False)
    of = [benchmark, Column("runs"), DATASET, JUDGE]
    scores = [row for part in parts for row in _score_rows(part)]
    reasons = [{"score": str(why)} if (why := row.pop("why")) and row["score"] is None else {} for row in scores]
    found = [row for part in parts for row in _group_rows(part)]
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


class _Part(NamedTuple):
    """The runs of one judge on one data set; `named` are the columns that say so."""

    same: SameJudge
    summaries: pl.DataFrame
    scores: pl.DataFrame
    named: Row


def _parts(same: SameJudge) -> Iterator[_Part]:
    for dataset in datasets_of(same.summaries):
        scores = of_dataset(same.scores, dataset)
        if not scores.is_empty():
            runs = ", ".join(scores["run"].unique(maintain_order=True))
            named: Row = {"benchmark": same.dataset_hash, "runs": runs, "dataset": dataset, "judge": same.judge}
            yield _Part(same, of_dataset(same.summaries, dataset), scores, named)


def _score_rows(part: _Part) -> list[Row]:
    """Return a row for each system and measure, systems by their main measure."""
    systems = part.scores.partition_by("run", "summarizer", "setting", as_dict=True, maintain_order=True)
    measured = {run: part.same.measured(run) for run in part.same.averaging}
    values = {
        name: {
            measure["name"]: mean_of(
                group.filter(pl.col("measure") == measure["name"]), part.same.averaging[str(name[0])]
            ).scaled(100.0 if measure["unit"] == "points" else 1.0)
            for measure in part.same.measures
            if measure["name"] in measured[str(name[0])]
        }
        for name, group in systems.items()
    }
    scored = {name for own in values.values() for name, value in own.items() if value.value is not None}
    measures = [measure for measure in part.same.measures if measure["name"] in scored]
    heading = _heading(measures)

    def rank(name: tuple[object, ...]) -> float:
        found = values[name].get(heading["name"]) if heading else None
        sign = -1.0 if heading and heading["better"] == "lower" else 1.0
        return float("-inf") if found is None or found.value is None else sign * found.value

    return [
        {
            **part.named,
            **dict(zip(("run", "summarizer", "setting"), map(str, name), strict=True)),
            **{of: marks_of(group)[of] for of in ("twin_of", "cited_by")},
            "measure": measure["name"],
            "unit": UNITS.get(measure["unit"], "words"),
            "score": values[name].get(measure["name"]),
            "n_queries": group.filter(pl.col("measure").is_in([*values[name]]), pl.col("n") > 0)["query_id"].n_unique(),
            "why": _why(group, measure["name"]) if measure["name"] in values[name] else None,
        }
        for name, group in sorted(systems.items(), key=lambda one: -rank(one[0]))
        for measure in measures
    ]


def _why(group: pl.DataFrame, measure: str) -> str:
    own = group.filter(pl.col("measure") == measure)
    return why_unknown(own, all_failed=group["failure"].null_count() == 0)


def _heading(measures: Sequence[Description]) -> Description | None:
    """Return the measure by which rows are ordered: the first with a direction, joint if there is one."""
    directed = [one for one in measures if one["better"]]
    return next(iter([one for one in directed if one["name"] == "joint"] or directed or measures), None)


def _group_rows(part: _Part) -> list[Row]:
    """Return the groups of all systems but twins, whose citations somebody else chose, on common queries."""
    runs, judge = list(part.summaries["run"].unique(maintain_order=True)), part.same.judge
    common = part.summaries.filter(pl.col("run").n_unique().over("query_id") == len(runs), pl.col("twin_of").is_null())
    n_common = common["query_id"].n_unique()
    measure = main_measure(part.same.measures, [part.same.measured(run) for run in runs])
    if len(runs) < 2 or not n_common or judge is None or measure is None:
        return []
    query = pl.col("query_id").cast(pl.String)
    clusters = clustered(common)[0].select(query, "cluster").unique()
    scores = part.scores.filter(pl.col("twin_of").is_null()).drop("cluster").join(clusters, on="query_id")
    how = part.same.averaging[runs[0]]
    return [
        {**part.named, "measure": measure["name"], "n_common": n_common, **row}
        for row in grouped(scores, judge, measure, how)
    ]


def grouped(scores: pl.DataFrame, judge: str, measure: Description, how: Averaging) -> list[Row]:
    """Return a row for each group of the systems of all runs, best first; one without systems if none can be made."""
    name = pl.concat_str("run", pl.lit(": "), "summarizer", pl.lit(", "), "setting")
    own = scores.filter(pl.col("measure") == measure["name"]).with_columns(system=name)
    valued = own.filter((pl.col("n") > 0).any().over("system"))
    clusters = valued["cluster"].cast(pl.String).unique().sort().to_list()
    sums = {
        str(system): sums_of(group, clusters, how.aggregate)
        for (system,), group in valued.partition_by("system", as_dict=True, maintain_order=True).items()
    }
    if len(sums) < 2:
        return []
    direction = -1.0 if measure["better"] == "higher" else 1.0
    ordered = sorted(sums, key=lambda name: direction * float(sums[name][:, 0].sum() / sums[name][:, 1].sum()))
    few = smallest_p(len(clusters)) > 1 - LEVEL
    seed = stable_seed(how.seed, judge, measure["name"], "groups of runs")
    sets = None if few else groups([sums[name] for name in ordered], seed=seed)
    return [
        {"place": place, "systems": None if one is None else [ordered[n] for n in one], "n_clusters": len(clusters)}
        for place, one in enumerate([None] if sets is None else sets, start=1)
    ]
