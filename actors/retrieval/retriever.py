"""
Rank the documents of a haystack for its queries.

Tables in: `queries` x `documents`, and `qrels` or released `rankings` if a retriever reads them. Table out: `rankings`,
one row for each (query, retriever, document) down to the experiment's depth.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from actors.local_models.checkpoints import check_checkpoint, checkpoint_path
from actors.local_models.encoder import MINILM, Encoder
from actors.python_class import check_class
from actors.retrieval.haystack import Haystack
from actors.retrieval.python_ranker import PythonRanker
from actors.storage.benchmark import Benchmark
from longform.errors import LongformError, UsageError
from longform.keys import stable_seed
from longform.protocols import Ranker
from longform.records import Query, relevance_by_query, retrieval_text, shown_query
from longform.retrieval.feedback import feedback_scores
from longform.retrieval.ranking import keyword_overlap, keyword_tokens, ranked, reciprocal_rank_fusion, rounded, z_sum
from longform.settings.experiment import Experiment
from longform.settings.python_class import PythonClassSettings
from longform.settings.retrievers import (
    Bm25RetrieverSettings,
    ClusterFeedbackRetrieverSettings,
    CrossEncoderRerankerSettings,
    EncoderRetrieverSettings,
    FeedbackRetrieverSettings,
    FullContextSettings,
    FusionRetrieverSettings,
    KeywordRetrieverSettings,
    OracleRetrieverSettings,
    RandomRetrieverSettings,
    ReleasedRetrieverSettings,
    RerankerSettings,
    RetrievalSettings,
    RetrieverSettings,
    ShortFirstRetrieverSettings,
    StatementRetrieverSettings,
    StatementsRetrieverSettings,
    base_retrievers,
)
from longform.summaries.query_relevance import QueryText
from longform.text.words import stems, words

Scores = NDArray[np.floating[Any]]

_FEEDBACK_INDEX = Bm25RetrieverSettings(kind="bm25")
_RELEASED_COLUMNS = ["query_id", "haystack_id", "system", "doc_id", "score"]


class HaystackRetriever:
    """
    All retrievers of a configuration, over one haystack at a time.

    Models are loaded on first use and stay; indexes and vectors stay until another haystack is asked for.

    Raises:
        UsageError: No benchmark stands at the URL, or the retrievers refer to each other in a circle.
    """

    def __init__(self, bench_url: str, settings: RetrievalSettings, *, threads: int) -> None:
        self._benchmark = Benchmark(bench_url)
        self._settings = settings
        self._threads = threads
        self._encoders: dict[str, Encoder] = {}
        self._python: dict[str, PythonRanker] = {}
        self._haystack: Haystack | None = None
        self._scored: dict[tuple[str, str], Scores] = {}
        _with_bases(settings.retrievers, settings.retrievers)

    def rank(self, haystack_id: str, query_ids: list[str], names: list[str]) -> list[dict[str, Any]]:
        """
        Rows of `rankings` without `work_id`, for each query and each retriever of *names* in turn.

        Raises:
            UsageError: The experiment has no such retriever, or the benchmark lacks what one reads.
            LongformError: The benchmark has no such haystack or query.
        """
        haystack = self._hold(haystack_id)
        queries = [self._query(query_id, haystack_id) for query_id in query_ids]
        self._scored.clear()
        self._embed_queries(queries, _with_bases(self._settings.retrievers, names))
        return [row for query in queries for name in names for row in self._rows(haystack, query, name)]

    # ------------------------------------------------------------ one query, one retriever

    def _rows(self, haystack: Haystack, query: Query, name: str) -> Iterable[dict[str, Any]]:
        scores = rounded(self._scores(haystack, query, name))
        for rank, index in enumerate(ranked(scores, depth=self._settings.ranking_depth)):
            yield {
                "query_id": query.query_id,
                "haystack_id": haystack.haystack_id,
                "system": name,
                "doc_id": haystack.doc_ids[index],
                "rank": rank,
                "score": float(scores[index]),
            }

    def _scores(self, haystack: Haystack, query: Query, name: str) -> Scores:
        """Return scores of shape (documents,); computed once for all callers."""
        key = (name, query.query_id)
        if key not in self._scored:
            self._scored[key] = self._computed(haystack, query, name)
        return self._scored[key]

    def _by_their_class(self, haystack: Haystack, query: Query, name: str, settings: PythonClassSettings) -> Scores:
        if name not in self._python:
            self._python[name] = PythonRanker(settings)
        shown = shown_query(query, query_text=self._settings.query_text)
        return self._python[name].scores(shown, haystack.documents)

    def _computed(self, haystack: Haystack, query: Query, name: str) -> Scores:
        match settings := self._settings.retrievers[name]:
            case PythonClassSettings():
                return self._by_their_class(haystack, query, name, settings)
            case KeywordRetrieverSettings() | Bm25RetrieverSettings() | EncoderRetrieverSettings():
                return self._matched(haystack, self._text(query), settings)
            case ClusterFeedbackRetrieverSettings() | StatementsRetrieverSettings():
                return haystack.statement_scores(settings, self._encoder(MINILM), self._query_text(query))
            case FusionRetrieverSettings() | FeedbackRetrieverSettings():
                return self._combined(haystack, query, settings)
            case RandomRetrieverSettings() | ShortFirstRetrieverSettings() | FullContextSettings():
                return self._unasked(haystack, query, settings)
            case OracleRetrieverSettings() | ReleasedRetrieverSettings():
                return self._looked_up(haystack, query, settings)

    def _unasked(
        self,
        haystack: Haystack,
        query: Query,
        settings: RandomRetrieverSettings | ShortFirstRetrieverSettings | FullContextSettings,
    ) -> Scores:
        """By nothing that the query says."""
        match settings:
            case RandomRetrieverSettings():
                return np.random.default_rng(stable_seed("random", settings.seed, query.query_id)).random(len(haystack))
            case ShortFirstRetrieverSettings():
                return -np.array([len(text.split()) for text in haystack.texts], dtype=np.float64)
            case FullContextSettings():
                return -np.arange(len(haystack), dtype=np.float64)

    def _matched(
        self,
        haystack: Haystack,
        text: str,
        settings: KeywordRetrieverSettings | Bm25RetrieverSettings | EncoderRetrieverSettings,
    ) -> Scores:
        """Score documents by their text and the query's."""
        match settings:
            case KeywordRetrieverSettings():
                return keyword_overlap(keyword_tokens(text), haystack.keywords)
            case Bm25RetrieverSettings():
                return haystack.bm25(settings).scores(stems(text) if settings.stem else words(text))
            case EncoderRetrieverSettings():
                encoder = self._encoder(settings.model)
                return haystack.similarity(settings, encoder, encoder.embed([settings.query_prefix + text])[0])

    def _combined(
        self, haystack: Haystack, query: Query, settings: FusionRetrieverSettings | FeedbackRetrieverSettings
    ) -> Scores:
        """By the scores of other retrievers."""
        if isinstance(settings, FeedbackRetrieverSettings):
            return feedback_scores(
                haystack.bm25(_FEEDBACK_INDEX),
                self._scores(haystack, query, settings.of),
                documents=settings.documents,
                terms=settings.terms,
                weight=settings.weight,
            )
        bases = [self._scores(haystack, query, base) for base in settings.of]
        if settings.by == "z_sum":
            return z_sum(bases, settings.weights)
        return reciprocal_rank_fusion(bases, rank_constant=settings.rank_constant)

    def _looked_up(
        self, haystack: Haystack, query: Query, settings: OracleRetrieverSettings | ReleasedRetrieverSettings
    ) -> Scores:
        """Look scores up in the benchmark."""
        if isinstance(settings, ReleasedRetrieverSettings):
            return self._released_scores(haystack, query, settings.name)
        relevance = self._relevance.get(query.query_id, {})
        return np.array([float(relevance.get(doc_id, 0)) for doc_id in haystack.doc_ids])

    def _released_scores(self, haystack: Haystack, query: Query, name: str) -> Scores:
        system = _require_released(self._released, name)
        wanted = pc.and_(
            pc.equal(self._released["system"], system), pc.equal(self._released["query_id"], query.query_id)
        )
        rows = self._released.filter(wanted)
        found = dict(zip(rows["doc_id"].to_pylist(), rows["score"].to_pylist(), strict=True))
        if not found:
            msg = f"the benchmark's rankings of {system!r} have no rows for query {query.query_id!r}"
            raise LongformError(msg)
        # NaN: the release does not rank this document.
        return np.array([found.get(doc_id, np.nan) for doc_id in haystack.doc_ids], dtype=np.float64)

    # ------------------------------------------------------------ what is held

    def _hold(self, haystack_id: str) -> Haystack:
        if self._haystack is None or self._haystack.haystack_id != haystack_id:
            documents = self._benchmark.documents(haystack_id)
            if not documents:
                msg = f"the benchmark has no documents of haystack {haystack_id!r}"
                raise LongformError(msg)
            for encoder in self._encoders.values():
                encoder.forget()
            self._haystack = Haystack(haystack_id, documents)
        return self._haystack

    def _query(self, query_id: str, haystack_id: str) -> Query:
        query = self._benchmark.queries.get(query_id)
        if query is None or query.haystack_id != haystack_id:
            msg = f"the benchmark has no query {query_id!r} of haystack {haystack_id!r}"
            raise LongformError(msg)
        return query

    def _embed_queries(self, queries: Sequence[Query], names: Iterable[str]) -> None:
        """All queries in one batch; one by one would cost several times as much."""
        texts = [self._text(query) for query in queries]
        for name in names:
            settings = self._settings.retrievers[name]
            if isinstance(settings, EncoderRetrieverSettings):
                self._encoder(settings.model).embed([settings.query_prefix + text for text in texts])
            elif isinstance(settings, StatementRetrieverSettings):
                self._encoder(MINILM).embed([*texts, *(self._subtopic_text(query) for query in queries)])

    def _text(self, query: Query) -> str:
        return retrieval_text(query, query_text=self._settings.query_text)

    def _subtopic_text(self, query: Query) -> str:
        """Return the query's subtopic; an experiment that hides the subtopics hides them here too."""
        hidden = self._settings.query_text == "query"
        return query.text if hidden or not query.subtopic else query.subtopic

    def _query_text(self, query: Query) -> QueryText:
        text = self._text(query)
        vector, subtopic_vector = self._encoder(MINILM).embed([text, self._subtopic_text(query)])
        return QueryText(text, vector, subtopic_vector)

    def _encoder(self, model: str) -> Encoder:
        if model not in self._encoders:
            self._encoders[model] = Encoder(checkpoint_path(model), threads=self._threads)
        return self._encoders[model]

    @cached_property
    def _relevance(self) -> dict[str, dict[str, int]]:
        return relevance_by_query(_require_qrels(self._benchmark).qrels)

    @cached_property
    def _released(self) -> pa.Table:
        return self._benchmark.folder.read("rankings", columns=_RELEASED_COLUMNS)


def check_loadable(experiment: Experiment, *, bench_url: str | None = None) -> None:
    """
    Check that the models of the experiment's rankers are there, and with *bench_url* their tables of the benchmark.

    Raises:
        UsageError: Something is missing; no weights were read and no work was done.
    """
    systems = experiment.all_systems()
    retrievers = [
        experiment.retrievers[name] for name in _with_bases(experiment.retrievers, [s.retriever for s in systems])
    ]
    rerankers = [experiment.rerankers[s.reranker] for s in systems if s.reranker is not None]
    models = [model for settings in retrievers if (model := _encoder_model(settings)) is not None]
    for model in dict.fromkeys([*models, *_reranking_models(rerankers)]):
        check_checkpoint(model)
    for settings in [*retrievers, *rerankers]:
        if isinstance(settings, PythonClassSettings):
            check_class(settings, Ranker)
    if bench_url is not None:
        _check_benchmark(Benchmark(bench_url), retrievers)


def _reranking_models(rerankers: Iterable[RerankerSettings]) -> list[str]:
    """Return the models of the rerankers that are loaded here."""
    return [settings.model for settings in rerankers if isinstance(settings, CrossEncoderRerankerSettings)]


def _encoder_model(settings: RetrieverSettings) -> str | None:
    if isinstance(settings, EncoderRetrieverSettings):
        return settings.model
    return MINILM if isinstance(settings, StatementRetrieverSettings) else None


def _check_benchmark(benchmark: Benchmark, retrievers: Sequence[RetrieverSettings]) -> None:
    if any(isinstance(settings, OracleRetrieverSettings) for settings in retrievers):
        _require_qrels(benchmark)
    if released := [settings for settings in retrievers if isinstance(settings, ReleasedRetrieverSettings)]:
        table = benchmark.folder.read("rankings", columns=["system"])
        for settings in released:
            _require_released(table, settings.name)


def _require_qrels(benchmark: Benchmark) -> Benchmark:
    if not benchmark.qrels:
        msg = f"the oracle retriever reads the qrels, and the benchmark at {benchmark.folder.url!r} has none"
        raise UsageError(msg)
    return benchmark


def _require_released(rankings: pa.Table, name: str) -> str:
    """The system's name in the table."""
    system = f"released:{name}"
    known = sorted(pc.unique(rankings["system"]).to_pylist())
    if system not in known:
        msg = f"expected rankings of {system!r} in the benchmark; it has {known or 'none'}"
        raise UsageError(msg)
    return system


def _with_bases(retrievers: Mapping[str, RetrieverSettings], names: Iterable[str]) -> list[str]:
    """*names* and the retrievers they build on, bases first, each once."""
    found: dict[str, None] = {}

    def visit(name: str, above: tuple[str, ...]) -> None:
        if name in above:
            msg = f"retrievers build on each other in a circle: {' -> '.join([*above, name])}"
            raise UsageError(msg)
        if name not in retrievers:
            msg = f"no retriever is called {name!r}; defined are {sorted(retrievers)}"
            raise UsageError(msg)
        for base in base_retrievers(retrievers[name]):
            visit(base, (*above, name))
        found[name] = None

    for name in names:
        visit(name, ())
    return list(found)
