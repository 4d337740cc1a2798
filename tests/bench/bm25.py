"""BM25 against `bm25s` used directly; and, as MSRS released it, against `rank_bm25` in a plain loop."""

from __future__ import annotations

from itertools import cycle, islice

import bm25s
import numpy as np
import rank_bm25
import Stemmer

from longform.retrieval.bm25 import Bm25, OkapiBm25, stem_documents
from longform.retrieval.ranking import ranked
from longform.text import words as text
from longform.text.words import stems
from tests.bench.inputs import Passages, passages
from tests.bench.measure import Figure, paired

_K1, _B = 1.5, 0.75
_SIZES = {100: 21, 2000: 7}  # documents: rounds
_SEARCH_ROUNDS = 31
_QUERIES, _DEPTH = 50, 100
_RELEASED_DOCUMENTS, _RELEASED_QUERIES, _RELEASED_K = 1100, 1000, 8  # about MSRS-STORY


def figures() -> list[Figure]:
    given = passages()
    compared = [figure(given, size) for size in _SIZES for figure in (_indexing, _searching)]
    return [*compared, _released(given)]


def _released(given: Passages) -> Figure:
    """Index a corpus and rank it for all queries."""
    texts, queries = given.spread(_RELEASED_DOCUMENTS), list(islice(cycle(given.queries), _RELEASED_QUERIES))

    def ours() -> list[list[int]]:
        index = OkapiBm25([text.split(" ") for text in texts], k1=_K1, b=_B, epsilon=0.25)
        return [ranked(index.scores(query.split(" ")), depth=_RELEASED_K) for query in queries]

    def theirs() -> list[list[int]]:
        index = rank_bm25.BM25Okapi([text.split(" ") for text in texts])
        scores = (index.get_scores(query.split(" ")) for query in queries)
        return [np.argsort(-found, kind="stable")[:_RELEASED_K].tolist() for found in scores]

    name = f"BM25 as rank_bm25, {_RELEASED_DOCUMENTS:,} documents and {_RELEASED_QUERIES:,} queries"
    note = f"{_RELEASED_K} documents a query"
    return paired(ours, theirs, rounds=3).rates(name, items=_RELEASED_QUERIES, unit="queries/s", target=1, note=note)


def _indexing(given: Passages, size: int) -> Figure:
    texts = given.spread(size)
    pairs = paired(lambda: _our_index(texts), lambda: _their_index(texts), rounds=_SIZES[size])
    name = f"BM25 indexing, {size:,} documents"
    return pairs.rates(name, items=size, unit="documents/s", target=1, note=given.source)


def _searching(given: Passages, size: int) -> Figure:
    texts, queries = given.spread(size), given.queries[:_QUERIES]
    assert len(queries) == _QUERIES, f"{given.source} has {len(queries)} queries"
    ours, theirs = _our_index(texts), _their_index(texts)
    pairs = paired(lambda: _our_search(ours, queries), lambda: _their_search(theirs, queries), rounds=_SEARCH_ROUNDS)
    name = f"BM25 search, {size:,} documents"
    return pairs.rates(name, items=_QUERIES, unit="queries/s", target=1, note=f"the first {_DEPTH} of each query")


def _our_index(texts: list[str]) -> Bm25:
    text._stem.cache_clear()  # bm25s has no stem from before either
    return Bm25(stem_documents(texts), k1=_K1, b=_B)


def _their_index(texts: list[str]) -> bm25s.BM25:
    index = bm25s.BM25(method="lucene", k1=_K1, b=_B)
    index.index(_their_tokens(texts), show_progress=False)
    return index


def _our_search(index: Bm25, queries: list[str]) -> list[list[int]]:
    text._stem.cache_clear()
    return [ranked(index.scores(stems(query)), depth=_DEPTH) for query in queries]


def _their_search(index: bm25s.BM25, queries: list[str]) -> bm25s.Results:
    return index.retrieve(_their_tokens(queries), k=_DEPTH, show_progress=False)


def _their_tokens(texts: list[str]) -> bm25s.tokenization.Tokenized:
    return bm25s.tokenize(texts, stopwords="en", stemmer=Stemmer.Stemmer("english"), show_progress=False)
