"""
Does a document support a sentence? What is asked, and what comes back.

M(d, s) of Wan et al. (On Positional Bias of Faithfulness for Long-form Summarization, section 2.3): one verdict for
each cell of document x sentence. A cell that could not be judged has no answer and no probability, and says why.

Every judge decides a cell by its document and sentence alone: what else is asked with it changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

Answer = Literal["supported", "unsupported"]

NO_SENTENCE = "sentence_without_text"
"""The failure of a sentence that says nothing."""


class SupportGroup(NamedTuple):
    """One text with the sentences to be checked against it: a row of the matrix."""

    text_id: str  # equal texts have equal ids
    text: str
    sentences: tuple[str, ...]


class SupportVerdict(NamedTuple):
    """
    One cell.

    Attributes:
        answer: None: unjudged, and `failure` says why.
        probability: That the sentence is supported, in [0, 1]; None: unjudged, or the judge gives only answers.
        failure: Why there is no answer.
        chunk_index: Where a judge read the text in windows: the one that supports the sentence best, from 0.
        reply: What a chat model wrote.
        call_id: Of the call that gave the reply.
    """

    answer: Answer | None
    probability: float | None
    failure: str | None = None
    chunk_index: int | None = None
    reply: str | None = None
    call_id: str | None = None

    @property
    def value(self) -> float | None:
        """The probability where there is one, else 1 or 0; None: unjudged."""
        if self.answer is None:
            return None
        return self.probability if self.probability is not None else float(self.answer == "supported")


Cell = tuple[str, str]
"""A text and a sentence."""


def unjudged(failure: str) -> SupportVerdict:
    return SupportVerdict(None, None, failure)


def by_threshold(probability: float, threshold: float, *, chunk_index: int | None = None) -> SupportVerdict:
    """Supported above the *threshold*, as MiniCheck reads its probabilities."""
    answer: Answer = "supported" if probability > threshold else "unsupported"
    return SupportVerdict(answer, probability, chunk_index=chunk_index)


def settled(text: str, sentence: str) -> SupportVerdict | None:
    """
    The verdict that needs no judge; None: one must be asked.

    A sentence without text says nothing that could be judged. A document without text supports nothing: the cell is
    unsupported, and nobody is asked. (The release asks its model about empty documents, too.)
    """
    if not sentence.strip():
        return unjudged(NO_SENTENCE)
    return None if text.strip() else SupportVerdict("unsupported", 0.0)


def open_cells(groups: Sequence[SupportGroup]) -> dict[str, list[str]]:
    """Text -> its sentences that a judge must be asked about, every cell once however often it is given."""
    found: dict[str, dict[str, None]] = {}
    for group in groups:
        for sentence in group.sentences:
            if settled(group.text, sentence) is None:
                found.setdefault(group.text, {})[sentence] = None
    return {text: list(sentences) for text, sentences in found.items()}


def in_place(groups: Sequence[SupportGroup], judged: Mapping[Cell, SupportVerdict]) -> list[list[SupportVerdict]]:
    """The verdicts of all cells, shape (groups, sentences): those of `open_cells` out of *judged*, the settled ones."""
    return [
        [settled(group.text, sentence) or judged[group.text, sentence] for sentence in group.sentences]
        for group in groups
    ]
