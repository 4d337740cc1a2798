"""Score the summaries and labels that a benchmark ships, without a call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import Field

from actors.measures import Listed, measures_of, with_studies
from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.command.calling import command_name
from jobs.results.evidence import ReportedWork, RunEvidence, by_summary
from jobs.results.write import write_results
from jobs.runs.heartbeat import Heartbeat, sizes_of
from jobs.runs.judges import released_judge_row
from jobs.runs.record import RunRecord, check_replay_goes_on
from jobs.runs.stage_order import check_order
from jobs.stages.accounts import Means
from jobs.stages.cluster import Cluster
from jobs.stages.released import CopySummaries, ReadLabels, Released, labelled_tasks, scored_measures
from jobs.stages.repair import CopyVerdicts, Repair, check_documents, twins_of, with_twins
from jobs.stages.runner import run_stages
from jobs.stages.score import Score, TaskOf
from jobs.stages.split import Split, unit_work_id
from jobs.stages.stage import Plan, Stage
from jobs.stages.verdicts import Judged
from longform.errors import UsageError
from longform.measures import default_names
from longform.repair import by_matrix
from longform.results.aggregate import Averaging
from longform.settings.measures import MeasureSettings
from longform.settings.readings import Fidelity
from longform.settings.strict import Strict
from longform.settings.systems import SystemName, named_system
from longform.studies.study import named_studies


class ReplaySettings(Strict):
    """Rules for scoring shipped labels."""

    aggregate: Literal["pooled", "per_summary"] = "pooled"
    partial_score: float = Field(0.5, ge=0, le=1)  # what partial coverage counts
    resamples: int = Field(2000, ge=100, le=1_000_000)  # of each interval
    seed: int = 1  # of the intervals
    compare_with: str | None = None  # the system that all others are compared with; null: the best on these data
    measures: tuple[str | MeasureSettings, ...] | None = None  # null: those of the labels and released scores
    sensitivity: Fidelity = "ours"  # whose rule of sensitivity to the order of documents
    studies: tuple[str, ...] | None = None  # null: all that the run has anything for
    citations: Literal["released", "matrix"] = (
        "released"  # matrix: beside each system, one whose citations are repaired
    )


class Replay:
    """The summaries and labels of one benchmark into one run folder, by stages that ask no model."""

    def __init__(
        self,
        bench_url: str,
        out_url: str,
        settings: ReplaySettings,
        *,
        cluster: Cluster,
        heartbeat: Heartbeat | None = None,
    ) -> None:
        self.settings, self.cluster = settings, cluster
        self.benchmark, self.run = Benchmark(bench_url), Folder(out_url)
        tasks = labelled_tasks(self.benchmark)
        kinds = list(dict.fromkeys(tasks.values()))
        listed = settings.measures
        if listed is None:
            listed = (*default_names(kinds), *scored_measures(self.benchmark))
        self.measures, self.studies = measures_of(listed, kinds), named_studies(settings.studies)
        stages = _stages(
            out_url,
            bench_url,
            repaired=settings.citations == "matrix",
            measures=with_studies(listed, self.studies, kinds),
            tasks=tasks,
            share=settings.partial_score,
        )
        check_order(stages)
        self.plan = Plan(stages, self.benchmark)
        if not (released := self.plan.of(Released)):
            raise UsageError(
                f"{bench_url}: expected summaries with labels or scores, found none; `longform evaluate` runs systems "
                "and judges"
            )
        if settings.citations == "matrix":
            check_documents(self.benchmark)
        if settings.compare_with is not None:
            named_system(settings.compare_with, [SystemName(one.key.summarizer, one.key.setting) for one in released])
        config = settings.model_dump(mode="json")
        check_replay_goes_on(self.run, config)
        self.record = RunRecord(
            self.run,
            command=heartbeat.command if heartbeat else command_name("replay"),
            verb="replay",
            benchmark=self.benchmark,
            config=config,
        )
        self._pulse = heartbeat
        if heartbeat is not None:
            heartbeat.begin(self.run, sizes_of(self.plan))  # before it looks for others: of two one sees the other
            self.record.begin()

    def do(self, *steps: str) -> None:
        """Do the stages of some steps; of all if none is named."""
        self.record.begin()
        stages = [stage for stage in self.plan.stages if not steps or stage.step in steps]
        run_stages(self.run, self.plan, stages, Means(self.cluster, note=self.record.note, pulse=self._pulse))

    def report(self) -> dict[str, Any]:
        """Write the results, and return them."""
        judges = list(dict.fromkeys(verdicts.key.judge for verdicts in self.plan.of(Judged)))
        rows, title = [released_judge_row(judge) for judge in judges], "Released summaries, replayed"
        return write_results(self._evidence(judges), self.record.content, self.studies, title=title, judges=rows)

    def _evidence(self, judges: Sequence[str]) -> RunEvidence:
        settings = self.settings
        summaries = with_twins([summary.work_id for summary in self.plan.of(Released)], twins_of(self.plan))
        return RunEvidence(
            run=self.run,
            benchmark=self.benchmark,
            work=ReportedWork(
                summaries=summaries,
                units=[unit_work_id(work_id) for work_id in summaries],
                verdicts=by_summary(self.plan.of(Judged)),
                tables={table: self.plan.work_ids(table) for table in ("scores", "verdicts")},
            ),
            averaging=Averaging(settings.aggregate, settings.seed, settings.resamples),
            measures=self.measures.of_summaries,
            judges=judges,
            compare_with=settings.compare_with,
            sensitivity=settings.sensitivity,
        )


def _stages(
    run: str, bench: str, *, repaired: bool, measures: Listed, tasks: Mapping[str, str], share: float
) -> list[Stage[Any]]:
    """Return the stages of a replay, in their order; *share* is what partial coverage counts."""
    judges = {annotator: TaskOf(task) for annotator, task in tasks.items()}
    return [
        CopySummaries(run=run, bench=bench),
        *([Repair(run=run, bench=bench, units="bullets")] if repaired else []),
        Split(run=run),
        ReadLabels(run=run, bench=bench, task_of=tasks),
        *([CopyVerdicts(run=run, by=by_matrix.VERSION)] if repaired else []),
        Score(run=run, bench=bench, listed=measures, partial_score=share, judges=judges),
    ]


def replay(
    bench_url: str, out_url: str, settings: ReplaySettings, *, cluster: Cluster, heartbeat: Heartbeat | None = None
) -> dict[str, Any]:
    """Return the results: the tables of the report, as one JSON document."""
    job = Replay(bench_url, out_url, settings, cluster=cluster, heartbeat=heartbeat)
    with job.record.stays():
        job.do()
        return job.report()
