"""Finds the documents that support each bullet of a summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from actors.surface.given import summary_text, texts_of
from longform.repair.by_matrix import Evidence, best_evidence, repaired_texts
from longform.support.index import SupportIndex
from longform.text.citations import Bullet, bullets


@dataclass(frozen=True)
class CitedSummary:
    """
    A summary that cites documents by their numbers, from 1 in the order given.

    Attributes:
        text: A bullet a line, citations as `[3]` behind it.
        documents: Texts of the documents.
    """

    text: str
    documents: tuple[str, ...]

    @cached_property
    def bullets(self) -> tuple[Bullet, ...]:
        """Lines of the summary, each with the numbers that it cites."""
        return tuple(bullets(self.text))

    @cached_property
    def evidence(self) -> tuple[Evidence | None, ...]:
        """The passage of the cited documents that shares most with each bullet; None for one that cites nothing."""
        index, numbers = SupportIndex(self.documents), range(1, len(self.documents) + 1)
        return tuple(best_evidence(bullet.text, bullet.citations, index, numbers) for bullet in self.bullets)

    def __str__(self) -> str:
        return self.text


def cite(summary: str | Sequence[str], documents: Sequence[str]) -> CitedSummary:
    """
    Return a summary with every bullet citing the documents whose words support it; citations that it had are replaced.

    These are the citations of `longform evaluate --citations matrix`. A header line stays as it is, and a bullet that
    no document supports cites none. Documents are read against each other, so give all of the collection.

    Args:
        summary: A text, a bullet a line, or its bullets.
        documents: Texts; the first is number 1.

    Raises:
        UsageError: An argument is not what it should be; the message names it.
    """
    texts = texts_of("documents", documents)
    (text,) = repaired_texts([summary_text(summary)], SupportIndex(texts), range(1, len(texts) + 1))
    return CitedSummary(text, tuple(texts))
