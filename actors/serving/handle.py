"""
An application of Ray Serve in this cluster, asked by its handle: `serve://APPLICATION/PATH` in place of a URL.

Requests and answers are those of HTTP. No port is opened for it, and no token is wanted: callers in the cluster run
code there anyway.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from actors.serving.client import Reply, Send, read_answer
from longform.errors import UsageError
from longform.given import Json

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

    async def post(self, path: str, body: bytes, timeout_s: float | None = None) -> HandleAnswer:
        """
        Return the application's answer, for which the caller waits so long; None: without a limit.

        Raises:
            ConnectionError: It is not there now, has no place, or failed.
        """
        from ray.exceptions import RayError
        from ray.serve.exceptions import BackPressureError, DeploymentUnavailableError

        try:
            answer: HandleAnswer = await self._handle.post.remote(path, body, timeout_s)
        except (RayError, BackPressureError, DeploymentUnavailableError) as error:
            raise ConnectionError(type(error).__name__) from error
        return answer


def over_application(url: str, *, timeout_s: float = 300.0) -> Send:
    """
    Send as `over_http` does.

    Raises:
        UsageError: As of `Application`.
    """
    application, base = Application(url), urlsplit(url).path.rstrip("/")

    async def send(path: str, body: Mapping[str, Json]) -> Reply:
        try:
            async with asyncio.timeout(timeout_s):
                answer = await application.post(f"{base}{path}", json.dumps(dict(body)).encode(), timeout_s)
        except (ConnectionError, TimeoutError) as error:
            return Reply(503, f"{type(error).__name__}: {error}")
        return read_answer(*answer, url)

    return send
