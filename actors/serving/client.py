"""
Asks served judges, rerankers and encoders, by URL or by a deployment's handle.

A dead replica, an overload and a `Retry-After` are waited out, up to a cap; a wrong request is an error at once. Each
request states how many more this client holds back, for which our servers start replicas. Send lists: one request with
a hundred documents costs little more than one with one.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from time import time
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Self
from uuid import uuid4

from pydantic import BaseModel, Field, ValidationError, model_validator

from actors.secret_values import redaction
from actors.serving.messages import (
    HeldBack,
    JudgeAnswer,
    Refusal,
    Replies,
    best_first,
    judge_answer,
    shared_text,
    stated,
)
from longform.chat.answers import read_signals, redirect_words
from longform.errors import LongformError
from longform.given import Count, Json, Number

if TYPE_CHECKING:
    from ray.serve.handle import DeploymentHandle

_PASSING = frozenset({429, 500, 502, 503, 504})
"""Statuses after which another try may succeed; Serve answers 500 when a replica dies under a request."""

_COMPANY_S = 0.25  # a worker's first calls come one by one as it begins
_REFUSED = 429
_FIRST_WAIT_S = 0.5
_DOUBLINGS = 10  # of it; beyond, any cap is reached


class Reply(NamedTuple):
    status: int  # HTTP's; 503 if no server was reached
    body: Any  # JSON; the message of an error
    retry_after_s: float | None = None  # the wait that the server asked for; None if it did not say


class _Row(BaseModel):
    index: Count
    value: Any


class _Ranked(_Row):
    value: Number | None = Field(alias="relevance_score")
    failure: str | None = None

    @model_validator(mode="after")
    def _has_a_score_or_says_why(self) -> Self:
        if self.value is None and "failure" not in self.model_fields_set:
            raise ValueError("found null without `failure`")
        return self


class _Embedded(_Row):
    value: list[Annotated[float, Field(strict=True, allow_inf_nan=False)]] = Field(alias="embedding", min_length=1)


class RefusedError(LongformError):
    """A request that another try would not help; *status* is HTTP's: 400, 413 and 422 speak of the request."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


Send = Callable[[str, Mapping[str, Json], HeldBack], Awaitable[Reply]]
"""A path, a JSON body and what waits behind it -> the reply; never raises because of the other side."""


class ServedClient:
    """
    Sends requests by `over_http` or `over_handle`, and sends them again if that may help.

    So many are *in_flight*, and the others wait here. A request has at most so many *attempts*; a refusal of 429, after
    which the server is there, is none. All waits after refusals of one request last *patience_s* at most; one lasts
    *most_wait_s*, even if the server asks for more.
    """

    def __init__(
        self,
        send: Send,
        *,
        in_flight: int = 256,
        attempts: int = 8,
        patience_s: float = 600.0,
        most_wait_s: float = 30.0,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._send = send
        self._caller, self._in_flight, self._open = uuid4().hex, in_flight, 0
        self._places: tuple[asyncio.AbstractEventLoop, asyncio.Semaphore] | None = None
        self._attempts = attempts
        self._patience_s = patience_s
        self._most_wait_s = most_wait_s
        self._sleep = sleep

    async def judge(self, judge: str, items: Sequence[Mapping[str, Json]]) -> JudgeAnswer:
        """
        Return the answer of `/v1/judge`, with a result for each of *items*, in their order.

        Raises:
            RefusedError: The request is wrong.
            LongformError: Nobody answered it in time.
        """
        answer: JudgeAnswer = await self._asked("/v1/judge", {"judge": judge, "items": list(items)})
        return answer

    async def rerank(
        self, model: str, query: str, documents: Sequence[str]
    ) -> list[tuple[int, float | None, str | None]]:
        """Return (index, score, failure) of all *documents*, best first, without a score last; raise as `judge`."""
        if not documents:
            return []
        body = {"model": model, "query": query, "documents": list(documents)}
        rows = await self._each("/v1/rerank", body, "results", _Ranked, len(documents))
        return [(row.index, row.value, row.failure) for row in rows]

    async def embed(self, model: str, texts: Sequence[str]) -> list[tuple[int, list[float]]]:
        """Return (index, vector) of all *texts*; raise as `judge`."""
        body = {"model": model, "input": list(texts)}
        rows = await self._each("/v1/embeddings", body, "data", _Embedded, len(texts))
        return [(row.index, row.value) for row in rows]

    async def search(self, query: str, n: int) -> Any:
        """Return the answer of a search endpoint, whose URL is the whole path, for *n* documents; raise as `judge`."""
        return await self._asked("", {"query": query, "n": n})

    async def _each(self, path: str, body: Mapping[str, Json], name: str, form: type[_Row], n: int) -> list[Any]:
        """Return the rows of an answer's list *name*: one for each of *n* asked about."""
        answer = await self._asked(path, body)
        expected = f"{path} answered 200: expected {name} with index and {form.model_fields['value'].alias}"
        try:
            rows = [form.model_validate(row) for row in answer[name]]
        except (KeyError, TypeError, ValidationError) as error:
            found = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
            raise LongformError(f"{expected}, found {found}") from error
        places = [row.index for row in rows]
        if sorted(places) != list(range(n)):
            raise LongformError(f"{expected} of each of {n} once, found indices {places[:20]}")
        return rows

    async def _asked(self, path: str, body: Mapping[str, Json]) -> Any:
        self._open += 1
        try:
            await asyncio.sleep(_COMPANY_S if self._places is None else 0)  # those that come together are counted
            async with self._free():
                return await self._tried(path, body)
        finally:
            self._open -= 1

    def _free(self) -> asyncio.Semaphore:
        """Return the semaphore of the running loop: a worker has a loop for each task."""
        loop = asyncio.get_running_loop()
        if self._places is None or self._places[0] is not loop:
            self._places = loop, asyncio.Semaphore(self._in_flight)
        return self._places[1]

    async def _tried(self, path: str, body: Mapping[str, Json]) -> Any:
        failed = refused = 0
        waited_s = 0.0  # after refusals
        while True:
            reply = await self._send(path, body, HeldBack(self._caller, max(0, self._open - self._in_flight)))
            reply = reply._replace(body=redaction().value(reply.body))
            if reply.status == 200:
                return reply.body
            if reply.status not in _PASSING:
                raise RefusedError(reply.status, f"{path} answered {reply.status}: {reply.body}")
            wait_s = self._wait_s(reply, failed + refused)
            if reply.status == _REFUSED:
                refused, waited_s = refused + 1, waited_s + wait_s
            else:
                failed += 1
            if failed >= self._attempts:
                raise LongformError(f"{path} answered {reply.status} after {failed} attempts: {reply.body}")
            if waited_s > self._patience_s:
                often = f"{refused} times in {self._patience_s:g} s"
                raise LongformError(f"{path} answered {_REFUSED} {often}: {reply.body}")
            await self._sleep(wait_s)

    def _wait_s(self, reply: Reply, n_before: int) -> float:
        """Return how long to wait after a reply that others came before."""
        growing = _FIRST_WAIT_S * 2 ** min(n_before, _DOUBLINGS)
        wait_s = growing if reply.retry_after_s is None else reply.retry_after_s
        shortest = _FIRST_WAIT_S if reply.status == _REFUSED else 0.0  # of refusals only their time is bounded
        return min(max(wait_s, shortest), self._most_wait_s)


def over_http(base_url: str, *, token: str | None = None, timeout_s: float = 300.0) -> Send:
    """
    Send to a server, which is told how long this waits.

    It opens a connection for each request: a request is a list, and takes long beside it.
    """
    import aiohttp

    access = {"Authorization": f"Bearer {token}"} if token else {}

    async def send(path: str, body: Mapping[str, Json], held: HeldBack) -> Reply:
        timeout, url = aiohttp.ClientTimeout(total=timeout_s), f"{base_url.rstrip('/')}{path}"
        try:
            async with (
                aiohttp.ClientSession(headers=stated(timeout_s, held) | access, timeout=timeout) as session,
                session.post(url, json=dict(body), allow_redirects=False) as response,
            ):
                return read_answer(response.status, response.headers, await response.read(), url)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            return Reply(503, f"{type(error).__name__}: {error}")

    return send


def read_answer(status: int, headers: Mapping[str, str], body: bytes, url: str) -> Reply:
    """
    Return the reply in a server's answer; one of success that is no JSON is 502, as that of a gateway that is lost.
    *body* is the whole response, and *url* the address that was asked.
    """
    if 300 <= status < 400:
        return Reply(status, redirect_words(status, url, headers.get("location")))
    if status == 200:
        try:
            return Reply(200, json.loads(body))
        except (ValueError, RecursionError) as error:
            return Reply(502, f"a body that is no JSON ({type(error).__name__})")
    retry_after_s = read_signals(headers, now=time()).retry_after_s
    return Reply(status, body.decode(errors="replace")[:1000], retry_after_s)


def over_handle(handle: DeploymentHandle, *, timeout_s: float | None = None) -> Send:
    """
    Send to one model's deployment of the same cluster: `serve.get_deployment_handle("judges-NAME", "longform")`.

    The deployment is told how long this waits, and drops requests not computed by then; None: without a limit.

    The model named in a request is not read: a handle is of one model. Scores of a reranker are its own, a logit or a
    cosine, and not in the form that the configuration states for HTTP answers.
    """
    from ray.exceptions import RayActorError, RayTaskError
    from ray.serve.exceptions import BackPressureError, DeploymentUnavailableError

    async def send(path: str, body: Mapping[str, Json], held: HeldBack) -> Reply:
        items = body["items"] if path == "/v1/judge" else [{"query": body["query"], "texts": body["documents"]}]
        assert isinstance(items, list), path
        asked = handle.options(session_id=shared_text(items)).ask
        try:
            found: Replies | Refusal = await asked.remote(items, timeout_s, held)
        except (RayActorError, BackPressureError, DeploymentUnavailableError) as error:
            return Reply(503, type(error).__name__)
        except RayTaskError as error:
            return Reply(500, f"the model failed on this request with {type(error.cause).__name__}; its log says how")
        if isinstance(found, Refusal):
            return Reply(*found)
        return Reply(200, judge_answer(found) if path == "/v1/judge" else _reranked(found))

    return send


def _reranked(found: Replies) -> dict[str, Json]:
    rows = [{"relevance_score": one.content, "failure": one.failure} for one in found.answers[0]]
    return {"results": [{"index": place, **rows[place]} for place in best_first(found.answers[0])]}
