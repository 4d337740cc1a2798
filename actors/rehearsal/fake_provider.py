"""
An OpenAI-compatible server on loopback without a model: for rehearsals, tests and benchmarks.

    python -m actors.rehearsal.fake_provider --port 0 --requests-per-minute 3000 --fault http_500=0.05

Its first line on standard output is its base URL. `FakeSettings` lists its abilities; each field is an option.

    POST /v1/chat/completions   the tasks of our prompts, as the scripted models do them; else a fixed text
    GET  /v1/models             one model
    /v1/files, /v1/batches      OpenAI's batch API
    GET  /counters              numbers of served requests
    GET  /served                each request let in: its content hash, when (seconds since the start), what became of it
    GET  /refused               when each request was refused (seconds since the start)
    POST /reset                 forgets all of it, and what counts against the limits
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import signal
import socket
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from time import monotonic
from typing import Self

from aiohttp import web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http_parser import RawRequestMessage
from aiohttp.streams import StreamReader
from aiohttp.web_protocol import RequestHandler

from actors.rehearsal.fake_batches import FakeBatches
from actors.rehearsal.fake_bodies import json_response, misstated, strange_body
from actors.rehearsal.fake_messages import FakeRequest
from actors.rehearsal.fake_options import parse_options
from actors.rehearsal.fake_replies import Asked, PrefixCache, completion_body, cut, read_asked
from actors.rehearsal.fake_tally import Counters, Served, Tally
from longform.errors import UsageError
from longform.rehearsal.limits import BothLimits, refusal_headers
from longform.rehearsal.settings import BODY_FAULTS, FakeSettings, Fate, draw_fate

_LARGEST_BODY = 256 * 2**20
_SPENT_S = 3600.0  # what a refusal says of the wait when a quota is spent
_WAITING_CONNECTIONS = 4096  # a client that opens hundreds at once must not wait for a SYN to be sent again
_ABORT = struct.pack("ii", 1, 0)  # SO_LINGER: on, 0 s; closing sends a reset


class FakeProvider:
    """The server; as a context manager it serves on a free port of 127.0.0.1, at `url`."""

    def __init__(self, settings: FakeSettings, *, port: int = 0) -> None:
        self.settings = settings
        self.url = ""
        self._port = port
        self._runner: web.ServerRunner | None = None
        self.reset()

    def reset(self) -> None:
        self.tally = Tally()
        self._gate = BothLimits(self.settings)
        self._cache = PrefixCache(self.settings.prefix_cache_blocks)
        self._batches = FakeBatches(self.settings)

    def counters(self) -> Counters:
        """Return the counters that `GET /counters` tells."""
        return {**self.tally.counters(), "batch": self._batches.counters()}

    async def __aenter__(self) -> Self:
        server = web.Server(
            self._handle, request_factory=_request, handler_cancellation=True, access_log=None, keepalive_timeout=600
        )
        self._runner = web.ServerRunner(server)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port, backlog=_WAITING_CONNECTIONS, shutdown_timeout=0.1)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        told = self._tell(request.path)
        if told is not None:
            return json_response(told)
        if not self._may_ask(request):
            self.tally.unauthorized += 1
            return _error(401, "Incorrect API key provided.", code="invalid_api_key")
        if request.path == "/v1/chat/completions":
            return await self._complete(request)
        if request.path == "/v1/models":
            return json_response({"object": "list", "data": [{"id": "fake", "object": "model", "created": 0}]})
        return await self._batches.handle(request)

    def _may_ask(self, request: web.BaseRequest) -> bool:
        """Return whether the key is right and has not expired."""
        last, key = self.settings.unauthorized_after, self.settings.key
        has_expired = last is not None and len(self.tally.served) >= last
        return not has_expired and (key is None or request.headers.get("Authorization") == f"Bearer {key}")

    def _tell(self, path: str) -> Mapping[str, object] | Sequence[object] | None:
        """Return the page that anyone may read; None if *path* is no such place."""
        if path == "/counters":
            return self.counters()
        if path == "/served":
            return [vars(one) for one in self.tally.served]
        if path == "/refused":
            return self.tally.refused_at_s
        if path == "/reset":
            self.reset()
            return {}
        return None

    # ------------------------------------------------------------ chat completions

    async def _complete(self, request: web.BaseRequest) -> web.StreamResponse:
        try:
            body: FakeRequest = json.loads(await request.read())
            asked = read_asked(body)
        except (KeyError, TypeError, ValueError, IndexError):
            return self._bad_request("expected the JSON of a chat completion request, with messages of text")
        except UsageError as error:  # the name of a scripted model that says what it does not know
            return self._bad_request(str(error), param="model")
        refusal = self._refusal(body, asked)
        if refusal is not None:
            return refusal
        now = monotonic() - self.tally.started
        last = self.settings.refused_after
        is_spent = last is not None and len(self.tally.served) >= last
        wait_s = _SPENT_S if is_spent else self._gate.wait_s(asked.tokens, now)
        if wait_s:
            self.tally.refused += 1
            self.tally.refused_at_s.append(now)
            headers = refusal_headers(self.settings, wait_s) | self._gate.headers(now)
            return _error(429, "Rate limit reached.", code="rate_limit_exceeded", headers=headers)
        self._gate.let_in(asked.tokens, now)
        return await self._answer(request, body, asked, now)

    def _refusal(self, body: FakeRequest, asked: Asked) -> web.Response | None:
        """Return a 400 for parameters that the settings do not take."""
        for name in self.settings.refused_parameters:
            if name in body:
                message = f"Unsupported parameter: '{name}' is not supported with this model."
                return self._bad_request(message, code="unsupported_parameter", param=name)
        window = self.settings.context_window
        wanted = asked.prompt_tokens + (body.get("max_completion_tokens") or body.get("max_tokens") or 0)
        if window is not None and wanted > window:
            message = f"This model's maximum context length is {window} tokens; {wanted} were requested."
            return self._bad_request(message, code="context_length_exceeded", param="messages")
        return None

    def _bad_request(self, message: str, *, code: str | None = None, param: str | None = None) -> web.Response:
        self.tally.bad_requests += 1
        return _error(400, message, code=code, param=param)

    async def _answer(
        self, request: web.BaseRequest, body: FakeRequest, asked: Asked, now: float
    ) -> web.StreamResponse:
        tally = self.tally
        fate = draw_fate(self.settings, asked.content, tally.seen[asked.content])
        served = Served(asked.content, asked.tokens, now)
        tally.served.append(served)
        tally.seen[asked.content] += 1
        tally.in_flight += 1
        tally.max_in_flight = max(tally.max_in_flight, tally.in_flight)
        try:
            if fate.fault == "hang":
                await asyncio.Event().wait()
            await asyncio.sleep(fate.delay_s)
            served.outcome = fate.fault or "completed"
            if fate.fault is not None and fate.fault in BODY_FAULTS:
                return await strange_body(request, fate.fault)
            return self._reply(request, body, asked, fate)
        except asyncio.CancelledError:
            served.outcome = fate.fault if fate.fault == "hang" or fate.fault in BODY_FAULTS else "gone"
            raise
        finally:
            served.done_s = monotonic() - tally.started
            tally.in_flight -= 1

    def _reply(self, request: web.BaseRequest, body: FakeRequest, asked: Asked, fate: Fate) -> web.StreamResponse:
        headers = self._gate.headers(monotonic() - self.tally.started)
        if fate.fault in ("http_500", "http_503"):
            return _error(int(fate.fault[-3:]), "The server had an error.", headers=headers)
        if fate.fault == "reset":
            _hang_up(request)
            return web.Response()
        if fate.fault == "garbage":
            return web.Response(body=b"<html>It works!</html>", content_type="application/json", headers=headers)
        if fate.fault == "length":
            asked = cut(asked)
        if fate.fault == "empty":
            asked = asked._replace(text="")
        completion = completion_body(asked, body, cached_tokens=self._count(body, asked))
        return json_response(misstated(completion, self.settings, request.headers), headers=headers)

    def _count(self, body: FakeRequest, asked: Asked) -> int | None:
        """Count the tokens of a reply; how many of the prompt's were cached, or None without a cache."""
        self.tally.prompt_tokens += asked.prompt_tokens
        self.tally.completion_tokens += asked.completion_tokens
        if not self.settings.prefix_cache_blocks:
            return None
        cached = min(self._cache.cached_tokens(body), asked.prompt_tokens)
        self._cache.remember(body)
        self.tally.cached_tokens += cached
        return cached


def _request(
    message: RawRequestMessage,
    payload: StreamReader,
    protocol: RequestHandler,
    writer: AbstractStreamWriter,
    task: asyncio.Task[None],
) -> web.BaseRequest:
    loop = asyncio.get_running_loop()
    return web.BaseRequest(message, payload, protocol, writer, task, loop, client_max_size=_LARGEST_BODY)


def _error(
    status: int,
    message: str,
    *,
    code: str | None = None,
    param: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> web.Response:
    kind = "invalid_request_error" if status < 429 else "server_error" if status >= 500 else "requests"
    error = {"message": message, "type": kind, "param": param, "code": code}
    return json_response({"error": error}, status=status, headers=headers)


def _hang_up(request: web.BaseRequest) -> None:
    transport = request.transport
    if transport is not None:
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _ABORT)
        transport.abort()


# ---------------------------------------------------------------- a process of its own


@contextmanager
def fake_process(settings: FakeSettings, *, port: int = 0) -> Iterator[str]:
    """Yield the base URL of a fake in a process of its own, which ends with the context; port 0: any that is free."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_serve, args=(settings, port, there.send), daemon=True)
    process.start()
    there.close()
    try:
        yield here.recv()
    finally:
        process.terminate()
        process.join()


def main(argv: Sequence[str] | None = None) -> int:
    settings, port = parse_options(argv, description=__doc__, environment=os.environ)
    _serve(settings, port, partial(print, flush=True))
    return 0


def _serve(settings: FakeSettings, port: int, tell: Callable[[str], object]) -> None:
    """Serve until a signal comes; *tell* is called with the base URL."""

    async def serve() -> None:
        stopped = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stopped.set)
        async with FakeProvider(settings, port=port) as fake:
            tell(fake.url)
            await stopped.wait()

    asyncio.run(serve())


if __name__ == "__main__":
    raise SystemExit(main())
