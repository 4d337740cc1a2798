"""One haystack as the retrievers see it; each view is made on first use and kept."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from actors.local_models.encoder import Encoder, TextEncoder
from longform.records import Document
from longform.retrieval.bm25 import Bm25, OkapiBm25, stem_documents
from longform.retrieval.ranking import keyword_tokens
from longform.settings.retrievers import Bm25RetrieverSettings, DenseSettings, OkapiRetrieverSettings
from longform.summaries.extractive import Extractor, shipped_ranker
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
