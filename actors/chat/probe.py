"""Ask a model a few small questions, and say which parameters it accepts beside what is known of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from actors.chat.litellm_client import LitellmChat
from actors.chat.llama_cpp_client import LlamaChat
from actors.chat.openai_client import OpenAIChat
from actors.chat.opening import open_chat
from longform.chat.call import Capabilities, ChatReply, ChatRequest, Message
from longform.settings.chat import ChatSettings

Model = OpenAIChat | LitellmChat | LlamaChat

_REFUSED = ("http_400", "http_422")
_ANSWERED = ("length", "not_finished", "empty_reply", "only_reasoning", "refusal", "content_filter", "bad_content")
"""Beginnings of failures of requests that the provider took."""
_SCHEMA = {
    "type": "object",
    "properties": {"verdict": {"type": "string", "enum": ["north", "south"]}},
    "required": ["verdict"],
    "additionalProperties": False,
}
PLAIN = ChatRequest(messages=(Message("user", "Reply with the single word yes."),), max_tokens=500)


class Finding(NamedTuple):
    """
    Acceptance of a parameter: True, False, or None with the reason why it is not known, even if
    there was an answer.
    """

    accepted: bool | None
    reason: str | None = None
    answered: bool = True


def _is_answered(reply: ChatReply) -> bool:
    return reply.failure is None or reply.failure.startswith(_ANSWERED)


async def probe(model: Model) -> dict[str, Finding]:
    """
    Return the parameters that *model* accepts, by the names of `Capabilities`.

    `max_completion_tokens` is true if the output limit is accepted under that name and not as `max_tokens`.
    """
    model.accepted = Capabilities()  # nothing is held back for what is known
    reply = await model.complete(PLAIN)
    limit = Finding(accepted=False)
    if reply.failure in _REFUSED:
        model.accepted = Capabilities(max_completion_tokens=True)
        reply = await model.complete(PLAIN)
        limit = Finding(accepted=True)
    if not _is_answered(reply):
        return dict.fromkeys(("max_completion_tokens", *_PROBES), Finding(None, reply.failure, answered=False))
    return {"max_completion_tokens": limit} | {name: await _probe(model, name) for name in _PROBES}


async def _probe(model: Model, name: str) -> Finding:
    changes, shortcoming = _PROBES[name]
    reply = await model.complete(replace(PLAIN, **changes))
    if reply.failure in _REFUSED:
        return Finding(accepted=False)
    if not _is_answered(reply):
        return Finding(None, reply.failure, answered=False)
    reason = shortcoming(reply)
    return Finding(accepted=True) if reason is None else Finding(None, reason)


def _schema_shortcoming(reply: ChatReply) -> str | None:
    """The question asks for something else, so that a model which ignores the schema is found out."""
    if reply.text is None:
        return reply.failure
    try:
        kept = json.loads(reply.text)["verdict"] in ("north", "south")
    except (ValueError, KeyError, TypeError):
        kept = False
    return None if kept else "taken, but the reply does not keep the schema"


_PROBES: dict[str, tuple[dict[str, Any], Callable[[ChatReply], str | None]]] = {
    "temperature": ({"temperature": 0.0}, lambda _: None),
    "top_p": ({"top_p": 0.9}, lambda _: None),
    "seed": ({"seed": 1}, lambda _: None),  # taken; whether it is heeded, no one reply shows
    "json_schema": ({"json_schema": _SCHEMA}, _schema_shortcoming),
    "logprobs": ({"top_logprobs": 2}, lambda reply: None if reply.logprobs else "taken, but no logprobs came"),
    "reasoning_effort": (
        {"reasoning_effort": "low"},
        lambda reply: None if reply.usage.reasoning_tokens is not None else "taken, but no reasoning was counted",
    ),
}
"""Parameter -> what is asked in addition, and why a reply does not show that it was heeded."""


async def probed(settings: ChatSettings) -> dict[str, Finding]:
    """Return the findings of the model that *settings* name."""
    model = open_chat(settings)
    assert isinstance(model, Model), "the scripted model has no provider to ask"
    try:
        return await probe(model)
    finally:
        await model.close()
