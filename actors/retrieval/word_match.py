"""Retrievers that compare the words of documents with those of the query."""

from __future__ import annotations

from actors.retrieval.haystack import Haystack
from actors.retrieval.retriever import Retriever, Scores
from longform.records import Query
from longform.retrieval.ranking import keyword_overlap, keyword_tokens
from longform.settings.retrievers import Bm25RetrieverSettings, KeywordRetrieverSettings, OkapiRetrieverSettings
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
