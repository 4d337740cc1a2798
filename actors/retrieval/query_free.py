"""Retrievers that do not read the query."""

from __future__ import annotations

import numpy as np

from actors.retrieval.haystack import Haystack
from actors.retrieval.retriever import Retriever, Scores
from longform.keys import stable_seed
from longform.records import Query
from longform.settings.retrievers import (
    FullContextSettings,
    NoDocumentsSettings,
    RandomRetrieverSettings,
    ShortFirstRetrieverSettings,
)


class RandomRetriever(Retriever[RandomRetrieverSettings]):
    """Draws scores; the seed and the query decide them."""

    def scores(self, haystack: Haystack, query: Query) -> Scores:
        seed = stable_seed("random", self._settings.seed, query.query_id)
        return np.random.default_rng(seed).random(len(haystack))


class ShortFirstRetriever(Retriever[ShortFirstRetrieverSettings]):
    """Prefers documents of fewer words."""

    def scores(self, haystack: Haystack, _query: Query, /) -> Scores:
        return -np.array([len(text.split()) for text in haystack.texts], dtype=np.float64)


class FullContext(Retriever[FullContextSettings]):
    """Keeps the order of the haystack."""

    def scores(self, haystack: Haystack, _query: Query, /) -> Scores:
        return -np.arange(len(haystack), dtype=np.float64)


class NoDocuments(Retriever[NoDocumentsSettings]):
    """Ranks no document."""

    def scores(self, haystack: Haystack, _query: Query, /) -> Scores:
        return np.full(len(haystack), np.nan)
