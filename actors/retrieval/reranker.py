"""The protocol of every reranker, and the order that it returns."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from longform.records import Document, Query

Ranking = tuple[Query, Sequence[Document]]
"""A query, whose text is what is searched with, and its documents as they were ranked."""


class Reranked(NamedTuple):
    """A place in the new order."""

    place: int  # in the order that came in, from 0
    score: float | None  # null: not scored, because it stands below the depth, is not ranked, or its call failed
    failure: str | None = None  # why there is no score if one was asked for


class Reranker(Protocol):
    """Reorders the first documents of another's ranking."""

    async def order(self, query: Query, documents: Sequence[Document]) -> list[Reranked]:
        """Return all *documents* in their new order; the query's text is what is searched with."""
        ...

    async def orders(self, rankings: Sequence[Ranking]) -> list[list[Reranked]]:
        """Return the new order of each of *rankings*."""
        return list(await asyncio.gather(*(self.order(*ranking) for ranking in rankings)))


def reranked(
    scored: Sequence[tuple[int, float]], n_documents: int, failures: Mapping[int, str] | None = None
) -> list[Reranked]:
    """Return the places of *scored*, then all others as they came, without a score; *failures* say why by place."""
    rest = sorted({*range(n_documents)}.difference(place for place, _ in scored))
    without = [Reranked(place, None, (failures or {}).get(place)) for place in rest]
    return [*(Reranked(place, score) for place, score in scored), *without]
