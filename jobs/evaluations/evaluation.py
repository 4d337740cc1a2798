"""
One experiment on one benchmark into one run folder: a walk over the stages of the run in their order.

`jobs/runs/stage_order.py` has the order of the stages; the file of a stage says what it does.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

from actors.python_class import load
from actors.storage.folder import Folder
from jobs.command.calling import Calling
from jobs.command.parser import REPORT, STEPS
from jobs.files.vectors import Vectors
from jobs.results.calls import noted_calls
from jobs.results.evaluated import evaluation_results, with_another_order
from jobs.results.frames import rankings_told, retrieval_so_far
from jobs.runs.begin import begin
from jobs.runs.heartbeat import Heartbeat, sizes_of
from jobs.runs.judges import with_served
from jobs.runs.positions import positions_plan
from jobs.runs.record import check_goes_on
from jobs.runs.stage_order import forget_passing_failures, say_what_is_redone
from jobs.runs.unscored import unranked, unscored
from jobs.spending.plan import Scale, keep_plan, spending_plan
from jobs.spending.prepay import prepay_stage
from jobs.stages.accounts import Means, StageReport
from jobs.stages.cluster import Cluster
from jobs.stages.operators import streams_of
from jobs.stages.runner import run_stages
from jobs.stages.stage import Site, Stage
from longform.errors import BudgetReachedError, UsageError
from longform.settings.experiment import Experiment

_CALLS_HERE = 400  # summaries and judgements; several workers have more calls in flight


class Evaluation:
    """
    A run of an experiment on a benchmark, checked and ready to begin.

    Raises:
        UsageError: Something the experiment names cannot be used; found before any work.
    """

    def __init__(
        self,
        experiment: Experiment,
        bench_url: str,
        out_url: str,  # the folder of the run's tables, which it may hold already
        *,
        cluster: Cluster,
        calling: Calling,
        limit: int | None = None,  # the first queries of the benchmark; None: all
        planning: bool = False,  # the command only plans
        goes_on: bool = False,  # what the command did before is part of its call, as with a further order of documents
        vectors: Vectors | None = None,  # kept beside the benchmark; None: there are none
        heartbeat: Heartbeat | None = None,  # tells other processes how far the command is
        synthesized: Sequence[StageReport] = (),  # what the command did for the benchmark before
    ) -> None:
        served: dict[str, Any] = {}
        if not planning:
            experiment, served = with_served(experiment, cluster, out_url)
        self.configured, self.cluster, self.calling, self._vectors = experiment, cluster, calling, vectors
        place, threads = vectors.place if vectors else None, max(1, int(cluster.cpus))
        self.experiment, self.benchmark, self.run, self.plan, self.record = begin(
            experiment,
            Site(out_url, bench_url, threads, calling, place),
            limit=limit,
            planning=planning,
            goes_on=goes_on,
            served=served,
        )
        n_all = len(self.benchmark.queries)
        self._n_queries = n_all if limit is None else min(n_all, limit)
        self.budget_ended = False
        self._pulse = heartbeat
        if heartbeat is not None:
            heartbeat.begin(self.run, sizes_of(self.plan))  # before it looks for others: of two one sees the other
            self.record.begin()
        for stage in () if planning else self.plan.stages:
            if stage.resources is not None and stage.resources.gpus:
                cluster.check_gpus(stage.resources.gpus, stage.name)
        for report in synthesized:
            self.record.note(report, final=True)

    def through(self, until: str) -> dict[str, Any]:
        """Do the steps up to and with *until*; return the results if that is the report, else the run's record."""
        with self.record.stays():
            self.do(*STEPS[: STEPS.index(until) + 1])
            return self.report(again=False) if until == REPORT else self.record.content

    def do(self, *steps: str) -> None:
        """Do the stages of some steps that follow each other, in as few streams as may be."""
        self.record.begin()
        stages = [stage for stage in self.plan.stages if stage.step in steps]
        for stream in streams_of(stages, apart=self.cluster.measures and self._calls_here()):
            for stage in stream:
                stage.check(self.run, self.plan.items(stage))
            self._perform(stream)

    def report(self, *, again: bool = True) -> dict[str, Any]:
        """Return the results, written with the report; unless *again*, those that stand there made of the same."""
        run, plan, record = self.run, self.plan, self.record
        ended = self.budget_ended
        return dict(
            evaluation_results(
                run, self.benchmark, record.content, self.experiment, plan, budget_ended=ended, again=again
            )
        )

    def spending(self, *, depth: float | None = None, n_queries: int | None = None) -> dict[str, Any]:
        """
        Return what the run will ask its models, once all is there that needs no call to be known.

        With it goes the size that a study of positions needs to find a U of *depth* points; None: of several.
        *n_queries* scales the calls to so many queries, and such a plan is not kept; None: those of the run.
        """
        self.record.begin()
        for stage in self.plan.before_calls():
            self._perform([stage])
        for stage in self.plan.stages:
            stage.check(self.run, self.plan.items(stage))
        scale = None if n_queries is None else Scale(self._n_queries, n_queries)
        document = spending_plan(self.run, self.plan, calling=self.calling, workers=self.cluster.workers, scale=scale)
        if scale is None:
            keep_plan(self.run, document, self.record.jobs)
        positions = positions_plan(self.run, self.benchmark, self.experiment, self.plan, depth=depth)
        return {**document, "positions": positions} if positions else document

    def _perform(self, stages: Sequence[Stage[Any]]) -> None:
        """Make what *stages* have not made, as one stream."""
        located = {table: self.run.locate(table) for table in {stage.table for stage in stages}}
        todo = [one for one in stages if any(item.work_id not in located[one.table] for item in self.plan.items(one))]
        asking = [stage for stage in todo if stage.chat is not None]
        if self._vectors and any(stage.embeds for stage in todo):
            self._vectors.ready()
        with ExitStack() as open_until_done:
            if asking:
                if not self._calls_here():
                    self.cluster.start()
                open_until_done.enter_context(noted_calls(self.record, self.calling, asking))
                for stage in asking:
                    prepay_stage(
                        stage, partial(stage.tasks, self.run, self.plan.items(stage)), self.calling.context(stage.name)
                    )
            here = self._calls_here() if asking else None
            means = Means(self.cluster, note=self.record.note, notice=self.calling.notice, here=here, pulse=self._pulse)
            run_stages(self.run, self.plan, stages, means)
            if asking:
                self.calling.check_servers()

    def _calls_here(self) -> bool:
        """Return whether this process makes the run's calls: one is enough for some thousands."""
        if not self.cluster.measures:
            return self.cluster.in_process
        asking = [stage for stage in self.plan.stages if stage.chat is not None]
        local = any(stage.chat.provider == "llama_cpp" for stage in asking if stage.chat is not None)
        return not local and sum(len(self.plan.items(stage)) for stage in asking) <= _CALLS_HERE


def evaluate(
    experiment: Experiment,
    bench_url: str,
    out_url: str,  # the folder of the run's tables, which it may hold already
    *,
    cluster: Cluster,
    calling: Calling,
    limit: int | None = None,  # the first queries of the benchmark; None: all
    until: str = REPORT,  # the last stage to do
    vectors: Vectors | None = None,  # kept beside the benchmark; None: there are none
    heartbeat: Heartbeat | None = None,  # tells other processes how far the command is
    synthesized: Sequence[StageReport] = (),  # what the command did for the benchmark before
) -> dict[str, Any]:
    """
    Return the results of an experiment; with an earlier *until*, the run's record.

    Raises:
        UsageError: Something the experiment names cannot be used; found before any work.
        BudgetReachedError: The budget does not suffice for the rest; finished work is kept.
        ServerGoneError: A model's server cannot be used; what is done is kept.
    """
    given: dict[str, Any] = {"cluster": cluster, "calling": calling, "limit": limit, "vectors": vectors}
    given["heartbeat"] = heartbeat
    evaluation = Evaluation(experiment, bench_url, out_url, **given, synthesized=synthesized)
    say_what_is_redone(evaluation.run, evaluation.plan, evaluation.record.content)
    forget_passing_failures(evaluation.run, evaluation.plan)
    found = evaluation.through(until)
    while until == REPORT and (more := with_another_order(evaluation.configured, found)) is not None:
        before = evaluation
        evaluation = Evaluation(more, bench_url, out_url, **given, goes_on=True)
        try:
            found = evaluation.through(until)
        except BudgetReachedError:
            before.budget_ended = True
            before.report()
            raise
    if until == REPORT:
        return found
    told = unscored(evaluation.experiment, evaluation.benchmark, evaluation.plan.query_ids)
    told += unranked(evaluation.run, evaluation.plan)
    retrieval = retrieval_so_far(evaluation.run, evaluation.benchmark, evaluation.experiment, evaluation.plan)
    judged = rankings_told(evaluation.benchmark, evaluation.plan.query_ids) if retrieval else []
    return {"run": found, "unscored": told, "retrieval": retrieval, "rankings_told": judged}


def benchmark_of(
    experiment: Experiment,
    named: str | None,
    out_url: str,
    cluster: Cluster | None,  # makes one; None: this process does, and says nothing
) -> tuple[str, list[StageReport]]:
    """
    Return the benchmark of the command line, else of the configuration, else one made as it says in the run's folder;
    and what was done to make it.

    Raises:
        UsageError: None of the three, or the run's folder holds a run of another configuration.
    """
    if named or experiment.benchmark:
        return str(named or experiment.benchmark), []
    if experiment.synthesize is None:
        raise UsageError(f"configuration {experiment.name!r} names no benchmark; name one with --bench")
    check_goes_on(Folder(out_url), experiment)  # before the benchmark is written into it
    url = f"{out_url.rstrip('/')}/benchmark"
    return url, load("jobs.synthesis.haystacks:generate", folder=None)(experiment.synthesize, url, cluster)  # an annex
