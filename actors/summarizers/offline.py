"""The offline summarizer: quotes what several documents repeat, and cites them; no language model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from actors.local_models.encoder import MINILM, Encoder
from actors.storage.benchmark import Benchmark
from longform.axes import COPIED
from longform.keys import content_key
from longform.records import retrieval_text
from longform.summaries.extractive import Extractor, bullet_lines, extractor_version, shipped_ranker
from longform.summaries.query_relevance import QueryText
from longform.support.model import shipped_support_model

PROMPT_VERSION = f"offline_summarizer@{extractor_version()}"
_EXTRACTORS_HELD = 2  # one of 100 documents is about 60 MB

_Sources = tuple[tuple[str, int, int], ...]  # (doc_id, number, characters kept)


class OfflineSummarizer:
    """
    Summarize the documents of a context for its query.

    Table in: `CONTEXTS` with `work_id, n_requested, setting, summarizer`. Table out: `SUMMARIES`, one row for each.
    Contexts of the same documents, cut alike, share one index: give the queries of a haystack together.
    The order of the documents changes nothing.
    """

    def __init__(self, bench_url: str, max_words: int, *, threads: int) -> None:
        self._benchmark = Benchmark(bench_url)
        self._max_words = max_words
        self._encoder = Encoder(MINILM, threads=threads)
        self._haystack_id: str | None = None
        self._extractor = lru_cache(maxsize=_EXTRACTORS_HELD)(self._read)

    def summarize(self, context_rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """
        Return summaries of all rows; `text` is null, with the reason, if there is no document or no
        usable sentence.
        """
        return [self._summary(row) for row in context_rows]

    def _summary(self, row: Mapping[str, Any]) -> dict[str, Any]:
        text, failure = self._text(row)
        copied = ("work_id", "context_id", "query_id", "haystack_id", "summarizer", "setting", "order")
        return (
            {name: row[name] for name in copied}
            | {name: row.get(name) for name in COPIED}
            | {
                "summary_id": content_key(row["work_id"]),
                "method": "plain",
                "parents": [],
                "step": None,
                "elapsed_minutes": None,
                "n_requested": row["n_requested"],
                "repeat": 0,
                "cause": failure,
                "cited_by": None,
                "text": text,
                "failure": failure,
                "cut_share": row["cut_share"],
                "model": None,
                "prompt_version": PROMPT_VERSION,
                "finish_reason": None,
                "input_tokens": None,
                "cached_tokens": None,
                "output_tokens": None,
                "reasoning_tokens": None,
                "cost_usd": None,
                "seconds": None,
            }
        )

    def _text(self, row: Mapping[str, Any]) -> tuple[str | None, str | None]:
        kept = zip(row["doc_ids"], row["doc_numbers"], row["doc_chars"], strict=True)
        sources: _Sources = tuple(sorted(kept, key=lambda source: source[1]))
        if not sources:
            return None, "no_documents"
        extractor = self._extractor(row["haystack_id"], sources)
        extracted = extractor.extract(self._query_text(row["query_id"]), row["n_requested"], self._max_words)
        return (bullet_lines(extracted), None) if extracted else (None, "no_sentence")

    def _query_text(self, query_id: str) -> QueryText:
        query = self._benchmark.queries[query_id]
        text = retrieval_text(query, query_text="query_subtopic")
        vectors = self._encoder.embed([text, query.subtopic or query.text])
        return QueryText(text, vectors[0], vectors[1])

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
