"""A chat model of any provider that `litellm` knows."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, wraps
from time import monotonic, time
from types import ModuleType
from typing import TYPE_CHECKING, Any

from actors.chat.connection_errors import causes, connection_words
from actors.secret_values import secret
from longform.chat.call import ChatReply, ChatRequest, Signals, capabilities, failed, guarded, refusal_reason
from longform.chat.completions import completion_parameters, read_completed
from longform.chat.rate_headers import read_signals
from longform.chat.refusals import http_failure, redirect_words
from longform.errors import UsageError
from longform.given import Json
from longform.settings.chat import ChatSettings

if TYPE_CHECKING:
    import httpx
    from litellm import ModelResponse

_PROVIDER_HEADER = "llm_provider-"


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
        self._key = _named_key(settings)
        _check(self._litellm, settings, self._key)

    async def complete(self, request: ChatRequest) -> ChatReply:
        reason = refusal_reason(request, self.accepted)
        if reason is not None:
            return failed(reason)
        started = monotonic()
        reply = await self._attempt(request)
        return replace(reply, seconds=monotonic() - started)

    async def close(self) -> None:
        """Do nothing: litellm keeps its clients to itself."""

    async def _attempt(self, request: ChatRequest) -> ChatReply:
        import openai

        asked = completion_parameters(self.settings, self.accepted, replace(request, extra_body=None))
        try:
            async with asyncio.timeout(self.settings.timeout_s):
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
        except (TimeoutError, openai.APITimeoutError):
            return failed("timeout")
        except openai.APIError as error:  # what litellm makes of every provider's errors
            return _failed_by(error)
        except Exception as error:  # noqa: BLE001 - any provider's code ran; one call must not end the job
            return _redirected(error) or failed(f"litellm_{type(error).__name__}")
        return read_response(response)


def _quiet_litellm() -> ModuleType:
    # Without it the import asks the network for prices.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm

    litellm.telemetry = False
    litellm.suppress_debug_info = True  # prints advertisements at errors
    logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)  # logs parameters of failed calls
    _stay_at_the_address()
    quiet: ModuleType = litellm
    return quiet


class _RedirectedError(Exception):
    """An answer that names another address."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.reply = failed(f"http_{status}", words)


async def _refuse_redirects(response: httpx.Response) -> None:
    if 300 <= response.status_code < 400:
        words = redirect_words(response.status_code, str(response.url), response.headers.get("location"))
        raise _RedirectedError(response.status_code, words)


@cache
def _stay_at_the_address() -> None:
    """Let no client that litellm makes follow a redirect: it would send documents to somebody whom nobody named."""
    from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler
    from litellm.llms.openai.common_utils import BaseOpenAILLM

    def staying(make: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(make)
        def made(*given: object, **named: object) -> Any:
            client = make(*given, **named)
            hooks = client.event_hooks
            client.event_hooks = {**hooks, "response": [_refuse_redirects, *hooks["response"]]}
            return client

        return made

    AsyncHTTPHandler.create_client = staying(AsyncHTTPHandler.create_client)
    BaseOpenAILLM._get_async_http_client = staticmethod(staying(BaseOpenAILLM._get_async_http_client))  # noqa: SLF001


def _named_key(settings: ChatSettings) -> str | None:
    if "api_key_env" not in settings.model_fields_set:
        return None
    key = secret(settings.api_key_env)
    if not key:
        msg = f"model {settings.model!r} needs a key: set the environment variable {settings.api_key_env}"
        raise UsageError(msg)
    return key


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
    """Return the reply in litellm's response, with the provider's own headers."""
    body = response.model_dump(mode="json")
    for choice in body["choices"]:
        hidden = choice["message"].get("provider_specific_fields") or {}
        choice["message"]["refusal"] = hidden.get("refusal")
    stated: Mapping[str, Json] = response._hidden_params.get("additional_headers") or {}  # noqa: SLF001 - no public way
    return replace(read_completed(body), signals=_signals(stated))


def _failed_by(error: BaseException) -> ChatReply:
    failure = litellm_failure(error)
    detail = connection_words(error) if failure == "connection" else None
    return _redirected(error) or replace(failed(failure, detail), signals=_error_signals(error))


def _redirected(error: BaseException) -> ChatReply | None:
    return next((cause.reply for cause in causes(error) if isinstance(cause, _RedirectedError)), None)


def litellm_failure(error: BaseException) -> str:
    """
    Return the failure in an error of litellm's: it gives what never had a status one of its own, 500 mostly.

    Returns:
        `bad_body`, `connection`, `content_filter`, `context_exceeds_window`, or as `http_failure` has it.
    """
    import httpx
    import litellm
    import openai

    kinds = [type(cause) for cause in causes(error)]
    if any(issubclass(kind, json.JSONDecodeError) for kind in kinds):
        return "bad_body"
    if any(issubclass(kind, openai.APIConnectionError | httpx.TransportError) for kind in kinds):
        return "connection"
    if isinstance(error, litellm.ContextWindowExceededError):
        return "context_exceeds_window"
    if isinstance(error, litellm.ContentPolicyViolationError):
        return "content_filter"
    status = getattr(error, "status_code", None)
    said = {"code": getattr(error, "code", None), "message": str(error)}
    return http_failure(status, said) if isinstance(status, int) else "connection"


def _error_signals(error: BaseException) -> Signals:
    return _signals(getattr(error, "litellm_response_headers", None) or {})


def _signals(stated: Mapping[str, Json]) -> Signals:
    headers = {name.removeprefix(_PROVIDER_HEADER): str(value) for name, value in stated.items()}
    return read_signals(headers, now=time())
