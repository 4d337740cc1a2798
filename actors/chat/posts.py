"""
Post JSON to a chat server, over HTTP or by the handle of an application of this cluster.

It takes 0.1 ms of processor time a request at 64 in flight, the `openai` client around the same transport 1.1 ms
(docs/decisions/0045-the-chat-path-posts-by-itself.md).
"""

from __future__ import annotations

import os
import ssl
from time import monotonic
from types import SimpleNamespace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from actors.serving.endpoint import Application, is_of_cluster
from longform.chat.answers import HttpAnswer
from longform.chat.completions import LARGEST_BODY
from longform.errors import UsageError

if TYPE_CHECKING:
    import aiohttp

_HEADERS = {
    "Accept": "application/json",
    "Accept-Encoding": "identity",  # bodies as they are
    "Content-Type": "application/json",
    "User-Agent": "longform",
}
_KEPT_ALIVE_S = 4.0  # less than servers keep a connection: uvicorn 5 s
_CLOSED_S = 5.0  # until a server that had closed a kept connection is heard to have done so, at most
_ORGANIZATION = {"OPENAI_ORG_ID": "OpenAI-Organization", "OPENAI_PROJECT_ID": "OpenAI-Project"}


class HttpPosts:
    """
    One pool of connections to a server, on one event loop; it opens as many as there are requests.

    *base_url* stands in front of each path. *key* is the bearer token; an empty one is not sent. A server *of_openai*
    is told the organization that the environment names.

    Raises:
        UsageError: As of `proxy_of`.
    """

    def __init__(self, base_url: str, key: str, *, of_openai: bool = True) -> None:
        import aiohttp

        self.url = base_url.rstrip("/")
        told = _ORGANIZATION if of_openai else {}
        organization = {header: os.environ[name] for name, header in told.items() if os.environ.get(name)}
        bearer = {"Authorization": f"Bearer {key}"} if key else {}
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0,
                keepalive_timeout=_KEPT_ALIVE_S,
                ssl=_certificates() if base_url.startswith("https") else True,
            ),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),  # the caller has a deadline
            headers={**bearer, **_HEADERS, **organization},
            cookie_jar=aiohttp.DummyCookieJar(),
            proxy=proxy_of(base_url),
            trace_configs=[_noting_reuse()],
        )

    async def post(self, path: str, body: bytes) -> HttpAnswer:
        """
        Return the server's answer to *body*; of one longer than `LARGEST_BODY` little more than that is read.

        Raises:
            OSError: There was no answer.
        """
        import aiohttp

        sent, started = SimpleNamespace(reused=False), monotonic()
        try:
            try:
                return await self._post(path, body, sent)
            except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError):
                # Closed by the server between two requests, which is no failure of this one. Nothing of an answer had
                # come: a body that ends too early is a `ClientPayloadError`.
                if not sent.reused or monotonic() - started > _CLOSED_S:
                    raise
            return await self._post(path, body, SimpleNamespace())
        except aiohttp.ClientError as error:
            raise ConnectionError from error

    async def _post(self, path: str, body: bytes, sent: SimpleNamespace) -> HttpAnswer:
        url = f"{self.url}{path}"
        # a redirect would send documents to somebody whom nobody named
        posted = self._session.post(url, data=body, trace_request_ctx=sent, allow_redirects=False)
        async with posted as response:
            return HttpAnswer(response.status, response.headers, await _bounded(response), self.url)

    async def close(self) -> None:
        await self._session.close()


class HandlePosts:
    """
    The application that a `serve://` URL names.

    The path of *url* stands in front of each path. The application is told the caller's deadline, and works no longer.

    Raises:
        UsageError: As of `Application`.
    """

    def __init__(self, url: str, timeout_s: float) -> None:
        self.url = url
        self._application, self._path = Application(url), urlsplit(url).path.rstrip("/")
        self._timeout_s = timeout_s

    async def post(self, path: str, body: bytes) -> HttpAnswer:
        return HttpAnswer(*await self._application.post(f"{self._path}{path}", body, self._timeout_s), self.url)

    async def close(self) -> None:
        pass


Posts = HttpPosts | HandlePosts


def open_posts(base_url: str, key: str, timeout_s: float, *, of_openai: bool = True) -> Posts:
    """
    Return what posts to the server of *base_url*, for a caller that waits *timeout_s* for an answer.

    Raises:
        UsageError: As of `Application` and `proxy_of`.
    """
    if is_of_cluster(base_url):
        return HandlePosts(base_url, timeout_s)
    return HttpPosts(base_url, key, of_openai=of_openai)


def proxy_of(url: str) -> str | None:
    """
    Return the proxy that the environment names for *url*; asked of aiohttp it costs two threads a request.

    Raises:
        UsageError: It is none of HTTP.
    """
    parts = urlsplit(url)
    if proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if not proxy:
        return None
    scheme = urlsplit(proxy).scheme if "://" in proxy else ""
    if scheme not in ("", "http", "https"):
        msg = f"the environment's proxy for {parts.scheme}://: expected http:// or https://, found {scheme}://"
        raise UsageError(f"{msg}; set no_proxy={parts.hostname} to do without")
    return proxy if scheme else f"http://{proxy}"


def _noting_reuse() -> aiohttp.TraceConfig:
    """Note of each sending whether it left on the connection of an earlier one."""
    import aiohttp

    async def reused(_: aiohttp.ClientSession, context: SimpleNamespace, __: object) -> None:
        context.trace_request_ctx.reused = True

    config = aiohttp.TraceConfig()
    config.on_connection_reuseconn.append(reused)
    return config


async def _bounded(response: aiohttp.ClientResponse) -> bytes:
    chunks, size = [], 0
    async for chunk in response.content.iter_any():
        chunks.append(chunk)
        size += len(chunk)
        if size > LARGEST_BODY:  # a deadline alone bounds no memory
            response.close()
            break
    return b"".join(chunks)


def _certificates() -> ssl.SSLContext:
    """Return the trusted certificates: those that the environment names, else certifi's, which every machine has."""
    import certifi

    named = os.environ.get("SSL_CERT_FILE") or os.environ.get("SSL_CERT_DIR")
    return ssl.create_default_context(cafile=None if named else certifi.where())
