"""Retrievers that build on the scores of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from actors.retrieval.haystack import Haystack
from actors.retrieval.retriever import Resources, Retriever, Scores
from longform.records import Query
from longform.retrieval.ranking import feedback_scores, reciprocal_rank_fusion, z_sum
from longform.settings.retrievers import Bm25RetrieverSettings, FeedbackRetrieverSettings, FusionRetrieverSettings

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
