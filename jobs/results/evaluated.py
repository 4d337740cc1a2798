"""The results of an evaluation: its tables, what its configuration and plan tell of them, and whether they stand."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.compute as pc

import actors
import jobs
import longform
from actors.measures import check_measures
from actors.storage.benchmark import ACCOUNT, AUDIT, TABLES, Benchmark
from actors.storage.errors import StorageError
from actors.storage.folder import Folder
from actors.studies import open_studies
from actors.terminal import say
from jobs.files.outputs import marks_told
from jobs.results.calls import call_results
from jobs.results.evidence import ReportedWork, RunEvidence, by_summary
from jobs.results.frames import rankings_told
from jobs.results.write import REPORT, RESULTS, read_results, retire, write_results
from jobs.runs.judges import judge_rows
from jobs.runs.unscored import unranked, unscored
from jobs.stages.items import Item
from jobs.stages.pack import Packed
from jobs.stages.released import Released
from jobs.stages.repair import RepairByJudge, twins_of, with_twins
from jobs.stages.retrieve import Ranked
from jobs.stages.shipped import FULL
from jobs.stages.split import unit_work_id
from jobs.stages.stage import Plan, Stage
from jobs.stages.summarize import Summarized
from jobs.stages.verdicts import Judged, checks_of
from longform.judges.cards import unmeasured_languages
from longform.keys import content_key, in_groups
from longform.report.page import INDEX
from longform.results.aggregate import Averaging
from longform.results.calls import CallsRow
from longform.results.cells import table_rows
from longform.results.elsewhere import Documents, elsewhere_tables, elsewhere_told
from longform.results.evidence import BY_MATRIX, TwinDriver
from longform.results.in_sample import fitted_of
from longform.results.results import JudgeRow, Results
from longform.schemas import SCHEMAS
from longform.settings.experiment import Experiment
from longform.settings.systems import SystemName
from longform.studies.calls import missing_ledgers
from longform.tables.table import Table
from longform.text.units import READINGS


def evaluation_results(
    run: Folder,
    benchmark: Benchmark,
    record: dict[str, Any],
    experiment: Experiment,
    plan: Plan,
    *,
    budget_ended: bool = False,
    again: bool = True,
) -> dict[str, Any]:
    """
    Return the results of a run whose stages are done, written with its report.

    *budget_ended* says that a further order of documents was wanted, and not made; *again* that results which stand
    there, made of the same, are written once more.
    """
    told = told_of(run, benchmark, record, experiment, plan)
    asked = {name: [*plan.work_ids(name)] for name in ("summaries", "verdicts", "scores")}
    kept = {name: told for name, told in record.items() if name != "last_call"}
    beside = (kept, told.judges, told.more, told.calls, asked, plan.query_ids, budget_ended)
    made_of, report = {"key": _key(run, benchmark, *beside)}, run.child(REPORT)
    try:
        written = not again and run.has(RESULTS) and report.has(MADE_OF) and report.has(INDEX)
        if written and report.read_json(MADE_OF) == made_of:
            return {**read_results(run), "run": record}
    except StorageError as error:
        if not error.lasts:
            raise
        say(f"{run.url}: {RESULTS} or {REPORT}/{MADE_OF} is damaged; written anew from the tables", file=sys.stderr)
    results = made_results(run, benchmark, record, experiment, plan, told=told, budget_ended=budget_ended)
    report.write_json(MADE_OF, made_of)
    retire(run)
    return results


class BesideTables(NamedTuple):
    """All that results have besides the run's tables."""

    judges: list[JudgeRow]  # in the report's order
    more: Results
    calls: list[CallsRow] | None  # of each stage; None: no model was called
    tables: Sequence[Table]  # those that no study makes


def told_of(
    run: Folder,
    benchmark: Benchmark,
    record: dict[str, Any],
    experiment: Experiment,
    plan: Plan,
    *,
    stages: Sequence[Stage[Any]] | None = None,
) -> BesideTables:
    """Return what the run's configuration, plan and ledgers tell; *stages* are those that called; None: the plan's."""
    calls, lost = call_results(run, record, plan.stages if stages is None else stages)
    tables: list[Table] = []
    more: Results = {"read": [f"Texts are judged by {READINGS[experiment.units]}."]}
    more["unscored"] = unscored(experiment, benchmark, plan.query_ids) + unranked(run, plan)
    if elsewhere := elsewhere_rows(benchmark, plan):
        more["elsewhere"] = elsewhere
        tables += elsewhere_tables(elsewhere)
        more["read"] += marks_told(benchmark.folder)
        more["unscored"] += elsewhere_told(elsewhere, checked=bool(experiment.support_judges))
    more["unscored"] += languages_told(run, benchmark, experiment, plan)
    if plan.of(Ranked) and (judged := rankings_told(benchmark, plan.query_ids)):
        more["rankings_told"] = judged
    if calls is not None:
        more["missing_ledgers"] = lost
        tables += missing_ledgers(lost)
    judges = judge_rows(experiment, record.get("served"))
    return BesideTables(judges, more, calls, tables)


def made_results(
    run: Folder,
    benchmark: Benchmark,
    record: dict[str, Any],
    experiment: Experiment,
    plan: Plan,
    *,
    told: BesideTables,
    budget_ended: bool = False,
) -> dict[str, Any]:
    """Return the results of all that *plan* holds, written with their report, of what is *told* besides the tables."""
    measures = check_measures(experiment)
    return write_results(
        RunEvidence(
            run=run,
            benchmark=benchmark,
            work=work_of(experiment, plan),
            averaging=Averaging(experiment.aggregate, experiment.seed, experiment.resamples),
            measures=measures.of_summaries,
            ranking_measures=measures.of_rankings,
            judges=[row["judge"] for row in told.judges],
            compare_with=experiment.compare_with,
            sensitivity=experiment.sensitivity,
            cutoffs=experiment.cutoffs,
            ignoring_order=experiment.ignoring_order,
            driver=_driver(run, plan),
            experiment=experiment,
            budget_ended=budget_ended,
            calls=told.calls,
            pooled=experiment.datasets == "pooled",
        ),
        record,
        open_studies(experiment.studies),
        title=experiment.name,
        judges=told.judges,
        fitted=fitted_of(experiment),
        more=told.more,
        tables=told.tables,
    )


UNFOLDED = ("coverage", "key_point", "reference")
"""Tasks whose verdicts on each target the report shows; those of support stand beside bullets."""


def work_of(experiment: Experiment, plan: Plan) -> ReportedWork:
    """Return the work ids of what is reported."""
    shipped = [one.work_id for one in plan.of(Released)]
    summaries = with_twins(_written(experiment, plan), twins_of(plan))
    unfolded = {name for task in UNFOLDED for name in experiment.judges_of(task)}
    return ReportedWork(
        summaries=summaries,
        units=[unit_work_id(work_id, experiment.units) for work_id in summaries],
        verdicts=by_summary(judged for judged in plan.of(Judged) if judged.key.judge in unfolded),
        tables={table: plan.work_ids(table) for table in ("scores", "verdicts", "rankings", "contexts")},
        rankings={ranking.work_id: ranking.key for ranking in plan.of(Ranked)},
        contexts={context.work_id: context.key for context in plan.of(Packed) if context.key.all_documents},
        checks=checks_of(plan),
        elsewhere=frozenset(with_twins(shipped, twins_of(plan))) if plan.of(Summarized) else frozenset(),
        again=_asked_again(experiment, plan),
    )


def _asked_again(experiment: Experiment, plan: Plan) -> dict[str, list[Item[Judged]]]:
    """Return the verdicts of judges with repeats, those of twins left out: they are copies."""
    written = {item.work_id for item in plan.of(Summarized)}
    found: dict[str, list[Item[Judged]]] = {name: [] for name, judge in experiment.judges.items() if judge.times > 1}
    for item in plan.of(Judged):
        if item.key.judge in found and item.key.summary in written:
            found[item.key.judge].append(item)
    return found


def _written(experiment: Experiment, plan: Plan) -> list[str]:
    """Return the work ids of the summaries as their summarizers wrote them, in the order of the systems."""
    place = {(system.summarizer, system.setting): place for place, system in enumerate(experiment.all_systems())}
    summaries = plan.of(Summarized)
    ordered = sorted(summaries, key=lambda one: place[one.key.summarizer, one.key.setting])
    return [*(one.work_id for one in ordered), *(one.work_id for one in plan.of(Released))]


def _driver(run: Folder, plan: Plan) -> TwinDriver:
    """Return what the report says of what drove the citations of the twins."""
    driven = next((stage for stage in plan.stages if isinstance(stage, RepairByJudge)), None)
    return BY_MATRIX if driven is None else driven.driver(run, plan)


def with_another_order(experiment: Experiment, results: Mapping[str, Any]) -> Experiment | None:
    """Return the experiment with one more drawn order, if the interval of a mean over orders is to be narrower."""
    settings = experiment.permutations
    rows = table_rows(results, "faithfulness_permutations")
    if settings.half_width is None or settings.n_orders >= settings.most or all(row["narrow"] for row in rows):
        return None
    more = settings.model_copy(update={"n_orders": settings.n_orders + 1})
    return experiment.model_copy(update={"permutations": more})


MADE_OF = "made_of.json"
"""Beside the pages of a run's report: the key of what they were made of."""


def _key(run: Folder, benchmark: Benchmark, *told: object) -> str:
    """Return a key of all that results are made of: commits stand for rows; *told* is all else, as JSON values."""
    commits = {table: list(run.commits(table)) for table in sorted(SCHEMAS)}
    audits = {
        name: benchmark.folder.has(name) and benchmark.folder.read_json(name) for name in (AUDIT, ACCOUNT, TABLES)
    }
    return content_key("results", _code(), commits, benchmark.manifest, audits, *told)


@cache
def _code() -> list[str]:
    """Return what tells one version of the code from another, in a checkout that is worked on too."""
    found: list[str] = []
    for package in (longform, actors, jobs):
        for folder in package.__path__:
            for file in sorted(Path(folder).rglob("*")):
                if file.is_file() and file.suffix != ".pyc":
                    state = file.stat()
                    name = f"{package.__name__}/{file.relative_to(folder)}"
                    found.append(f"{name} {state.st_size} {state.st_mtime_ns}")
    return found


# ---------------------------------------------------------------- texts taken as shipped, and languages that go unread


def elsewhere_rows(benchmark: Benchmark, plan: Plan) -> list[dict[str, Any]]:
    """Return a row for each system of shipped texts; none if the run took none."""
    systems = in_groups((item.key.name, item.key) for item in plan.of(Released))
    lengths = _lengths(benchmark) if systems else {}
    return [_row(name, summaries, lengths, plan.query_ids) for name, summaries in systems.items()]


def _row(
    name: SystemName, summaries: list[Released], lengths: dict[str, int | None], query_ids: Iterable[str]
) -> dict[str, Any]:
    answered = {one.query_id for one in summaries}
    sizes = [lengths.get(one.summary_id) for one in summaries]
    return {
        **name._asdict(),
        "n_summaries": len(summaries),
        "n_failed": sizes.count(None),
        "n_empty": sizes.count(0),
        "n_queries": len(answered),
        "unanswered": [query_id for query_id in query_ids if query_id not in answered],
        "documents": dict(Counter(map(_documents, summaries))),
    }


def _documents(summary: Released) -> Documents:
    if summary.context_id is not None:
        return "named"
    return "all" if FULL in (summary.setting, summary.retriever) else "unknown"


def _lengths(benchmark: Benchmark) -> dict[str, int | None]:
    """Summary id -> characters of its text but for white space at its ends, None if it has none."""
    found: dict[str, int | None] = {}
    for batch in benchmark.folder.batches("summaries", columns=["summary_id", "text"]):
        sizes = pc.utf8_length(pc.utf8_trim_whitespace(batch["text"])).to_pylist()
        found |= dict(zip(batch["summary_id"].to_pylist(), sizes, strict=True))
    return found


_MOST = 1000  # documents that are read


def languages_told(run: Folder, benchmark: Benchmark, experiment: Experiment, plan: Plan) -> list[str]:
    """Return a sentence for each such language, with the numbers of answers, documents and targets in it."""
    judges = {
        name: judge.measured_in
        for name, judge in experiment.judges.items()
        if judge.measured_in and name not in experiment.cards  # a card of one's own is of one's own texts
    }
    if not judges:
        return []
    documents = list(islice(_texts_of_documents(benchmark, plan), _MOST + 1))
    read = f"documents (the first {_MOST:,})" if len(documents) > _MOST else "documents"
    targets = [one.text for query_id in plan.query_ids for one in benchmark.targets.get(query_id, [])]
    return unmeasured_languages({**_answers(run, plan), read: documents[:_MOST], "targets": targets}, judges)


def _answers(run: Folder, plan: Plan) -> dict[str, list[str]]:
    """Return the texts of each system."""
    work_ids = [*(one.work_id for one in plan.of(Released)), *(one.work_id for one in plan.of(Summarized))]
    batches = run.batches("summaries", work_ids=work_ids, columns=["summarizer", "setting", "step", "text"])
    return in_groups(
        (f"answers of {SystemName(row['summarizer'], row['setting'])}", row["text"] or "")
        for batch in batches
        for row in batch.to_pylist()
        if row["step"] is None
    )


def _texts_of_documents(benchmark: Benchmark, plan: Plan) -> Iterator[str]:
    if benchmark.manifest["rows"]["documents"]:
        for haystack_id in dict.fromkeys(benchmark.queries[query_id].haystack_id for query_id in plan.query_ids):
            yield from benchmark.rows("documents", haystack_id, ["text"])["text"].to_pylist()
