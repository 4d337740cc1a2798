"""Replies of the fake provider: completions with the scripted model's words, errors, and what nobody should send."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import struct
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from aiohttp import web

from actors.rehearsal.scripted_chat import Said, say
from actors.rehearsal.scripted_tasks import read_task
from longform.keys import content_key, stable_seed

Body = dict[str, Any]
Reply = Callable[[Body], Body]
"""The body of a request for a chat completion -> the completion, whose id is that of `completion`."""

OTHER_PROMPT = "This is the reply of a fake model."
CHARACTERS_A_TOKEN = 4

_ID = "chatcmpl-"
_TOKEN = re.compile(r"\s*\w{1,4}|\s*[^\w\s]|\s+")
_ABORT = struct.pack("ii", 1, 0)  # SO_LINGER: on, 0 s; closing sends a reset
_CHUNK, _HUGE_CHUNKS = b" " * 2**16, 1600  # 100 MB
_DRIP_S = 0.05  # between two bytes
_LIKELIEST = -0.05  # the natural log probability of each token said; alternatives fall by 2 from there


def completion(body: Body) -> Body:
    """
    Return what the scripted model says, as a chat completion.

    Its id is a hash of the messages alone: requests that differ in parameters only are one content.

    Raises:
        KeyError, TypeError, ValueError, IndexError: *body* is no request.
        UsageError: The name of its model has options that it does not know.
    """
    messages = [[message["role"], message["content"]] for message in body["messages"]]
    prompt = messages[-1][1]
    said = say(prompt, str(body.get("model"))) or Said(_reply(prompt, body.get("response_format")))
    text, finish_reason = said.text, "stop"
    limit = output_limit(body)
    if limit is not None and _n_tokens(text) > limit:
        text, finish_reason = text[: limit * CHARACTERS_A_TOKEN], "length"
    refused: Body = {"content": None, "refusal": text}
    message = {"role": "assistant", **(refused if said.is_refusal else {"content": text})}
    choice: Body = {"index": 0, "message": message, "finish_reason": finish_reason}
    if body.get("logprobs"):
        choice["logprobs"] = {
            "content": [_token(token, body.get("top_logprobs") or 0) for token in _TOKEN.findall(text)]
        }
    n_prompt, n_said = sum(_n_tokens(text) for _, text in messages), _n_tokens(text)
    return {
        "id": _ID + content_key(*messages),
        "object": "chat.completion",
        "created": 0,
        "model": body.get("model"),
        "choices": [choice],
        "usage": {"prompt_tokens": n_prompt, "completion_tokens": n_said, "total_tokens": n_prompt + n_said},
    }


def output_limit(body: Body) -> int | None:
    return body.get("max_completion_tokens") or body.get("max_tokens")


def content_of(completed: Body) -> str:
    """Return the content hash of what was asked."""
    return str(completed["id"]).removeprefix(_ID)


def cut(completed: Body, kept: float, **changes: str) -> Body:
    """Return a completion with this share of its text, and *changes* of its choice; paid tokens stay counted."""
    (choice,) = completed["choices"]
    message = choice["message"]
    said = {name: text and text[: int(len(text) * kept)] for name, text in message.items() if name != "role"}
    return {**completed, "choices": [{**choice, "message": message | said, **changes}]}


def _n_tokens(text: str) -> int:
    return max(1, len(text) // CHARACTERS_A_TOKEN)


def _reply(prompt: str, wanted: Body | None) -> str:
    task = read_task(prompt)
    if task is not None:
        return task.reply
    if not wanted or wanted.get("type") == "text":
        return OTHER_PROMPT
    return json.dumps(_smallest((wanted.get("json_schema") or {}).get("schema") or {"type": "object"}))


def _smallest(schema: Mapping[str, Any]) -> Any:
    """Return a value that *schema* accepts, for the subset of JSON Schema that strict providers take."""
    match schema:
        case {"anyOf": [first, *_]}:
            return _smallest(first)
        case {"enum": [first, *_]} | {"const": first}:
            return first
        case {"type": "object"}:
            properties = schema.get("properties") or {}
            return {name: _smallest(properties.get(name) or {}) for name in schema.get("required", properties)}
        case {"type": "array"}:
            return [_smallest(schema.get("items") or {})] * schema.get("minItems", 0)
        case {"type": "integer" | "number"}:
            return schema.get("minimum", 0)
        case _:
            return {"string": "x", "boolean": False}.get(str(schema.get("type")))


def _token(token: str, n_top: int) -> Body:
    """Return a token with its alternatives: other digits for a digit, so that scores can be weighed."""
    start = stable_seed(token) % 10
    others: Iterable[str] = (f"{token}{n}" for n in range(n_top))
    if token.strip().isdigit() and len(token.strip()) == 1:
        others = (f"{token[:-1]}{digit}" for n in range(10) if (digit := (start + n) % 10) != int(token))
    top = [
        {"token": other, "logprob": _LIKELIEST - 2.0 * rank, "bytes": None}
        for rank, other in enumerate([token, *others][:n_top])
    ]
    return {"token": token, "logprob": _LIKELIEST, "bytes": None, "top_logprobs": top}


# ---------------------------------------------------------------- errors, and bodies of faults


def error_response(
    status: int,
    message: str,
    *,
    code: str | None = None,
    param: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> web.Response:
    """Return an error as OpenAI states it."""
    kind = "invalid_request_error" if status < 429 else "server_error" if status >= 500 else "requests"
    error = {"message": message, "type": kind, "param": param, "code": code}
    return web.json_response({"error": error}, status=status, headers=headers)


def hang_up(request: web.Request) -> None:
    """Close the connection hard, without a reply."""
    if (transport := request.transport) is not None:
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _ABORT)
        transport.abort()


async def strange_body(request: web.Request, kind: str | None) -> web.StreamResponse:
    """Send a body of one of `BODY_FAULTS`, until its end or until the client has gone."""
    if kind == "html":
        return web.Response(text="<!doctype html><html><body><h1>Sign in</h1></body></html>", content_type="text/html")
    response = web.StreamResponse(headers={"content-type": "application/json"})
    await response.prepare(request)
    with suppress(ConnectionError):
        if kind == "huge":
            await response.write(b'{"choices": [{"message": {"role": "assistant", "content": "')
            for _ in range(_HUGE_CHUNKS):
                await response.write(_CHUNK.replace(b" ", b"x"))
            await response.write(b'"}}]}')
        while kind != "huge":
            await response.write(b" " if kind == "drip" else _CHUNK)
            await asyncio.sleep(_DRIP_S if kind == "drip" else 0)
    return response
