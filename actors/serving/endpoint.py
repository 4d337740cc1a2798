"""
Clients of endpoints that a configuration names by their whole URL: one of a model, and those that search.

`serve://APPLICATION/PATH` in place of a URL is an application of Ray Serve in this cluster, asked by its handle.
Requests and answers are those of HTTP. No port is opened for it, and no token is wanted: callers in the cluster run
code there anyway.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from actors.secret_values import token_in
from actors.serving.client import Reply, Send, ServedClient, over_http, read_answer
from actors.serving.messages import HeldBack
from longform.errors import LongformError, UsageError
from longform.given import Json
from longform.settings.endpoints import EndpointSettings

SCHEME = "serve"


class HandleAnswer(NamedTuple):
    status: int  # as of HTTP
    headers: Mapping[str, str]  # with names in small letters
    body: bytes  # JSON, mostly


def is_of_cluster(url: str) -> bool:
    return urlsplit(url).scheme == SCHEME


class Application:
    """
    The application that a `serve://` URL names.

    Raises:
        UsageError: This cluster serves none of that name.
    """

    def __init__(self, url: str) -> None:
        import ray.serve
        from ray.serve.exceptions import RayServeException

        name = urlsplit(url).netloc
        try:
            self._handle = ray.serve.get_app_handle(name)
        except RayServeException as error:
            where = f"{url}: expected an application {name!r} of Ray Serve in this cluster"
            raise UsageError(f"{where}, found none; `serve status` shows what it serves ({error})") from error

    async def post(self, path: str, body: bytes, timeout_s: float | None, *held: HeldBack) -> HandleAnswer:
        """
        Return the application's answer, for which the caller waits so long (None: without a limit) and states what it
        holds back.

        Raises:
            ConnectionError: It is not there now, has no place, or failed.
        """
        from ray.exceptions import RayError
        from ray.serve.exceptions import BackPressureError, DeploymentUnavailableError

        try:
            answer: HandleAnswer = await self._handle.post.remote(path, body, timeout_s, *held)
        except (RayError, BackPressureError, DeploymentUnavailableError) as error:
            raise ConnectionError(type(error).__name__) from error
        return answer


def over_application(url: str, *, timeout_s: float = 300.0) -> Send:
    """Send as `over_http` does; raise as `Application`."""
    application, base = Application(url), urlsplit(url).path.rstrip("/")

    async def send(path: str, body: Mapping[str, Json], held: HeldBack) -> Reply:
        try:
            async with asyncio.timeout(timeout_s):
                answer = await application.post(f"{base}{path}", json.dumps(dict(body)).encode(), timeout_s, held)
        except (ConnectionError, TimeoutError) as error:
            return Reply(503, f"{type(error).__name__}: {error}")
        return read_answer(*answer, url)

    return send


class Endpoint:
    """
    Asks one endpoint; overload and dead replicas are waited out.

    Messages name the *kind* of model that stands there.

    Raises:
        UsageError: The variable with the token is unset, or this cluster has no such application.
    """

    def __init__(
        self, kind: str, settings: EndpointSettings, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self.where = f"{kind} {settings.model!r} at {settings.url}"  # the model and its place, in words
        how = settings.model_dump(include={"in_flight", "attempts"})
        self.client = ServedClient(_to_one_url(kind, settings), sleep=sleep, **how)


def token_of(kind: str, settings: EndpointSettings) -> str | None:
    """Return the bearer token; None if none is sent. UsageError: the variable is unset."""
    return token_in(settings.api_key_env, f"{kind} at {settings.url}")


def _to_one_url(kind: str, settings: EndpointSettings) -> Send:
    """Send to the configured URL in place of the client's path; it is the endpoint's own, Cohere's is /v2/rerank."""
    if is_of_cluster(settings.url):
        send = over_application(settings.url, timeout_s=settings.timeout_s)
    else:
        send = over_http(settings.url, token=token_of(kind, settings), timeout_s=settings.timeout_s)

    async def sent(_path: str, body: Mapping[str, Json], held: HeldBack) -> Reply:
        return await send("", body, held)

    return sent


IN_FLIGHT = 8  # requests of a worker
ATTEMPTS = 6
TIMEOUT_S = 120.0


class SearchEndpoints:
    """All endpoints of a worker; *opened* gives what sends to a URL with a token."""

    def __init__(
        self, opened: Callable[..., Send] = over_http, *, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._open, self._sleep = opened, sleep
        self._free = asyncio.Semaphore(IN_FLIGHT)

    async def search(self, url: str, fields: Mapping[str, str]) -> str:
        """
        Return the answer of the endpoint at *url* as JSON.

        *fields* are `query`, `n`, and `api_key_env`, the variable with the token; empty: none.

        Raises:
            UsageError: The variable is unset.
            LongformError: Nobody answered in time, or the request was refused.
        """
        token = token_in(fields["api_key_env"] or None, f"search endpoint {url}")
        client = ServedClient(self._open(url, token=token, timeout_s=TIMEOUT_S), attempts=ATTEMPTS, sleep=self._sleep)
        try:
            async with self._free:
                return json.dumps(await client.search(fields["query"], int(fields["n"])))
        except LongformError as error:
            raise LongformError(
                f"search endpoint {url}: {error}; once that is mended, the same command goes on from here"
            ) from error
