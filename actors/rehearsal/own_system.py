"""
A retriever and summarizer of one's own on loopback, of the standard library alone: an example, and one that misbehaves.

    python -m actors.rehearsal.own_system --port 8123 --fault http_500=0.2 --fault wrong_scores=0.1

It ranks by shared words and quotes the first sentences of the documents. Its first line on standard output is its URL.
The fault of a request follows from its content and from how often it came, so that another try may end better.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import accumulate
from typing import Any, Self

Body = dict[str, Any]


def rank(query: str, documents: Sequence[Body]) -> Body:
    """Score each document by the words that it shares with the query."""
    wanted = _words(query)
    return {"scores": [float(len(wanted & _words(document["text"]))) for document in documents]}


def summarize(_query: str, documents: Sequence[Body], n_requested: int) -> Body:
    """Quote the first sentence of each document."""
    first = [(re.split(r"(?<=[.!?])\s", document["text"])[0], document["id"]) for document in documents]
    return {"bullets": [{"text": text, "citations": [doc_id]} for text, doc_id in first[:n_requested]]}


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w{4,}", text.lower()))


Spoil = Callable[[Body], bytes]

SPOILED: Mapping[str, Spoil] = {
    "garbage": lambda _: b"<html>not JSON</html>",
    "huge": lambda _: b" " * (17 * 2**20),
    "wrong_scores": lambda answer: json.dumps({**answer, "scores": [1.0, 2.0]}).encode(),
    "unknown_document": lambda _: json.dumps({"ranking": ["no such document"]}).encode(),
    "out_of_range": lambda _: json.dumps({"bullets": [{"text": "A claim.", "citations": [9999]}]}).encode(),
    "refuses": lambda _: json.dumps({"failure": "refused"}).encode(),
}
"""Faults of answers with status 200."""

STATUSES: Mapping[str, int] = {"http_400": 400, "http_429": 429, "http_500": 500}
"""Faults that are a status; a 429 tells to come again after a second."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: OwnSystem

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        status, body = self.server.answer(content)
        self.send_response(status)
        if status == STATUSES["http_429"]:
            self.send_header("Retry-After", "1")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class OwnSystem(ThreadingHTTPServer):
    """
    The server; as a context manager it serves on 127.0.0.1, at `url`. *faults* are the share of each kind in `SPOILED`
    and `STATUSES`, and each answer states *cost_usd*. Port 0 is a free one.
    """

    def __init__(self, faults: Mapping[str, float] | None = None, *, port: int = 0, cost_usd: float = 0.001) -> None:
        self.faults, self.cost_usd = dict(faults or {}), cost_usd
        if unknown := sorted(self.faults.keys() - SPOILED.keys() - STATUSES.keys()):
            raise ValueError(f"expected faults of {sorted([*SPOILED, *STATUSES])}, found {unknown}")
        self.asked: Counter[str] = Counter()  # content hash -> requests of it that came
        self._lock = threading.Lock()
        super().__init__(("127.0.0.1", port), Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}/ask"

    def answer(self, content: bytes) -> tuple[int, bytes]:
        """Return the status and the body of the answer to one request."""
        key = hashlib.sha256(content).hexdigest()
        with self._lock:
            nth = self.asked[key]
            self.asked[key] += 1
        fault = self._fault(key, nth)
        return STATUSES.get(fault, 200), SPOILED.get(fault, _as_json)(self._answer(json.loads(content)))

    def _answer(self, asked: Body) -> Body:
        query, documents = asked["query"]["text"], asked["documents"]
        found = rank(query, documents) if asked["task"] == "rank" else summarize(query, documents, asked["n_requested"])
        words = sum(len(document["text"].split()) for document in documents)
        usage = {"input_tokens": words, "output_tokens": 10}
        return {**found, "model": "own-system-1", "cost_usd": self.cost_usd, "usage": usage}

    def _fault(self, key: str, nth: int) -> str:
        drawn = int(hashlib.sha256(f"{key}:{nth}".encode()).hexdigest()[:12], 16) / 16**12
        passed = accumulate(self.faults.values())
        return next((fault for fault, share in zip(self.faults, passed, strict=True) if drawn < share), "none")

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


def _as_json(answer: Body) -> bytes:
    return json.dumps(answer).encode()


def main(argv: list[str] | None = None) -> int:
    """Serve with the faults that the command line names."""
    parser = argparse.ArgumentParser(description="a retriever and summarizer of one's own, which may misbehave")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--fault", action="append", default=[], metavar="KIND=SHARE")
    arguments = parser.parse_args(argv)
    faults = {kind: float(share) for kind, _, share in (fault.partition("=") for fault in arguments.fault)}
    system = OwnSystem(faults, port=arguments.port)
    print(system.url, flush=True)
    system.serve_forever()
    return 0


if __name__ == "__main__":
    sys.exit(main())
