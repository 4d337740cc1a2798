"""
BM25 over one haystack, held as a sparse matrix of ready-made term weights.

Weight of term t in document d, as Lucene computes it (Robertson and Zaragoza, The Probabilistic Relevance Framework:
BM25 and Beyond, 2009; without the constant factor k1 + 1, which changes no rank):

    idf(t) * tf / (tf + k1 * (1 - b + b * length(d) / mean length))
    idf(t) = ln(1 + (n - df + 0.5) / (df + 0.5))

`OkapiBm25` weighs terms as the package `rank_bm25` does, with which MSRS's release ranks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array

from longform.text.words import stems


class Bm25:
    """
    An index of one haystack.

    `terms` maps a term to its column, `term_frequency` has its occurrences, shape (documents, terms), and `idf` the
    shape (terms,).
    """

    def __init__(self, documents: Sequence[Sequence[str]], *, k1: float, b: float) -> None:
        lengths = np.fromiter(map(len, documents), dtype=np.int64, count=len(documents))
        self.terms, self.term_frequency = _count(documents, lengths)
        document_frequency = np.diff(self.term_frequency.indptr)
        self.idf = self._idf(len(lengths), document_frequency)
        mean_length = lengths.mean() if lengths.any() else 1.0
        saturation = k1 * (1 - b + b * lengths / mean_length)
        self._rows: NDArray[np.int32] = self.term_frequency.indices
        self._starts: list[int] = self.term_frequency.indptr.tolist()
        frequency = self.term_frequency.data
        self._weights = np.repeat(self.idf, document_frequency) * (frequency / (frequency + saturation[self._rows]))
        self._n_documents = len(lengths)

    def _idf(self, n_documents: int, document_frequency: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return the weight of each term, shape (terms,)."""
        return np.asarray(np.log1p((n_documents - document_frequency + 0.5) / (document_frequency + 0.5)))

    def scores(self, query_tokens: Iterable[str]) -> NDArray[np.float64]:
        """Return scores of shape (documents,). A token that stands twice in the query counts twice."""
        return self._summed([self.terms[token] for token in query_tokens if token in self.terms])

    def weighted_scores(self, weights: Mapping[str, float]) -> NDArray[np.float64]:
        """Return the sum over terms of the query weight times the term's weight, shape (documents,)."""
        known = {self.terms[term]: weight for term, weight in weights.items() if term in self.terms}
        return self._summed(list(known), list(known.values()))

    def _summed(self, columns: list[int], factors: list[float] | None = None) -> NDArray[np.float64]:
        if not columns:
            return np.zeros(self._n_documents)
        spans = [slice(self._starts[column], self._starts[column + 1]) for column in columns]
        rows = np.concatenate([self._rows[span] for span in spans])
        weights = np.concatenate([self._weights[span] for span in spans])
        if factors is not None:
            weights *= np.repeat(factors, [span.stop - span.start for span in spans])
        return np.asarray(np.bincount(rows, weights, minlength=self._n_documents), dtype=np.float64)


class OkapiBm25(Bm25):
    """
    BM25 with Robertson's idf, ln((n - df + 0.5) / (df + 0.5)), as `rank_bm25.BM25Okapi` has it.

    A term of more than half of the documents has a negative idf: *epsilon* times the mean of all terms stands in its
    place. The constant factor k1 + 1 is left out.
    """

    def __init__(self, documents: Sequence[Sequence[str]], *, k1: float, b: float, epsilon: float) -> None:
        self._epsilon = epsilon
        super().__init__(documents, k1=k1, b=b)

    def _idf(self, n_documents: int, document_frequency: NDArray[np.int32]) -> NDArray[np.float64]:
        idf = np.log(n_documents - document_frequency + 0.5) - np.log(document_frequency + 0.5)
        return np.asarray(np.where(idf < 0, self._epsilon * idf.mean(), idf) if len(idf) else idf)


def stem_documents(texts: Iterable[str]) -> list[list[str]]:
    """Return `longform.text.words.stems` of each text; each distinct word is stemmed once."""
    known = _Stems()
    return [list(chain.from_iterable(map(known.__getitem__, text.split()))) for text in texts]


_OUTER = "\"'()[]{}.,;:!?*-–—“”‘’"  # marks that are no part of any token, wherever they stand


class _Stems(dict[str, list[str]]):
    """A run of characters without white space -> its stems; `Word`, `word,` and `"word"` are stemmed once together."""

    def __missing__(self, run: str) -> list[str]:
        bare = run.strip(_OUTER).lower()
        found = self[run] = self[bare] if bare != run else stems(run)
        return found


def _count(documents: Sequence[Sequence[str]], lengths: NDArray[np.int64]) -> tuple[dict[str, int], csc_array]:
    """Return the columns of the terms, and how often each term stands in each document."""
    terms: defaultdict[str, int] = defaultdict()
    terms.default_factory = terms.__len__
    columns = np.fromiter(
        map(terms.__getitem__, chain.from_iterable(documents)), dtype=np.int32, count=int(lengths.sum())
    )
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    counts = csr_array((np.ones(len(columns)), columns, starts), shape=(len(documents), len(terms))).tocsc()
    counts.sum_duplicates()
    return dict(terms), counts
