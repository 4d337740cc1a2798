"""
OpenAI's chat completions as JSON: request bodies, reply bodies, and error bodies.

Servers and libraries that speak this dialect (vLLM, llama.cpp, litellm) are read by the same code.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, Field, JsonValue, ValidationError, ValidatorFunctionWrapHandler, WrapValidator

from longform.chat.call import (
    LARGEST_LOGPROB,
    TOO_LARGE,
    Capabilities,
    ChatReply,
    ChatRequest,
    TokenLogprobs,
    Usage,
    failed,
)
from longform.settings.chat import ChatSettings

LARGEST_BODY = 16 * 2**20
"""Bytes of the largest body that is read as a reply: twenty times a long reply with five alternatives a token."""

_LEAST_LIKELY = -9999.0  # what OpenAI gives for a token that is hardly possible
_MOST_TOKENS = 10**8  # of a call; a larger count makes no sense

_NO_TEXT = ("length", "content_filter")  # finish reasons of replies that are not whole

# The words of OpenAI, vLLM, llama.cpp, Anthropic and Gemini, in that order.
_WINDOW = re.compile(
    r"context_length_exceeded|context[ _](?:length|window|size)|prompt is too long|token count.{0,40}exceeds",
    re.IGNORECASE | re.DOTALL,
)


def completion_parameters(settings: ChatSettings, accepted: Capabilities, request: ChatRequest) -> dict[str, Any]:
    """
    Return the body of the request; the output limit goes by the name that the model takes.

    What `extra_body` has stands beside the rest, and replaces nothing.
    """
    limit = "max_completion_tokens" if accepted.max_completion_tokens else "max_tokens"
    sent: dict[str, Any] = {
        "model": settings.model,
        "messages": [{"role": message.role, "content": message.text} for message in request.messages],
        limit: request.max_tokens,
    }
    if request.temperature is not None:
        sent["temperature"] = request.temperature
    if request.top_p is not None:
        sent["top_p"] = request.top_p
    if request.sampling_seed is not None:
        sent["seed"] = request.sampling_seed
    if request.reasoning_effort is not None:
        sent["reasoning_effort"] = request.reasoning_effort
    if request.top_logprobs is not None:
        sent |= {"logprobs": True, "top_logprobs": request.top_logprobs}
    if request.json_schema is not None:
        schema = {"name": "answer", "strict": True, "schema": request.json_schema}
        sent["response_format"] = {"type": "json_schema", "json_schema": schema}
    return {**(request.extra_body or {}), **sent}


def http_failure(status: int, error: object) -> str:
    """
    The failure that a refusing status means.

    Args:
        status: 400 or above.
        error: The decoded body, or its `error`; anything else says nothing.

    Returns:
        `context_exceeds_window`, `insufficient_quota` (an empty account: waiting does not help), or `http_<status>`.
        Nothing of the provider's words, which may quote a key.
    """
    inner = error.get("error", error) if isinstance(error, Mapping) else None
    said = inner if isinstance(inner, Mapping) else {}
    words = [value for name in ("code", "type", "message") if isinstance(value := said.get(name), str)]
    if status == 429 and "insufficient_quota" in words:
        return "insufficient_quota"
    if status == 400 and any(_WINDOW.search(word) for word in words):
        return "context_exceeds_window"
    return f"http_{status}"


# ---------------------------------------------------------------- the body of a reply


class _Alternative(BaseModel):
    token: str
    logprob: float = Field(le=LARGEST_LOGPROB)  # which NaN is not


class _Token(_Alternative):
    top_logprobs: list[_Alternative] = []


class _Logprobs(BaseModel):
    content: list[_Token] | None = None


def _or_none(stated: JsonValue, read: ValidatorFunctionWrapHandler) -> _Logprobs | None:
    try:
        found: _Logprobs | None = read(stated)
    except ValidationError:
        return None
    return found


class _Message(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None
    logprobs: Annotated[_Logprobs | None, WrapValidator(_or_none)] = None  # none, rather than a reply lost to them


class _Completion(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    model: str | None = None
    usage: Any = None  # read leniently: a reply that was paid for is not lost to odd numbers


def read_completion(body: bytes) -> ChatReply:
    """
    Return the reply in the body of a chat completion.

    Log probabilities are finite and at most 0: minus infinity becomes -9999, and a reply has none if one of them is
    NaN, above 0 or missing.

    Failures: `bad_body` (not the JSON of a completion), `reply_too_large`; and, with their usage because they were paid
    for, `length`, `content_filter`, `refusal`, `empty_reply`.
    """
    if len(body) > LARGEST_BODY:
        return failed(TOO_LARGE)
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


def read_usage(stated: JsonValue) -> Usage:
    """
    Return four classes of tokens from a completion's `usage`, which counts cached tokens within the prompt and
    reasoning within the completion; a class that is missing or makes no sense is None.
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


def _count(stated: JsonValue, *path: str) -> int | None:
    for name in path:
        stated = stated.get(name) if isinstance(stated, dict) else None
    return stated if isinstance(stated, int) and not isinstance(stated, bool) and 0 <= stated <= _MOST_TOKENS else None


def _rest(total: int | None, part: int | None) -> int | None:
    if total is None or total < (part or 0):
        return None
    return total - (part or 0)


def _logprobs(stated: _Logprobs | None) -> tuple[TokenLogprobs, ...] | None:
    if stated is None or stated.content is None:
        return None
    return tuple(
        TokenLogprobs(
            token.token,
            _bounded(token.logprob),
            tuple((top.token, _bounded(top.logprob)) for top in token.top_logprobs),
        )
        for token in stated.content
    )


def _bounded(logprob: float) -> float:
    return max(min(logprob, 0.0), _LEAST_LIKELY)
