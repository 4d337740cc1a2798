"""Requests to an S3 server, counted on their way to it."""

from __future__ import annotations

import re
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

_HEAD = re.compile(rb"(GET|PUT|POST|HEAD|DELETE) (\S*) HTTP/1\.1\r\n")
_PIECE = 1 << 20
_BILLED_AS_WRITES = ("PUT", "POST", "LIST")

Requests = Counter[str]
"""Requests by their method; listings are LIST."""


def writes(requests: Requests) -> int:
    """Return those that are billed as writes."""
    return sum(requests[method] for method in _BILLED_AS_WRITES)


def reads(requests: Requests) -> int:
    """Return those that are billed as reads."""
    return requests["GET"] + requests["HEAD"]


@contextmanager
def counted(endpoint: str) -> Iterator[tuple[str, Requests]]:
    """Give an endpoint that leads to another, and the requests that have gone there."""
    target, seen = urlsplit(endpoint), Requests()
    with socket.create_server(("127.0.0.1", 0), backlog=200) as listening:
        address = (str(target.hostname), int(target.port or 80))
        threading.Thread(target=_attend, args=(listening, address, seen), daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}", seen
        listening.shutdown(socket.SHUT_RDWR)


def _attend(listening: socket.socket, address: tuple[str, int], seen: Requests) -> None:
    with suppress(OSError):  # closed
        while True:
            client, server = listening.accept()[0], socket.create_connection(address)
            for ends in ((client, server, seen), (server, client, None)):
                threading.Thread(target=_carry, args=ends, daemon=True).start()


def _carry(source: socket.socket, to: socket.socket, seen: Requests | None) -> None:
    with suppress(OSError):
        while piece := source.recv(_PIECE):
            if seen is not None:
                seen.update(map(_method, _HEAD.findall(piece)))
            to.sendall(piece)
    with suppress(OSError):
        to.shutdown(socket.SHUT_RDWR)


def _method(head: tuple[bytes, bytes]) -> str:
    method, target = head
    return "LIST" if method == b"GET" and b"list-type" in target else method.decode()
