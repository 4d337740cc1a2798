"""
Rank the documents of a haystack for its queries.

Tables in: `queries` x `documents`, and `qrels` or released `rankings` if a retriever reads them. Table out: `rankings`,
one row for each (query, retriever, document) down to the experiment's depth.
"""

from __future__ import annotations

from collections.abc import Sequence

from actors.python_class import actor_of
from actors.retrieval.importance import Importance
from actors.retrieval.model_free import ScoredOnce
from actors.retrieval.reranker import Reranker
from actors.retrieval.retriever import Haystack, Resources, Retriever
from longform.errors import LongformError
from longform.records import Query
from longform.retrieval.packing import BY_IMPORTANCE
from longform.retrieval.ranking import ranked_rows
from longform.rows import RankedRow
from longform.settings.experiment import Experiment
from longform.settings.retrievers import RetrievalSettings, with_bases


class HaystackRetriever:
    """
    All retrievers of a configuration, over one haystack at a time.

    Models are loaded on first use and stay; indexes and vectors stay until another haystack is asked for.

    Raises:
        UsageError: No benchmark stands at the URL, or the retrievers refer to each other in a circle.
    """

    def __init__(self, bench_url: str, settings: RetrievalSettings, *, threads: int) -> None:
        self._settings = settings
        self._resources = Resources(bench_url, query_text=settings.query_text, threads=threads)
        self._benchmark = self._resources.benchmark
        here = [name for name, retriever in settings.retrievers.items() if retriever.asked_model is None]
        self._retrievers = self._resources.retrievers
        for name in with_bases(settings.retrievers, here):
            how = settings.retrievers[name]
            self._retrievers[name] = ScoredOnce(actor_of(how, Retriever)(how, self._resources))
        self._haystack: Haystack | None = None

    def rank(self, haystack_id: str, query_ids: Sequence[str], names: Sequence[str]) -> list[RankedRow]:
        """
        Return rows for each query and each retriever of *names* in turn.

        Raises:
            UsageError: The experiment has no such retriever, or the benchmark lacks what one reads.
            LongformError: The benchmark has no such haystack or query.
        """
        haystack = self._hold(haystack_id)
        queries = [self._query(query_id, haystack_id) for query_id in query_ids]
        for name in with_bases(self._settings.retrievers, names):
            self._retrievers[name].prepare(queries)
        return [row for query in queries for name in names for row in self._rows(haystack, query, name)]

    def _rows(self, haystack: Haystack, query: Query, name: str) -> list[RankedRow]:
        retriever, depth = self._retrievers[name], self._settings.ranking_depth
        scores = retriever.scores(haystack, query)
        return ranked_rows(query, name, haystack.doc_ids, scores, depth=depth, of_others=retriever.of_others)

    def _hold(self, haystack_id: str) -> Haystack:
        if self._haystack is None or self._haystack.haystack_id != haystack_id:
            documents = self._benchmark.documents(haystack_id)
            if not documents:
                raise LongformError(f"the benchmark has no documents of haystack {haystack_id!r}")
            self._resources.forget()
            self._haystack = Haystack(haystack_id, documents)
        return self._haystack

    def _query(self, query_id: str, haystack_id: str) -> Query:
        query = self._benchmark.queries.get(query_id)
        if query is None or query.haystack_id != haystack_id:
            raise LongformError(f"the benchmark has no query {query_id!r} of haystack {haystack_id!r}")
        return query


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
