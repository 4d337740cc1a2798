"""
What each stage of an evaluation is made of: its worker, its work, and how much of it there is to be in the end.

Read `jobs/runs/stage_order.py` for the order of the stages, and a stage's own module for what it does.
"""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import Any

from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.calling import Calling, chat_models
from jobs.cluster import Cluster
from jobs.results.calls import call_results, noted_calls
from jobs.results.evidence import RunEvidence, Work
from jobs.results.in_sample import fitted_of
from jobs.results.infos import summary_infos
from jobs.results.repair import BY_MATRIX
from jobs.results.write import write_results
from jobs.runs.cards import judge_rows
from jobs.runs.check_methods import check_methods, check_methods_before
from jobs.runs.measures import check_measures
from jobs.runs.plan import check_experiment, plan_run, prompt_versions
from jobs.runs.record import RunRecord, check_goes_on
from jobs.runs.retry import forget_passing_failures
from jobs.runs.stage_order import WAY, check_way
from jobs.runs.unscored import unscored
from jobs.spending.plan import keep_plan, spending_plan
from jobs.spending.prepay import (
    Batched,
    check_batches,
    checks_in_batches,
    prepay,
    summaries_in_batches,
    verdicts_in_batches,
)
from jobs.stages.check import check_stage, check_tasks
from jobs.stages.combine import combine_stage, combine_tasks
from jobs.stages.combine_support import combine_support_stage, combine_support_tasks
from jobs.stages.judge import judge_stage, judge_tasks
from jobs.stages.pack import pack_stage, pack_tasks
from jobs.stages.repair import copy_stage, copy_tasks, repair_stage, repair_tasks
from jobs.stages.repair_by_judge import judge_driver, judged_repair_stage, judged_repair_tasks
from jobs.stages.rerank import rerank_stage, rerank_tasks
from jobs.stages.retrieve import retrieve_stage, retrieve_tasks
from jobs.stages.runner import Stage, Task, run_stage
from jobs.stages.score import score_stage, score_tasks, score_work_id
from jobs.stages.score_bullets import classify_stage, classify_tasks, classify_work_id
from jobs.stages.score_support import support_score_stage, support_score_tasks, support_score_work_id
from jobs.stages.split import split_stage, split_tasks, unit_work_id
from jobs.stages.summarize import summarize_stage, summarize_tasks
from longform.results.evidence import Averaging
from longform.results.study import named_studies
from longform.settings.experiment import Experiment


class Evaluation:
    """One experiment on one benchmark into one run folder; each stage is a method."""

    def __init__(
        self,
        experiment: Experiment,
        bench_url: str,
        out_url: str,
        *,
        cluster: Cluster,
        calling: Calling,
        limit: int | None = None,
        planning: bool = False,
        goes_on: bool = False,
    ) -> None:
        self.configured, self.experiment = experiment, experiment.with_aligner()
        self.bench_url, self.cluster, self.calling = bench_url, cluster, calling
        for url in (bench_url, out_url, calling.ledger):
            Folder(url).check_reachable()
        self.benchmark, self.run = Benchmark(bench_url), Folder(out_url)
        check_way(WAY)
        experiment = self.experiment
        self.measures, self.studies = check_measures(experiment), named_studies(experiment.studies)
        check_experiment(experiment, self.benchmark, with_keys=not planning)
        prompts = prompt_versions(self.configured)
        check_goes_on(self.run, self.configured, limit=limit, n_queries=len(self.benchmark.queries), prompts=prompts)
        check_methods_before(experiment, self.benchmark, limit=limit)
        for row in judge_rows(experiment):
            if row["card_reason"]:
                print(f"judge {row['judge']}: {row['card_reason']}; the report has no card for it", file=sys.stderr)
        check_batches(chat_models(experiment))
        calling.check_prices(chat_models(experiment))
        self.plan = plan_run(experiment, self.benchmark, limit=limit)
        self.unscored = unscored(experiment, self.benchmark, list(self.benchmark.queries)[:limit])
        self.record = RunRecord(
            self.run,
            command=calling.job,
            verb="evaluate",
            benchmark=self.benchmark,
            config=self.configured.model_dump(mode="json"),
            limit=limit,
            prompts=prompts,
            planning=planning,
            goes_on=goes_on,
        )
        self.threads = max(1, int(cluster.cpus))
        self.budget_ended = False

    def through(self, until: str) -> Any:
        """Do the stages in the order of the data, up to and with *until*; what that one gives."""
        *before, last = WAY[: [step.name for step in WAY].index(until) + 1]
        for step in before:
            getattr(self, step.name)()
        return getattr(self, last.name)()

    def forget_failures(self) -> None:
        """Make what failed for a passing reason (overload, a broken connection) work that is not done."""
        if n := forget_passing_failures(self.run, self.plan, self.experiment.partial_score):
            print(f"{n} rows had failed for a reason that may pass; they are made again", file=sys.stderr)

    def retrieve(self) -> None:
        stage = retrieve_stage(self.run, self.bench_url, self.experiment, threads=self.threads)
        wanted = self.plan.rankings
        self._perform(stage, len(wanted), retrieve_tasks(self.benchmark, self.run, wanted))

    def rerank(self) -> None:
        if wanted := self.plan.rerankings:
            stage = rerank_stage(self.run, self.bench_url, self.experiment, threads=self.threads)
            self._perform(stage, len(wanted), rerank_tasks(self.run, wanted))

    def pack(self) -> None:
        stage = pack_stage(self.run, self.bench_url, self.experiment)
        self._perform(stage, len(self.plan.contexts), pack_tasks(self.run, self.plan.contexts))

    def summarize(self) -> None:
        check_methods(self.experiment, self.run, self.plan.summaries)
        for name in self.experiment.summarizers:
            self._summarize(name)

    def _summarize(self, name: str) -> None:
        stage = summarize_stage(
            self.run, self.bench_url, self.experiment, name, calling=self.calling, threads=self.threads
        )
        if wanted := sum(summarized.summarizer == name for summarized in self.plan.summaries):
            tasks = summarize_tasks(self.run, self.experiment, name, self.plan.summaries)
            batched = summaries_in_batches(self.run, self.bench_url, self.experiment, name, tasks)
            self._perform(stage, wanted, tasks, batched)

    def split(self) -> None:
        summaries, kind = self.plan.written_work_ids, self.plan.units
        self._perform(split_stage(self.run, kind), len(summaries), split_tasks(self.run, summaries, kind))

    def judge(self) -> None:
        """Ask the judges about the summaries as written; means of judges follow from that."""
        infos = summary_infos(self.run, self.plan.written_work_ids)
        judges = self.experiment.judges_of("coverage").items()
        for name, settings in judges:
            if not settings.members:
                stage = judge_stage(
                    self.run, self.bench_url, name, settings, self.experiment.prompts, calling=self.calling
                )
                tasks = judge_tasks(
                    self.run,
                    name,
                    settings,
                    wanted=self.plan.asked,
                    infos=infos,
                    benchmark=self.benchmark,
                    units=self.plan.units,
                )
                batched = verdicts_in_batches(self.run, self.bench_url, self.experiment, name, tasks)
                self._perform(stage, len(infos), tasks, batched)
        for name, settings in judges:
            if settings.members:
                tasks = combine_tasks(self.run, name, settings, wanted=self.plan.means, asked=self.plan.asked)
                self._perform(combine_stage(self.run, name, settings), len(infos), tasks)

    def check(self) -> None:
        """Ask the support judges about every sentence and document of the summaries as written; then the means."""
        infos = summary_infos(self.run, self.plan.written_work_ids)
        judges = self.experiment.support_judges.items()
        for name, settings in judges:
            if not settings.members:
                stage = check_stage(
                    self.run,
                    self.bench_url,
                    self.experiment,
                    name,
                    settings,
                    calling=self.calling,
                    threads=self.threads,
                )
                tasks = check_tasks(self.run, name, self.plan.checks, infos, self.benchmark)
                batched = checks_in_batches(self.run, self.bench_url, self.experiment, name, tasks)
                self._perform(stage, len(infos), tasks, batched)
        for name, settings in judges:
            if settings.members:
                tasks = combine_support_tasks(self.run, name, settings, self.plan.checks)
                self._perform(combine_support_stage(self.run, name, settings), len(infos), tasks)

    def repair(self) -> None:
        """Twins that cite what supports their bullets, by matrix or by stored verdicts; nothing is asked."""
        wanted, by, kind = self.plan.repaired, self.plan.repaired_by, self.plan.units
        if not wanted:
            return
        if (judge := self.experiment.citing_judge) is None:
            stage, tasks = repair_stage(self.run, self.bench_url), repair_tasks(self.run, wanted)
        else:
            stage = judged_repair_stage(self.run, self.bench_url, self.experiment, judge, by=by)
            tasks = judged_repair_tasks(self.run, self.benchmark, judge, self.plan.checks, wanted)
        self._perform(stage, len(wanted), tasks)
        twins, copied = list(wanted.values()), self.plan.copied
        self._perform(split_stage(self.run, kind, name="split twins"), len(twins), split_tasks(self.run, twins, kind))
        if copied:
            self._perform(copy_stage(self.run, by=by), len(copied), copy_tasks(self.run, copied))

    def aggregate(self) -> None:
        judged, share = self.plan.judged_units, self.experiment.partial_score
        scored = score_tasks(self.run, judged, share)
        self._perform(score_stage(self.run, self.bench_url, share), len(judged), scored)
        self._perform(classify_stage(self.run, self.bench_url), len(judged), classify_tasks(self.run, judged))
        if checks := self.plan.checks:
            infos = summary_infos(self.run, self.plan.written_work_ids)
            haystacks = {query.query_id: query.haystack_id for query in self.benchmark.queries.values()}
            tasks = support_score_tasks(self.run, checks, infos, haystacks)
            self._perform(support_score_stage(self.run), len(checks), tasks)

    def report(self) -> dict[str, Any]:
        plan, experiment = self.plan, self.experiment
        called = call_results(self.run, self.record, experiment)
        rows = judge_rows(experiment)
        evidence = RunEvidence(
            run=self.run,
            benchmark=self.benchmark,
            work=Work(
                summaries=plan.summary_work_ids,
                units=[unit_work_id(work_id, plan.units) for work_id in plan.summary_work_ids],
                verdicts=list(plan.judged_units),
                scores=self._score_ids(),
                rankings={work_id: ranked for ranked, work_id in plan.all_rankings.items()},
                contexts={id_: packed for packed, (id_, _) in plan.contexts.items() if packed.all_documents},
                checks=plan.checks,
            ),
            averaging=Averaging(experiment.aggregate, experiment.seed, experiment.resamples),
            measures=self.measures.of_summaries,
            ranking_measures=self.measures.of_rankings,
            judges=[row["judge"] for row in rows],
            compare_with=experiment.compare_with,
            cutoffs=experiment.cutoffs,
            ignoring_order=experiment.ignoring_order,
            driver=self._driver(),
            experiment=experiment,
            budget_ended=self.budget_ended,
            calls=called["calls"] if called else None,
        )
        return write_results(
            evidence,
            self.record,
            self.studies,
            title=experiment.name,
            judges=rows,
            fitted=fitted_of(experiment),
            more={"unscored": self.unscored} | ({"missing_ledgers": called["missing_ledgers"]} if called else {}),
        )

    def _score_ids(self) -> list[str]:
        judged, share = self.plan.judged_units, self.experiment.partial_score
        return [
            *(score_work_id(work_id, share) for work_id in judged),
            *(classify_work_id(work_id) for work_id in judged),
            *(support_score_work_id(source.work_id) for source in self.plan.checks.values()),
        ]

    def _driver(self) -> dict[str, Any]:
        """What drove the citations of the twins, for the report."""
        if (judge := self.experiment.citing_judge) is None:
            return BY_MATRIX
        return judge_driver(self.run, self.benchmark, self.experiment, judge, self.plan.checks)

    def spending(self) -> dict[str, Any]:
        """What the run will ask its models, once the stages before the first call are done."""
        self.through("pack")
        check_methods(self.experiment, self.run, self.plan.summaries)
        for name, settings in self.experiment.summarizers.items():
            if settings.kind == "offline":
                self._summarize(name)
        document = spending_plan(
            self.run, self.benchmark, self.experiment, self.plan, calling=self.calling, workers=self.cluster.workers
        )
        keep_plan(self.run, document, self.record.jobs)
        return document

    def _perform(self, stage: Stage, wanted: int, tasks: list[Task], batched: Batched | None = None) -> None:
        with ExitStack() as open_until_done:
            if tasks and stage.asynchronous:
                self.cluster.start()
                open_until_done.enter_context(noted_calls(self.record, self.calling, stage.name))
                if batched is not None:
                    prepay(batched, self.calling.context(stage.name))
            run_stage(
                self.run,
                stage,
                wanted,
                tasks,
                cluster=self.cluster,
                note=self.record.note,
                notice=self.calling.notice,
            )
            if tasks and stage.asynchronous:
                self.calling.check_servers()
