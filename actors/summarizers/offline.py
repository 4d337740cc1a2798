"""The offline summarizer: quotes what several documents repeat, and cites them; no language model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from actors.local_models.checkpoints import MINILM
from actors.local_models.encoder import Encoder
from actors.summarizers.summarizer import AskedContext, Means, Summarizer, summary_row
from longform.chat.call import ChatReply, failed
from longform.records import retrieval_text
from longform.rows import SummaryRow
from longform.settings.chat import OfflineSummarizerSettings
from longform.settings.methods import MethodSettings
from longform.summaries.extractive import VERSION, Extractor, bullet_lines, extractor_version, shipped_ranker
from longform.summaries.methods import USUAL_BULLETS
from longform.summaries.query_relevance import VectorQuery
from longform.support.model import shipped_support_model

PROMPT_VERSION = f"offline_summarizer@{extractor_version()}"
_EXTRACTORS_HELD = 2  # one of 100 documents is about 60 MB

_Sources = tuple[tuple[str, int, int], ...]  # (doc_id, number, characters kept)


class OfflineSummarizer(Summarizer[OfflineSummarizerSettings]):
    """
    Summarize the documents of a context for its query.

    Contexts of the same documents, cut alike, share one index: give the queries of a haystack together.
    The order of the documents changes nothing.
    """

    embeds = True

    def __init__(self, settings: OfflineSummarizerSettings, means: Means) -> None:
        super().__init__(settings, means)
        self._encoder = Encoder(MINILM, threads=means.threads)
        self._haystack_id: str | None = None
        self._extractor = lru_cache(maxsize=_EXTRACTORS_HELD)(self._read)

    @classmethod
    def version(cls, _settings: OfflineSummarizerSettings, _method: MethodSettings, _prompts: str | None, /) -> str:
        return VERSION

    async def summarize(self, rows: Sequence[AskedContext]) -> list[SummaryRow]:
        """Return summaries of all rows; one without a document or a usable sentence has no text."""
        return [summary_row(row, self._extracted(row), PROMPT_VERSION) for row in rows]

    def _extracted(self, row: AskedContext) -> ChatReply:
        kept = zip(row["doc_ids"], row["doc_numbers"], row["doc_chars"], strict=True)
        sources: _Sources = tuple(sorted(kept, key=lambda source: source[1]))
        if not sources:
            return failed("no_documents")
        extractor = self._extractor(row["haystack_id"], sources)
        n = USUAL_BULLETS if row["n_requested"] is None else row["n_requested"]
        extracted = extractor.extract(self._query_text(row["query_id"]), n, self._settings.max_words)
        return ChatReply(text=bullet_lines(extracted), failure=None) if extracted else failed("no_sentence")

    def _query_text(self, query_id: str) -> VectorQuery:
        query = self._benchmark.queries[query_id]
        text = retrieval_text(query, query_text="query_subtopic")
        vectors = self._encoder.embed([text, query.subtopic or query.text])
        return VectorQuery(text, vectors[0], vectors[1])

    def _read(self, haystack_id: str, sources: _Sources) -> Extractor:
        if haystack_id != self._haystack_id:
            self._encoder.forget()  # vectors are shared by the contexts of one haystack
            self._haystack_id = haystack_id
        texts = {document.doc_id: document.text for document in self._benchmark.documents(haystack_id)}
        return Extractor(
            [(number, texts[doc_id][:chars]) for doc_id, number, chars in sources],
            self._encoder.embed,
            model=shipped_support_model("vectors"),
            ranker=shipped_ranker(),
        )
