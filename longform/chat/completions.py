"""
OpenAI's chat completions as JSON: request bodies and reply bodies.

Servers and libraries that speak this dialect (vLLM, llama.cpp, litellm) are read by the same code.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

from pydantic import BaseModel, Field, JsonValue, ValidationError

from longform.chat.answers import error_reply
from longform.chat.call import (
    LARGEST_LOGPROB,
    Capabilities,
    ChatReply,
    ChatRequest,
    TokenLogprobs,
    Usage,
    failed,
    guarded,
)
from longform.chat.failures import BAD_BODY, TOO_LARGE, ending_failure, shown_word
from longform.settings.chat import ChatSettings
from longform.text.reasoning import set_aside
from longform.text.visible import is_blank

LARGEST_BODY = 16 * 2**20
"""Bytes of the largest body that is read as a reply: twenty times a long reply with five alternatives a token."""

_LEAST_LIKELY = -9999.0  # what OpenAI gives for a token that is hardly possible
_MOST_TOKENS = 10**8  # of a call; a larger count makes no sense

_MOST_OF_NAME = 200  # characters of a model's name
_STREAM = re.compile(r"\s*(?:data|event|id|retry)?:")
_STREAM_ENDS = "[DONE]"
_THOUGHT = "thought"
_OF_MESSAGES = frozenset({"role", "content", "tool_calls", "refusal", "reasoning_content", "reasoning"})


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


# ---------------------------------------------------------------- the body of a reply


class _Alternative(BaseModel):
    token: str
    logprob: float = Field(le=LARGEST_LOGPROB)  # which NaN is not


class _Token(_Alternative):
    top_logprobs: list[_Alternative] = []


class _Logprobs(BaseModel):
    content: list[_Token] | None = None


@guarded
def read_completion(body: bytes, *, charset: str | None = None) -> ChatReply:
    """
    Return the reply in the body of a chat completion, or in the events of a stream that nobody asked for.

    Failures: `bad_body` (no completion), `bad_encoding` (its text is damaged), `reply_too_large`, and those of
    `read_completed`.

    The status says success. *charset* is the encoding that the headers name, for a body that is not UTF-8.
    """
    if len(body) > LARGEST_BODY:
        return failed(TOO_LARGE)
    try:
        stated, is_damaged = _decoded(body, charset)
    except (ValueError, RecursionError):
        return failed(BAD_BODY)
    reply = read_completed(stated)
    return replace(reply, text=None, failure="bad_encoding") if is_damaged and reply.text is not None else reply


@guarded
def read_completed(stated: JsonValue) -> ChatReply:
    """
    Return the reply in a chat completion that is decoded.

    A content in parts is its parts of text, without those in which the model thinks. Log probabilities are finite and
    at most 0: minus infinity becomes -9999, and a reply has none if one of them is NaN, above 0 or missing.

    Failures: `bad_body`; those of `http_failure` and `provider_error`, for an error that is stated in place of a reply;
    and, with their usage because they were paid for, `length`, `content_filter`, `not_finished_WORD`, `refusal`,
    `bad_content_TYPE`, `only_reasoning`, `empty_reply`.
    """
    if not isinstance(stated, Mapping):
        return failed(BAD_BODY)
    choices = stated.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    usage = read_usage(stated.get("usage"))
    if stated.get("error") or not isinstance(choice, Mapping):
        said_error = any(stated.get(name) for name in ("error", "message", "detail"))
        return replace(error_reply(stated) if said_error else failed(BAD_BODY), usage=usage)
    model, ending = stated.get("model"), choice.get("finish_reason")
    content = _content(choice)
    failure = ending_failure(ending) or content.failure
    return ChatReply(
        text=content.text if failure is None else None,
        failure=failure,
        finish_reason=ending if isinstance(ending, str) and ending else None,
        model=model[:_MOST_OF_NAME] if isinstance(model, str) else None,
        usage=usage,
        logprobs=_logprobs(choice.get("logprobs")),
        is_whole=None if failure is None and not ending else True,
    )


def _decoded(body: bytes, charset: str | None) -> tuple[JsonValue, bool]:
    """
    Return what a body holds, and whether its characters are damaged.

    Raises:
        ValueError, RecursionError: It is no JSON, and no stream of it.
    """
    text, is_damaged = _text(body, charset)
    if _STREAM.match(text):
        return assembled(text), is_damaged
    stated, end = json.JSONDecoder().raw_decode(text.lstrip())
    if "{" in text.lstrip()[end:]:
        raise ValueError("several objects")
    return stated, is_damaged


def _text(body: bytes, charset: str | None) -> tuple[str, bool]:
    for encoding in (json.detect_encoding(body), charset or "utf-8"):
        with suppress(UnicodeDecodeError, LookupError):
            return body.decode(encoding), False
    return body.decode(errors="replace"), True


def assembled(stream: str) -> JsonValue:
    """
    Return the completion that the events of a stream make up, or the error that one of them states.

    Raises:
        ValueError: An event is no JSON.
    """
    parts: list[JsonValue] = []
    found: dict[str, JsonValue] = {"finish_reason": None}
    for line in re.split(r"\r\n|\r|\n", stream):
        name, _, data = line.partition(":")
        if name != "data" or not data.strip():
            continue
        if data.strip() == _STREAM_ENDS:
            break
        event: JsonValue = json.loads(data)
        if not isinstance(event, dict) or event.get("error"):
            return event
        found |= {key: value for key in ("model", "usage") if (value := event.get(key))}
        choices = event.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict) and not choice.get("index"):
                parts.append(_message(choice))
                found["finish_reason"] = choice.get("finish_reason") or found["finish_reason"]
    else:
        found["finish_reason"] = found["finish_reason"] or "cut_stream"
    ending = found.pop("finish_reason")
    return {**found, "choices": [{"message": {"content": parts}, "finish_reason": ending}]}


class _Content(NamedTuple):
    text: str | None = None
    failure: str | None = None


def _message(choice: Mapping[str, JsonValue]) -> JsonValue:
    """Return what the model says in a choice: its message, a piece of one, or the text of a plain completion."""
    return next((choice[name] for name in ("message", "delta", "text") if choice.get(name) is not None), None)


def _content(choice: Mapping[str, JsonValue]) -> _Content:
    texts: list[str] = []
    others: list[str] = []
    _gather(_message(choice), texts, others)
    if "refusal" in others:
        return _Content(failure="refusal")
    answer, thought = set_aside(text := "".join(texts))
    if not is_blank(answer):
        return _Content(text)
    odd = [one for one in others if one != _THOUGHT]
    if odd:
        return _Content(failure=f"bad_content_{odd[0]}")
    return _Content(failure="only_reasoning" if others or not is_blank(thought) else "empty_reply")


def _gather(said: JsonValue, texts: list[str], others: list[str]) -> None:
    """Add what a message or a part of its content says to *texts*, and to *others* which parts are no text."""
    if isinstance(said, str):
        texts.append(said)
    elif isinstance(said, list):
        for part in said:
            _gather(part, texts, others)
    elif isinstance(said, Mapping):
        inner = next((said[name] for name in ("content", "text", "value", "parts") if said.get(name)), None)
        others += _others(said, is_empty=inner is None)
        if inner is not None and _THOUGHT not in _others(said, is_empty=False):
            _gather(inner, texts, others)
    elif said is not None:
        others.append(type(said).__name__)


def _others(part: Mapping[str, JsonValue], *, is_empty: bool) -> list[str]:
    """Name what a part is besides text; one that is empty is of its own kind."""
    kind = part.get("type")
    if part.get("refusal") or kind == "refusal":
        return ["refusal"]
    if part.get("thought") is True or (isinstance(kind, str) and re.search(r"think|reason", kind)):
        return [_THOUGHT]
    if is_empty and any(part.get(name) for name in ("reasoning_content", "reasoning")):
        return [_THOUGHT]
    is_odd = is_empty and (isinstance(kind, str) or not part.keys() & _OF_MESSAGES)
    return [shown_word(kind if isinstance(kind, str) else "object")] if is_odd else []


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


def _count(stated: JsonValue, *path: str) -> int | None:
    for name in path:
        stated = stated.get(name) if isinstance(stated, dict) else None
    return stated if isinstance(stated, int) and not isinstance(stated, bool) and 0 <= stated <= _MOST_TOKENS else None


def _rest(total: int | None, part: int | None) -> int | None:
    if total is None or total < (part or 0):
        return None
    return total - (part or 0)


def _logprobs(stated: JsonValue) -> tuple[TokenLogprobs, ...] | None:
    if stated is None:
        return None
    try:
        content = _Logprobs.model_validate(stated).content
    except ValidationError:  # none, rather than a reply lost to them
        return None
    if content is None:
        return None
    return tuple(
        TokenLogprobs(
            token.token,
            _bounded(token.logprob),
            tuple((top.token, _bounded(top.logprob)) for top in token.top_logprobs),
        )
        for token in content
    )


def _bounded(logprob: float) -> float:
    return max(min(logprob, 0.0), _LEAST_LIKELY)
