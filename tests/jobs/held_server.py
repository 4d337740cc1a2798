"""Serve a provider that holds calls until a test lets them go."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TypeVar


class HeldServer(ThreadingHTTPServer):
    """A server on this machine; its handler waits for `free` where it holds a call."""

    daemon_threads = True

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.free = threading.Event()


Server = TypeVar("Server", bound=HeldServer)


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    """Serve in a thread; at the end all calls are let go."""
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.free.set()
        server.shutdown()
        thread.join()
        server.server_close()
