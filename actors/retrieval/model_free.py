"""
Retrievers without a model.

They compare the words of documents with those of the query, do not read the query (they draw, keep an order, or look
their scores up in the benchmark), or build on the scores of others.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow.compute as pc

from actors.retrieval.retriever import Haystack, Resources, Retriever, Scores
from longform.errors import LongformError, UsageError
from longform.keys import stable_seed
from longform.records import Query
from longform.retrieval.ranking import feedback_scores, keyword_overlap, keyword_tokens, reciprocal_rank_fusion, z_sum
from longform.settings.retrievers import (
    Bm25RetrieverSettings,
    FeedbackRetrieverSettings,
    FullContextSettings,
    FusionRetrieverSettings,
    KeywordRetrieverSettings,
    NoDocumentsSettings,
    OkapiRetrieverSettings,
    RandomRetrieverSettings,
    ReleasedRetrieverSettings,
    ShortFirstRetrieverSettings,
)
from longform.text.words import stems, words


class KeywordRetriever(Retriever[KeywordRetrieverSettings]):
    """Counts keywords that a document shares with the query."""

    def scores(self, haystack: Haystack, query: Query) -> Scores:
        return keyword_overlap(keyword_tokens(self._resources.text(query)), haystack.keywords)


class Bm25Retriever(Retriever[Bm25RetrieverSettings]):
    """Scores by BM25, over stems or over words."""

    def scores(self, haystack: Haystack, query: Query) -> Scores:
        text = self._resources.text(query)
        return haystack.bm25(self._settings).scores(stems(text) if self._settings.stem else words(text))


class OkapiRetriever(Retriever[OkapiRetrieverSettings]):
    """Scores by BM25 as the package `rank_bm25` does."""

    def scores(self, haystack: Haystack, query: Query) -> Scores:
        return haystack.okapi(self._settings).scores(self._resources.text(query).split(" "))


class RandomRetriever(Retriever[RandomRetrieverSettings]):
    """Draws scores; the seed and the query decide them."""

    def scores(self, haystack: Haystack, query: Query) -> Scores:
        seed = stable_seed("random", self._settings.seed, query.query_id)
        return np.random.default_rng(seed).random(len(haystack))


class ShortFirstRetriever(Retriever[ShortFirstRetrieverSettings]):
    """Prefers documents of fewer words."""

    def scores(self, haystack: Haystack, _query: Query, /) -> Scores:
        return -np.array([len(text.split()) for text in haystack.texts], dtype=np.float64)


class FullContext(Retriever[FullContextSettings]):
    """Keeps the order of the haystack."""

    def scores(self, haystack: Haystack, _query: Query, /) -> Scores:
        return -np.arange(len(haystack), dtype=np.float64)


class NoDocuments(Retriever[NoDocumentsSettings]):
    """Ranks no document."""

    def scores(self, haystack: Haystack, _query: Query, /) -> Scores:
        return np.full(len(haystack), np.nan)


class OracleRetriever(Retriever[Any]):
    """Scores by the relevance that people gave."""

    @classmethod
    def check(cls, _settings: Any, resources: Resources, /) -> None:
        benchmark = resources.benchmark
        if not benchmark.qrels:
            raise UsageError(
                f"the oracle retriever reads the qrels, and the benchmark at {benchmark.folder.url!r} has none"
            )

    def scores(self, haystack: Haystack, query: Query) -> Scores:
        self.check(self._settings, self._resources)
        relevance = self._resources.relevance.get(query.query_id, {})
        return np.array([float(relevance.get(doc_id, 0)) for doc_id in haystack.doc_ids])


class GoldRetriever(OracleRetriever):
    """Ranks the documents that people found relevant; the others are not ranked."""

    def scores(self, haystack: Haystack, query: Query) -> Scores:
        scores = super().scores(haystack, query)
        return np.where(scores > 0, scores, np.nan)


class ReleasedRetriever(Retriever[ReleasedRetrieverSettings]):
    """Scores as a ranking that the benchmark ships; documents that it leaves out are not ranked."""

    of_others = True

    def __init__(self, settings: ReleasedRetrieverSettings, resources: Resources) -> None:
        super().__init__(settings, resources)
        self._names = (f"released:{settings.name}", settings.name)  # of a release; of a run of one's own

    @cached_property
    def system(self) -> str:
        known = sorted(pc.unique(self._resources.rankings["system"]).to_pylist())
        for name in self._names:
            if name in known:
                return name
        raise UsageError(
            f"expected rankings of {self._names[0]!r} in the benchmark; it has {known or 'none'}; leave out the "
            "retriever that looks them up, or define it by another kind"
        )

    @classmethod
    def check(cls, settings: ReleasedRetrieverSettings, resources: Resources) -> None:
        assert cls(settings, resources).system, "rankings have a name"

    def scores(self, haystack: Haystack, query: Query) -> Scores:
        rankings = self._resources.rankings
        wanted = pc.and_(pc.equal(rankings["system"], self.system), pc.equal(rankings["query_id"], query.query_id))
        rows = rankings.filter(wanted)
        found = dict(zip(rows["doc_id"].to_pylist(), rows["score"].to_pylist(), strict=True))
        if not found:
            raise LongformError(
                f"the benchmark's rankings of {self.system!r} have no rows for query {query.query_id!r}"
            )
        return np.array([found.get(doc_id, np.nan) for doc_id in haystack.doc_ids], dtype=np.float64)


_FEEDBACK_INDEX = Bm25RetrieverSettings(kind="bm25")


class ScoredOnce(Retriever[Any]):
    """Scores each query once for all that build on *retriever*."""

    def __init__(self, retriever: Retriever[Any]) -> None:
        self._retriever = retriever
        self.of_others = retriever.of_others
        self._scored: dict[str, Scores] = {}

    def prepare(self, queries: Sequence[Query]) -> None:
        self._scored.clear()
        self._retriever.prepare(queries)

    def scores(self, haystack: Haystack, query: Query) -> Scores:
        if query.query_id not in self._scored:
            self._scored[query.query_id] = self._retriever.scores(haystack, query)
        return self._scored[query.query_id]


class FusionRetriever(Retriever[FusionRetrieverSettings]):
    """Adds the z-scores or the reciprocal ranks of its bases."""

    def __init__(self, settings: FusionRetrieverSettings, resources: Resources) -> None:
        super().__init__(settings, resources)
        self._bases = [resources.retrievers[name] for name in settings.of]

    def scores(self, haystack: Haystack, query: Query) -> Scores:
        scores = [base.scores(haystack, query) for base in self._bases]
        of_others = [base.of_others for base in self._bases]
        if self._settings.by == "z_sum":
            return z_sum(scores, self._settings.weights, of_others=of_others)
        return reciprocal_rank_fusion(scores, rank_constant=self._settings.rank_constant, of_others=of_others)


class FeedbackRetriever(Retriever[FeedbackRetrieverSettings]):
    """Expands the query by the best documents of its base."""

    def __init__(self, settings: FeedbackRetrieverSettings, resources: Resources) -> None:
        super().__init__(settings, resources)
        self._base = resources.retrievers[settings.of]

    def scores(self, haystack: Haystack, query: Query) -> Scores:
        return feedback_scores(
            haystack.bm25(_FEEDBACK_INDEX),
            self._base.scores(haystack, query),
            documents=self._settings.documents,
            terms=self._settings.terms,
            weight=self._settings.weight,
            of_others=self._base.of_others,
        )
