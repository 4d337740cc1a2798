"""The offline judge of support and of key points: words laid beside each other, and a small fitted model."""

from __future__ import annotations

import json
from collections.abc import Sequence

from actors.local_models.encoder import Encoder
from actors.local_models.weights import MINILM
from longform.judges.kind import Group, Kind, Verdict, Verdicts, unjudged
from longform.judges.kinds.support import SUPPORT
from longform.judges.lexical_support import Evidence, evidence, shipped_lexical_support
from longform.judges.pairs import Pair, in_place, open_groups, shared_of
from longform.support.index import SupportIndex
from longform.text.vectors import RecentTexts, TextReader
from longform.text.words import without_marks, words

NO_WORDS = "sentence_without_words"
"""The failure of a sentence in which there is nothing to share."""

_TEXTS_HELD = 2000
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
        self._model = shipped_lexical_support()

    async def ask(self, groups: Sequence[Group]) -> Verdicts:
        """Judge all pairs: shape (groups, items)."""
        return self.judge(groups)

    def judge(self, groups: Sequence[Group]) -> Verdicts:
        """Judge all pairs: shape (groups, items)."""
        judged = self._judged(groups)
        self._encoder.forget()
        return in_place(self._kind, groups, judged)

    def _judged(self, groups: Sequence[Group]) -> dict[Pair, Verdict]:
        asked = [(group, SupportIndex([group.text])) for group in open_groups(self._kind, groups)]
        # all at once: a batch has texts of one length
        self._encoder.embed([text for _, index in asked for text in index.sentences])
        read = RecentTexts(self._encoder, held=_TEXTS_HELD)  # groups have claims in common
        return {
            (shared_of(group), sentence): verdict
            for group, index in asked
            for sentence, verdict in self._row(index, group.items, read).items()
        }

    def _row(self, index: SupportIndex, claims: Sequence[str], read: TextReader) -> dict[str, Verdict]:
        worded = [claim for claim in claims if words(without_marks(claim))]
        if not worded or not any(index.stems):
            # A document of marks alone has no words to share.
            return {one: self._verdict_of(0.0) if one in worded else unjudged(NO_WORDS) for one in claims}
        index.with_vectors(self._encoder.embed(index.sentences))
        found = evidence(index, worded, read)
        probabilities = self._model.probability(found).tolist()
        verdicts = {
            claim: self._verdict(probability, one)
            for claim, probability, one in zip(worded, probabilities, found, strict=True)
        }
        return {claim: verdicts.get(claim) or unjudged(NO_WORDS) for claim in claims}

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
