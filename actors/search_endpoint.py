"""Asks search endpoints; overload, and servers that are gone for a while, are waited out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping

from actors.secret_values import token_in
from actors.serving.client import Send, ServedClient, over_http
from longform.errors import LongformError

IN_FLIGHT = 8
"""Requests of a worker."""

ATTEMPTS = 6
TIMEOUT_S = 120.0

Open = Callable[[str, str | None], Send]
"""(URL, token) -> what sends there."""


def _over_http(url: str, token: str | None) -> Send:
    return over_http(url, token=token, timeout_s=TIMEOUT_S)


class SearchEndpoints:
    """
    All endpoints of a worker.

    Args:
        opened: Opens an endpoint.
        sleep: Waits.
    """

    def __init__(self, opened: Open = _over_http, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._open, self._sleep = opened, sleep
        self._free = asyncio.Semaphore(IN_FLIGHT)

    async def search(self, url: str, fields: Mapping[str, str]) -> str:
        """
        Return the answer of the endpoint at *url* as JSON.

        Args:
            url: Of the endpoint.
            fields: `query`, `n`, and `api_key_env`, the variable with the token; empty: none.

        Raises:
            UsageError: The variable is unset.
            LongformError: Nobody answered in time, or the request was refused.
        """
        token = token_in(fields["api_key_env"] or None, f"search endpoint {url}")
        client = ServedClient(self._open(url, token), attempts=ATTEMPTS, sleep=self._sleep)
        try:
            async with self._free:
                return json.dumps(await client.search(fields["query"], int(fields["n"])))
        except LongformError as error:
            raise LongformError(
                f"search endpoint {url}: {error}; once that is mended, the same command goes on from here"
            ) from error
