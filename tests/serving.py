"""The application of `serve/` on a port of loopback, without Ray: what clients meet is real HTTP."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from tests.jobs.killing import until


@contextmanager
def running(app: Any) -> Iterator[str]:
    """The base URL of *app*, run by uvicorn in a thread of this process."""
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        until(lambda: server.started or not thread.is_alive(), "the server's start")
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()


class Overloaded:
    """Refuses the first *n* requests with 503 and a `Retry-After`, as a server does whose replicas are full or dead."""

    def __init__(self, app: Any, n: int) -> None:
        self._app, self._left = app, n
        self.refused = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and self._left > 0:
            self._left -= 1
            self.refused += 1
            await send({"type": "http.response.start", "status": 503, "headers": [(b"retry-after", b"0")]})
            return await send({"type": "http.response.body", "body": b"full"})
        return await self._app(scope, receive, send)
