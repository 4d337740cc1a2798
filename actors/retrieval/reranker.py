"""The protocol of every reranker, and the order that it returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from longform.records import Document, Query


class Reranked(NamedTuple):
    """A place in the new order."""

    place: int  # in the order that came in, from 0
    score: float | None  # null: not scored, because it stands below the depth or is not ranked


class Reranker(Protocol):
    """Reorders the first documents of another's ranking."""

    async def order(self, query: Query, documents: Sequence[Document]) -> list[Reranked]:
        """Return all *documents* in their new order; the query's text is what is searched with."""
        ...


def reranked(scored: Sequence[tuple[int, float]], n_documents: int) -> list[Reranked]:
    """Return the places of *scored*, then all others as they came, without a score."""
    rest = sorted({*range(n_documents)}.difference(place for place, _ in scored))
    return [*(Reranked(place, score) for place, score in scored), *(Reranked(place, None) for place in rest)]
