"""A chat model of any provider that `litellm` knows."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import replace
from functools import cache, wraps
from time import time
from types import ModuleType
from typing import TYPE_CHECKING, Any

from actors.chat.model import attempt, causes, unanswered
from actors.chat.openai_client import named_key
from longform.chat.answers import HttpAnswer, heard, stated_error
from longform.chat.call import ChatReply, ChatRequest, capabilities, failed, guarded, refusal_reason
from longform.chat.completions import completion_parameters, read_completed, read_completion
from longform.errors import UsageError
from longform.settings.chat import ChatSettings

if TYPE_CHECKING:
    import httpx
    from litellm import ModelResponse

_ANSWERS: ContextVar[list[HttpAnswer]] = ContextVar("_ANSWERS")
"""The answers of providers to the request of the running task, as they came."""


class LitellmChat:
    """
    Makes one attempt a request, each within `timeout_s`; the caller bounds how many are in flight.

    A key comes from the variable that `api_key_env` names if the configuration names one, else from the one that
    litellm knows for the provider: a key is never sent to a provider it is not for.

    Raises:
        UsageError: litellm knows no such provider, or the provider's key is not in the environment.
    """

    def __init__(self, settings: ChatSettings) -> None:
        self.settings = settings
        self.accepted = capabilities(settings)
        self._litellm = _quiet_litellm()
        self._key = named_key(settings) if "api_key_env" in settings.model_fields_set else None
        _check(self._litellm, settings, self._key)

    async def complete(self, request: ChatRequest) -> ChatReply:
        if reason := refusal_reason(request, self.accepted):
            return failed(reason)
        return await attempt(self._asked(request), self.settings.timeout_s)

    async def close(self) -> None:
        """Do nothing: litellm keeps its clients to itself."""

    async def _asked(self, request: ChatRequest) -> ChatReply:
        asked = completion_parameters(self.settings, self.accepted, replace(request, extra_body=None))
        answers: list[HttpAnswer] = []
        _ANSWERS.set(answers)
        try:
            response = await self._litellm.acompletion(
                **asked,
                extra_body=None if request.extra_body is None else dict(request.extra_body),
                api_key=self._key,
                api_base=self.settings.base_url,
                timeout=self.settings.timeout_s,
                num_retries=0,
                max_retries=0,
                caching=False,
            )
        except Exception as error:  # noqa: BLE001 - any provider's code ran; one call must not end the job
            return _failed_by(error, answers)
        reply = read_response(response)
        return heard(answers[-1], lambda answer: _stated_error(answer) or reply, now=time()) if answers else reply


def _quiet_litellm() -> ModuleType:
    # Without it the import asks the network for prices.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm

    litellm.telemetry = False
    litellm.suppress_debug_info = True  # prints advertisements at errors
    logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)  # logs parameters of failed calls
    _listen()
    quiet: ModuleType = litellm
    return quiet


async def _note(response: httpx.Response) -> None:
    """Note an answer as it came; end the request if it names another address."""
    import httpx

    answer = HttpAnswer(response.status_code, response.headers, await response.aread(), str(response.url))
    _ANSWERS.get([]).append(answer)
    if 300 <= response.status_code < 400:
        raise httpx.TooManyRedirects("not one is followed")


@cache
def _listen() -> None:
    """
    Have every client that litellm makes note its answers, whose words and headers litellm changes or drops.

    None follows a redirect: it would send documents to somebody whom nobody named.
    """
    from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler
    from litellm.llms.openai.common_utils import BaseOpenAILLM

    def noting(make: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(make)
        def made(*given: object, **named: object) -> Any:
            client = make(*given, **named)
            hooks = client.event_hooks
            client.event_hooks = {**hooks, "response": [_note, *hooks["response"]]}
            return client

        return made

    AsyncHTTPHandler.create_client = noting(AsyncHTTPHandler.create_client)
    BaseOpenAILLM._get_async_http_client = staticmethod(noting(BaseOpenAILLM._get_async_http_client))  # noqa: SLF001


def _check(litellm: ModuleType, settings: ChatSettings, key: str | None) -> None:
    try:
        litellm.get_llm_provider(model=settings.model)
    except litellm.BadRequestError as error:
        msg = f"model {settings.model!r}: expected a name with its provider as litellm has it, such as anthropic/NAME"
        raise UsageError(msg) from error
    missing = litellm.validate_environment(model=settings.model, api_key=key)["missing_keys"]
    if key is None and settings.base_url is None and missing:
        msg = f"model {settings.model!r} needs {', '.join(missing)} in the environment, or `api_key_env`"
        raise UsageError(msg)


# ---------------------------------------------------------------- what litellm hands back


@guarded
def read_response(response: ModelResponse) -> ChatReply:
    """Return the reply in litellm's response."""
    body = response.model_dump(mode="json")
    for choice in body["choices"]:
        hidden = choice["message"].get("provider_specific_fields") or {}
        choice["message"]["refusal"] = hidden.get("refusal")
    return read_completed(body)


def _stated_error(answer: HttpAnswer) -> ChatReply | None:
    """Return the failure that an answer of success means in which an error stands; litellm may make a reply of it."""
    try:
        return stated_error(json.loads(answer.body))
    except (ValueError, RecursionError):
        return None


def _failed_by(error: Exception, answers: list[HttpAnswer]) -> ChatReply:
    """Return what *error* means, after these answers of a provider; litellm gives each a status, 500 mostly."""
    import httpx
    import litellm
    import openai

    if isinstance(error, TimeoutError | openai.APITimeoutError):
        return failed("timeout")
    if answers:
        answer = answers[-1]
    elif any(isinstance(cause, openai.APIConnectionError | httpx.TransportError) for cause in causes(error)):
        return unanswered(error)
    elif isinstance(status := getattr(error, "status_code", None), int):
        stated = json.dumps({"code": getattr(error, "code", None), "message": str(error)}, default=str)
        answer = HttpAnswer(status, {}, stated.encode())
    else:
        return failed(f"litellm_{type(error).__name__}")
    reply = heard(answer, lambda answer: read_completion(answer.body), now=time())
    if reply.failure == "http_400" and isinstance(error, litellm.ContextWindowExceededError):
        return replace(reply, failure="context_exceeds_window")
    if reply.failure == "http_400" and isinstance(error, litellm.ContentPolicyViolationError):
        return replace(reply, failure="content_filter")
    return reply
