"""
A cited summary without a language model: quoted sentences that several documents repeat, and those documents.

What a haystack says in many places is what a summary of it should hold (SummHay plants each insight in several
documents), so a sentence is worth its relevance x weight x repetition:

    relevance   share of the query's words, weighted by rarity, in the sentence and around it (half each), taken not
                at the sentence but at its best matching place in each supporting document, and averaged: what is
                relevant wherever it stands is relevant, one lucky place is not
    weight      root of the summed rarity of its words: a short remark is easily "repeated"
    repetition  mean support by the three other documents that support it best, a little more where many do

Then sentences are taken greedily, each discounted by how much it resembles one already taken, in its words and in
its supporting documents. Nothing was trained; the constants are round numbers set by hand on three SummHay haystacks.
Pronouns of a quoted sentence may dangle, and what follows from a document without being said in it is never found.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from longform.support import WINDOW, SupportIndex, citing
from longform.text import stems, without_marks, words

VERSION = "1"
"""Changes with any change of what is extracted."""

_MIN_WORDS, _MAX_WORDS = 5, 70
_CONTEXT = 5  # sentences on each side that lend a sentence their relevance
_REPEATERS = 3  # other documents whose support is averaged
_SUPPORTERS = 3  # documents that a sentence should cite, its own included
_MANY_REPEAT = 0.1  # what a factor e more supporting documents add to repetition
_POOL = 400
_DIGITS = 6

_SPEAKER = re.compile(r"^(?:\[[^\[\]\n]{1,40}\]:?|[A-Z][\w.'’-]*(?: (?:\d+|[A-Z][\w.'’-]*)){0,2}:)\s+")
_DANGLING = frozenset(
    """
    absolutely also and but exactly great he her here his however it its no or she so such sure thanks that their them
    then there these they this those yeah yes
    """.split()
)


class Extractor:
    """Numbered documents, read once and asked any number of times. Their order changes nothing."""

    def __init__(self, documents: Sequence[tuple[int, str]]) -> None:
        ordered = sorted(documents)
        self._numbers = np.array([number for number, _ in ordered], dtype=np.int64)
        self._index = SupportIndex([text for _, text in ordered])
        self._statements = [statement(sentence) for sentence in self._index.sentences]
        self._stems = [frozenset(stems(text)) for text in self._statements]
        self._weights = np.array([self._mass(held) for held in self._stems])
        found = self._index.best_windows(self._stems)
        self._cited = citing(found.recall)  # (sentences, documents); a sentence cites its own document
        self._support = np.where(self._cited, found.recall, 0).astype(np.float64)
        self._places = self._middle(found.start)
        self._repetition = self._repeated(found.recall)
        n_words = np.array([len(text.split()) for text in self._statements])
        self._usable = (n_words >= _MIN_WORDS) & (n_words <= _MAX_WORDS) & (self._weights > 0)
        stands_alone = np.array([_stands_alone(text) for text in self._statements], dtype=bool)
        self._preferred = self._usable & stands_alone & (self._cited.sum(axis=1) >= min(_SUPPORTERS, len(ordered)))

    def extract(self, query_text: str, n_bullets: int, max_words: int) -> list[tuple[str, list[int]]]:
        """
        At most *n_bullets* sentences of at most *max_words* words together, best first, each with the numbers it cites.

        Questions, sentences that open with a dangling word and those that few documents repeat come only where
        nothing else is left.
        """
        scores = np.round(self._relevance(query_text) * np.sqrt(self._weights) * self._repetition, _DIGITS)
        chosen: list[int] = []
        for allowed in (self._preferred, self._usable & ~self._preferred):
            self._choose(chosen, _best(scores, allowed), scores, n_bullets, max_words)
        return [(self._statements[i], self._numbers[self._cited[i]].tolist()) for i in chosen]

    def _choose(
        self, chosen: list[int], pool: NDArray[np.int64], scores: NDArray[np.float64], n_bullets: int, max_words: int
    ) -> None:
        left = max_words - sum(len(self._statements[i].split()) for i in chosen)
        n_words = np.array([len(self._statements[i].split()) for i in pool], dtype=np.int64)
        likeness = np.zeros(len(pool))
        for taken in chosen:
            likeness = np.maximum(likeness, self._likeness(taken, pool))
        taken_now = np.zeros(len(pool), dtype=bool)
        while len(chosen) < n_bullets:
            # a statement wholly like one taken says nothing new, whatever room is left
            fits = ~taken_now & (n_words <= left) & (likeness < 1)
            if not fits.any():
                return
            best = int(np.where(fits, np.round(scores[pool] * (1 - likeness), _DIGITS), -1.0).argmax())
            taken_now[best] = True
            left -= int(n_words[best])
            chosen.append(int(pool[best]))
            likeness = np.maximum(likeness, self._likeness(chosen[-1], pool))

    def _likeness(self, taken: int, pool: NDArray[np.int64]) -> NDArray[np.float64]:
        # shared weight / smaller weight, times shared documents / fewer documents
        shared = np.array([self._mass(self._stems[taken] & self._stems[i]) for i in pool])
        words_alike = shared / np.minimum(self._weights[taken], self._weights[pool])
        cited = self._cited[pool]
        both = (cited & self._cited[taken]).sum(axis=1)
        return np.asarray(words_alike * both / np.minimum(cited.sum(axis=1), self._cited[taken].sum()))

    def _relevance(self, query_text: str) -> NDArray[np.float64]:
        wanted = sorted(set(stems(query_text)) & frozenset().union(*self._index.stems))
        if not wanted:
            return np.ones(len(self._stems))  # the query says nothing of these documents: repetition decides
        weights = np.array([self._index.idf(stem) for stem in wanted])
        held = np.array([[stem in content for stem in wanted] for content in self._index.stems])  # (sentences, stems)
        here = (held @ weights + self._around(held) @ weights) / (2 * weights.sum())
        # (sentences, documents) -> (sentences,)
        at_support = (self._support * here[self._places]).sum(axis=1)
        return np.asarray(at_support / np.maximum(self._support.sum(axis=1), 1e-9))

    def _around(self, held: NDArray[np.bool_]) -> NDArray[np.bool_]:
        # which stems occur within _CONTEXT sentences in the same document
        counted = np.concatenate([np.zeros((1, held.shape[1]), dtype=np.int64), held.cumsum(axis=0)])
        begins, ends = self._own_bounds()
        at = np.arange(len(held))
        return np.asarray(counted[np.minimum(at + _CONTEXT + 1, ends)] > counted[np.maximum(at - _CONTEXT, begins)])

    def _own_bounds(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        lengths = np.diff(self._index.bounds)
        return np.repeat(self._index.bounds[:-1], lengths), np.repeat(self._index.bounds[1:], lengths)

    def _middle(self, starts: NDArray[np.int32]) -> NDArray[np.int64]:
        # the middle sentence of each best window; in its own document a sentence stands where it stands.
        # An empty document's place is never weighed, but must exist.
        last = np.maximum(self._index.bounds[1:] - 1, 0)
        places = np.minimum(starts + WINDOW // 2, last).astype(np.int64)
        for document, (begin, end) in enumerate(pairwise(self._index.bounds.tolist())):
            places[begin:end, document] = np.arange(begin, end)
        return np.asarray(places)

    def _repeated(self, recall: NDArray[np.float32]) -> NDArray[np.float64]:
        others = recall.astype(np.float64)
        for document, (begin, end) in enumerate(pairwise(self._index.bounds.tolist())):
            others[begin:end, document] = 0
        n_others = min(_REPEATERS, len(self._numbers) - 1)
        if n_others < 1:
            return np.ones(len(others))
        strongest = -np.sort(-others, axis=1)[:, :n_others]
        return np.asarray(strongest.mean(axis=1) * (1 + _MANY_REPEAT * np.log(np.maximum(self._cited.sum(axis=1), 1))))

    def _mass(self, held: frozenset[str]) -> float:
        # sorted: the order of a set changes with the process, and with it the last digits of a sum
        return sum(self._index.idf(stem) for stem in sorted(held))


def extract(
    documents: Sequence[tuple[int, str]], query_text: str, n_bullets: int, max_words: int
) -> list[tuple[str, list[int]]]:
    """`Extractor(documents).extract(...)`, for documents (number, text) that are asked once."""
    return Extractor(documents).extract(query_text, n_bullets, max_words)


def statement(sentence: str) -> str:
    """A sentence as a bullet quotes it: no speaker before it, no bracketed numbers that would read as citations."""
    return " ".join(without_marks(_SPEAKER.sub("", sentence)).split())


def bullet_lines(extracted: Sequence[tuple[str, Sequence[int]]]) -> str:
    """The summary's text: `- Sentence. [3][17]`, one a line."""
    return "\n".join(f"- {text} {''.join(f'[{number}]' for number in numbers)}" for text, numbers in extracted)


def _stands_alone(text: str) -> bool:
    opening = words(text)[:1]
    return not text.endswith("?") and bool(opening) and opening[0] not in _DANGLING


def _best(scores: NDArray[np.float64], allowed: NDArray[np.bool_]) -> NDArray[np.int64]:
    candidates = np.flatnonzero(allowed)
    return candidates[np.argsort(-scores[candidates], kind="stable")][:_POOL]
