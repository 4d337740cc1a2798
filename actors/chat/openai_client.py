"""A chat model behind an OpenAI-compatible server: the provider's own, any `base_url`, or one of this cluster."""

from __future__ import annotations

import asyncio
import json
import re
from ipaddress import ip_address
from time import time
from urllib.parse import urlsplit

from actors.chat.model import attempt
from actors.chat.posts import Posts, open_posts
from actors.secret_values import secret
from actors.serving.endpoint import is_of_cluster
from longform.chat.answers import HttpAnswer, heard
from longform.chat.call import ChatReply, ChatRequest, capabilities, failed, refusal_reason
from longform.chat.completions import completion_parameters, read_completion
from longform.errors import UsageError
from longform.settings.chat import ChatSettings

PROVIDER_URL = "https://api.openai.com/v1"
"""Asked if `base_url` is null; no environment variable changes it, so that a call's content names its server."""

_CHARSET = re.compile(r"charset=[\"']?([\w.:-]{1,40})", re.IGNORECASE)


class OpenAIChat:
    """Makes one attempt a request, each within `timeout_s`; the caller bounds how many are in flight."""

    path = "/chat/completions"  # behind the base URL
    of_openai = True  # the environment's organization is told

    def __init__(self, settings: ChatSettings) -> None:
        self.settings = settings
        self.accepted = capabilities(settings)
        self._key = api_key(settings)
        self._opened: tuple[asyncio.AbstractEventLoop, list[Posts]] | None = None  # connections belong to a loop

    async def complete(self, request: ChatRequest) -> ChatReply:
        if reason := refusal_reason(request, self.accepted):
            return failed(reason)
        return await attempt(self._asked(self._servers()[request.replica], request), self.settings.timeout_s)

    async def _asked(self, server: Posts, request: ChatRequest) -> ChatReply:
        answer = await server.post(self.path, self.encoded(request))
        return heard(answer, lambda answer: self.read(request, answer), now=time())

    async def close(self) -> None:
        if self._opened is not None:
            for server in self._opened[1]:
                await server.close()
            self._opened = None

    def _servers(self) -> list[Posts]:
        loop = asyncio.get_running_loop()
        if self._opened is None or self._opened[0] is not loop:
            key, timeout_s = self._key, self.settings.timeout_s
            opened = [open_posts(url, key, timeout_s, of_openai=self.of_openai) for url in servers(self.settings)]
            self._opened = loop, opened
        return self._opened[1]

    def encoded(self, request: ChatRequest) -> bytes:
        """Return the body of a request."""
        parameters = completion_parameters(self.settings, self.accepted, request)
        try:
            return json.dumps(parameters, ensure_ascii=False).encode()
        except UnicodeEncodeError:  # half a surrogate pair, which only an escape can carry
            return json.dumps(parameters).encode()

    def read(self, _request: ChatRequest, answer: HttpAnswer) -> ChatReply:
        """Read the answer to a request."""
        named = _CHARSET.search(answer.headers.get("content-type") or "")
        return read_completion(answer.body, charset=named[1] if named else None)


def servers(settings: ChatSettings) -> tuple[str, ...]:
    """Return the base URL of each server of the model; a request's `replica` is its place among them."""
    return settings.replicas or (settings.base_url or PROVIDER_URL,)


def api_key(settings: ChatSettings) -> str:
    """Return `named_key`; a server on this machine or in this cluster, and a system that wants no key, do without."""
    if not settings.api_key_env:
        return ""
    if all(is_of_cluster(url) or _is_loopback(url) for url in servers(settings)):
        return secret(settings.api_key_env) or "none"
    return named_key(settings)


def named_key(settings: ChatSettings) -> str:
    """
    Return the key from the environment.

    Raises:
        UsageError: The variable that the settings name is not set, or empty.
    """
    if key := secret(settings.api_key_env):
        return key
    raise UsageError(f"model {settings.model!r} needs a key: set the environment variable {settings.api_key_env}")


def _is_loopback(base_url: str) -> bool:
    host = urlsplit(base_url).hostname
    if host is None:
        return False
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
