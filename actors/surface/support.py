"""Checks which sentences documents support, offline."""

from __future__ import annotations

import os
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from actors.judges.lexical import LexicalJudge
from actors.surface.given import languages_told, texts_of
from longform.judges.kind import Group, Verdict
from longform.judges.kinds.support import NO, SUPPORT, YES
from longform.keys import content_key
from longform.metrics.faithfulness import (
    RECOMMENDED,
    SummaryFaithfulness,
    best_documents,
    merge_documents,
    summary_faithfulness,
)
from longform.text.refusals import is_refusal


@dataclass(frozen=True)
class Sentence:
    """
    A sentence that was checked.

    Attributes:
        text: Without citations and the mark of a list.
        supported: True if a document supports it; None: undecided, as the judge is unsure, or the sentence refuses or
            has no word to look for.
        probability: The best document's, in [0, 1]; None: the sentence refuses or has no word to look for.
        documents: Numbers, from 1, of the documents that support it best; several if they are equal, none if all are 0.
    """

    text: str
    supported: bool | None
    probability: float | None
    documents: tuple[int, ...]
    refused: bool = False  # it says only that there is no answer, which no document can support


@dataclass(frozen=True)
class Support:
    """
    The support of sentences by documents.

    Attributes:
        sentences: In the order given.
        probabilities: Shape (documents, sentences), in [0, 1]; NaN: unjudged.
        faithfulness: Mean over sentences of the best document's probability.
        told: A sentence for each language of the texts that the judge was not measured on.
    """

    sentences: tuple[Sentence, ...]
    probabilities: NDArray[np.float64]
    faithfulness: SummaryFaithfulness
    told: tuple[str, ...] = ()

    @property
    def value(self) -> float | None:
        """The faithfulness in [0, 1]; None if no sentence is decided."""
        return self.faithfulness.value


def check(sentences: Sequence[str], documents: Sequence[str]) -> Support:
    """
    Check each sentence against each document, by shared words and sentence vectors.

    The numbers are those of `longform evaluate` with a judge `{kind: offline, task: support}`. Shared words are
    evidence, not entailment: a sentence that denies what a document says looks supported.

    Args:
        sentences: Citations and list marks are left aside.
        documents: Texts; each is read by itself, the first is number 1.

    Raises:
        UsageError: An argument is not what it should be; the message names it.
    """
    claims = tuple(map(SUPPORT.unit, texts_of("sentences", sentences)))
    refused = list(map(is_refusal, claims))
    asked = tuple("" if refuses else claim for claim, refuses in zip(claims, refused, strict=True))
    groups = [Group(content_key(text), (text,), asked) for text in texts_of("documents", documents)]
    verdicts = _judge().judge(groups)
    cells = np.array([[_number(one) for one in row] for row in verdicts], dtype=np.float64)
    best, places = merge_documents(cells, RECOMMENDED.documents), best_documents(cells)
    said = [_said({one.answer for one in column}) for column in zip(*verdicts, strict=True)]
    return Support(
        tuple(_sentence(*row) for row in zip(claims, said, best.tolist(), places, refused, strict=True)),
        cells,
        summary_faithfulness(best[~np.array(refused)], RECOMMENDED.sentences),
        languages_told({"sentences": claims, "documents": documents}, "offline"),
    )


@cache
def _judge() -> LexicalJudge:
    return LexicalJudge(threads=os.cpu_count() or 1)


def _number(verdict: Verdict) -> float:
    number = SUPPORT.number(verdict.answer, verdict.probability)
    return np.nan if number is None else number


def _said(answers: AbstractSet[str | None]) -> bool | None:
    """Return False if every document is said not to support a sentence; None: one may."""
    return True if YES in answers else None if answers - {NO, None} else False


def _sentence(text: str, said: bool | None, number: float, places: Sequence[int], refused: bool) -> Sentence:
    if np.isnan(number):
        return Sentence(text, None, None, (), refused)
    return Sentence(text, said, number, tuple(place + 1 for place in places))
