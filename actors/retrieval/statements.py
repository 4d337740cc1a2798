"""Retrievers that score a document by the repeated statements it supports; no other encoder fits the shipped models."""

from __future__ import annotations

from collections.abc import Sequence

from actors.local_models.checkpoints import check_checkpoint
from actors.local_models.weights import MINILM
from actors.retrieval.haystack import Haystack
from actors.retrieval.retriever import Resources, Retriever, Scores, Settings
from longform.records import Query
from longform.retrieval.statements import cluster_feedback_scores, statement_scores, statements_version
from longform.settings.retrievers import ClusterFeedbackRetrieverSettings, StatementsRetrieverSettings
from longform.summaries.extractive import Extractor


class _StatementReader(Retriever[Settings]):
    """Reads the sentences of a haystack; a haystack is read once for both kinds."""

    @classmethod
    def version(cls, _settings: Settings, /) -> list[str]:
        return [statements_version()]

    @classmethod
    def check(cls, _settings: Settings, _resources: Resources, /) -> None:
        check_checkpoint(MINILM)

    def prepare(self, queries: Sequence[Query]) -> None:
        self._resources.embed_queries(queries)

    def _extractor(self, haystack: Haystack) -> Extractor:
        return haystack.extractor(self._resources.encoder(MINILM))


class ClusterFeedbackRetriever(_StatementReader[ClusterFeedbackRetrieverSettings]):
    """Scores by the most relevant sentences that several documents repeat."""

    def scores(self, haystack: Haystack, query: Query) -> Scores:
        return cluster_feedback_scores(self._extractor(haystack).support, self._resources.embedded(query))


class StatementsRetriever(_StatementReader[StatementsRetrieverSettings]):
    """Scores by the quotes of the offline summarizer; short documents first."""

    def scores(self, haystack: Haystack, query: Query) -> Scores:
        embedded = self._resources.embedded(query)
        return statement_scores(self._extractor(haystack), embedded, n_statements=self._settings.n_statements)
