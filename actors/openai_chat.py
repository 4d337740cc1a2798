"""A chat model behind an OpenAI-compatible server: the provider's own, or any `base_url`."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, replace
from ipaddress import ip_address
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, ValidationError

from longform.chat import ChatReply, ChatRequest, TokenLogprobs, Usage, capabilities, failed, refusal_reason
from longform.configuration import ChatSettings
from longform.errors import UsageError

if TYPE_CHECKING:
    from openai import AsyncOpenAI

PROVIDER_URL = "https://api.openai.com/v1"
"""Asked where `base_url` is null; no environment variable changes it, so that a call's content names its server."""

_NO_TEXT = ("length", "content_filter")  # finish reasons of replies that are not whole


@dataclass(frozen=True)
class _Connection:
    """A client and the places in its queue; both belong to the event loop they were made on."""

    loop: asyncio.AbstractEventLoop
    client: AsyncOpenAI
    slots: asyncio.Semaphore


class OpenAIChat:
    """
    One attempt a request, at most `concurrency` in flight, each within `timeout_s` once it has its turn.

    The aiohttp transport takes 1.2 ms of CPU a request at 64 in flight, httpx 10 ms (openai 2.54, measured).
    """

    def __init__(self, settings: ChatSettings) -> None:
        self.settings = settings
        self.accepted = capabilities(settings)
        self._key = api_key(settings)
        self._connection: _Connection | None = None

    async def complete(self, request: ChatRequest) -> ChatReply:
        reason = refusal_reason(request, self.accepted)
        if reason is not None:
            return failed(reason)
        connection = self._connect()
        async with connection.slots:
            started = monotonic()
            reply = await self._attempt(connection.client, request)
            return replace(reply, seconds=monotonic() - started)

    async def close(self) -> None:
        if self._connection is not None:
            await self._connection.client.close()
            self._connection = None

    def _connect(self) -> _Connection:
        from openai import AsyncOpenAI, DefaultAioHttpClient

        loop = asyncio.get_running_loop()
        if self._connection is None or self._connection.loop is not loop:
            client = AsyncOpenAI(
                base_url=self.settings.base_url or PROVIDER_URL,
                api_key=self._key,
                max_retries=0,
                timeout=None,  # the deadline of an attempt is the only limit
                http_client=DefaultAioHttpClient(),
            )
            self._connection = _Connection(loop, client, asyncio.Semaphore(self.settings.concurrency))
        return self._connection

    async def _attempt(self, client: AsyncOpenAI, request: ChatRequest) -> ChatReply:
        import openai

        try:
            async with asyncio.timeout(self.settings.timeout_s):
                # The raw body, because the client hands on whatever a server says without checking it.
                response = await client.chat.completions.with_raw_response.create(**self._parameters(request))
        except TimeoutError:
            return failed("timeout")
        except openai.APIStatusError as error:
            return failed(f"http_{error.status_code}")
        except openai.APIConnectionError:  # a refused connection too, which the transport calls a timeout
            return failed("connection")
        return read_completion(response.content)

    def _parameters(self, request: ChatRequest) -> dict[str, Any]:
        limit = "max_completion_tokens" if self.accepted.max_completion_tokens else "max_tokens"
        sent: dict[str, Any] = {
            "model": self.settings.model,
            "messages": [{"role": message.role, "content": message.text} for message in request.messages],
            limit: request.max_tokens,
        }
        if request.temperature is not None:
            sent["temperature"] = request.temperature
        if request.reasoning_effort is not None:
            sent["reasoning_effort"] = request.reasoning_effort
        if request.top_logprobs is not None:
            sent |= {"logprobs": True, "top_logprobs": request.top_logprobs}
        if request.json_schema is not None:
            schema = {"name": "answer", "strict": True, "schema": request.json_schema}
            sent["response_format"] = {"type": "json_schema", "json_schema": schema}
        return sent


def api_key(settings: ChatSettings) -> str:
    """
    The key from the environment; a server on this machine may do without.

    Raises:
        UsageError: The variable is not set or empty, and the server is not on a loopback address.
    """
    key = os.environ.get(settings.api_key_env)
    if key:
        return key
    if _is_loopback(settings.base_url):
        return "none"  # the client insists on a value
    msg = f"model {settings.model!r} needs a key: set the environment variable {settings.api_key_env}"
    raise UsageError(msg)


def _is_loopback(base_url: str | None) -> bool:
    host = urlsplit(base_url).hostname if base_url else None
    if host is None:
        return False
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


# ---------------------------------------------------------------- the body of a reply


class _Alternative(BaseModel):
    token: str
    logprob: float


class _Token(_Alternative):
    top_logprobs: list[_Alternative] = []


class _Logprobs(BaseModel):
    content: list[_Token] | None = None


class _Message(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None
    logprobs: _Logprobs | None = None


class _Completion(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    model: str | None = None
    usage: Any = None  # read leniently: a reply that was paid for is not lost to odd numbers


def read_completion(body: bytes) -> ChatReply:
    """
    The reply in the body of a chat completion.

    Failures: `bad_body` (not the JSON of a completion), `length`, `content_filter`, `refusal`, `empty_reply`.
    """
    try:
        completion = _Completion.model_validate_json(body)
    except ValidationError:
        return failed("bad_body")
    choice = completion.choices[0]
    failure = _failure(choice)
    return ChatReply(
        text=choice.message.content if failure is None else None,
        failure=failure,
        finish_reason=choice.finish_reason,
        model=completion.model,
        usage=read_usage(completion.usage),
        logprobs=_logprobs(choice.logprobs),
    )


def read_usage(stated: Any) -> Usage:
    """
    Four classes of tokens from a completion's `usage`, where the cached count within the prompt and the reasoning
    within the completion; a class that is missing or makes no sense is None.
    """
    cached = _count(stated, "prompt_tokens_details", "cached_tokens")
    reasoning = _count(stated, "completion_tokens_details", "reasoning_tokens")
    return Usage(
        input_tokens=_rest(_count(stated, "prompt_tokens"), cached),
        cached_tokens=cached,
        output_tokens=_rest(_count(stated, "completion_tokens"), reasoning),
        reasoning_tokens=reasoning,
    )


def _failure(choice: _Choice) -> str | None:
    if choice.finish_reason in _NO_TEXT:
        return choice.finish_reason
    if choice.message.refusal:
        return "refusal"
    if not (choice.message.content or "").strip():
        return "empty_reply"
    return None


def _count(stated: Any, *path: str) -> int | None:
    for name in path:
        stated = stated.get(name) if isinstance(stated, dict) else None
    return stated if isinstance(stated, int) and not isinstance(stated, bool) and stated >= 0 else None


def _rest(total: int | None, part: int | None) -> int | None:
    if total is None or total < (part or 0):
        return None
    return total - (part or 0)


def _logprobs(stated: _Logprobs | None) -> tuple[TokenLogprobs, ...] | None:
    if stated is None or stated.content is None:
        return None
    return tuple(
        TokenLogprobs(token.token, token.logprob, tuple((top.token, top.logprob) for top in token.top_logprobs))
        for token in stated.content
    )
