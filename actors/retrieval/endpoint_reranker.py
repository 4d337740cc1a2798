"""A reranker behind an endpoint of Cohere's or Jina's dialect."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from pydantic import JsonValue

from actors.retrieval.reranker import Means, Reranked, Reranker, reranked
from actors.serving.endpoint import Endpoint, token_of
from longform.errors import LongformError
from longform.records import Document, Query
from longform.retrieval.ranking import OTHERS_VERSION, rounded
from longform.settings.retrievers import EndpointRerankerSettings

KIND = "reranker"


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
