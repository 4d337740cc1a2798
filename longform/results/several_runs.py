"""Several runs side by side: all their systems under the judges that are the same, and groups on common queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypedDict

from longform.metrics.measure import Description
from longform.metrics.statistics import EstimateColumns
from longform.results.aggregate import Averaging, Scored, SummaryInfo, estimate, twin_names
from longform.results.cells import why_unknown
from longform.results.columns import OfJudge, TwinColumns
from longform.results.compared_runs import GroupsRow, RunScores, clustered, grouped
from longform.results.run_status import SpendStatus, State
from longform.results.score_table import ScoreTable
from longform.settings.system_names import SystemName


class RunFactsRow(TypedDict):
    """A run, as the page over all of them tells of it."""

    label: str
    page: str  # its own
    title: str | None
    verb: str
    state: State
    finished: bool
    benchmark: str
    dataset_hash: str
    n_queries: int
    n_systems: int
    judges: list[str]
    versions: str  # of longform
    spend: SpendStatus | None  # null: no model was called, or it is not known
    called: bool


class RunLine(TwinColumns):
    """A system of a run."""

    run: str
    system: str
    summarizer: str
    setting: str
    n_queries: int  # with a score
    values: dict[str, EstimateColumns]  # by measure, in its unit
    reasons: dict[str, str]  # by measure: why its value is unknown


class RunTable(OfJudge):
    """The systems of all runs that have the same judge on the same benchmark."""

    dataset_hash: str
    runs: list[str]
    measures: list[Description]
    rows: list[RunLine]
    groups: list[GroupsRow]  # on the queries that all these runs have
    n_common: int


class SeveralRuns(TypedDict):
    """Several runs."""

    runs: list[RunFactsRow]
    cautions: list[str]
    tables: list[RunTable]


class SameJudge(NamedTuple):
    """
    Runs whose scores may stand in one table.

    Attributes:
        judge: None: measures without a judge.
        dataset_hash: Of their benchmark.
        runs: Label -> infos, scores and averaging of each run.
        measures: That any of them lists.
    """

    judge: str | None
    dataset_hash: str
    runs: Mapping[str, tuple[Mapping[str, SummaryInfo], ScoreTable, Averaging]]
    measures: Sequence[Description]


def run_tables(same: SameJudge) -> list[RunTable]:
    """Return a table for each data set."""
    datasets = dict.fromkeys(info.dataset for infos, _, _ in same.runs.values() for info in infos.values())
    return [table for dataset in datasets if (table := _table(same, dataset))["rows"]]


def _table(same: SameJudge, dataset: str | None) -> RunTable:
    own = {
        label: ({key: info for key, info in infos.items() if info.dataset == dataset}, table, how)
        for label, (infos, table, how) in same.runs.items()
    }
    sides = [RunScores(label, clustered(infos)[0], table) for label, (infos, table, _) in own.items() if infos]
    rows = [row for side in sides for row in _rows(side, same, dataset, own[side.label][2])]
    scored = {name for row in rows for name, value in row["values"].items() if value["value"] is not None}
    common = _common(sides)
    return {
        "judge": same.judge,
        "dataset": dataset,
        "dataset_hash": same.dataset_hash,
        "runs": list(dict.fromkeys(row["run"] for row in rows)),
        "measures": [measure for measure in same.measures if measure["name"] in scored],
        "rows": rows,
        "groups": _groups(sides, same, common, own[sides[0].label][2]) if len(sides) > 1 and common else [],
        "n_common": len(common),
    }


def _common(sides: Sequence[RunScores]) -> set[str]:
    queries = [{info.query_id for info in side.infos.values()} for side in sides]
    return set.intersection(*queries) if queries else set()


def _groups(sides: Sequence[RunScores], same: SameJudge, common: set[str], how: Averaging) -> list[GroupsRow]:
    """Return the groups of all systems but twins, whose citations somebody else chose."""
    own = [{k: i for k, i in side.infos.items() if i.query_id in common and i.twin_of is None} for side in sides]
    kept = clustered(*own)
    runs = [side._replace(infos=infos) for side, infos in zip(sides, kept, strict=True)]
    return grouped(runs, judges=[same.judge], measures=same.measures, how=how)


def _rows(side: RunScores, same: SameJudge, dataset: str | None, how: Averaging) -> list[RunLine]:
    held = side.table.measures(same.judge)
    measures = [measure for measure in same.measures if measure["name"] in held]
    return [_line(side.label, name, group, measures, how) for name, group in side.of_judge(same.judge, dataset).items()]


def _line(
    run: str, name: SystemName, group: Sequence[Scored], measures: Sequence[Description], how: Averaging
) -> RunLine:
    names = [measure["name"] for measure in measures]
    values = {measure["name"]: _value(group, measure, how) for measure in measures}
    scored = {one.info.query_id for one in group if any(map(one.has, names))}
    reasons = {key: why_unknown(group, key) for key, value in values.items() if value["value"] is None}
    return {
        "run": run,
        "system": str(name),
        "summarizer": name.summarizer,
        "setting": name.setting,
        "n_queries": len(scored),
        "values": values,
        "reasons": reasons,
        **twin_names(group),
    }


def _value(group: Sequence[Scored], measure: Description, how: Averaging) -> EstimateColumns:
    factor = 100.0 if measure["unit"] == "points" else 1.0
    return estimate(group, measure["name"], how).scaled(factor).as_json()
