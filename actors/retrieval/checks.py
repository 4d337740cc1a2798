"""The check of all rankers of an experiment, before any work."""

from __future__ import annotations

from actors.python_class import actor_of
from actors.retrieval.importance import Importance
from actors.retrieval.reranker import Reranker
from actors.retrieval.retriever import Resources, Retriever
from longform.retrieval.packing import BY_IMPORTANCE
from longform.settings.experiment import Experiment
from longform.settings.retrievers import with_bases


def check_loadable(experiment: Experiment, *, bench_url: str, with_keys: bool = True) -> None:
    """
    Check that models and tables of the experiment's rankers are there, and tokens of endpoints if *with_keys*.

    Raises:
        UsageError: Something is missing; no weights were read and no work was done.
    """
    resources = Resources(bench_url, query_text=experiment.query_text, threads=1, with_keys=with_keys)
    for name in with_bases(retrievers := experiment.retrievers, experiment.used_retrievers):
        actor_of(retrievers[name], Retriever).check(retrievers[name], resources)
    for settings in experiment.used_rerankers.values():
        actor_of(settings, Reranker).check(settings, experiment.prompts, with_keys)
    if any(system.order in BY_IMPORTANCE for system in experiment.all_systems()):
        actor_of(experiment.importance, Importance).check(experiment.importance)
