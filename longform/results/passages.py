"""
Passages of documents that share most with a bullet or an insight: where a reader looks first, and no verdict.

A passage is the window of up to three consecutive sentences with the largest share of the statement's words, weighted
by inverse document frequency (`longform.support.index`), less the sentences at its ends that add little to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from longform.records import Document
from longform.support.index import WINDOW, SupportIndex
from longform.text.sentences import sentences
from longform.text.words import stems, without_marks

LEAST_SHARE = 0.3
"""
Least share of a statement's weight for a passage to be named. On news3 and news5 of SummHay, 3 % of the pairs of a
bullet and a document that states its insight lie below it, and about four of five of the other pairs.
"""

LITTLE = 0.15
"""Share of a window's weight that the sentences left out at its ends may hold."""

_PASSAGES_HELD = 100_000
"""Twins repeat the bullets of their originals."""

Passage = tuple[int, int]
"""The first sentence, from 0 in its document, and the number of sentences."""


DocumentFacts = Mapping[str, Any]
"""
A document as pages hold it: `haystack`, the `number` that summaries cite it by, `doc_id`, `title`, and as `pieces` its
sentences with the space behind each. A page that is cut says as `left_out` how many characters stand behind these.
"""


def document_facts(document: Document) -> DocumentFacts:
    return {
        "haystack": document.haystack_id,
        "number": document.number,
        "doc_id": document.doc_id,
        "title": document.title,
        "pieces": pieces(document.text),
    }


def pieces(text: str) -> list[str]:
    """Return the sentences of *text* with the space behind each; joined they are *text*."""
    starts = [sentence.start for sentence in sentences(text)]
    if not starts:
        return [text] if text else []
    ends = [*starts[1:], len(text)]
    return [text[begin:end] for begin, end in zip([0, *starts[1:]], ends, strict=True)]


class PassageFinder:
    """Finds passages in some documents of a haystack, whose *texts* stand by their numbers."""

    def __init__(self, texts: Mapping[int, str]) -> None:
        self._places = {number: place for place, number in enumerate(texts)}
        self._index = SupportIndex(list(texts.values()))
        self._trimmed = lru_cache(maxsize=_PASSAGES_HELD)(self._trim)

    def passages(self, statements: Sequence[str], documents: Sequence[Sequence[int]]) -> list[list[Passage | None]]:
        """
        Return the passage of each of a statement's documents; None if none shares `LEAST_SHARE` or it is not there.

        *statements* are texts of bullets or insights, whose citations are left aside; each has its own *documents*, by
        number.
        """
        own = [frozenset(stems(without_marks(text))) for text in statements]
        best = self._index.best_windows(own, window=WINDOW)
        found: list[list[Passage | None]] = []
        for words, numbers, recall, start in zip(own, documents, best.recall, best.start, strict=True):
            places = [self._places.get(number) for number in numbers]
            found.append(
                [
                    None if place is None or recall[place] < LEAST_SHARE else self._trimmed(words, place, start[place])
                    for place in places
                ]
            )
        return found

    def _trim(self, words: frozenset[str], place: int, start: int) -> Passage:
        """Leave out the sentences at both ends of a window that hold little that the others lack."""
        begin, end = (int(bound) for bound in self._index.bounds[place : place + 2])
        held = [self._index.stems[at] & words for at in range(start, min(start + WINDOW, end))]
        enough = (1 - LITTLE) * self._weight(held)
        first, last = 0, len(held)
        while last - first > 1 and self._weight(held[first + 1 : last]) >= enough:
            first += 1
        while last - first > 1 and self._weight(held[first : last - 1]) >= enough:
            last -= 1
        return int(start) + first - begin, last - first

    def _weight(self, held: Sequence[frozenset[str]]) -> float:
        return sum(map(self._index.idf, frozenset[str]().union(*held)))
