"""The offline judge of support: shared words, sentence vectors and a small fitted model, no language model."""

from __future__ import annotations

import json
from collections.abc import Sequence

from actors.local_models.encoder import MINILM, Encoder
from longform.judges.lexical_support import Evidence, evidence, shipped_lexical_support
from longform.judges.support_prompts import (
    Cell,
    SupportGroup,
    SupportVerdict,
    by_threshold,
    in_place,
    open_cells,
    unjudged,
)
from longform.support.index import SupportIndex
from longform.text.words import without_marks, words

NO_WORDS = "sentence_without_words"
"""The failure of a sentence in which there is nothing to share."""


class OfflineSupportJudge:
    """
    Judges every (document, sentence) by what the two share; equal cells once a call.

    `reply` holds the evidence as JSON: the shares and the window they were found in. `chunk_index` is that window's
    first sentence in the document: there is a window at each. Lexical support is blind to what is denied or swapped.

    Raises:
        UsageError: The encoder cannot be loaded.
    """

    def __init__(self, *, threads: int) -> None:
        self._encoder = Encoder(MINILM, threads=threads)
        self._model = shipped_lexical_support()

    def judge(self, groups: Sequence[SupportGroup]) -> list[list[SupportVerdict]]:
        """Shape (groups, sentences)."""
        judged: dict[Cell, SupportVerdict] = {}
        for text, sentences in open_cells(groups).items():
            judged |= {(text, sentence): verdict for sentence, verdict in self._row(text, sentences).items()}
        self._encoder.forget()
        return in_place(groups, judged)

    def _row(self, text: str, sentences: Sequence[str]) -> dict[str, SupportVerdict]:
        worded = [sentence for sentence in sentences if words(without_marks(sentence))]
        index = SupportIndex([text])
        if not worded or not any(index.stems):
            # A document of marks alone has no words to share.
            return {s: SupportVerdict("unsupported", 0.0) if s in worded else unjudged(NO_WORDS) for s in sentences}
        index.with_vectors(self._encoder.embed(index.sentences))
        found = evidence(index, worded, self._encoder.embed(worded))
        probabilities = self._model.probability(self._model.features(found)).tolist()
        verdicts = {
            sentence: self._verdict(probability, shared)
            for sentence, probability, shared in zip(worded, probabilities, found, strict=True)
        }
        return {sentence: verdicts.get(sentence) or unjudged(NO_WORDS) for sentence in sentences}

    def _verdict(self, probability: float, shared: Evidence) -> SupportVerdict:
        start, window = shared.window
        shares = {name: round(value, 3) for name, value in shared._asdict().items() if name != "window"}
        verdict = by_threshold(probability, self._model.threshold, chunk_index=start)
        return verdict._replace(reply=json.dumps({**shares, "window": window}, ensure_ascii=False))
