"""The base of every retriever, and what the retrievers of a configuration share: the haystack, models, benchmark."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from actors.local_models.checkpoints import MINILM, checkpoint_path
from actors.local_models.encoder import Encoder, TextEncoder
from actors.retrieval.encoders import EndpointEncoder
from actors.storage.benchmark import Benchmark
from longform.records import Document, Query, relevance_by_query, retrieval_text, shown_query
from longform.retrieval.bm25 import Bm25, OkapiBm25, stem_documents
from longform.retrieval.ranking import keyword_tokens
from longform.settings.retrievers import (
    Bm25RetrieverSettings,
    DenseSettings,
    EmbeddingsRetrieverSettings,
    OkapiRetrieverSettings,
)
from longform.settings.strict import PartSettings
from longform.summaries.extractive import Extractor, shipped_ranker
from longform.summaries.query_relevance import VectorQuery
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
        self._okapi: dict[OkapiRetrieverSettings, OkapiBm25] = {}
        self._chunks: dict[tuple[TextEncoder, int | None, str], list[list[str]]] = {}

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

    def okapi(self, settings: OkapiRetrieverSettings) -> OkapiBm25:
        if settings not in self._okapi:
            documents = [text.split(" ") for text in self.texts]
            self._okapi[settings] = OkapiBm25(documents, k1=settings.k1, b=settings.b, epsilon=settings.epsilon)
        return self._okapi[settings]

    def chunks(self, settings: DenseSettings, encoder: TextEncoder) -> list[list[str]]:
        """Return the chunks of each document, which fit the encoder's window with the prefix."""
        key = (encoder, settings.chunk_tokens, settings.document_prefix)
        if key not in self._chunks:
            self._chunks[key] = [
                encoder.chunks(text, max_tokens=settings.chunk_tokens, prefix=settings.document_prefix)
                for text in self.texts
            ]
        return self._chunks[key]

    def extractor(self, encoder: Encoder) -> Extractor:
        """Return the documents as the offline summarizer reads them: without their titles."""
        if self._extractor is None:
            numbered = list(enumerate(document.text for document in self.documents))
            model, ranker = shipped_support_model("vectors"), shipped_ranker()
            self._extractor = Extractor(numbered, encoder.embed, model=model, ranker=ranker)
        return self._extractor

    @cached_property
    def _stems(self) -> list[list[str]]:
        return stem_documents(self.texts)

    @cached_property
    def _words(self) -> list[list[str]]:
        return [words(text) for text in self.texts]


Scores = NDArray[np.float64] | NDArray[np.float32]
Settings = TypeVar("Settings", bound=PartSettings)

_RELEASED_COLUMNS = ["query_id", "system", "doc_id", "score"]


class Retriever(ABC, Generic[Settings]):
    """Scores the documents of a haystack. It loads its model on first use, so that making it costs nothing."""

    of_others: bool = False  # its scores are another system's, on a scale of their own

    def __init__(self, settings: Settings, resources: Resources) -> None:
        self._settings, self._resources = settings, resources

    @classmethod
    def version(cls, _settings: Settings, /) -> list[str]:
        """Return the versions of all that decides a ranking beside the settings."""
        return []

    @abstractmethod
    def scores(self, haystack: Haystack, query: Query, /) -> Scores:
        """Return a score for each document, shape (documents,): the larger, the earlier; NaN: it is not ranked."""

    def prepare(self, _queries: Sequence[Query], /) -> None:
        """Take note of the queries that will be asked, to embed them in one batch."""
        return

    @classmethod
    def check(cls, _settings: Settings, _resources: Resources, /) -> None:
        """
        Look for its model and its tables; no weights are read.

        Raises:
            UsageError: Something is missing.
        """


class Resources:
    """
    Models, which stay once they are loaded, tables of the benchmark, and the retrievers that are there to build on.

    Raises:
        UsageError: No benchmark stands at the URL.
    """

    def __init__(self, bench_url: str, *, query_text: str, threads: int, with_keys: bool = True) -> None:
        self.benchmark = Benchmark(bench_url)
        self.with_keys = with_keys
        self.retrievers: dict[str, Retriever[Any]] = {}
        self._query_text = query_text
        self._threads = threads
        self._encoders: dict[str, Encoder] = {}
        self._endpoints: dict[EmbeddingsRetrieverSettings, EndpointEncoder] = {}

    def encoder(self, model: str) -> Encoder:
        if model not in self._encoders:
            self._encoders[model] = Encoder(checkpoint_path(model), threads=self._threads)
        return self._encoders[model]

    def endpoint(self, settings: EmbeddingsRetrieverSettings) -> EndpointEncoder:
        """Return the encoder behind an endpoint: one for all retrievers that ask it alike."""
        alike = {"query_prefix": "", "document_prefix": "", "pooling": "whole", "chunk_tokens": None}
        asked = settings.model_copy(update=alike)
        if asked not in self._endpoints:
            self._endpoints[asked] = EndpointEncoder(asked)
        return self._endpoints[asked]

    def forget(self) -> None:
        """Free the vectors of the haystack that is left."""
        for encoder in (*self._encoders.values(), *self._endpoints.values()):
            encoder.forget()

    def shown(self, query: Query) -> Query:
        """Return *query* as the experiment lets a retriever see it."""
        return shown_query(query, query_text=self._query_text)

    def text(self, query: Query) -> str:
        return retrieval_text(query, query_text=self._query_text)

    def subtopic_text(self, query: Query) -> str:
        """Return the query's subtopic; its text if it has none, or the experiment hides it."""
        return self.shown(query).subtopic or query.text

    def embed_queries(self, queries: Sequence[Query]) -> None:
        """Embed texts and subtopics by the encoder of the shipped models."""
        subtopics = [self.subtopic_text(query) for query in queries]
        self.encoder(MINILM).embed([*(self.text(query) for query in queries), *subtopics])

    def embedded(self, query: Query) -> VectorQuery:
        """Return the query with the vectors that the shipped models read."""
        text = self.text(query)
        vector, subtopic_vector = self.encoder(MINILM).embed([text, self.subtopic_text(query)])
        return VectorQuery(text, vector, subtopic_vector)

    @cached_property
    def relevance(self) -> dict[str, dict[str, int]]:
        """Query id -> document id -> relevance."""
        return relevance_by_query(self.benchmark.qrels)

    @cached_property
    def rankings(self) -> pa.Table:
        """The rankings that the benchmark ships."""
        return self.benchmark.folder.read("rankings", columns=_RELEASED_COLUMNS)
