"""Rankings and prompts as measures of retrieval read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from longform.axes import Axes


class Ranker(NamedTuple):
    """A retriever, with its reranker; None: none."""

    retriever: str
    reranker: str | None

    @property
    def words(self) -> str:
        """The name that a report gives it."""
        return Axes(self.retriever, self.reranker).ranking


class RankedQuery(NamedTuple):
    """One ranker's list for one query."""

    ranker: Ranker
    query_id: str
    doc_ids: Sequence[str]


class PackedQuery(NamedTuple):
    """One prompt's documents."""

    ranker: Ranker
    budget_tokens: int | None
    query_id: str
    doc_ids: Sequence[str]
    cut_share: float
