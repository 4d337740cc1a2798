"""The offline judges: words laid beside each other, vectors of texts, small fitted models, and no language model."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np

from actors.chat.model import CallContext
from actors.judges.opening import Judge, JudgeBackend
from actors.local_models.checkpoints import MINILM
from actors.local_models.encoder import Encoder
from longform.judges import lexical_support
from longform.judges.cards import Version
from longform.judges.kind import Group, Kind, Verdict, Verdicts, in_place, open_groups, unjudged
from longform.judges.kinds.support import SUPPORT
from longform.judges.lexical_support import (
    Evidence,
    SupportDocument,
    claim_sentences,
    evidence,
    shipped_lexical_support,
)
from longform.judges.offline_coverage import (
    SHIPPED,
    VERSION,
    QueryInsights,
    Reading,
    embedded_text,
    shipped_judge,
    stem_weights,
)
from longform.models import models_version
from longform.settings.judges import OfflineJudgeSettings
from longform.support.index import SupportIndex
from longform.text.vectors import RecentTexts, WeighedPieces
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
        return self.judge(groups)

    def judge(self, groups: Sequence[Group]) -> Verdicts:
        opened = open_groups(self._kind, groups)
        asked = [(group, self._document(group.text)) for group in opened]
        rows: Verdicts = []
        for start in range(0, len(asked), _READ_AHEAD):
            some = asked[start : start + _READ_AHEAD]
            self._read_ahead(some)
            rows += [self._row(document, group.items) for group, document in some]
        return in_place(self._kind, groups, opened, rows)

    def _read_ahead(self, asked: Sequence[tuple[Group, SupportDocument]]) -> None:
        """Read the texts of several groups in batches of one length; the reader remembers them."""
        texts = [text for group, _ in asked for claim in group.items for text in claim_sentences(claim)]
        for group, document in asked:
            index, claims = document.index, _worded(group.items)
            texts += [index.sentences[at] for some in _read_together(index, claims) for at in _places_read(index, some)]
        self._reader.read(texts)

    def _row(self, document: SupportDocument, claims: Sequence[str]) -> list[Verdict]:
        worded = _worded(claims)
        # a document of marks alone has no words to share
        verdicts = dict.fromkeys(worded, self._verdict_of(0.0))
        if any(document.index.stems):
            found = [
                one
                for some in _read_together(document.index, worded)
                for one in evidence(self._with_vectors(document, some), some, self._reader)
            ]
            verdicts = dict(
                zip(worded, map(self._verdict, self._model.probability(found).tolist(), found), strict=True)
            )
        return [verdicts.get(claim) or unjudged(NO_WORDS) for claim in claims]

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


# ---------------------------------------------------------------- coverage

PROMPT_VERSION = f"offline_judge@{VERSION}+{models_version('judge_people', 'judge_gpt4o')}"
"""The version of the models that read words alone."""

NO_TARGET_WORDS = "target_without_words"
"""The failure of an insight in which there is no word to look for."""
_BACKGROUNDS_HELD = 8
_SUMMARY_TEXTS_HELD = 512  # about 12 MB; copies of a summary are judged one after another
_QUERIES_HELD = 128  # 128 queries' stems are about 3 MB, vectors of their insights' pieces about 25 MB


def version_of(model: str) -> Version:
    """Return the version of the verdicts of a model that ships; one that reads vectors names the encoder too."""
    if not shipped_judge(model).fit.reads_vectors:
        return Version(VERSION, PROMPT_VERSION)
    version = f"offline_judge@{VERSION}+{models_version(SHIPPED[model])} {MINILM}"
    return Version(version, version)


class OfflineCoverageJudge:
    """
    Judges which insights the bullets of a summary say, and which bullet says each.

    The insights of a group are read together: they compete for bullets. Words weigh by how rare they are in the group's
    background, the insights of all queries to the same documents. `reply` has the evidence as JSON. A summary without
    bullets says nothing: each answer is none, with probability 0. An encoder is loaded, on *threads*, if the model
    reads vectors.

    Raises:
        UsageError: No judge of that name ships, or the encoder cannot be loaded.
    """

    def __init__(self, *, model: str, threads: int = 1) -> None:
        self._model = shipped_judge(model)
        reads = self._model.fit.reads_vectors
        self._encoder = RecentTexts(Encoder(MINILM, threads=threads), held=_SUMMARY_TEXTS_HELD) if reads else None
        self._weights = lru_cache(maxsize=_BACKGROUNDS_HELD)(stem_weights)
        self._pieces = lru_cache(maxsize=_BACKGROUNDS_HELD)(self._weighed_pieces)
        self._insights = lru_cache(maxsize=_QUERIES_HELD)(self._query_insights)

    async def ask(self, groups: Sequence[Group]) -> Verdicts:
        return self.judge(groups)

    def judge(self, groups: Sequence[Group]) -> Verdicts:
        return [self._verdicts(group) for group in groups]

    def _verdicts(self, group: Group) -> list[Verdict]:
        if not group.items:
            return []
        insights = self._insights(group.items, group.background or group.items)
        return [self._verdict(reading) for reading in insights.readings(group.shared, self._model)]

    def _verdict(self, reading: Reading) -> Verdict:
        evidence = reading.evidence
        # all that a reader needs to follow the score; the closest bullet also if it is not linked
        told = {"closest_bullet": evidence.closest, **{name: getattr(evidence, name) for name in self._model.told}}
        failure = NO_TARGET_WORDS if reading.answer is None else None
        return Verdict(reading.answer, reading.score, failure, reply=json.dumps(told), linked_unit=reading.linked)

    def _query_insights(self, insights: tuple[str, ...], background: tuple[str, ...]) -> QueryInsights:
        return QueryInsights(insights, self._weights(background), vectors=self._pieces(background))

    def _weighed_pieces(self, background: tuple[str, ...]) -> WeighedPieces | None:
        if self._encoder is None:
            return None
        return WeighedPieces.of(self._encoder, [embedded_text(text) for text in background])


class ByWords(Judge):
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
