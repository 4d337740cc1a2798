"""
An OpenAI-compatible server on loopback without a model: for rehearsals, tests and benchmarks.

    python -m actors.rehearsal.fake_provider --port 0 --requests-per-minute 3000 --fault http_500=0.05

Its first line on standard output is its base URL. `FakeSettings` lists its abilities; its fields are options.

    POST /v1/chat/completions   the tasks of our prompts, as the scripted models do them; else a fixed text
    GET  /v1/models             one model
    /v1/files, /v1/batches      OpenAI's batch API
    GET  /counters              numbers of served requests
    GET  /served                each request let in: its content hash, when (seconds since the start), what became of it
    GET  /refused               when each request was refused (seconds since the start)
    POST /reset                 forgets all of it, and what counts against the limits
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import partial
from time import monotonic
from typing import Any, Self

from aiohttp import web
from pydantic import TypeAdapter, ValidationError

from actors.rehearsal.fake_batches import FakeBatches
from actors.rehearsal.fake_replies import (
    Body,
    Reply,
    completion,
    content_of,
    cut,
    error_response,
    hang_up,
    output_limit,
    strange_body,
)
from longform.errors import UsageError
from longform.rehearsal.limits import BothLimits, refusal_headers
from longform.rehearsal.settings import ALL_FAULTS, BODY_FAULTS, FakeSettings, draw_fate

_LARGEST_BODY = 256 * 2**20
_SPENT_S = 3600.0  # what a refusal says of the wait when a quota is spent
_WAITING_CONNECTIONS = 4096  # a client that opens hundreds at once must not wait for a SYN to be sent again
_TOKENS = ("prompt_tokens", "completion_tokens", "cached_tokens")
_COUNTED = ("refused", "unauthorized", "bad_requests", "max_in_flight", "in_flight", *_TOKENS)


@dataclass
class Served:
    """A request that was let in; `outcome`: `completed`, its fault, `gone` (the client left), or None on the way."""

    content: str
    tokens: int
    at_s: float
    done_s: float | None = None
    outcome: str | None = None


class FakeProvider:
    """The server; as a context manager it serves on a free port of 127.0.0.1, at `url`, what *reply* says."""

    def __init__(self, settings: FakeSettings, *, port: int = 0, reply: Reply = completion) -> None:
        self.settings = settings
        self.url = ""
        self._port, self._reply = port, reply
        self.reset()

    def reset(self) -> None:
        self.served: list[Served] = []
        self._counts: Counter[str] = Counter()
        self._seen: Counter[str] = Counter()  # content hash -> requests let in
        self._refused_at_s: list[float] = []
        self._started = monotonic()
        self._gate = BothLimits(self.settings)
        self._batches = FakeBatches(self.settings, self._reply)

    def counters(self) -> dict[str, Any]:
        """Return the counters that `GET /counters` tells."""
        outcomes = Counter(one.outcome for one in self.served)
        return {
            "accepted": len(self.served),
            **{name: self._counts[name] for name in _COUNTED},
            "completed": outcomes["completed"],
            "gone": outcomes["gone"],
            "faults": {kind: outcomes[kind] for kind in ALL_FAULTS},
            "served_again": len(self.served) - len(self._seen),
            "batch": self._batches.counters(),
        }

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=_LARGEST_BODY)
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(app, handler_cancellation=True, access_log=None, keepalive_timeout=600)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port, backlog=_WAITING_CONNECTIONS, shutdown_timeout=0.1)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        told: object = {}
        match request.path:
            case "/counters":
                told = self.counters()
            case "/served":
                told = [vars(one) for one in self.served]
            case "/refused":
                told = self._refused_at_s
            case "/reset":
                self.reset()
            case _ if not self._may_ask(request):
                self._counts["unauthorized"] += 1
                return error_response(401, "Incorrect API key provided.", code="invalid_api_key")
            case "/v1/chat/completions":
                return await self._complete(request)
            case "/v1/models":
                told = {"object": "list", "data": [{"id": "fake", "object": "model", "created": 0}]}
            case _:
                return await self._batches.handle(request)
        return web.json_response(told)

    def _may_ask(self, request: web.Request) -> bool:
        """Return whether the key is right and has not expired."""
        last, key = self.settings.unauthorized_after, self.settings.key
        has_expired = last is not None and len(self.served) >= last
        return not has_expired and (key is None or request.headers.get("Authorization") == f"Bearer {key}")

    # ------------------------------------------------------------ chat completions

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        try:
            body: Body = json.loads(await request.read())
            completed = self._reply(body)
        except (KeyError, TypeError, ValueError, IndexError):
            return self._bad_request("expected the JSON of a chat completion request, with messages of text")
        except UsageError as error:  # the name of a scripted model that says what it does not know
            return self._bad_request(str(error), param="model")
        refused = self._not_taken(body, completed) or self._over_limit(completed)
        return refused or await self._answer(request, completed)

    def _not_taken(self, body: Body, completed: Body) -> web.Response | None:
        """Return a 400 for a parameter or a length that the settings do not take."""
        for name in self.settings.refused_parameters:
            if name in body:
                message = f"Unsupported parameter: '{name}' is not supported with this model."
                return self._bad_request(message, code="unsupported_parameter", param=name)
        window = self.settings.context_window
        wanted = completed["usage"]["prompt_tokens"] + (output_limit(body) or 0)
        if window is not None and wanted > window:
            message = f"This model's maximum context length is {window} tokens; {wanted} were requested."
            return self._bad_request(message, code="context_length_exceeded", param="messages")
        return None

    def _over_limit(self, completed: Body) -> web.Response | None:
        """Return a 429 if the limits do not let the request in now."""
        now, last = self._now(), self.settings.refused_after
        is_spent = last is not None and len(self.served) >= last
        wait_s = _SPENT_S if is_spent else self._gate.wait_s(completed["usage"]["total_tokens"], now)
        if not wait_s:
            return None
        self._counts["refused"] += 1
        self._refused_at_s.append(now)
        headers = refusal_headers(self.settings, wait_s) | self._gate.headers(now)
        return error_response(429, "Rate limit reached.", code="rate_limit_exceeded", headers=headers)

    def _now(self) -> float:
        return monotonic() - self._started

    def _bad_request(self, message: str, *, code: str | None = None, param: str | None = None) -> web.Response:
        self._counts["bad_requests"] += 1
        return error_response(400, message, code=code, param=param)

    async def _answer(self, request: web.Request, completed: Body) -> web.StreamResponse:
        """Let a request in, and reply when its time has come: with the completion, or by its fault."""
        counts, started = self._counts, self._started
        served = Served(content_of(completed), completed["usage"]["total_tokens"], self._now())
        fault, delay_s = draw_fate(self.settings, served.content, self._seen[served.content])
        self._gate.let_in(served.tokens, served.at_s)
        self.served.append(served)
        self._seen[served.content] += 1
        counts["in_flight"] += 1
        counts["max_in_flight"] = max(counts["max_in_flight"], counts["in_flight"])
        try:
            await (asyncio.Event().wait() if fault == "hang" else asyncio.sleep(delay_s))
            served.outcome = fault or "completed"
            if fault in BODY_FAULTS:
                return await strange_body(request, fault)
            return self._response(request, completed, fault)
        except asyncio.CancelledError:
            served.outcome = fault if fault == "hang" or fault in BODY_FAULTS else "gone"
            raise
        finally:
            served.done_s = monotonic() - started
            counts["in_flight"] -= 1

    def _response(self, request: web.Request, completed: Body, fault: str | None) -> web.Response:
        headers = self._gate.headers(self._now())
        match fault:
            case "http_500" | "http_503":
                return error_response(int(fault[-3:]), "The server had an error.", headers=headers)
            case "reset":
                hang_up(request)
                return web.Response()
            case "garbage":
                return web.Response(body=b"<html>It works!</html>", content_type="application/json", headers=headers)
            case "length":
                completed = cut(completed, 0.5, finish_reason="length")
            case "empty":
                completed = cut(completed, 0.0)
        usage = completed["usage"]
        told = {"cached_tokens": 0, **usage, **usage.get("prompt_tokens_details", {})}
        self._counts.update({name: told[name] for name in _TOKENS})
        return web.json_response(completed, headers=headers)


# ---------------------------------------------------------------- a process of its own


@contextmanager
def fake_process(settings: FakeSettings, *, port: int = 0, reply: Reply = completion) -> Iterator[str]:
    """Yield the base URL of a fake in a process of its own, which ends with the context; port 0: any that is free."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_serve, args=(settings, port, reply, there.send), daemon=True)
    process.start()
    there.close()
    try:
        yield here.recv()
    finally:
        process.terminate()
        process.join()


def main(argv: Sequence[str] | None = None) -> int:
    settings, port = parse_options(argv, os.environ)
    _serve(settings, port, completion, partial(print, flush=True))
    return 0


def parse_options(argv: Sequence[str] | None, environment: Mapping[str, str]) -> tuple[FakeSettings, int]:
    """Return the settings and the port that a command line names; the key comes from the variable it names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0, help="0: any that is free")
    parser.add_argument("--key-env", help="the variable that holds the key to ask for")
    parser.add_argument("--fault", dest="faults", action="append", metavar="KIND=SHARE", help=f"one of {[*ALL_FAULTS]}")
    for one in fields(FakeSettings):
        if one.name not in ("faults", "key", "limiter"):
            form: Body = {"bool": {"action": "store_true"}, "tuple[str, ...]": {"nargs": "*"}}.get(str(one.type), {})
            parser.add_argument(f"--{one.name.replace('_', '-')}", help=str(one.type), **form)
    options = {name: value for name, value in vars(parser.parse_args(argv)).items() if value is not None}
    port, key_env = options.pop("port"), options.pop("key_env", None)
    options["faults"] = dict(fault.partition("=")[::2] for fault in options.pop("faults", []))
    try:
        settings = TypeAdapter(FakeSettings).validate_python(options)
    except ValidationError as error:
        parser.error(str(error))
    return replace(settings, key=environment[key_env] if key_env else None), port


def _serve(settings: FakeSettings, port: int, reply: Reply, tell: Callable[[str], object]) -> None:
    """Serve until a signal comes; *tell* is called with the base URL."""

    async def serve() -> None:
        stopped = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, stopped.set)
        async with FakeProvider(settings, port=port, reply=reply) as fake:
            tell(fake.url)
            await stopped.wait()

    asyncio.run(serve())


if __name__ == "__main__":
    raise SystemExit(main())
