"""
Retrieve: `queries` x `documents` -> `rankings` (query_id, system, doc_id). 1:N.

The rows of a task are one haystack's queries, so that its index and vectors are made once for all its retrievers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from actors.local_models.checkpoints import changing_content
from actors.python_class import class_version
from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from jobs.stages.runner import Row, Stage, Task
from longform.axes import Axes
from longform.keys import content_key
from longform.retrieval.statements import statements_version
from longform.settings.experiment import Experiment
from longform.settings.python_class import PythonClassSettings
from longform.settings.retrievers import EncoderRetrieverSettings, StatementRetrieverSettings, base_retrievers

VERSION = "retrieve@1"
_QUERIES_A_TASK = 64


class Ranked(NamedTuple):
    """A ranking that the run wants."""

    query_id: str
    retriever: str
    reranker: str | None = None

    @property
    def system(self) -> str:
        """The name it goes by in the tables."""
        return Axes(self.retriever, self.reranker).ranking


def retriever_names(experiment: Experiment) -> list[str]:
    return list(dict.fromkeys(system.retriever for system in experiment.all_systems()))


def definition(experiment: Experiment, name: str) -> dict[str, Any]:
    """A retriever's settings with those of the retrievers it builds on: what its rankings depend on."""
    settings = experiment.retrievers[name]
    made_by = [statements_version()] if isinstance(settings, StatementRetrieverSettings) else []
    if isinstance(settings, EncoderRetrieverSettings) and (content := changing_content(settings.model)):
        made_by.append(content)
    if isinstance(settings, PythonClassSettings):
        made_by.append(class_version(settings))
    return settings.identity | {
        "made_by": made_by,
        "bases": [definition(experiment, base) for base in base_retrievers(settings)],
    }


def ranking_work_ids(benchmark: Benchmark, experiment: Experiment, query_ids: Iterable[str]) -> dict[Ranked, str]:
    """Every ranking of the experiment's retrievers -> its work id."""
    dataset = benchmark.manifest["dataset_hash"]
    given = {name: definition(experiment, name) for name in retriever_names(experiment)}
    how = [experiment.query_text, experiment.ranking_depth, VERSION]
    return {
        Ranked(query_id, name): content_key("rankings", dataset, query_id, name, settings, how)
        for query_id in query_ids
        for name, settings in given.items()
    }


def retrieve_stage(run: Folder, bench_url: str, experiment: Experiment, *, threads: int) -> Stage:
    loads = any(
        isinstance(retriever, EncoderRetrieverSettings | StatementRetrieverSettings | PythonClassSettings)
        for retriever in experiment.retrievers.values()
    )
    return Stage(
        name="retrieve",
        table="rankings",
        identity=content_key(run.url, bench_url, experiment.model_dump(), threads),
        make_worker=partial(_worker, bench_url, experiment, threads),
        holds_model=loads,
    )


def retrieve_tasks(benchmark: Benchmark, run: Folder, wanted: Mapping[Ranked, str]) -> list[Task]:
    """Queries of one haystack that lack the same retrievers, together."""
    done = run.locate("rankings")
    lacking: dict[str, list[str]] = {}
    for ranked, work_id in wanted.items():
        if work_id not in done:
            lacking.setdefault(ranked.query_id, []).append(ranked.retriever)
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for query_id, systems in lacking.items():
        groups.setdefault((benchmark.queries[query_id].haystack_id, tuple(systems)), []).append(query_id)
    return [
        _task(haystack_id, query_ids[start : start + _QUERIES_A_TASK], systems, wanted)
        for (haystack_id, systems), query_ids in groups.items()
        for start in range(0, len(query_ids), _QUERIES_A_TASK)
    ]


def _task(haystack_id: str, query_ids: Sequence[str], systems: Sequence[str], wanted: Mapping[Ranked, str]) -> Task:
    work = [(query_id, system, wanted[Ranked(query_id, system)]) for query_id in query_ids for system in systems]
    payload = {"haystack_id": haystack_id, "query_ids": list(query_ids), "systems": list(systems), "work": work}
    return Task(work_ids=tuple(work_id for _, _, work_id in work), payload=payload)


def _worker(bench_url: str, experiment: Experiment, threads: int) -> Any:
    from actors.retrieval.retriever import HaystackRetriever

    retriever = HaystackRetriever(bench_url, experiment, threads=threads)

    def retrieve(payload: Mapping[str, Any]) -> list[Row]:
        work_ids = {(query_id, system): work_id for query_id, system, work_id in payload["work"]}
        rows = retriever.rank(payload["haystack_id"], payload["query_ids"], payload["systems"])
        return [row | {"work_id": work_ids[row["query_id"], row["system"]], "retriever": row["system"]} for row in rows]

    return retrieve
