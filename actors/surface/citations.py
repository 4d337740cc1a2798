"""Finds the documents that support each bullet of a summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from actors.surface.given import summary_text, texts_of
from longform.repair.by_matrix import BestPlace, best_evidence, repaired_texts
from longform.support.index import SupportIndex
from longform.text.answers import statements
from longform.text.citations import Bullet
from longform.text.units import lined


@dataclass(frozen=True)
class CitedSummary:
    """
    A summary that cites documents by their numbers, from 1 in the order given.

    Attributes:
        text: A statement a line, citations as `[3]` behind it.
        documents: Texts of the documents.
    """

    text: str
    documents: tuple[str, ...]

    @cached_property
    def bullets(self) -> tuple[Bullet, ...]:
        """Statements of the summary, each with the numbers that it cites."""
        return tuple(statements(self.text))

    @cached_property
    def evidence(self) -> tuple[BestPlace | None, ...]:
        """The passage of the cited documents that shares most with each bullet; None for one that cites nothing."""
        index, numbers = SupportIndex(self.documents), range(1, len(self.documents) + 1)
        return tuple(best_evidence(bullet.text, bullet.citations, index, numbers) for bullet in self.bullets)

    def __str__(self) -> str:
        return self.text


def cite(summary: str | Sequence[str], documents: Sequence[str]) -> CitedSummary:
    """
    Return a summary, a statement a line, that cite the documents whose words support them in place of those they cited.

    These are the citations of `longform evaluate --citations matrix`. A statement that no
    document supports cites none. Documents are read against each other, so give all of the collection.

    Args:
        summary: A text in Markdown or plain, or its bullets.
        documents: Texts; the first is number 1.

    Raises:
        UsageError: An argument is not what it should be; the message names it.
    """
    texts = texts_of("documents", documents)
    (text,) = repaired_texts(
        [lined(summary_text(summary), "statements")], SupportIndex(texts), range(1, len(texts) + 1)
    )
    return CitedSummary(text, tuple(texts))
