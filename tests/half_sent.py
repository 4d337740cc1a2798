"""Connections to a server on loopback that begin a request and send no more."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

HALF_BODY = b"POST /v1/rerank HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{"
HALF_HEADERS = b"POST /v1/rerank HTTP/1.1\r\nHost: h\r\nX-Slow: "
PATIENCE_S = 60.0
"""Longer than any limit that tests set; a connection that is open then was never going to be closed."""

_Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def held(url: str, begun: bytes, n: int, *, source: str = "127.0.0.1") -> AsyncIterator[list[_Connection]]:
    """So many connections from *source* that have sent *begun* and wait; the port is one of this machine."""
    address = urlsplit(url)
    assert address.hostname == "127.0.0.1"
    found = [await asyncio.open_connection(address.hostname, address.port, local_addr=(source, 0)) for _ in range(n)]
    try:
        for _, writer in found:
            writer.write(begun)
            await writer.drain()
        yield found
    finally:
        for _, writer in found:
            writer.close()


async def ends(connections: list[_Connection]) -> Counter[str]:
    """Count the endings of connections: the status it answered, `closed` without one, or `open` after all patience."""
    return Counter(await asyncio.gather(*(_end(reader) for reader, _ in connections)))


async def _end(reader: asyncio.StreamReader) -> str:
    try:
        async with asyncio.timeout(PATIENCE_S):
            answer = await reader.read()
    except TimeoutError:
        return "open"
    except ConnectionError:
        return "closed"
    return answer.split(b" ", 2)[1].decode() if answer.startswith(b"HTTP/") else "closed"
