"""
Which documents support a claim: the share of a claim's words, weighted by rarity, in a few consecutive sentences.

For a claim c and a document d, `r_k(c, d)` is the largest share of c's weight found in any window of up to k
consecutive sentences of d. Weights are inverse document frequencies over the sentences of all documents given.
Windows, not whole documents: on SummHay a claim's words meet in one place of a document that states it, and
scattered in the others. The measure sees words only, neither their order nor a negation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from longform.sentences import sentences
from longform.text import inverse_document_frequency, stems, unseen_idf, without_marks

WINDOW = 3
"""Sentences in a window; on SummHay's gold insights r3 finds documents better than r1 and r2."""

CITING_SHARE = 0.586
"""A document is cited when it has this share of the best document's support (set on three SummHay haystacks)."""

_BLOCK_CELLS = 8_000_000
"""Cells of one dense block of claims x windows: 32 MB of float32."""


class BestWindows(NamedTuple):
    """Both of shape (claims, documents)."""

    recall: NDArray[np.float32]
    start: NDArray[np.int32]  # the first sentence of the best window, an index over the sentences of all documents


class SupportIndex:
    """
    The sentences of some documents, ready to support claims.

    Sentences are numbered through all documents; document d has those from `bounds[d]` up to `bounds[d + 1]`.
    """

    def __init__(self, documents: Sequence[str]) -> None:
        split = [[sentence.text for sentence in sentences(text)] for text in documents]
        self.sentences = [text for texts in split for text in texts]
        self.stems = [frozenset(stems(without_marks(text))) for text in self.sentences]
        lengths = [len(texts) for texts in split]
        self.bounds = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        self._idf = inverse_document_frequency(self.stems)
        self._unseen = unseen_idf(len(self.stems))
        self._columns = {stem: i for i, stem in enumerate(sorted(self._idf))}
        self._windows: dict[int, tuple[sparse.csr_array, NDArray[np.int64]]] = {}

    def idf(self, stem: str) -> float:
        """The weight of a stem; one that no sentence holds has the largest."""
        return self._idf.get(stem, self._unseen)

    def recall(self, claims: Iterable[Iterable[str]], *, window: int = WINDOW) -> NDArray[np.float32]:
        """
        `r_window` of each claim (given as its stems) in each document, in [0, 1]; shape (claims, documents).

        A claim without stems and a document without sentences have 0. Memory: the answer and one block.
        """
        return self.best_windows(claims, window=window).recall

    def best_windows(self, claims: Iterable[Iterable[str]], *, window: int = WINDOW) -> BestWindows:
        """`recall`, and where in each document it was found."""
        weighted = self._claim_matrix(claims)
        held, bounds = self._window_matrix(window)
        shape = (weighted.shape[0], len(bounds) - 1)
        recall = np.zeros(shape, dtype=np.float32)
        start = np.zeros(shape, dtype=np.int32)
        step = max(1, _BLOCK_CELLS // max(1, held.shape[1]))
        for top in range(0, shape[0], step):
            rows = slice(top, top + step)
            block = np.minimum((weighted[rows] @ held).toarray(), np.float32(1))  # (claims, windows)
            for document, (begin, end) in enumerate(pairwise(bounds.tolist())):
                best = block[:, begin:end].argmax(axis=1)
                recall[rows, document] = block[np.arange(len(block)), begin + best]
                start[rows, document] = self.bounds[document] + best
        return BestWindows(recall, start)

    def support(self, claims: Sequence[str], *, window: int = WINDOW) -> NDArray[np.float32]:
        """`recall` for claims given as text, citations and list markers left aside."""
        return self.recall([stems(without_marks(claim)) for claim in claims], window=window)

    def _claim_matrix(self, claims: Iterable[Iterable[str]]) -> sparse.csr_array:
        # (claims, stems): each known stem's share of its claim's weight
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

    def _window_matrix(self, window: int) -> tuple[sparse.csr_array, NDArray[np.int64]]:
        # (stems, windows) of 0 and 1, and the bounds of each document's windows; a document without
        # sentences has one empty window, so that every document has a place
        if window not in self._windows:
            contents: list[frozenset[str]] = []
            ends = [0]
            for begin, end in pairwise(self.bounds.tolist()):
                starts = range(begin, max(begin, end - window) + 1)
                contents += [frozenset().union(*self.stems[at : min(at + window, end)]) for at in starts]
                ends.append(len(contents))
            self._windows[window] = (self._indicator(contents), np.array(ends, dtype=np.int64))
        return self._windows[window]

    def _indicator(self, contents: Sequence[frozenset[str]]) -> sparse.csr_array:
        columns = [sorted(self._columns[stem] for stem in content) for content in contents]
        ends = np.cumsum([0, *map(len, columns)])
        flat = np.fromiter((column for row in columns for column in row), dtype=np.int64, count=int(ends[-1]))
        held = sparse.csr_array(
            (np.ones(len(flat), dtype=np.float32), flat, ends), shape=(len(contents), len(self._columns))
        )
        return held.T.tocsr()


def citing(support: NDArray[np.floating], *, share: float = CITING_SHARE) -> NDArray[np.bool_]:
    """
    Which documents to cite: those with at least *share* of the best document's support; shape as *support*.

    The last axis is documents. Where no document supports the claim at all, none is cited.
    Such citations say that supporting documents were found, not that they were the source.
    """
    rounded = np.round(support.astype(np.float64), 6)
    best = rounded.max(axis=-1, keepdims=True, initial=0.0)
    return np.asarray((rounded >= share * best) & (rounded > 0))
