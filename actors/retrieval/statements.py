"""Retrievers that score a document by the repeated statements it supports; no other encoder fits the shipped models."""

from __future__ import annotations

from collections.abc import Sequence

from actors.local_models.checkpoints import check_checkpoint
from actors.local_models.weights import MINILM
from actors.retrieval.haystack import Haystack
from actors.retrieval.retriever import Resources, Retriever, Scores
from longform.records import Query
from longform.retrieval.statements import cluster_feedback_scores, statement_scores
from longform.settings.retrievers import StatementsRetrieverSettings
from longform.summaries.extractive import Extractor


class _StatementReader(Retriever):
    """Reads the sentences of a haystack; a haystack is read once for both kinds."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    def check(self) -> None:
        check_checkpoint(MINILM)

    def prepare(self, queries: Sequence[Query]) -> None:
        self._resources.embed_queries(queries)

    def _extractor(self, haystack: Haystack) -> Extractor:
        return haystack.extractor(self._resources.encoder(MINILM))


class ClusterFeedbackRetriever(_StatementReader):
    """Scores by the most relevant sentences that several documents repeat."""

    def scores(self, haystack: Haystack, query: Query) -> Scores:
        return cluster_feedback_scores(self._extractor(haystack).support, self._resources.embedded(query))


class StatementsRetriever(_StatementReader):
    """Scores by the quotes of the offline summarizer; short documents first."""

    def __init__(self, settings: StatementsRetrieverSettings, resources: Resources) -> None:
        super().__init__(resources)
        self._n_statements = settings.n_statements

    def scores(self, haystack: Haystack, query: Query) -> Scores:
        embedded = self._resources.embedded(query)
        return statement_scores(self._extractor(haystack), embedded, n_statements=self._n_statements)
