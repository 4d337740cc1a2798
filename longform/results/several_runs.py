"""Several runs side by side: all their systems under the judges that are the same, and groups on common queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from longform.evidence.scan import pl
from longform.evidence.summaries import clustered
from longform.keys import stable_seed
from longform.metrics.measure import Description
from longform.metrics.paired_differences import smallest_p
from longform.metrics.statistics import LEVEL
from longform.results.aggregate import Averaging, marks_of, mean_of, sums_of, why_unknown
from longform.results.compared_runs import UNITS, RunScores, datasets_of, main_measure, of_dataset
from longform.results.pairs import groups
from longform.settings.system_names import SystemName
from longform.tables.names import DATASET, JUDGE, SYSTEM
from longform.tables.table import Column, Table, Value

Row = dict[str, Value]


class SameJudge(NamedTuple):
    """
    Runs whose scores may stand in one table.

    Attributes:
        judge: The judge's name; None: measures without a judge.
        dataset_hash: The hash of their benchmark.
        runs: The scores of each run, with its averaging.
        measures: Those that any of them lists.
    """

    judge: str | None
    dataset_hash: str
    runs: Sequence[tuple[RunScores, Averaging]]
    measures: Sequence[Description]


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
    dataset: str | None
    sides: Sequence[tuple[RunScores, Averaging]]
    named: Row


def _parts(same: SameJudge) -> list[_Part]:
    found = []
    for dataset in datasets_of(*(run for run, _ in same.runs)):
        own = [(run._replace(summaries=of_dataset(run.summaries, dataset)), how) for run, how in same.runs]
        sides = [(run, how) for run, how in own if not run.summaries.is_empty()]
        having = [run.label for run, _ in sides if run.of_judge(same.judge, dataset)]
        runs = ", ".join(having)
        named: Row = {"benchmark": same.dataset_hash, "runs": runs, "dataset": dataset, "judge": same.judge}
        found += [_Part(same, dataset, sides, named)] if having else []
    return found


def _score_rows(part: _Part) -> list[Row]:
    """Return a row for each system and measure, systems by their main measure."""
    lines = [
        (side, how, name, group)
        for side, how in part.sides
        for name, group in side.of_judge(part.same.judge, part.dataset).items()
    ]
    values = {
        (side.label, name): {
            measure["name"]: mean_of(group.filter(pl.col("measure") == measure["name"]), how).scaled(
                100.0 if measure["unit"] == "points" else 1.0
            )
            for measure in part.same.measures
            if measure["name"] in side.table.measures(part.same.judge)
        }
        for side, how, name, group in lines
    }
    scored = {name for own in values.values() for name, value in own.items() if value.value is not None}
    measures = [measure for measure in part.same.measures if measure["name"] in scored]
    heading = _heading(measures)

    def rank(line: tuple[RunScores, Averaging, SystemName, pl.DataFrame]) -> float:
        found = values[line[0].label, line[2]].get(heading["name"]) if heading else None
        sign = -1.0 if heading and heading["better"] == "lower" else 1.0
        return float("-inf") if found is None or found.value is None else sign * found.value

    return [
        {
            **part.named,
            "run": side.label,
            "summarizer": name.summarizer,
            "setting": name.setting,
            "twin_of": (twin := marks_of(group))["twin_of"],
            "cited_by": twin["cited_by"],
            "measure": measure["name"],
            "unit": UNITS.get(measure["unit"], "words"),
            "score": values[side.label, name].get(measure["name"]),
            "n_queries": group.filter(pl.col("measure").is_in([*values[side.label, name]]), pl.col("n") > 0)[
                "query_id"
            ].n_unique(),
            "why": _why(group, measure["name"]) if measure["name"] in values[side.label, name] else None,
        }
        for side, _, name, group in sorted(lines, key=lambda line: -rank(line))
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
    sides, judge = [side for side, _ in part.sides], part.same.judge
    common = set.intersection(*({*side.summaries["query_id"]} for side in sides))
    if len(sides) < 2 or not common or judge is None:
        return []
    wanted = pl.col("query_id").cast(pl.String).is_in(list(common)) & pl.col("twin_of").is_null()
    own = clustered(*(side.summaries.filter(wanted) for side in sides))
    runs = [side._replace(summaries=summaries) for side, summaries in zip(sides, own, strict=True)]
    measure = main_measure(part.same.measures, [run.table.measures(judge) for run in runs])
    if measure is None:
        return []
    return [
        {**part.named, "measure": measure["name"], "n_common": len(common), **row}
        for row in grouped(runs, part.dataset, judge, measure, part.sides[0][1])
    ]


def grouped(
    runs: Sequence[RunScores], dataset: str | None, judge: str, measure: Description, how: Averaging
) -> list[Row]:
    """Return a row for each group of the systems of *runs*, best first; one without systems if none can be made."""
    systems = {
        f"{run.label}: {name}": group
        for run in runs
        for name, group in run.of_judge(judge, dataset).items()
        if not group.filter(pl.col("measure") == measure["name"], pl.col("n") > 0).is_empty()
    }
    if len(systems) < 2:
        return []
    clusters = sorted({cluster for group in systems.values() for cluster in group["cluster"]})
    sums = {
        name: sums_of(group.filter(pl.col("measure") == measure["name"]), clusters, how.aggregate)
        for name, group in systems.items()
    }
    direction = -1.0 if measure["better"] == "higher" else 1.0
    ordered = sorted(sums, key=lambda name: direction * float(sums[name][:, 0].sum() / sums[name][:, 1].sum()))
    few = smallest_p(len(clusters)) > 1 - LEVEL
    seed = stable_seed(how.seed, judge, measure["name"], "groups of runs")
    sets = None if few else groups([sums[name] for name in ordered], seed=seed)
    return [
        {"place": place, "systems": None if one is None else [ordered[n] for n in one], "n_clusters": len(clusters)}
        for place, one in enumerate([None] if sets is None else sets, start=1)
    ]
