"""Retrievers that compare vectors: of texts, or of the repeated statements that a document supports."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from actors.local_models.checkpoints import MINILM, changing_content, check_checkpoint
from actors.local_models.encoder import TextEncoder
from actors.retrieval.encoders import KIND
from actors.retrieval.retriever import Haystack, Resources, Retriever, Scores, Settings
from actors.serving.endpoint import token_of
from longform.records import Query
from longform.retrieval.statements import cluster_feedback_scores, statement_scores, statements_version
from longform.settings.retrievers import (
    ClusterFeedbackRetrieverSettings,
    DenseSettings,
    EmbeddingsRetrieverSettings,
    EncoderRetrieverSettings,
    StatementsRetrieverSettings,
)
from longform.summaries.extractive import Extractor

Dense = TypeVar("Dense", bound=DenseSettings)


class _VectorRetriever(Retriever[Dense]):
    """
    Scores by the cosine of the query with each document, by the vectors of an encoder.

    `whole`: with the document cut at the window. `max`: with its best chunk. `mean`: with the mean of its chunks'
    vectors weighted by their words (MSRS, released code; the paper's sizes, section 4.1, may be tokens).
    """

    def __init__(self, settings: Dense, resources: Resources) -> None:
        super().__init__(settings, resources)
        self._embedded: tuple[Haystack, NDArray[np.float32]] | None = None

    def prepare(self, queries: Sequence[Query]) -> None:
        self._encoder.embed([self._shown(query) for query in queries])

    def scores(self, haystack: Haystack, query: Query) -> Scores:
        if self._embedded is None or self._embedded[0] is not haystack:
            self._embedded = haystack, self._document_vectors(haystack)
        cosines = self._embedded[1] @ self._encoder.embed([self._shown(query)])[0]
        if self._settings.pooling != "max":
            return np.asarray(cosines)
        return np.asarray(np.maximum.reduceat(cosines, _starts(self._chunks(haystack))))

    @property
    @abstractmethod
    def _encoder(self) -> TextEncoder:
        """The encoder, which is opened once for all retrievers that share it."""

    def _shown(self, query: Query) -> str:
        return self._settings.query_prefix + self._resources.text(query)

    def _chunks(self, haystack: Haystack) -> list[list[str]]:
        return haystack.chunks(self._settings, self._encoder)

    def _document_vectors(self, haystack: Haystack) -> NDArray[np.float32]:
        """Embed the documents: shape (documents, dimensions), (chunks, dimensions) for `max`."""
        prefix = self._settings.document_prefix
        if self._settings.pooling == "whole":
            return self._encoder.embed([prefix + text for text in haystack.texts])
        chunked = self._chunks(haystack)
        vectors = self._encoder.embed([prefix + chunk for chunks in chunked for chunk in chunks])
        if self._settings.pooling == "max":
            return vectors
        n_words = np.array([max(len(chunk.split()), 1) for chunks in chunked for chunk in chunks], dtype=np.float32)
        sums = np.add.reduceat(vectors * n_words[:, None], _starts(chunked), axis=0)
        return np.asarray(sums / np.linalg.norm(sums, axis=1, keepdims=True))


class EncoderRetriever(_VectorRetriever[EncoderRetrieverSettings]):
    """Has an encoder here."""

    @classmethod
    def version(cls, settings: EncoderRetrieverSettings) -> list[str]:
        content = changing_content(settings.model)
        return [content] if content else []

    @classmethod
    def check(cls, settings: EncoderRetrieverSettings, _resources: Resources, /) -> None:
        check_checkpoint(settings.model)

    @property
    def _encoder(self) -> TextEncoder:
        return self._resources.encoder(self._settings.model)


class EmbeddingsRetriever(_VectorRetriever[EmbeddingsRetrieverSettings]):
    """Asks an endpoint."""

    @classmethod
    def check(cls, settings: EmbeddingsRetrieverSettings, _resources: Resources, /) -> None:
        token_of(KIND, settings)

    @property
    def _encoder(self) -> TextEncoder:
        return self._resources.endpoint(self._settings)


def _starts(chunked: Sequence[Sequence[str]]) -> NDArray[np.int64]:
    """Return the place of each document's first chunk among all chunks; every document has one."""
    return np.cumsum([0, *(len(chunks) for chunks in chunked[:-1])])


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
