"""One haystack as the retrievers see it; each view is made on first use and kept."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from actors.local_models.encoder import Encoder
from longform.records import Document
from longform.retrieval.bm25 import Bm25, stem_documents
from longform.retrieval.ranking import keyword_tokens
from longform.retrieval.statements import cluster_feedback_scores, statement_scores
from longform.settings.retrievers import (
    Bm25RetrieverSettings,
    ClusterFeedbackRetrieverSettings,
    EncoderRetrieverSettings,
    StatementRetrieverSettings,
)
from longform.summaries.extractive import Extractor, shipped_ranker
from longform.summaries.query_relevance import QueryText
from longform.support.model import shipped_support_model
from longform.text.words import words


class Haystack:
    """Tokens, indexes and vectors of one haystack's documents, in their order. A title is searched with its text."""

    def __init__(self, haystack_id: str, documents: Sequence[Document]) -> None:
        self.haystack_id = haystack_id
        self.doc_ids = [document.doc_id for document in documents]
        self.texts = [
            f"{document.title}\n{document.text}" if document.title else document.text for document in documents
        ]
        self.documents = documents
        self._extractor: Extractor | None = None
        self._indexes: dict[tuple[float, float, bool], Bm25] = {}
        self._chunks: dict[tuple[str, int | None, str], list[list[str]]] = {}
        self._vectors: dict[EncoderRetrieverSettings, NDArray[np.float32]] = {}

    def __len__(self) -> int:
        return len(self.doc_ids)

    @cached_property
    def keywords(self) -> list[frozenset[str]]:
        """The distinct keyword tokens of each document."""
        return [frozenset(keyword_tokens(text)) for text in self.texts]

    def bm25(self, settings: Bm25RetrieverSettings) -> Bm25:
        key = (settings.k1, settings.b, settings.stem)
        if key not in self._indexes:
            self._indexes[key] = Bm25(self._stems if settings.stem else self._words, k1=settings.k1, b=settings.b)
        return self._indexes[key]

    def similarity(
        self, settings: EncoderRetrieverSettings, encoder: Encoder, query_vector: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        """
        Cosine of the query with each document, shape (documents,).

        `whole`: with the document cut at the window. `max`: with its best chunk. `mean`: with the mean of its chunks'
        vectors weighted by their words (MSRS, released code).
        """
        if settings not in self._vectors:
            self._vectors[settings] = self._document_vectors(settings, encoder)
        cosines = self._vectors[settings] @ query_vector
        if settings.pooling != "max":
            return np.asarray(cosines)
        return np.asarray(np.maximum.reduceat(cosines, _starts(self._chunked(settings, encoder))))

    def statement_scores(
        self, settings: StatementRetrieverSettings, encoder: Encoder, query: QueryText
    ) -> NDArray[np.float64]:
        """
        Return how much of the query's answer each document supports, shape (documents,).

        Args:
            settings: Which of the two ways; both read the same sentences.
            encoder: The one whose vectors the shipped models were fitted with.
            query: With that encoder's vectors.
        """
        extractor = self._read_statements(encoder)
        if isinstance(settings, ClusterFeedbackRetrieverSettings):
            return cluster_feedback_scores(extractor.support, query)
        return statement_scores(extractor, query, n_statements=settings.n_statements)

    def _read_statements(self, encoder: Encoder) -> Extractor:
        """The documents as the offline summarizer reads them: without their titles."""
        if self._extractor is None:
            numbered = list(enumerate(document.text for document in self.documents))
            model, ranker = shipped_support_model("vectors"), shipped_ranker()
            self._extractor = Extractor(numbered, encoder.embed, model=model, ranker=ranker)
        return self._extractor

    def _document_vectors(self, settings: EncoderRetrieverSettings, encoder: Encoder) -> NDArray[np.float32]:
        """Shape (documents, dimensions); (chunks, dimensions) for `max`."""
        prefix = settings.document_prefix
        if settings.pooling == "whole":
            return encoder.embed([prefix + text for text in self.texts])
        chunked = self._chunked(settings, encoder)
        vectors = encoder.embed([prefix + chunk for chunks in chunked for chunk in chunks])
        if settings.pooling == "max":
            return vectors
        n_words = np.array([max(len(chunk.split()), 1) for chunks in chunked for chunk in chunks], dtype=np.float32)
        sums = np.add.reduceat(vectors * n_words[:, None], _starts(chunked), axis=0)
        return np.asarray(sums / np.linalg.norm(sums, axis=1, keepdims=True))

    def _chunked(self, settings: EncoderRetrieverSettings, encoder: Encoder) -> list[list[str]]:
        key = (settings.model, settings.chunk_tokens, settings.document_prefix)
        if key not in self._chunks:
            self._chunks[key] = [
                encoder.chunks(text, max_tokens=settings.chunk_tokens, prefix=settings.document_prefix)
                for text in self.texts
            ]
        return self._chunks[key]

    @cached_property
    def _stems(self) -> list[list[str]]:
        return stem_documents(self.texts)

    @cached_property
    def _words(self) -> list[list[str]]:
        return [words(text) for text in self.texts]


def _starts(chunked: Sequence[Sequence[str]]) -> NDArray[np.int64]:
    """The place of each document's first chunk among all chunks; every document has one."""
    return np.cumsum([0, *(len(chunks) for chunks in chunked[:-1])])
