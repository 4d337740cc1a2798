"""Takes a request in: headers of a sane size, and a body that comes whole, in time, and not too many of one address."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence

from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope

from serve.http.errors import error_answer
from serve.settings import Limits

_AGAIN_S = 1.0
_CROWDED_SHARE = 0.25  # of the time for a body, where too many of its address are unfinished


def head_fault(scope: Scope, limits: Limits) -> JSONResponse | None:
    """Return the refusal of a request whose headers are too many, too large or contradict each other, or None."""
    headers: Sequence[tuple[bytes, bytes]] = scope["headers"]
    n_bytes = sum(len(name) + len(value) for name, value in headers) + len(scope.get("raw_path") or b"")
    n_bytes += len(scope.get("query_string") or b"")
    if len(headers) > limits.headers:
        return closing(431, f"expected at most {limits.headers} headers, found {len(headers)}")
    if n_bytes > limits.header_bytes:
        return closing(431, f"expected headers and a path of at most {limits.header_bytes} bytes, found {n_bytes}")
    if sum(name == b"authorization" for name, _ in headers) > 1:
        return closing(400, "expected one `Authorization` header, found several")
    return None


class Intake:
    """
    Receives bodies.

    Bodies of one client address that are under way beside many others of it get a quarter of the time. Whole requests
    never notice, and who begins many and ends none keeps few of them open.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._unfinished: Counter[str] = Counter()  # by address

    async def body(self, scope: Scope, receive: Receive) -> bytes | JSONResponse | None:
        """Return the whole body, or the refusal, or None if the client left. What is refused is not read to its end."""
        stated = dict(scope["headers"]).get(b"content-length", b"0")
        if stated.isdigit() and (len(stated) > 18 or int(stated) > self._limits.body_bytes):
            return self._too_large()
        address = (scope.get("client") or ("", 0))[0]
        crowded = self._unfinished[address] >= self._limits.unfinished
        seconds = self._limits.body_s * (_CROWDED_SHARE if crowded else 1)
        self._unfinished[address] += 1
        try:
            async with asyncio.timeout(seconds):
                return await self._received(receive)
        except TimeoutError:
            return self._too_slow(seconds, crowded=crowded)
        finally:
            self._unfinished[address] -= 1
            if not self._unfinished[address]:
                del self._unfinished[address]

    async def _received(self, receive: Receive) -> bytes | JSONResponse | None:
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            body += message.get("body", b"")
            if len(body) > self._limits.body_bytes:
                return self._too_large()
            if not message.get("more_body"):
                return bytes(body)

    def _too_large(self) -> JSONResponse:
        most = self._limits.body_bytes
        return closing(413, f"expected a body of at most {most} bytes; send fewer texts at once")

    def _too_slow(self, seconds: float, *, crowded: bool) -> JSONResponse:
        message = f"expected the whole body within {seconds:g} s"
        if not crowded:
            return closing(408, message)
        beside = f"beside {self._limits.unfinished} others of this address that are not whole"
        return closing(429, f"{message}, {beside}; send fewer at a time", retry_after_s=_AGAIN_S)


def replayed(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives *body* as one message, then what else comes."""
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def closing(status: int, message: str, *, retry_after_s: float | None = None) -> JSONResponse:
    """An error after which the connection is closed: what else was sent on it is not read."""
    answer = error_answer(status, message, retry_after_s=retry_after_s)
    answer.headers["Connection"] = "close"
    return answer
