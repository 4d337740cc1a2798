"""
Measure how strongly documents support a claim by the words they share in a few consecutive sentences.

For a claim c and a document d, `r_k(c, d)` is the largest share of c's weight found in any window of up to k
consecutive sentences of d. Weights are inverse document frequencies over the sentences of all documents given. Windows,
not whole documents: on SummHay a claim's words meet in one place of a document that states it, and scattered in the
others. With sentence vectors, cosines over the same windows join the words: they find a paraphrase.

Every signal is blind to word order and negation. Signals are relative: `longform.support.model` reads a claim's
documents against each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from longform.text.sentences import sentences
from longform.text.words import inverse_document_frequency, numbers, stems, unseen_idf, without_marks

WINDOW = 3
"""Sentences in a window where one size is used; on SummHay's gold insights r3 finds documents better than r1, r2."""

WINDOWS = (2, 3, 5)
"""Sizes of the windows whose recall is a signal."""

NUMBERS = "numbers"
WORD_SIGNALS = (*(f"recall_{size}" for size in WINDOWS), "recall_document")
VECTOR_SIGNALS = ("cosine", "recall_and_cosine")

NO_NUMBERS = 0.5
"""The number signal of a claim that states no number: neither for a document nor against it."""

_BLOCK_CELLS = 4_000_000
"""Cells of one dense block of claims x windows: 16 MB of float32, of which a handful exist at a time."""

Matrix = NDArray[np.float32]
Signals = Mapping[str, Matrix]
"""Signal -> shape (claims, documents)."""


class BestWindows(NamedTuple):
    """Both of shape (claims, documents)."""

    recall: Matrix
    start: NDArray[np.int32]  # the first sentence of the best window, an index over the sentences of all documents


class SupportIndex:
    """
    The sentences of some documents, ready to support claims.

    Sentences are numbered through all documents; document d has those from `bounds[d]` up to `bounds[d + 1]`. A window
    of k sentences starts at each sentence and ends with its document, if not before.
    """

    def __init__(self, documents: Sequence[str]) -> None:
        split = [sentences(text) for text in documents]
        self.sentences = [sentence.text for found in split for sentence in found]
        self.opens_line = [
            not text[: sentence.start].rpartition("\n")[2].strip()
            for text, found in zip(documents, split, strict=True)
            for sentence in found
        ]
        self.stems = [frozenset(stems(without_marks(text))) for text in self.sentences]
        lengths = [len(found) for found in split]
        self.bounds = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        self._idf = inverse_document_frequency(self.stems)
        self._unseen = unseen_idf(len(self.stems))
        self._columns = {stem: i for i, stem in enumerate(sorted(self._idf))}
        self._held: dict[int | None, sparse.csr_array] = {}
        self._vectors: Matrix | None = None
        self._pairs: Matrix | None = None

    @property
    def owners(self) -> NDArray[np.int64]:
        """Return the document of each sentence, shape (sentences,)."""
        return np.repeat(np.arange(len(self.bounds) - 1), np.diff(self.bounds))

    def with_vectors(self, vectors: Matrix) -> SupportIndex:
        """Add the sentences' unit vectors, shape (sentences, dimensions), from which the vector signals are made."""
        if len(vectors) != len(self.sentences):
            raise ValueError(f"expected a vector for each of {len(self.sentences)} sentences, got {len(vectors)}")
        self._vectors = vectors
        self._pairs = self._neighbours(vectors)
        return self

    @property
    def vectors(self) -> Matrix:
        """
        Return the sentences' unit vectors, shape (sentences, dimensions).

        Raises:
            ValueError: They were not added.
        """
        if self._vectors is None:
            raise ValueError("expected an index with vectors, found none")
        return self._vectors

    def window_text(self, start: int) -> str:
        """Return the text of the window of `WINDOW` sentences from *start*, of the only document."""
        return " ".join(self.sentences[start : start + WINDOW])

    def idf(self, stem: str) -> float:
        """Return the weight of a stem; one that no sentence holds has the largest."""
        return self._idf.get(stem, self._unseen)

    # ------------------------------------------------------------ all signals

    def signals(self, claims: Sequence[str], vectors: Matrix | None = None) -> Signals:
        """
        Return every signal of each claim in each document; the vector signals only if both sides have vectors.

        - `recall_k`: r_k in windows of k sentences, in [0, 1]; `recall_document`: in the whole document.
        - `cosine`: the largest cosine of the claim with a sentence or with the sum of two neighbours.
        - `recall_and_cosine`: the largest sum of both in one place.
        - `numbers`: the share of the claim's numbers that the document states, 0.5 if the claim has none.

        Citations and list markers of a claim are left aside. Memory: the answer and a few blocks. *vectors* are the
        unit vectors of the claims, shape (claims, dimensions).
        """
        statements = [without_marks(claim) for claim in claims]
        weights = self.weights(stems(text) for text in statements)
        return {**self.weighted_signals(weights, vectors), NUMBERS: self._number_recall(statements)}

    def weights(self, claims: Iterable[Iterable[str]]) -> sparse.csr_array:
        """Return the share of each claim's weight in each known stem, shape (claims, stems); claims as their stems."""
        values: list[float] = []
        columns: list[int] = []
        ends = [0]
        for claim in claims:
            weights = {stem: self.idf(stem) for stem in sorted(set(claim))}
            mass = sum(weights.values())
            for stem, weight in weights.items():
                if stem in self._columns:
                    values.append(weight / mass)
                    columns.append(self._columns[stem])
            ends.append(len(columns))
        return sparse.csr_array(
            (np.array(values, dtype=np.float32), np.array(columns, dtype=np.int64), ends),
            shape=(len(ends) - 1, len(self._columns)),
        )

    def weighted_signals(self, weights: sparse.csr_array, vectors: Matrix | None = None) -> Signals:
        """Return `signals` of claims given as weights of stems, shape (claims, stems), but for their numbers."""
        n_claims = weights.shape[0]
        found = {name: self._empty(n_claims) for name in WORD_SIGNALS}
        if vectors is not None and self._vectors is not None:
            found |= {name: self._empty(n_claims) for name in VECTOR_SIGNALS}
        for rows in self._blocks(n_claims):
            block_vectors = None if vectors is None else vectors[rows]
            for name, values in self._block_signals(weights[rows], block_vectors).items():
                found[name][rows] = values
        return found

    def _block_signals(self, weighted: sparse.csr_array, vectors: Matrix | None) -> Signals:
        found = {}
        pair_recall = np.zeros(0, dtype=np.float32)
        for size in WINDOWS:
            recall = self._window_recall(weighted, size)
            pair_recall = recall if size == WINDOWS[0] else pair_recall
            found[f"recall_{size}"] = self._document_max(recall)
        found["recall_document"] = _dense(weighted @ self.held_by(None))
        if vectors is not None and self._vectors is not None and self._pairs is not None:
            cosine = np.maximum(vectors @ self._vectors.T, vectors @ self._pairs.T)
            found["cosine"] = self._document_max(cosine)
            cosine += pair_recall
            found["recall_and_cosine"] = self._document_max(cosine)
        return found

    def _number_recall(self, statements: Sequence[str]) -> Matrix:
        stated = [numbers(text) for text in statements]
        by_document = [
            frozenset(stem for at in range(begin, end) for stem in self.stems[at] if stem[0].isdigit())
            for begin, end in pairwise(self.bounds.tolist())
        ]
        places = {number: i for i, number in enumerate(sorted(frozenset().union(*by_document)))}
        shares = _indicator([[places[n] for n in sorted(found) if n in places] for found in stated], len(places))
        held = _indicator([[places[n] for n in sorted(found)] for found in by_document], len(places))
        counts = np.array([len(found) for found in stated], dtype=np.float32)[:, None]
        shared = (shares @ held.T).toarray()
        return np.where(counts > 0, shared / np.maximum(counts, 1), np.float32(NO_NUMBERS)).astype(np.float32)

    # ------------------------------------------------------------ recall alone

    def near(self, claims: Sequence[str], *, most: int) -> NDArray[np.bool_]:
        """Return True for sentences in the *most* windows of two that share most with a claim, (claims, sentences)."""
        found = np.zeros((len(claims), len(self.sentences)), dtype=np.bool_)
        weights = self.weights(stems(without_marks(claim)) for claim in claims)
        second = np.setdiff1d(np.arange(1, len(self.sentences)), self.bounds)  # of a window
        for rows in self._blocks(len(claims)):
            recall = self._window_recall(weights[rows], 2)
            best = np.argsort(-recall, axis=1, kind="stable")[:, :most]
            starts = np.zeros_like(recall, dtype=np.bool_)
            np.put_along_axis(starts, best, np.take_along_axis(recall, best, axis=1) > 0, axis=1)
            found[rows] = starts
            found[rows, second] |= starts[:, second - 1]
        return found

    def support(self, claims: Sequence[str], *, window: int = WINDOW) -> Matrix:
        """
        Return `r_window` of each claim in each document, in [0, 1]; shape (claims, documents).

        Citations and list markers are left aside. A claim without stems and a document without sentences have 0.
        """
        return self.best_windows([stems(without_marks(claim)) for claim in claims], window=window).recall

    def best_windows(self, claims: Iterable[Iterable[str]], *, window: int = WINDOW) -> BestWindows:
        """Return `support` of claims given as their stems, and its place in each document. Memory: both, a block."""
        return self.weighted_windows(self.weights(claims), window=window)

    def weighted_windows(self, weights: sparse.csr_array, *, window: int) -> BestWindows:
        """Return `best_windows` of claims given as weights of stems, shape (claims, stems)."""
        recall = self._empty(weights.shape[0])
        start = np.zeros(recall.shape, dtype=np.int32)
        for rows in self._blocks(weights.shape[0]):
            block = self._window_recall(weights[rows], window)
            for document, (begin, end) in enumerate(pairwise(self.bounds.tolist())):
                if end > begin:
                    best = block[:, begin:end].argmax(axis=1)
                    recall[rows, document] = block[np.arange(len(block)), begin + best]
                    start[rows, document] = begin + best
        return BestWindows(recall, start)

    def window_recall(self, claims: Iterable[Iterable[str]], size: int) -> Matrix:
        """Return the recall of claims, as stems, in each window of *size* sentences, shape (claims, sentences)."""
        return self._window_recall(self.weights(claims), size)

    # ------------------------------------------------------------ pieces

    def _empty(self, n_claims: int) -> Matrix:
        return np.zeros((n_claims, len(self.bounds) - 1), dtype=np.float32)

    def _blocks(self, n_claims: int) -> Iterable[slice]:
        step = max(1, _BLOCK_CELLS // max(1, len(self.sentences)))
        return (slice(top, top + step) for top in range(0, n_claims, step))

    def _window_recall(self, weighted: sparse.csr_array, size: int) -> Matrix:
        # (claims, windows), one window for each sentence
        return _dense(weighted @ self.held_by(size))

    def _document_max(self, by_sentence: Matrix) -> Matrix:
        # (claims, sentences) -> (claims, documents); reduceat would give an empty document its neighbour's value
        filled = np.flatnonzero(np.diff(self.bounds))
        best = self._empty(len(by_sentence))
        if len(filled):
            best[:, filled] = np.maximum.reduceat(by_sentence, self.bounds[filled], axis=1)
        return best

    def held_by(self, size: int | None) -> sparse.csr_array:
        """Return 0 and 1, shape (stems, windows), for windows of *size* sentences; None: (stems, documents)."""
        if size not in self._held:
            spans = pairwise(self.bounds.tolist())
            if size is None:
                windows = [self.stems[begin:end] for begin, end in spans]
            else:
                windows = [self.stems[at : min(at + size, end)] for begin, end in spans for at in range(begin, end)]
            contents = [frozenset[str]().union(*window) for window in windows]
            columns = [sorted(self._columns[stem] for stem in content) for content in contents]
            self._held[size] = _indicator(columns, len(self._columns)).T.tocsr()
        return self._held[size]

    def _neighbours(self, vectors: Matrix) -> Matrix:
        # the unit sum of each sentence and the next of its document; the last stands for itself
        summed = vectors.copy()
        not_last = np.setdiff1d(np.arange(len(vectors) - 1), self.bounds[1:] - 1)
        summed[not_last] += vectors[not_last + 1]
        norms = np.linalg.norm(summed, axis=1, keepdims=True)
        return np.asarray(summed / np.maximum(norms, np.float32(1e-6)), dtype=np.float32)


def _indicator(columns: Sequence[Sequence[int]], width: int) -> sparse.csr_array:
    ends = np.cumsum([0, *map(len, columns)])
    flat = np.fromiter((column for row in columns for column in row), dtype=np.int64, count=int(ends[-1]))
    return sparse.csr_array((np.ones(len(flat), dtype=np.float32), flat, ends), shape=(len(columns), width))


def _dense(product: sparse.csr_array) -> Matrix:
    # a full match may be carried past 1 by rounding
    return np.asarray(np.minimum(product.toarray(), 1), dtype=np.float32)
