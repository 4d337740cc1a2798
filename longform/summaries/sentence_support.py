"""
Treat the sentences of documents as claims on each other, and find the documents and places that repeat each one.

A statement that several documents make, each in its own words, is one that a reader of all would learn. A sentence's
support by the other documents, and the places of that support, are all that the summarizer and the statement-based
retrievers know of a collection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from longform.support.index import WINDOW, SupportIndex
from longform.support.model import SupportModel, expected_f1_sets
from longform.text.stand_alone import statements
from longform.text.words import stems

_MIN_WORDS, _MAX_WORDS = 5, 60
_SUPPORTERS = 3  # documents that probably support a sentence, its own included

Array = NDArray[np.float64]
Embed = Callable[[Sequence[str]], NDArray[np.float32]]
"""Texts -> unit vectors, shape (texts, dimensions)."""

_REPEATED_BY = (3, 6)


class SentenceSupport:
    """Every sentence of some documents, held against every document."""

    def __init__(self, documents: Sequence[str], embed: Embed, model: SupportModel) -> None:
        self.index = SupportIndex(documents)
        self.sentence_vectors = embed(self.index.sentences)  # shape (sentences, dimensions)
        self.index.with_vectors(self.sentence_vectors)
        # each sentence as a bullet would quote it, alone or after the one before it; true: it is understood by itself
        self.statements, self.alone, first = self._statements()
        self.vectors = self._joined(first)  # one a statement: shape (sentences, dimensions)
        self.stems = [frozenset(stems(text)) for text in self.statements]
        self.weights = np.array([self.mass(held) for held in self.stems])
        self.n_words = _word_counts(self.statements)
        own = self.index.owners
        # words of each document's sentences, shape (documents,)
        self.document_words = np.bincount(own, _word_counts(self.index.sentences), minlength=len(documents))
        signals = self.index.signals(self.statements, self.vectors)
        # probability that a document supports a sentence, 1 for its own; shape (sentences, documents)
        self.probability = model.probability(signals, own)
        self.n_expected = self.probability.sum(axis=1)  # expected supporting documents, shape (sentences,)
        # documents that a bullet of that sentence would cite, shape (sentences, documents)
        self.cited = expected_f1_sets(self.probability)
        # mean recall in the 3 and in the 6 other documents that repeat a sentence best, shape (2, sentences)
        self.repeated = _repeated(signals["recall_3"], own)
        # mean recall in the cited documents, its own counted as 1; shape (sentences,)
        self.confirmed = _confirmed(signals["recall_3"], own, self.cited)
        # the sentence in the middle of each document's best window, shape (sentences, documents)
        self.places = self._middles()
        self._shares = self._support_shares()
        self._columns, held = _held_stems(self.index.stems)
        self._held = held.tocsc()
        known, self._stated = _held_stems(self.stems)
        self._stated_weights = np.array([self.index.idf(stem) for stem in known], dtype=np.float64)

    def _statements(self) -> tuple[list[str], NDArray[np.bool_], NDArray[np.int64]]:
        texts, alone, first = [], [], []
        for begin, end in pairwise(self.index.bounds.tolist()):
            for said in statements(self.index.sentences[begin:end], self.index.opens_line[begin:end]):
                texts.append(said.text)
                alone.append(said.alone)
                first.append(begin + said.first)
        return texts, np.array(alone, dtype=bool), np.array(first, dtype=np.int64)

    def _joined(self, first: NDArray[np.int64]) -> NDArray[np.float32]:
        # the unit sum of a statement's sentences
        places = np.arange(len(first))
        summed = self.sentence_vectors + np.where((first < places)[:, None], self.sentence_vectors[first], 0)
        norms = np.linalg.norm(summed, axis=1, keepdims=True)
        return np.asarray(summed / np.maximum(norms, 1e-6), dtype=np.float32)

    def mass(self, held: frozenset[str]) -> float:
        """Return the weight of distinct stems."""
        # sorted: the order of a set changes with the process, and with it the last digits of a sum
        return sum(self.index.idf(stem) for stem in sorted(held))

    def over_support(self, by_sentence: Array) -> Array:
        """
        Return the mean of a sentence measure over the places that support each sentence, weighted by probability.

        Shape (sentences,) -> (sentences,). A sentence that stands alone has its own value.
        """
        return np.asarray(self._shares @ by_sentence)

    def held(self, wanted: Iterable[str]) -> tuple[list[str], Array]:
        """
        Return the *wanted* stems that any sentence holds, sorted, and 1 for each sentence that holds one, else 0;
        (sentences, stems).
        """
        found = sorted(stem for stem in set(wanted) if stem in self._columns)
        return found, np.asarray(self._held[:, [self._columns[stem] for stem in found]].toarray())

    def shared_mass(self, taken: int, others: NDArray[np.int64]) -> Array:
        """Return the weight of the stems that one statement shares with each of *others*; shape (others,)."""
        wanted = np.zeros(len(self._stated_weights))
        stems_taken = self._stated[[taken]].indices
        wanted[stems_taken] = self._stated_weights[stems_taken]
        return np.asarray(self._stated[others] @ wanted)

    def around(self, by_sentence: Array, reach: int) -> Array:
        """
        Return the mean over each sentence and *reach* neighbours on both sides in its document; first axis is
        sentences.
        """
        summed = np.concatenate([np.zeros((1, *by_sentence.shape[1:])), by_sentence.cumsum(axis=0)])
        lengths = np.diff(self.index.bounds)
        begins, ends = np.repeat(self.index.bounds[:-1], lengths), np.repeat(self.index.bounds[1:], lengths)
        at = np.arange(len(by_sentence))
        first, last = np.maximum(at - reach, begins), np.minimum(at + reach + 1, ends)
        counts = (last - first).reshape(-1, *(1 for _ in by_sentence.shape[1:]))
        return np.asarray((summed[last] - summed[first]) / counts)

    def _support_shares(self) -> sparse.csr_array:
        # (sentences, sentences): of a sentence's support, what each place of it holds
        sentence, document = np.nonzero(self.probability)
        shares = self.probability[sentence, document] / np.maximum(self.n_expected, 1e-9)[sentence]
        size = len(self.statements)
        return sparse.csr_array((shares, (sentence, self.places[sentence, document])), shape=(size, size))

    def _middles(self) -> NDArray[np.int64]:
        # In its own document a sentence stands where it stands. An empty document's place is never weighed, but
        # must exist.
        starts = self.index.best_windows(self.stems).start
        places = np.minimum(starts + WINDOW // 2, np.maximum(self.index.bounds[1:] - 1, 0)).astype(np.int64)
        for document, (begin, end) in enumerate(pairwise(self.index.bounds.tolist())):
            places[begin:end, document] = np.arange(begin, end)
        return np.asarray(places)


def _repeated(recall: NDArray[np.float32], own: NDArray[np.int64]) -> Array:
    others = recall.astype(np.float64)
    others[np.arange(len(own)), own] = 0.0
    strongest = -np.sort(-others, axis=1)
    n_others = max(recall.shape[1] - 1, 1)
    return np.stack([strongest[:, :n].sum(axis=1) / min(n, n_others) for n in _REPEATED_BY])


def _confirmed(recall: NDArray[np.float32], own: NDArray[np.int64], cited: NDArray[np.bool_]) -> Array:
    whole = recall.astype(np.float64)
    whole[np.arange(len(own)), own] = 1.0
    return np.asarray(np.where(cited, whole, 0.0).sum(axis=1) / np.maximum(cited.sum(axis=1), 1))


def _word_counts(texts: Sequence[str]) -> NDArray[np.int64]:
    return np.array([len(text.split()) for text in texts], dtype=np.int64)


def _held_stems(texts: Sequence[frozenset[str]]) -> tuple[dict[str, int], sparse.csr_array]:
    """Return stem -> column, and 1 for each text that holds a stem, else 0; shape (texts, stems)."""
    columns = {stem: column for column, stem in enumerate(sorted(frozenset[str]().union(*texts)))}
    ends = np.cumsum([0, *map(len, texts)])
    # sorted: the order of a set changes with the process, and with it the last digits of a sum
    flat = np.array([column for held in texts for column in sorted(columns[stem] for stem in held)], dtype=np.int64)
    return columns, sparse.csr_array((np.ones(len(flat)), flat, ends), shape=(len(texts), len(columns)))


def candidates(support: SentenceSupport) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which sentences may be quoted, and which of them should be; both of shape (sentences,)."""
    usable = (support.n_words >= _MIN_WORDS) & (support.n_words <= _MAX_WORDS) & (support.weights > 0)
    supporters = (support.probability >= 0.5).sum(axis=1) >= min(_SUPPORTERS, support.probability.shape[1])
    return usable, usable & support.alone & supporters


def first_candidates(support: SentenceSupport) -> NDArray[np.bool_]:
    """Return the sentences that are quoted first: those that should be, or all that may be if there are none."""
    usable, preferred = candidates(support)
    return preferred if preferred.any() else usable
