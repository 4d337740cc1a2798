"""Replies of the fake provider: those of the scripted model, as bodies of chat completions."""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import NamedTuple

from actors.rehearsal.fake_messages import (
    Completion,
    CompletionUsage,
    FakeChoice,
    FakeFormat,
    FakeRequest,
    ReplyMessage,
    TokenLogprob,
    TopLogprob,
)
from actors.rehearsal.scripted_chat import Said, read_task, say
from longform.chat.call import ChatRequest
from longform.given import Json
from longform.keys import content_key, stable_seed

OTHER_PROMPT = "This is the reply of a fake model."
CHARACTERS_A_TOKEN = 4
BLOCK_CHARACTERS = 64 * CHARACTERS_A_TOKEN

_TOKEN = re.compile(r"\s*\w{1,4}|\s*[^\w\s]|\s+")
_LIKELIEST = -0.05  # the natural log probability of each token said; alternatives fall by 2 from there


class Asked(NamedTuple):
    """A request as the fake reads it: its content hash, its tokens, and its reply."""

    content: str
    prompt_tokens: int
    completion_tokens: int
    text: str
    finish_reason: str
    is_refusal: bool = False

    @property
    def tokens(self) -> int:
        """Return the tokens it is charged."""
        return self.prompt_tokens + self.completion_tokens


def read_asked(body: FakeRequest) -> Asked:
    """
    Read the body of a request for a chat completion.

    The content hash is over the messages alone: requests that differ in parameters only are one content.

    Raises:
        KeyError, TypeError, ValueError, IndexError: It is none.
    """
    messages = [[message["role"], message["content"]] for message in body["messages"]]
    limit = body.get("max_completion_tokens") or body.get("max_tokens")
    return _asked(messages, limit, body.get("response_format"), str(body.get("model")))


def fake_call(request: ChatRequest, model: str = "") -> tuple[str, int]:
    """Return the content hash and the charged tokens that the fake will find in *request* to a *model* of this name."""
    messages = [[message.role, message.text] for message in request.messages]
    wanted: FakeFormat | None = None
    if request.json_schema is not None:
        wanted = {"json_schema": {"schema": request.json_schema}}
    asked = _asked(messages, request.max_tokens, wanted, model)
    return asked.content, asked.tokens


def completion_body(asked: Asked, body: FakeRequest, *, cached_tokens: int | None) -> Completion:
    """Return a chat completion; if *cached_tokens* is None, usage says nothing of a cache."""
    message: ReplyMessage = {"role": "assistant", "content": None if asked.is_refusal else asked.text}
    if asked.is_refusal:
        message["refusal"] = asked.text
    choice: FakeChoice = {"index": 0, "message": message, "finish_reason": asked.finish_reason}
    if body.get("logprobs"):
        choice["logprobs"] = {"content": _logprobs(asked.text, body.get("top_logprobs") or 0)}
    usage: CompletionUsage = {
        "prompt_tokens": asked.prompt_tokens,
        "completion_tokens": asked.completion_tokens,
        "total_tokens": asked.tokens,
    }
    if cached_tokens is not None:
        usage["prompt_tokens_details"] = {"cached_tokens": cached_tokens}
    return {
        "id": f"chatcmpl-{asked.content}",
        "object": "chat.completion",
        "created": 0,
        "model": body.get("model"),
        "choices": [choice],
        "usage": usage,
    }


def cut(asked: Asked) -> Asked:
    """Return the reply as a length limit cuts it; paid tokens stay counted."""
    return asked._replace(text=asked.text[: len(asked.text) // 2], finish_reason="length")


def _asked(messages: Sequence[Sequence[str]], limit: int | None, wanted: FakeFormat | None, model: str) -> Asked:
    prompt = messages[-1][1]
    said = say(prompt, model) or Said(_reply(prompt, wanted), is_refusal=False)
    text, finish_reason = said.text, "stop"
    if limit is not None and _n_tokens(text) > limit:
        text, finish_reason = text[: limit * CHARACTERS_A_TOKEN], "length"
    n_prompt = sum(_n_tokens(text) for _, text in messages)
    return Asked(content_key(*messages), n_prompt, _n_tokens(text), text, finish_reason, said.is_refusal)


def _n_tokens(text: str) -> int:
    return max(1, len(text) // CHARACTERS_A_TOKEN)


def _reply(prompt: str, wanted: FakeFormat | None) -> str:
    task = read_task(prompt)
    if task is not None:
        return task.reply()
    if not wanted or wanted.get("type") == "text":
        return OTHER_PROMPT
    schema = (wanted.get("json_schema") or {}).get("schema") or {"type": "object"}
    return json.dumps(smallest_instance(schema))


def smallest_instance(schema: Mapping[str, Json]) -> Json:
    """Return a value that *schema* accepts, for the subset of JSON Schema that strict providers take."""
    match schema:
        case {"anyOf": [first, *_]}:
            return smallest_instance(_schema(first))
        case {"enum": [first, *_]} | {"const": first}:
            return first
        case {"type": "object"}:
            properties = _schema(schema.get("properties"))
            required = schema.get("required")
            names = required if isinstance(required, list) else properties
            return {str(name): smallest_instance(_schema(properties.get(str(name)))) for name in names}
        case {"type": "array"}:
            n_items = schema.get("minItems")
            return [smallest_instance(_schema(schema.get("items")))] * (n_items if isinstance(n_items, int) else 0)
        case {"type": str(kind)}:
            least = schema.get("minimum", 0)
            plain: dict[str, Json] = {"string": "x", "boolean": False, "integer": least, "number": least}
            return plain.get(kind)
        case _:
            return None


def _schema(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


def _logprobs(text: str, n_top: int) -> list[TokenLogprob]:
    return [_token(token, n_top) for token in _TOKEN.findall(text)]


def _token(token: str, n_top: int) -> TokenLogprob:
    """Return a token with its alternatives: other digits for a digit, so that scores can be weighed."""
    start = stable_seed(token) % 10
    others: Iterable[str] = (f"{token}{n}" for n in range(n_top))
    if token.strip().isdigit() and len(token.strip()) == 1:
        space = token[:-1]
        others = (f"{space}{digit}" for n in range(10) if (digit := (start + n) % 10) != int(token))
    ranked = [token, *others][:n_top]
    top: list[TopLogprob] = [
        {"token": other, "logprob": _LIKELIEST - 2.0 * rank, "bytes": None} for rank, other in enumerate(ranked)
    ]
    return {"token": token, "logprob": _LIKELIEST, "bytes": None, "top_logprobs": top}


class PrefixCache:
    """Prompts by their prefixes, in blocks of 64 tokens; the block used longest ago is forgotten first."""

    def __init__(self, n_blocks: int) -> None:
        self._n_blocks = n_blocks
        self._known: OrderedDict[bytes, None] = OrderedDict()

    def cached_tokens(self, body: FakeRequest) -> int:
        """Count the tokens of the longest known prefix, by whole blocks."""
        known = 0
        for prefix in self._prefixes(body):
            if prefix not in self._known:
                break
            self._known.move_to_end(prefix)
            known += 1
        return known * BLOCK_CHARACTERS // CHARACTERS_A_TOKEN

    def remember(self, body: FakeRequest) -> None:
        for prefix in self._prefixes(body):
            self._known[prefix] = None
            self._known.move_to_end(prefix)
        while len(self._known) > self._n_blocks:
            self._known.popitem(last=False)

    def _prefixes(self, body: FakeRequest) -> Iterable[bytes]:
        text = "".join(message["content"] for message in body["messages"])
        digest = blake2b(digest_size=12)
        for end in range(BLOCK_CHARACTERS, len(text) + 1, BLOCK_CHARACTERS):
            digest.update(text[end - BLOCK_CHARACTERS : end].encode())
            yield digest.digest()
