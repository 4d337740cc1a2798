"""Begin a run: all checks of its configuration, its plan, and its record."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

from actors.local_models.vector_table import VectorsPlace
from actors.measures import check_measures
from actors.python_class import version_of
from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from actors.studies import check_studies
from actors.terminal import say
from jobs.command.calling import Calling, chat_models
from jobs.runs.cards import judge_rows
from jobs.runs.checks import check_batches, check_experiment, prompt_versions
from jobs.runs.record import RunRecord, check_goes_on
from jobs.runs.stage_order import check_order, stages_of
from jobs.stages.check_methods import check_methods_before
from jobs.stages.shipped import check_names
from jobs.stages.stage import Plan, Site
from longform.settings.experiment import Experiment
from longform.settings.fidelity import readings_told
from longform.settings.systems import SystemName, named_system


class Begun(NamedTuple):
    """A run that may begin."""

    experiment: Experiment  # with what the run adds to it
    benchmark: Benchmark
    run: Folder
    plan: Plan  # all that the run will hold
    record: RunRecord


def begin(
    configured: Experiment,
    bench_url: str,
    out_url: str,  # the folder may hold what an earlier command did
    *,
    calling: Calling,
    threads: int,  # those of a local model
    limit: int | None,  # the first queries; None: all
    planning: bool,  # the command only plans, so that it needs no keys
    goes_on: bool,  # what the command did before is part of its call
    vectors: VectorsPlace | None = None,  # where vectors of texts are kept; None: they are not
    served: Mapping[str, Any] | None = None,  # descriptions of served judges, by their names
) -> Begun:
    """
    Check everything that can be checked before any work.

    Raises:
        UsageError: Something that the configuration names cannot be used, or the folder holds another run.
    """
    experiment = configured.with_aligner()
    for url in (bench_url, out_url, calling.ledger):
        Folder(url).check_reachable()
    benchmark, run = Benchmark(bench_url), Folder(out_url)
    check_measures(experiment)
    check_studies(experiment.studies)
    stages = stages_of(experiment, Site(out_url, bench_url, threads, calling, vectors))
    check_order(stages)
    check_experiment(experiment, benchmark, with_keys=not planning)
    prompts = prompt_versions(configured) | class_versions(configured)
    check_goes_on(run, configured, limit=limit, n_queries=len(benchmark.queries), prompts=prompts)
    check_methods_before(experiment, benchmark, limit=limit)
    for row in judge_rows(experiment, served):
        if row["card_reason"]:
            say(f"judge {row['judge']}: {row['card_reason']}; the report has no card for it", file=sys.stderr)
    check_batches(chat_models(experiment))
    calling.check_prices(chat_models(experiment))
    plan = Plan(stages, benchmark, limit=limit)
    _check_names(experiment, plan)
    config = configured.model_dump(mode="json")
    record = RunRecord(
        run,
        command=calling.job,
        verb="evaluate",
        benchmark=benchmark,
        config=config,
        fidelity=readings_told(config),
        limit=limit,
        prompts=prompts,
        planning=planning,
        goes_on=goes_on,
        served=served,
    )
    return Begun(experiment, benchmark, run, plan, record)


def _check_names(experiment: Experiment, plan: Plan) -> None:
    """
    Check the names of shipped systems, which stand in the benchmark alone.

    Raises:
        UsageError: One is taken, or the system to compare with is none.
    """
    shipped = check_names(experiment, plan)
    if experiment.shipped and experiment.compare_with is not None:
        own = [SystemName(system.summarizer, system.setting) for system in experiment.all_systems()]
        named_system(experiment.compare_with, [*own, *shipped])


def class_versions(experiment: Experiment) -> dict[str, str]:
    """
    Return the version of each class and kind of a user that rows are made with, by its import path.

    Measures are left out: scores are made anew from stored rows.
    """
    named = [
        *experiment.retrievers.values(),
        *experiment.rerankers.values(),
        *experiment.summarizers.values(),
        *experiment.judges.values(),
    ]
    own = [code for one in named for code in one.own_code.items()]
    return {path: version_of(path, folder=folder) for path, folder in own}
