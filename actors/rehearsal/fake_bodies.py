"""Bodies of the fake provider: JSON, and those that no provider should send."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from contextlib import suppress

from aiohttp import web

from actors.rehearsal.fake_messages import Completion
from longform.rehearsal.settings import HUGE_BYTES, FakeSettings

_DRIP_S = 0.05  # between two bytes
_CHUNK = b" " * 2**16
_PAGE = "<!doctype html><html><body><h1>Sign in</h1></body></html>"


def json_response(
    document: Mapping[str, object] | Sequence[object], *, status: int = 200, headers: Mapping[str, str] | None = None
) -> web.Response:
    """Return the response that holds *document*."""
    body = json.dumps(document).encode()
    return web.Response(body=body, status=status, headers=headers, content_type="application/json")


async def strange_body(request: web.BaseRequest, kind: str) -> web.StreamResponse:
    """Send a body of one of `BODY_FAULTS`, until its end or until the client has gone."""
    if kind == "html":
        return web.Response(text=_PAGE, content_type="text/html")
    response = web.StreamResponse(headers={"content-type": "application/json"})
    await response.prepare(request)
    with suppress(ConnectionError):
        if kind == "huge":
            await _send_huge(response)
        while kind != "huge":
            await response.write(b" " if kind == "drip" else _CHUNK)
            await asyncio.sleep(_DRIP_S if kind == "drip" else 0)
    return response


async def _send_huge(response: web.StreamResponse) -> None:
    """Send a completion whose text has `HUGE_BYTES`."""
    head, tail = json.dumps({"choices": [{"message": {"role": "assistant", "content": "|"}}]}).encode().split(b"|")
    await response.write(head)
    for _ in range(HUGE_BYTES // len(_CHUNK)):
        await response.write(_CHUNK.replace(b" ", b"x"))
    await response.write(tail)


def misstated(completion: Completion, settings: FakeSettings, headers: Mapping[str, str]) -> Completion:
    """Return a completion with the faults that the settings want: the caller's key, odd log probabilities."""
    key = headers.get("Authorization", "").removeprefix("Bearer ")
    choice = completion["choices"][0]
    if settings.echo_key == "model":
        completion["model"] = f"fake for {key}"
    elif settings.echo_key != "nowhere" and (text := choice["message"]["content"]) is not None:
        said = key if settings.echo_key == "content" else b64encode(f"user:{key}".encode()).decode()
        choice["message"]["content"] = f"{text}\n{said}"
    if settings.logprobs != "right" and "logprobs" in choice:
        for token in choice["logprobs"]["content"]:
            token["logprob"] = _ODD_LOGPROBS[settings.logprobs]
    return completion


_ODD_LOGPROBS = {"above_zero": 1000.0, "nan": float("nan"), "infinite": float("inf"), "null": None}
