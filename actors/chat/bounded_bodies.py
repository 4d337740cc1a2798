"""
Ends a reply that is too long to be one, while it still comes.

A deadline alone bounds no memory: a server on the same machine sends gigabytes within it. Bodies that a server
compresses against our wish are bounded by their unfolded size.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx

from longform.chat.completions import LARGEST_BODY

PLAIN = {"Accept-Encoding": "identity"}
"""Headers that ask for bodies as they are."""


class BodyTooLargeError(Exception):
    """A body of more than `LARGEST_BODY` bytes; the rest of it was not read."""


async def bound_body(response: httpx.Response) -> None:
    """Let at most `LARGEST_BODY` bytes of a response through: an event hook of an httpx client."""
    stream = response.stream
    assert isinstance(stream, httpx.AsyncByteStream)
    if response.headers.get("content-encoding", "identity") != "identity":
        unfolded = _Bounded(httpx.Response(200, headers=response.headers, stream=stream).aiter_bytes(), stream)
        response.stream = unfolded
        del response.headers["content-encoding"]
    else:
        response.stream = _Bounded(aiter(stream), stream)


class _Bounded(httpx.AsyncByteStream):
    """
    Args:
        chunks: The body.
        source: What is closed with this stream.
    """

    def __init__(self, chunks: AsyncIterator[bytes], source: httpx.AsyncByteStream) -> None:
        self._chunks, self._source = chunks, source

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._chunks:
            size += len(chunk)
            if size > LARGEST_BODY:
                raise BodyTooLargeError
            yield chunk

    async def aclose(self) -> None:
        await self._source.aclose()
