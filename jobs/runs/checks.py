"""Checks of a configuration before a run, and the versions of what it asks with."""

from __future__ import annotations

from collections.abc import Iterable

from actors.chat.openai_client import servers
from actors.chat.opening import REPAIR_PROMPT, check_chat, load_prompt
from actors.judges.opening import Judge
from actors.measures import check_listed
from actors.python_class import actor_of
from actors.retrieval.haystack_retriever import check_loadable
from actors.serving.endpoint import is_of_cluster
from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from actors.summarizers.summarizer import Summarizer
from jobs.stages.repair import check_documents
from longform.errors import UsageError
from longform.prompts import prompt_names
from longform.settings.chat import ChatSettings
from longform.settings.experiment import Experiment


def check_experiment(experiment: Experiment, benchmark: Benchmark, *, with_keys: bool = True) -> None:
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


def prompt_versions(experiment: Experiment) -> dict[str, str]:
    """Return the version of each prompt that the experiment asks a model with, by its name."""
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
    return {name: load_prompt(name, experiment.prompts).version for name in sorted(names)}
