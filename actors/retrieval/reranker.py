"""The base of every reranker, the order that it returns, and one behind an endpoint of Cohere's or Jina's dialect."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from pydantic import JsonValue

from actors.chat.opening import Asking
from actors.serving.endpoint import Endpoint, token_of
from longform.chat.asking import Asks
from longform.errors import LongformError
from longform.records import Document, Query
from longform.retrieval.ranking import OTHERS_VERSION, rounded
from longform.settings.retrievers import EndpointRerankerSettings
from longform.settings.strict import PartSettings

KIND = "reranker"
Settings = TypeVar("Settings", bound=PartSettings)

Ranking = tuple[Query, Sequence[Document]]
"""A query, whose text is what is searched with, and its documents as they were ranked."""


class Reranked(NamedTuple):
    """A place in the new order."""

    place: int  # in the order that came in, from 0
    score: float | None  # null: not scored, because it stands below the depth, is not ranked, or its call failed
    failure: str | None = None  # why there is no score if one was asked for


class Means(NamedTuple):
    """The means of a reranker: threads of a local model, and what a chat model is asked with; None: it asks none."""

    threads: int = 1
    asking: Asking | None = None


class Reranker(ABC, Generic[Settings]):
    """Reorders the first documents of another's ranking."""

    def __init__(self, settings: Settings, _means: Means, /) -> None:
        self._settings = settings

    @classmethod
    def version(cls, _settings: Settings, _prompts: str | None, /) -> dict[str, JsonValue]:
        """Return all that its orders depend on beside the settings; a folder of prompts may have its own."""
        return {}

    @classmethod
    @abstractmethod
    def check(cls, settings: Settings, prompts: str | None, with_keys: bool, /) -> None:
        """
        Look for what it needs, the tokens of endpoints if *with_keys*; nothing is loaded.

        Raises:
            UsageError: It is not there.
        """

    @abstractmethod
    async def order(self, query: Query, documents: Sequence[Document]) -> list[Reranked]:
        """Return all *documents* in their new order; the query's text is what is searched with."""

    async def orders(self, rankings: Sequence[Ranking]) -> list[list[Reranked]]:
        """Return the new order of each of *rankings*."""
        return list(await asyncio.gather(*(self.order(*ranking) for ranking in rankings)))

    def plan(self, rankings: Sequence[Ranking]) -> Asks[list[list[Reranked]]]:
        """Return the plan by which its chat model is asked about *rankings*."""
        raise NotImplementedError(f"{type(self).__name__} asks no chat model")


def reranked(
    scored: Sequence[tuple[int, float]], n_documents: int, failures: Mapping[int, str] | None = None
) -> list[Reranked]:
    """Return the places of *scored*, then all others as they came, without a score; *failures* say why by place."""
    rest = sorted({*range(n_documents)}.difference(place for place, _ in scored))
    without = [Reranked(place, None, (failures or {}).get(place)) for place in rest]
    return [*(Reranked(place, score) for place, score in scored), *without]


class EndpointReranker(Reranker[EndpointRerankerSettings]):
    """
    Asks with all documents of a query at once; overload and dead replicas are waited out, by *sleep*.

    Raises:
        UsageError: The variable with the token is unset, or this cluster has no such application.
    """

    def __init__(
        self,
        settings: EndpointRerankerSettings,
        means: Means,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        super().__init__(settings, means)
        self._endpoint = Endpoint(KIND, settings, sleep=sleep)

    @classmethod
    def version(cls, _settings: EndpointRerankerSettings, _prompts: str | None, /) -> dict[str, JsonValue]:
        return {"scores": OTHERS_VERSION}

    @classmethod
    def check(cls, settings: EndpointRerankerSettings, _prompts: str | None, with_keys: bool, /) -> None:
        if with_keys:
            token_of(KIND, settings)

    async def order(self, query: Query, documents: Sequence[Document]) -> list[Reranked]:
        return await self.rerank(query.text, [document.text for document in documents])

    async def rerank(self, query: str, texts: Sequence[str]) -> list[Reranked]:
        """
        Return all *texts* in their new order.

        The first of them, down to the depth, stand by descending score, ties as the server has them; the rest follow as
        they came, without a score.

        Raises:
            LongformError: Nobody answered in time, or the answer is no order of these documents.
        """
        asked = texts[: self._settings.depth]
        try:
            async with self._endpoint.place():
                found = await self._endpoint.client.rerank(self._settings.model, query, asked)
        except LongformError as error:
            raise LongformError(f"{self._endpoint.where}: {error}") from error
        scores = rounded([score for _, score in found], of_others=True).tolist()
        scored = [(place, score) for (place, _), score in zip(found, scores, strict=True)]
        return reranked(sorted(scored, key=lambda one: -one[1]), len(texts))
