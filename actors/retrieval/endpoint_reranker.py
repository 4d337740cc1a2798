"""A reranker behind an endpoint of Cohere's or Jina's dialect."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from math import isfinite

from actors.json_value import Json
from actors.retrieval.reranker import Reranked, Reranker, reranked
from actors.secret_values import token_in
from actors.serving.client import Reply, Send, ServedClient, over_http
from actors.serving.handle import is_of_cluster, over_application
from longform.errors import LongformError
from longform.records import Document, Query
from longform.settings.retrievers import EndpointRerankerSettings

_DECIMALS = 6


class EndpointReranker(Reranker):
    """
    Asks with all documents of a query at once; overload and dead replicas are waited out.

    Args:
        settings: Of the configuration.
        sleep: Waits.

    Raises:
        UsageError: The variable with the token is unset, or this cluster has no such application.
    """

    def __init__(
        self, settings: EndpointRerankerSettings, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._settings = settings
        self._client = ServedClient(_to_one_url(_sends(settings)), attempts=settings.attempts, sleep=sleep)
        self._free: asyncio.Semaphore | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

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
        where = f"reranker {self._settings.model!r} at {self._settings.url}"
        try:
            async with self._place():
                found = await self._client.rerank(self._settings.model, query, asked)
        except (KeyError, TypeError) as error:
            raise LongformError(f"{where}: expected results with index and relevance_score, no {error}") from error
        except LongformError as error:
            raise LongformError(f"{where}: {error}") from error
        check_order(found, len(asked), where)
        scored = sorted(((place, round(float(score), _DECIMALS)) for place, score in found), key=lambda one: -one[1])
        return reranked(scored, len(texts))

    def _place(self) -> asyncio.Semaphore:
        """Return the semaphore of the running loop: a worker has one for each task."""
        loop = asyncio.get_running_loop()
        if self._free is None or self._loop is not loop:
            self._free, self._loop = asyncio.Semaphore(self._settings.in_flight), loop
        return self._free


def _sends(settings: EndpointRerankerSettings) -> Send:
    if is_of_cluster(settings.url):
        return over_application(settings.url, timeout_s=settings.timeout_s)
    return over_http(settings.url, token=token_of(settings), timeout_s=settings.timeout_s)


def check_order(found: Sequence[tuple[int, float]], n_documents: int, where: str) -> None:
    """
    Check that each document stands in the answer once, with a number.

    Raises:
        LongformError: One does not.
    """
    places = [place for place, _ in found]
    if sorted(map(str, places)) != sorted(map(str, range(n_documents))):
        raise LongformError(f"{where}: expected each of {n_documents} documents once, found indices {places[:20]}")
    wrong = [score for _, score in found if not isinstance(score, int | float) or not isfinite(score)]
    if wrong:
        raise LongformError(f"{where}: expected numbers as scores, found {wrong[:5]}")


def token_of(settings: EndpointRerankerSettings) -> str | None:
    """
    Return the bearer token; None if none is sent.

    Raises:
        UsageError: The variable is unset.
    """
    return token_in(settings.api_key_env, f"reranker at {settings.url}")


def _to_one_url(send: Send) -> Send:
    """Send to the configured URL in place of the client's path; it is the endpoint's own, Cohere's is /v2/rerank."""

    async def sent(_path: str, body: Mapping[str, Json]) -> Reply:
        return await send("", body)

    return sent
