"""Retrievers that compare the words of documents with those of the query."""

from __future__ import annotations

from actors.retrieval.haystack import Haystack
from actors.retrieval.retriever import Resources, Retriever, Scores
from longform.records import Query
from longform.retrieval.ranking import keyword_overlap, keyword_tokens
from longform.settings.retrievers import Bm25RetrieverSettings, OkapiRetrieverSettings
from longform.text.words import stems, words


class KeywordRetriever(Retriever):
    """Counts keywords that a document shares with the query."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources

    def scores(self, haystack: Haystack, query: Query) -> Scores:
        return keyword_overlap(keyword_tokens(self._resources.text(query)), haystack.keywords)


class Bm25Retriever(Retriever):
    """Scores by BM25, over stems or over words."""

    def __init__(self, settings: Bm25RetrieverSettings, resources: Resources) -> None:
        self._settings = settings
        self._resources = resources

    def scores(self, haystack: Haystack, query: Query) -> Scores:
        text = self._resources.text(query)
        return haystack.bm25(self._settings).scores(stems(text) if self._settings.stem else words(text))


class OkapiRetriever(Retriever):
    """Scores by BM25 as the package `rank_bm25` does."""

    def __init__(self, settings: OkapiRetrieverSettings, resources: Resources) -> None:
        self._settings = settings
        self._resources = resources

    def scores(self, haystack: Haystack, query: Query) -> Scores:
        return haystack.okapi(self._settings).scores(self._resources.text(query).split(" "))
