"""
A door to a server of the cluster: `serve://DOOR/PATH` asks it as its URL would.

Ray Serve's LLM application answers HTTP only, and jobs ask applications by their handle. A door stands beside it as an
application of its own, and passes requests of jobs on to the proxy of its node.
"""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from ray import serve
from ray.serve.deployment import Application, Deployment
from ray.serve.exceptions import RayServeException

from actors.secret_values import token_in
from actors.serving.endpoint import HandleAnswer
from actors.serving.messages import HeldBack
from longform.errors import UsageError

_PLACES = 2000  # requests that wait for the server at once
_PASSED_ON = ("retry-after", "content-type", "location", "x-ratelimit-", "anthropic-ratelimit-")  # as they begin


@serve.deployment(
    name="door",
    max_ongoing_requests=_PLACES,
    max_queued_requests=_PLACES,
    ray_actor_options={"num_cpus": 0.1},
)
class Door:
    """
    Passes requests on to one server.

    *url* stands in front of each path. *api_key_env* is the variable with the server's token, on the door's node; None:
    it wants none.

    Raises:
        UsageError: The variable is unset.
    """

    def __init__(self, url: str, api_key_env: str | None = None) -> None:
        self._url = url.rstrip("/")
        token = token_in(api_key_env, f"server at {url}")
        self._headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        self._session: aiohttp.ClientSession | None = None

    async def post(self, path: str, body: bytes, timeout_s: float | None = None, *_held: HeldBack) -> HandleAnswer:
        """Return the server's answer; 503 if nobody is there, 504 if it took longer than the caller waits."""
        if self._session is None:
            connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=4.0)
            self._session = aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=None))
        try:
            async with (
                asyncio.timeout(timeout_s),
                self._session.post(
                    f"{self._url}{path}", data=body, headers=self._headers, allow_redirects=False
                ) as response,
            ):
                told = {name.lower(): value for name, value in response.headers.items()}
                kept = {name: value for name, value in told.items() if name.startswith(_PASSED_ON)}
                return HandleAnswer(response.status, kept, await response.read())
        except TimeoutError:
            return HandleAnswer(504, {}, b'{"error": {"message": "the server took longer than the caller waits"}}')
        except (aiohttp.ClientError, OSError):
            return HandleAnswer(503, {}, b'{"error": {"message": "the server cannot be reached now"}}')


class CannotBuildError(UsageError, RayServeException):  # type: ignore[misc]  # Ray has no types
    """Serve states this kind at once, without a traceback; after any other it builds three times more."""


def build(arguments: dict[str, Any]) -> Application:
    """
    Return the application of a door; *arguments*, the `args:` of the configuration, are those of `Door`.

    Raises:
        CannotBuildError: They are not.
    """
    if unknown := sorted(arguments.keys() - {"url", "api_key_env"}):
        raise CannotBuildError(f"args of a door: expected url and api_key_env, found {unknown}")
    url = str(arguments.get("url") or "")
    if urlsplit(url).scheme not in ("http", "https"):
        raise CannotBuildError(f"args of a door: expected `url` as http://HOST:PORT/PATH, found {url!r}")
    door: Deployment = Door
    return door.bind(url, arguments.get("api_key_env"))
