"""Begin a run: all checks of its configuration, its plan, and its record."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from actors.chat.openai_client import servers
from actors.chat.opening import REPAIR_PROMPT, check_chat, load_prompt
from actors.judges.opening import Judge
from actors.measures import check_listed, check_measures
from actors.python_class import actor_of, version_of
from actors.retrieval.haystack_retriever import check_loadable
from actors.serving.endpoint import is_of_cluster
from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from actors.studies import check_studies
from actors.summarizers.summarizer import Summarizer, method_of
from actors.terminal import say
from jobs.command.calling import chat_models
from jobs.runs.judges import judge_rows
from jobs.runs.record import RunRecord, check_goes_on, say_changed
from jobs.runs.stage_order import check_order, stages_of
from jobs.stages.released import Released
from jobs.stages.repair import check_documents
from jobs.stages.stage import Plan, Site
from jobs.stages.summarize import check_methods
from longform.errors import UsageError
from longform.prompts import prompt_names
from longform.settings.chat import ChatSettings
from longform.settings.experiment import Experiment
from longform.settings.fidelity import readings_told
from longform.settings.systems import System, SystemName, named_system


class Begun(NamedTuple):
    """A run that may begin."""

    experiment: Experiment  # with what the run adds to it
    benchmark: Benchmark
    run: Folder
    plan: Plan  # all that the run will hold
    record: RunRecord


def begin(
    configured: Experiment,
    site: Site,  # its run's folder may hold what an earlier command did
    *,
    limit: int | None,  # the first queries; None: all
    planning: bool,  # the command only plans, so that it needs no keys
    goes_on: bool,  # what the command did before is part of its call
    served: Mapping[str, Any],  # descriptions of served judges, by their names
) -> Begun:
    """
    Check everything that can be checked before any work.

    Raises:
        UsageError: Something that the configuration names cannot be used, or the folder holds another run.
    """
    experiment = configured.with_aligner()
    for url in (site.bench, site.run, site.calling.ledger):
        Folder(url).check_reachable()
    benchmark, run = Benchmark(site.bench), Folder(site.run)
    check_measures(experiment)
    check_studies(experiment.studies)
    stages = stages_of(experiment, site)
    check_order(stages)
    check_experiment(experiment, benchmark, with_keys=not planning)
    prompts = versions_of(configured)
    changed = check_goes_on(run, configured, limit=limit, n_queries=len(benchmark.queries), prompts=prompts)
    if not (planning or goes_on):
        say_changed(run, changed)
    _check_methods(experiment, benchmark, limit=limit)
    for row in judge_rows(experiment, served):
        if row["card_reason"]:
            say(f"judge {row['judge']}: {row['card_reason']}; the report has no card for it", file=sys.stderr)
    check_batches(chat_models(experiment))
    site.calling.check_prices(chat_models(experiment))
    plan = Plan(stages, benchmark, limit=limit)
    _check_names(experiment, plan)
    config = configured.model_dump(mode="json")
    record = RunRecord(
        run, command=site.calling.job, verb="evaluate", benchmark=benchmark, config=config, limit=limit,
        fidelity=readings_told(config), prompts=prompts, planning=planning, goes_on=goes_on, served=served,
    )  # fmt: skip
    return Begun(experiment, benchmark, run, plan, record)


def _check_names(experiment: Experiment, plan: Plan) -> None:
    """
    Check the names of the systems whose texts the benchmark ships.

    Raises:
        UsageError: One has the name of a system that the run writes for, so that tables would take them for one; or
            the system to compare with is none.
    """
    shipped = list(dict.fromkeys(item.key.name for item in plan.of(Released)))
    own = [SystemName(system.summarizer, system.setting) for system in experiment.all_systems()]
    if both := [str(name) for name in shipped if name in own]:
        raise UsageError(
            f"systems: {'; '.join(both)}: the benchmark ships texts of this name, and the run writes for a system of "
            "the same name; give the summarizer of the run another name"
        )
    if experiment.shipped and experiment.compare_with is not None:
        named_system(experiment.compare_with, [*own, *shipped])


# ---------------------------------------------------------------- checks of a configuration


def check_experiment(experiment: Experiment, benchmark: Benchmark, *, with_keys: bool) -> None:
    """
    Check that everything the experiment names can be used; look for keys of models if *with_keys*.

    Raises:
        UsageError: A model, folder, key, prompt or table is not there; nothing has been done.
    """
    check_loadable(experiment, bench_url=benchmark.folder.url, with_keys=with_keys)
    writers = {system.summarizer for system in experiment.all_systems()} | experiment.shipped.keys()
    for writer in (settings for name, settings in experiment.summarizers.items() if name in writers):
        actor_of(writer, Summarizer).check(writer, benchmark, with_keys)
    for judge in experiment.judges.values():
        if judge.asked_model is not None:
            check_chat(judge.asked_model, logprobs=judge.needs_logprobs, with_key=with_keys)
        if with_keys:
            actor_of(judge, Judge).check(judge)
    if with_keys:
        check_listed(experiment.measures or (), with_keys=True)
    _check_prompts(experiment)
    if experiment.citations != "written":
        check_documents(benchmark)
    if not benchmark.queries:
        raise UsageError(f"{benchmark.folder.url}: the benchmark has no queries")


def _check_prompts(experiment: Experiment) -> None:
    folder = experiment.prompts
    scoring = [*experiment.rerankers.values(), *experiment.judges.values()]
    asked = {one.prompt_name for one in scoring if one.prompt_name is not None}
    for name in sorted({*prompt_names(), *asked}):
        load_prompt(name, folder)
    known = {f"{name}.md" for name in {*prompt_names(), *asked}}
    unknown = set(Folder(folder).names()) - known if folder else set()
    if unknown:
        raise UsageError(f"{folder}: expected prompt files of {sorted(known)}, found {sorted(unknown)}")


def _check_methods(experiment: Experiment, benchmark: Benchmark, *, limit: int | None) -> None:
    """
    Check systems whose prompts hold whole haystacks, but for `n_documents`; those of others are known once packed.

    Raises:
        UsageError: A method cannot be used on the documents of a query.
    """
    methods = experiment.all_methods()
    systems = [one for one in experiment.all_systems() if method_of(methods[one.method]).refuses_many]
    whole = [one for one in systems if experiment.retrievers[one.retriever].whole and _is_uncut(one)]

    def shown() -> Iterator[tuple[str, str, int]]:
        haystacks = Counter(benchmark.folder.read("documents", columns=["haystack_id"])["haystack_id"].to_pylist())
        for query_id, query in list(benchmark.queries.items())[:limit]:
            n = haystacks[query.haystack_id]
            yield from ((one.method, query_id, min(n, one.n_documents or n)) for one in whole)

    if whole:
        check_methods(methods, shown())


def _is_uncut(system: System) -> bool:
    return system.reranker is None and system.budget_tokens is None and system.length_tokens is None


def check_batches(models: Iterable[ChatSettings]) -> None:
    """
    Check that every model with `batch: true` has a batch API that we speak.

    Raises:
        UsageError: One has not.
    """
    for settings in models:
        of_cluster = any(map(is_of_cluster, servers(settings)))
        if settings.batch and (settings.provider != "openai" or settings.replicas or of_cluster):
            openai = "an application of this cluster" if of_cluster else "replicas"
            has = openai if settings.provider == "openai" else f"provider {settings.provider!r}"
            raise UsageError(
                f"model {settings.model!r}: `batch: true` needs provider 'openai' and one server, found {has}; "
                "leave `batch` out"
            )


def versions_of(experiment: Experiment) -> dict[str, str]:
    """
    Return the version of each prompt that the experiment asks a model with, by its name, and of each class and kind of
    a user that rows are made with, by its import path.

    Measures are left out: scores are made anew from stored rows.
    """
    methods = dict.fromkeys(system.method for system in experiment.all_systems())
    names = {
        name
        for settings in experiment.summarizers.values()
        for method in methods
        for name in actor_of(settings, Summarizer).prompts(settings, experiment.all_methods()[method])
    }
    for one in (*experiment.used_rerankers.values(), *experiment.judges.values()):
        if one.prompt_name is not None:
            names |= {one.prompt_name, REPAIR_PROMPT}
    prompts = {name: load_prompt(name, experiment.prompts).version for name in sorted(names)}
    parts = (experiment.retrievers, experiment.rerankers, experiment.summarizers, experiment.judges)
    own = [code for of_kind in parts for one in of_kind.values() for code in one.own_code.items()]
    return prompts | {path: version_of(path, folder=folder) for path, folder in own}
