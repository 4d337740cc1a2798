"""Refuse methods that cannot be used on the documents of a run, before any model is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from actors.storage.benchmark import Benchmark
from actors.storage.folder import Folder
from actors.summarizers.summarizer import method_of
from longform.errors import UsageError
from longform.settings.experiment import Experiment
from longform.settings.methods import MethodSettings
from longform.settings.systems import System


class ShownPrompt(NamedTuple):
    """A prompt of a method, with the number of its documents."""

    method: str
    query_id: str
    n_documents: int


def check_methods_before(experiment: Experiment, benchmark: Benchmark, *, limit: int | None) -> None:
    """
    Refuse what the configuration and the benchmark tell: systems whose prompts hold whole haystacks.

    Raises:
        UsageError: A method cannot be used on the documents of a query.
    """
    methods = experiment.all_methods()
    systems = [system for system in experiment.all_systems() if method_of(methods[system.method]).refuses_many]
    whole = [system for system in systems if _shows_all(experiment, system)]
    if whole:
        _check(methods, _before(whole, benchmark, limit))


class MethodContext(NamedTuple):
    """A method, and the work id of a context that it is to be used on."""

    method: str
    query_id: str
    context: str


def check_methods(methods: Mapping[str, MethodSettings], run: Folder, wanted: Sequence[MethodContext]) -> None:
    """
    Refuse methods that cannot be used on the documents of the run's packed contexts; *methods* are by name.

    Raises:
        UsageError: A method cannot be used on the documents of a context.
    """
    asked = [one for one in wanted if method_of(methods[one.method]).refuses_many]
    if not asked:
        return
    work_ids = {one.context for one in asked}
    rows = run.read("contexts", work_ids=work_ids, columns=["work_id", "doc_ids"]).to_pylist()
    n_of = {row["work_id"]: len(row["doc_ids"]) for row in rows}
    _check(methods, (ShownPrompt(one.method, one.query_id, n_of[one.context]) for one in asked))


def _shows_all(experiment: Experiment, system: System) -> bool:
    """Return whether only `n_documents` keeps documents out of the prompt."""
    full = experiment.retrievers[system.retriever].whole and system.reranker is None
    return full and system.budget_tokens is None and system.length_tokens is None


def _before(systems: Iterable[System], benchmark: Benchmark, limit: int | None) -> Iterator[ShownPrompt]:
    haystacks = Counter(benchmark.folder.read("documents", columns=["haystack_id"])["haystack_id"].to_pylist())
    for query_id, query in list(benchmark.queries.items())[:limit]:
        for system in systems:
            n = haystacks[query.haystack_id]
            yield ShownPrompt(system.method, query_id, n if system.n_documents is None else min(n, system.n_documents))


def _check(methods: Mapping[str, MethodSettings], shown: Iterable[ShownPrompt]) -> None:
    largest: dict[str, ShownPrompt] = {}
    for one in shown:
        known = largest.setdefault(one.method, one)
        largest[one.method] = max(known, one, key=lambda found: found.n_documents)
    for one in largest.values():
        try:
            method_of(methods[one.method]).plan(one.n_documents)
        except UsageError as error:
            msg = f"systems.method {one.method!r}: {error}; query {one.query_id!r} has that many in its prompt"
            raise UsageError(msg) from error
