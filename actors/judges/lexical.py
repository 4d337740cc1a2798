"""The offline judge of support and of key points: words laid beside each other, and a small fitted model."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np

from actors.chat.model import CallContext
from actors.judges.offline_coverage import OfflineCoverageJudge, version_of
from actors.judges.opening import Judge, JudgeBackend
from actors.local_models.encoder import Encoder
from actors.local_models.weights import MINILM
from longform.judges import lexical_support
from longform.judges.cards import Version
from longform.judges.kind import Group, Kind, Pair, Verdict, Verdicts, in_place, open_groups, shared_of, unjudged
from longform.judges.kinds.support import SUPPORT
from longform.judges.lexical_support import (
    Evidence,
    SupportDocument,
    claim_sentences,
    evidence,
    shipped_lexical_support,
)
from longform.models import models_version
from longform.settings.judges import OfflineJudgeSettings
from longform.support.index import SupportIndex
from longform.text.vectors import RecentTexts
from longform.text.words import without_marks, words

LONG_TEXTS = "words first@1"
"""Changes with any change of what an offline judge of support reads of a long document."""

NO_WORDS = "sentence_without_words"
"""The failure of a sentence in which there is nothing to share."""

_READ_WHOLE = 64
"""Sentences of a document of which each has a vector; of a longer one only those that words find."""
_WINDOWS = 8
"""Windows of two sentences that words find in a longer one."""
_DOCUMENTS_HELD = 128  # those of a haystack, for the next summary of it
_READ_AHEAD = 32
"""Groups whose texts are read at once: one document's alone make small batches."""
_TEXTS_HELD = 4000
"""Sentences whose vectors of pieces are in memory, about 25 kB each."""


class LexicalJudge:
    """
    Judges every (document, claim) by what the two share, and by the word of the claim that is most to be doubted.

    Equal pairs are judged once a call. `reply` holds the evidence as JSON: shares, that word, and the window in which
    most of the claim was found. `chunk_index` is that window's first sentence in the document: there is one at each.

    Raises:
        UsageError: The encoder cannot be loaded.
    """

    def __init__(self, *, threads: int, kind: Kind = SUPPORT) -> None:
        self._kind = kind
        self._encoder = Encoder(MINILM, threads=threads)
        self._reader = RecentTexts(self._encoder, held=_TEXTS_HELD)  # documents and groups have sentences in common
        self._model = shipped_lexical_support()
        self._document = lru_cache(maxsize=_DOCUMENTS_HELD)(lambda text: SupportDocument(SupportIndex([text])))

    async def ask(self, groups: Sequence[Group]) -> Verdicts:
        """Judge all pairs: shape (groups, items)."""
        return self.judge(groups)

    def judge(self, groups: Sequence[Group]) -> Verdicts:
        """Judge all pairs: shape (groups, items)."""
        return in_place(self._kind, groups, self._judged(groups))

    def _judged(self, groups: Sequence[Group]) -> dict[Pair, Verdict]:
        asked = [(group, self._document(group.text)) for group in open_groups(self._kind, groups)]
        found: dict[Pair, Verdict] = {}
        for start in range(0, len(asked), _READ_AHEAD):
            some = asked[start : start + _READ_AHEAD]
            self._read_ahead(some)
            for group, document in some:
                row = self._row(document, group.items)
                found |= {(shared_of(group), claim): verdict for claim, verdict in row.items()}
        return found

    def _read_ahead(self, asked: Sequence[tuple[Group, SupportDocument]]) -> None:
        """Read the texts of several groups in batches of one length; the reader remembers them."""
        texts = [text for group, _ in asked for claim in group.items for text in claim_sentences(claim)]
        for group, document in asked:
            index, claims = document.index, _worded(group.items)
            texts += [index.sentences[at] for some in _read_together(index, claims) for at in _places_read(index, some)]
        self._reader.read(texts)

    def _row(self, document: SupportDocument, claims: Sequence[str]) -> dict[str, Verdict]:
        worded = _worded(claims)
        if not worded or not any(document.index.stems):
            # A document of marks alone has no words to share.
            return {claim: self._verdict_of(0.0) if claim in worded else unjudged(NO_WORDS) for claim in claims}
        found = [
            one
            for some in _read_together(document.index, worded)
            for one in evidence(self._with_vectors(document, some), some, self._reader)
        ]
        probabilities = self._model.probability(found).tolist()
        verdicts = {
            claim: self._verdict(probability, one)
            for claim, probability, one in zip(worded, probabilities, found, strict=True)
        }
        return {claim: verdicts.get(claim) or unjudged(NO_WORDS) for claim in claims}

    def _with_vectors(self, document: SupportDocument, claims: Sequence[str]) -> SupportDocument:
        """Give the document the vectors of what is read beside *claims*; those of the rest are zero."""
        index = document.index
        vectors = np.zeros((len(index.sentences), self._encoder.dimensions), dtype=np.float32)
        places = _places_read(index, claims)
        read = self._reader.read([index.sentences[at] for at in places])
        for at, one in zip(places, read, strict=True):
            vectors[at] = one.sentence.astype(np.float16)  # as vectors that are kept: the judge was fitted on these
        index.with_vectors(vectors)
        return document

    def _verdict(self, probability: float, found: Evidence) -> Verdict:
        start, window = found.window
        of_words = self._model.doubt.of(found.words)
        shares = {name: round(value, 3) for name, value in found.signals.items()}
        told = {"recall_3": round(found.recall_3, 3), "cosine": round(found.cosine, 3), **shares}
        doubted = found.words.words[int(of_words.argmax())]
        verdict = self._verdict_of(probability, chunk_index=start)
        return verdict._replace(reply=json.dumps({**told, "doubted": doubted, "window": window}, ensure_ascii=False))

    def _verdict_of(self, probability: float, *, chunk_index: int | None = None) -> Verdict:
        return self._kind.by_number(probability, self._model.bounds, chunk_index=chunk_index)


def _worded(claims: Sequence[str]) -> list[str]:
    return [claim for claim in claims if words(without_marks(claim))]


def _read_together(index: SupportIndex, claims: Sequence[str]) -> Iterable[Sequence[str]]:
    """Yield the *claims* that may share vectors: a verdict depends on its document and claim alone."""
    if not claims:
        return []
    return [claims] if len(index.sentences) <= _READ_WHOLE else [[one] for one in claims]


def _places_read(index: SupportIndex, claims: Sequence[str]) -> list[int]:
    """Return the places of a document's sentences whose vectors are read beside *claims*."""
    if len(index.sentences) <= _READ_WHOLE:
        return list(range(len(index.sentences)))
    places: list[int] = np.flatnonzero(index.near(claims, most=_WINDOWS).any(axis=0)).tolist()
    return places


class ByWords(Judge):
    """Lays words beside each other, by a fitted model."""

    settings: OfflineJudgeSettings

    def _version(self) -> Version:
        if self.settings.fitted_model is not None:
            return version_of(self.settings.fitted_model)
        version = f"offline_support@{lexical_support.VERSION}+{models_version('support_judge')} {MINILM}"
        return Version(f"{version} {LONG_TEXTS}", version)

    def open(self, _context: CallContext, threads: int, /) -> JudgeBackend:
        if self.settings.fitted_model is not None:
            return OfflineCoverageJudge(model=self.settings.fitted_model, threads=threads)
        return LexicalJudge(threads=threads, kind=self.kind)
