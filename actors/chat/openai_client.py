"""A chat model behind an OpenAI-compatible server: the provider's own, any `base_url`, or one of this cluster."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from ipaddress import ip_address
from time import monotonic, time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from actors.chat.connection_errors import unanswered
from actors.secret_values import secret
from actors.serving.handle import handle_client, is_of_cluster
from longform.chat.call import ChatReply, ChatRequest, capabilities, failed, refusal_reason
from longform.chat.completions import completion_parameters, http_failure, read_completion
from longform.chat.rate_headers import read_signals
from longform.errors import UsageError
from longform.settings.chat import ChatSettings

if TYPE_CHECKING:
    import httpx
    from openai import AsyncOpenAI

PROVIDER_URL = "https://api.openai.com/v1"
"""Asked if `base_url` is null; no environment variable changes it, so that a call's content names its server."""


@dataclass(frozen=True)
class _Connections:
    """A client for each server; they belong to the event loop they were made on."""

    loop: asyncio.AbstractEventLoop
    clients: tuple[AsyncOpenAI, ...]


class OpenAIChat:
    """
    Makes one attempt a request, each within `timeout_s`; the caller bounds how many are in flight.

    The aiohttp transport takes 1.2 ms of CPU a request at 64 in flight, httpx 10 ms (openai 2.54, measured).
    """

    def __init__(self, settings: ChatSettings) -> None:
        self.settings = settings
        self.accepted = capabilities(settings)
        self._key = api_key(settings)
        self._connections: _Connections | None = None

    async def complete(self, request: ChatRequest) -> ChatReply:
        reason = refusal_reason(request, self.accepted)
        if reason is not None:
            return failed(reason)
        client = self._clients()[request.replica]
        started = monotonic()
        reply = await self._attempt(client, request)
        return replace(reply, seconds=monotonic() - started)

    async def close(self) -> None:
        if self._connections is not None:
            for client in self._connections.clients:
                await client.close()
            self._connections = None

    def _clients(self) -> tuple[AsyncOpenAI, ...]:
        loop = asyncio.get_running_loop()
        if self._connections is None or self._connections.loop is not loop:
            self._connections = _Connections(loop, tuple(_client(url, self._key) for url in servers(self.settings)))
        return self._connections.clients

    async def _attempt(self, client: AsyncOpenAI, request: ChatRequest) -> ChatReply:
        import openai

        try:
            async with asyncio.timeout(self.settings.timeout_s):
                # The raw body, because the client hands on whatever a server says without checking it.
                response = await client.chat.completions.with_raw_response.create(
                    **completion_parameters(self.settings, self.accepted, request)
                )
        except TimeoutError:
            return failed("timeout")
        except openai.APIStatusError as error:
            reply = failed(http_failure(error.status_code, error.body))
            return replace(reply, signals=read_signals(error.response.headers, now=time()))
        except openai.APIConnectionError as error:  # a refused connection too, which the transport calls a timeout
            return unanswered(error)
        return replace(read_completion(response.content), signals=read_signals(response.headers, now=time()))


def _client(base_url: str, key: str) -> AsyncOpenAI:
    from openai import AsyncOpenAI

    from actors.chat.bounded_bodies import PLAIN

    return AsyncOpenAI(
        base_url=base_url,
        api_key=key,
        max_retries=0,
        timeout=None,  # the deadline of an attempt is the only limit
        default_headers=PLAIN,
        http_client=handle_client(base_url) if is_of_cluster(base_url) else _http_client(),
    )


def _http_client() -> httpx.AsyncClient:
    import httpx
    from openai import DefaultAioHttpClient

    from actors.chat.bounded_bodies import bound_body

    # aiohttp reads 0 as no limit, and None as its own 100, which calls would queue for unseen.
    limits = httpx.Limits(max_connections=0)
    return DefaultAioHttpClient(limits=limits, event_hooks={"response": [bound_body]})


def servers(settings: ChatSettings) -> tuple[str, ...]:
    """Return the base URL of each server of the model; a request's `replica` is its place among them."""
    return settings.replicas or (settings.base_url or PROVIDER_URL,)


def api_key(settings: ChatSettings) -> str:
    """
    Return the key from the environment; a server on this machine or in this cluster may do without.

    Raises:
        UsageError: The variable is not set or empty, and a server is neither on a loopback address nor of the cluster.
    """
    key = secret(settings.api_key_env)
    if key:
        return key
    if all(is_of_cluster(url) or _is_loopback(url) for url in servers(settings)):
        return "none"  # the client insists on a value
    msg = f"model {settings.model!r} needs a key: set the environment variable {settings.api_key_env}"
    raise UsageError(msg)


def _is_loopback(base_url: str) -> bool:
    host = urlsplit(base_url).hostname
    if host is None:
        return False
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
