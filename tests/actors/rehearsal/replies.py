"""Replies that only tests want: counted ones, from a cache, with the caller's key, with odd log probabilities."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from hashlib import blake2b

from actors.rehearsal.fake_replies import CHARACTERS_A_TOKEN, Body, completion, content_of
from longform.chat.call import ChatReply, ChatRequest

BLOCK_TOKENS = 64
_BLOCK = BLOCK_TOKENS * CHARACTERS_A_TOKEN
_ODD_LOGPROBS = {"above_zero": 1000.0, "nan": float("nan"), "infinite": float("inf"), "null": None}


class Counted:
    """A script of the scripted model that counts what reaches it, and how much of it is under way at once."""

    def __init__(self, script: Callable[[ChatRequest, str], Awaitable[ChatReply]]) -> None:
        self.n_calls = self.max_in_flight = 0
        self._script, self._in_flight = script, 0

    async def __call__(self, request: ChatRequest, model: str) -> ChatReply:
        self.n_calls += 1
        self._in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self._in_flight)
        await asyncio.sleep(0)  # others get their turn
        self._in_flight -= 1
        return await self._script(request, model)


def fake_call(request: ChatRequest) -> tuple[str, int]:
    """Return the content hash and the charged tokens that a fake will find in *request*."""
    messages = [{"role": message.role, "content": message.text} for message in request.messages]
    body: Body = {"messages": messages, "max_tokens": request.max_tokens}
    if request.json_schema is not None:
        body["response_format"] = {"json_schema": {"schema": request.json_schema}}
    completed = completion(body)
    return content_of(completed), completed["usage"]["total_tokens"]


def echoing(key: str, where: str, body: Body) -> Body:
    """Reply with the *key* of the caller: in the `content`, there as `base64`, or in the name of the `model`."""
    completed = completion(body)
    if where == "model":
        return completed | {"model": f"fake for {key}"}
    said = key if where == "content" else b64encode(f"user:{key}".encode()).decode()
    completed["choices"][0]["message"]["content"] += f"\n{said}"
    return completed


def with_odd_logprobs(odd: str, body: Body) -> Body:
    """Reply with log probabilities that are none: `above_zero`, `nan`, `infinite` or `null`."""
    completed = completion(body)
    for token in completed["choices"][0]["logprobs"]["content"]:
        token["logprob"] = _ODD_LOGPROBS[odd]
    return completed


class PrefixCache:
    """
    Replies of a server that keeps what it was asked, by prefixes in blocks of 64 tokens.

    The block used longest ago is forgotten first.
    """

    def __init__(self, n_blocks: int) -> None:
        self._n_blocks = n_blocks
        self._known: OrderedDict[bytes, None] = OrderedDict()

    def __call__(self, body: Body) -> Body:
        completed = completion(body)
        cached = min(self._cached_tokens(body), completed["usage"]["prompt_tokens"])
        completed["usage"]["prompt_tokens_details"] = {"cached_tokens": cached}
        for prefix in _prefixes(body):
            self._known[prefix] = None
            self._known.move_to_end(prefix)
        while len(self._known) > self._n_blocks:
            self._known.popitem(last=False)
        return completed

    def _cached_tokens(self, body: Body) -> int:
        known = 0
        for prefix in _prefixes(body):
            if prefix not in self._known:
                break
            self._known.move_to_end(prefix)
            known += BLOCK_TOKENS
        return known


def _prefixes(body: Body) -> Iterable[bytes]:
    text = "".join(message["content"] for message in body["messages"])
    digest = blake2b(digest_size=12)
    for end in range(_BLOCK, len(text) + 1, _BLOCK):
        digest.update(text[end - _BLOCK : end].encode())
        yield digest.digest()
