"""Guards every path: the number of requests, their headers and bodies, the token and the deadline."""

from __future__ import annotations

import asyncio
import math
import re
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar

import httpx
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from actors.serving.endpoint import HandleAnswer
from actors.serving.messages import (
    BACKLOG_HEADER,
    DEADLINE_HEADER,
    Answered,
    ApiError,
    DeadlineError,
    HeldBack,
    stated,
)
from serve.http.access import OPEN_PATH, Access
from serve.http.errors import error_answer
from serve.http.intake import Intake, closing, head_fault, replayed

# ---------------------------------------------------------------- what a request states of itself

HELD_BACK: ContextVar[HeldBack | None] = ContextVar("held_back", default=None)
"""Backlog of the caller whose request this task answers; None: it did not say."""

_DONE_BY: ContextVar[float | None] = ContextVar("done_by", default=None)
"""Deadline of the request that this task answers, on its event loop's clock; None: the request did not say."""


_BACKLOG = re.compile(b"([0-9a-f]{32}) ([0-9]{1,9})")


def statement(headers: Sequence[tuple[bytes, bytes]]) -> tuple[float | None, HeldBack | None]:
    """
    Return the seconds that a request gives itself, and what its caller holds back; None: it does not say.

    Raises:
        ApiError: It says something else.
    """
    seconds, held = (dict(headers).get(name.lower().encode()) for name in (DEADLINE_HEADER, BACKLOG_HEADER))
    try:
        within_s = None if seconds is None else float(seconds)
    except ValueError:
        within_s = math.nan
    if within_s is not None and not 0 < within_s < math.inf:
        raise ApiError(400, f"{DEADLINE_HEADER}: expected seconds, a number above 0")
    read = _BACKLOG.fullmatch(held or b"")
    if held is not None and read is None:
        raise ApiError(400, f"{BACKLOG_HEADER}: expected 32 hexadecimal digits, a space and the requests to come")
    return within_s, None if read is None else HeldBack(read[1].decode(), int(read[2]))


@contextmanager
def counting_down(seconds: float | None) -> Iterator[None]:
    """Give the calls inside so many seconds from now."""
    done_by = None if seconds is None else asyncio.get_running_loop().time() + seconds
    token = _DONE_BY.set(done_by)
    try:
        yield
    finally:
        _DONE_BY.reset(token)


@asynccontextmanager
async def in_time() -> AsyncIterator[float | None]:
    """
    Yield the seconds that are left, None if the request did not say, and end the work inside when they have passed.

    Raises:
        DeadlineError: They have.
    """
    done_by = _DONE_BY.get()
    left = None if done_by is None else done_by - asyncio.get_running_loop().time()
    try:
        async with asyncio.timeout_at(done_by) as clock:
            yield left
    except TimeoutError:
        if clock.expired():
            raise DeadlineError from None
        raise


# ---------------------------------------------------------------- the guard


BY_HANDLE = "longform.by_handle"
"""Stands in the scope of a request that did not come over HTTP; no header can put it there."""

_CLUSTER = "(cluster)"


class Counts:
    """Counts of one ingress replica since it started."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, int, str]] = Counter()  # (path, status, whose token)
        self.seconds: defaultdict[str, float] = defaultdict(float)  # by path
        self.in_flight = 0
        self.models: Counter[tuple[str, str]] = Counter()  # (model, units | cached_units | tokens)

    def add(self, model: str, answers: Iterable[Answered]) -> None:
        """Count an answer of *model*."""
        for answer in answers:
            self.models[model, "units"] += 1
            self.models[model, "cached_units"] += answer.from_cache
            self.models[model, "tokens"] += answer.tokens


class Guard:
    """
    Refuses requests without a token if one is wanted, and those that `serve.http.intake` refuses; counts all.

    *paths* are counted by their name, others together, so that nobody can fill the memory with names.
    """

    def __init__(self, app: ASGIApp, access: Access, counts: Counts, paths: Collection[str]) -> None:
        self._app = app
        self._access = access
        self._intake = Intake(access.limits)
        self._counts = counts
        self._paths = frozenset(paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        elif scope["type"] == "http":
            await self._counted(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _counted(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "HEAD":  # as GET: the server leaves the body out
            scope = {**scope, "method": "GET"}
        path = scope["path"] if scope["path"] in self._paths else "other"
        caller = self._caller(scope)
        status = 500

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        started = time.perf_counter()
        self._counts.in_flight += 1
        try:
            await self._admit(caller, scope, receive, watched)
        finally:
            self._counts.in_flight -= 1
            self._counts.requests[path, status, caller or ""] += 1
            self._counts.seconds[path] += time.perf_counter() - started

    def _caller(self, scope: Scope) -> str | None:
        """Return the name of the caller's token; callers by a handle need none; None if it is nobody's."""
        if BY_HANDLE in scope:
            return _CLUSTER
        authorization = dict(scope["headers"]).get(b"authorization")
        return self._access.tokens.holder(authorization) if self._access.tokens else None

    async def _admit(self, caller: str | None, scope: Scope, receive: Receive, send: Send) -> None:
        """The application's answer, or a refusal."""
        if fault := head_fault(scope, self._access.limits):
            return await fault(scope, receive, send)
        if self._access.wants_token and caller is None and scope["path"] != OPEN_PATH:
            refusal = closing(401, "expected `Authorization: Bearer TOKEN` with a known token")
            return await refusal(scope, receive, send)
        try:
            seconds, held = statement(scope["headers"])
        except ApiError as error:
            return await error_answer(*error.refusal)(scope, receive, send)
        HELD_BACK.set(held)
        with counting_down(seconds):
            body = await self._intake.body(scope, receive)
            if isinstance(body, bytes):
                await self._app(scope, replayed(body, receive), send)
            elif body is not None:
                await body(scope, receive, send)
        return None


async def post_by_handle(
    app: ASGIApp, path: str, body: bytes, timeout_s: float | None = None, held: HeldBack | None = None
) -> HandleAnswer:
    """Return *app*'s answer to a POST that came by a handle, whose caller waits so long and holds so much back."""

    async def by_handle(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, BY_HANDLE: True}, receive, send)

    transport = httpx.ASGITransport(by_handle, raise_app_exceptions=False)
    headers = {"Content-Type": "application/json", **stated(timeout_s, held)}
    request = httpx.Request("POST", f"http://cluster{path}", content=body, headers=headers)
    answer = await transport.handle_async_request(request)
    return HandleAnswer(answer.status_code, dict(answer.headers), await answer.aread())


class Counted(Collector):
    """The counts of a replica, for Prometheus."""

    def __init__(self, counts: Counts) -> None:
        self._counts = counts

    def collect(self) -> Iterator[Metric]:
        counts = self._counts
        requests = CounterMetricFamily("longform_requests", "Requests", labels=["path", "status", "caller"])
        for (path, status, caller), n in sorted(counts.requests.items()):
            requests.add_metric([path, str(status), caller], n)
        seconds = CounterMetricFamily("longform_request_seconds", "Seconds of all requests", labels=["path"])
        for path, total in sorted(counts.seconds.items()):
            seconds.add_metric([path], total)
        yield from (requests, seconds)
        yield GaugeMetricFamily("longform_requests_in_flight", "Requests without an answer", counts.in_flight)
        for what in sorted({what for _, what in counts.models}):
            of_model = CounterMetricFamily(f"longform_model_{what}", f"The answers' {what}", labels=["model"])
            for (model, counted), n in sorted(counts.models.items()):
                if counted == what:
                    of_model.add_metric([model], n)
            yield of_model


def metrics_text(counts: Counts) -> bytes:
    """Return the counts in Prometheus' text format."""
    registry = CollectorRegistry()
    registry.register(Counted(counts))
    return generate_latest(registry)
