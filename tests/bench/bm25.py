"""BM25: texts to an index, and queries to ranked documents, against `bm25s` used directly."""

from __future__ import annotations

import bm25s
import Stemmer

from longform.retrieval.bm25 import Bm25, stem_documents
from longform.retrieval.ranking import ranked
from longform.text import words as text
from longform.text.words import stems
from tests.bench.inputs import Passages, passages
from tests.bench.measure import Figure, paired

_K1, _B = 1.5, 0.75
_SIZES = {100: 21, 2000: 7}  # documents: rounds
_SEARCH_ROUNDS = 31
_QUERIES, _DEPTH = 50, 100


def figures() -> list[Figure]:
    given = passages()
    return [figure for size in _SIZES for figure in (_indexing(given, size), _searching(given, size))]


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
