"""The offline judge of support and of key points: shared words, sentence vectors and a small fitted model."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np

from actors.local_models.encoder import Encoder
from actors.local_models.weights import MINILM
from longform.judges.kind import Group, Kind, Verdict, Verdicts, unjudged
from longform.judges.kinds.support import SUPPORT
from longform.judges.lexical_support import Evidence, evidence, shipped_lexical_support
from longform.judges.pairs import Pair, in_place, open_groups, shared_of
from longform.support.index import SupportIndex
from longform.text.words import without_marks, words

NO_WORDS = "sentence_without_words"
"""The failure of a sentence in which there is nothing to share."""

_READ_WHOLE = 64
"""Sentences of a document of which each has a vector; of a longer one only those that words find."""
_WINDOWS = 8
"""Windows of two sentences that words find in a longer one."""
_DOCUMENTS_HELD = 128  # those of a haystack, for the next summary of it
_VECTORS_HELD = 30_000  # some 50 MB


class LexicalJudge:
    """
    Judges every (document, sentence) by what the two share; equal pairs once a call.

    `reply` holds the evidence as JSON: the shares and the window they were found in. `chunk_index` is that window's
    first sentence in the document: there is a window at each. Lexical support is blind to what is denied or swapped.

    Raises:
        UsageError: The encoder cannot be loaded.
    """

    def __init__(self, *, threads: int, kind: Kind = SUPPORT) -> None:
        self._kind = kind
        self._encoder = Encoder(MINILM, threads=threads)
        self._model = shipped_lexical_support()
        self._index = lru_cache(maxsize=_DOCUMENTS_HELD)(lambda text: SupportIndex([text]))

    async def ask(self, groups: Sequence[Group]) -> Verdicts:
        """Judge all pairs: shape (groups, items)."""
        return self.judge(groups)

    def judge(self, groups: Sequence[Group]) -> Verdicts:
        """Judge all pairs: shape (groups, items)."""
        judged = self._judged(groups)
        self._encoder.forget(above=_VECTORS_HELD)
        return in_place(self._kind, groups, judged)

    def _judged(self, groups: Sequence[Group]) -> dict[Pair, Verdict]:
        asked = [(group, self._index(group.text)) for group in open_groups(self._kind, groups)]
        # all at once: a batch has texts of one length
        self._encoder.embed([text for group, index in asked for text in (*_read(index, group.items), *group.items)])
        return {
            (shared_of(group), sentence): verdict
            for group, index in asked
            for sentence, verdict in self._row(index, group.items).items()
        }

    def _row(self, index: SupportIndex, sentences: Sequence[str]) -> dict[str, Verdict]:
        worded = [sentence for sentence in sentences if words(without_marks(sentence))]
        if not worded or not any(index.stems):
            # A document of marks alone has no words to share.
            return {s: self._verdict_of(0.0) if s in worded else unjudged(NO_WORDS) for s in sentences}
        found = [
            one
            for some in _read_together(index, worded)
            for one in evidence(self._with_vectors(index, some), some, self._encoder.embed(some))
        ]
        probabilities = self._model.probability(self._model.features(found)).tolist()
        verdicts = {
            sentence: self._verdict(probability, shared)
            for sentence, probability, shared in zip(worded, probabilities, found, strict=True)
        }
        return {sentence: verdicts.get(sentence) or unjudged(NO_WORDS) for sentence in sentences}

    def _with_vectors(self, index: SupportIndex, sentences: Sequence[str]) -> SupportIndex:
        """Return the index with the vectors of what is read beside *sentences*; those of the rest are zero."""
        vectors = np.zeros((len(index.sentences), self._encoder.dimensions), dtype=np.float32)
        read = _places_read(index, sentences)
        vectors[read] = self._encoder.embed([index.sentences[place] for place in read])
        return index.with_vectors(vectors)

    def _verdict(self, probability: float, shared: Evidence) -> Verdict:
        start, window = shared.window
        shares = {name: round(value, 3) for name, value in shared._asdict().items() if name != "window"}
        verdict = self._verdict_of(probability, chunk_index=start)
        return verdict._replace(reply=json.dumps({**shares, "window": window}, ensure_ascii=False))

    def _verdict_of(self, probability: float, *, chunk_index: int | None = None) -> Verdict:
        return self._kind.by_number(probability, (self._model.threshold,), chunk_index=chunk_index)


def _read_together(index: SupportIndex, sentences: Sequence[str]) -> Iterable[Sequence[str]]:
    """Yield the *sentences* that may share vectors: a verdict depends on its document and sentence alone."""
    return [sentences] if len(index.sentences) <= _READ_WHOLE else [[one] for one in sentences]


def _places_read(index: SupportIndex, sentences: Sequence[str]) -> list[int]:
    """Return the places of a document's sentences whose vectors are read beside *sentences*."""
    if len(index.sentences) <= _READ_WHOLE:
        return list(range(len(index.sentences)))
    places: list[int] = np.flatnonzero(index.near(sentences, most=_WINDOWS).any(axis=0)).tolist()
    return places


def _read(index: SupportIndex, sentences: Sequence[str]) -> list[str]:
    return [index.sentences[place] for place in _places_read(index, sentences)]
