"""Chat models in GGUF files that answer completions, and the pool of those that judges and rerankers ask."""

from __future__ import annotations

import asyncio
import threading
import uuid
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

from pydantic import JsonValue

from actors.authority import Local
from actors.chat.governor import Unlimited
from actors.chat.llama_cpp_client import LlamaChat
from actors.chat.model import CallContext
from actors.chat.opening import leases_of, open_chat
from actors.chat.pool import ChatPool
from actors.ledger.keeper import LedgerKeeper
from actors.local_models.checkpoints import gguf_content
from actors.serving.messages import About
from longform.chat.answers import http_failure
from longform.chat.prices import FREE
from longform.keys import content_key
from longform.settings.chat import ChatSettings
from serve.engine import ChatItem, Work
from serve.settings import ServedChat

_T = TypeVar("_T")

_CANNOT_TAKE = "the model cannot take this: roles in an order, or a schema, that it does not know"


class ChatWorker:
    """
    Items are the parts of a `CompletionRequest` that a model reads; a unit is an item, its content `{choices, usage}`
    in OpenAI's form, or `{error: {status, message}}`.

    Raises:
        UsageError: The file is missing, or is no model that llama.cpp can load.
    """

    def __init__(self, name: str, settings: ServedChat, *, threads: int) -> None:  # noqa: ARG002  llama.cpp's own
        asked = ChatSettings(
            provider="llama_cpp",
            model=settings.model,
            context_window=settings.context_window,
            max_tokens=settings.max_tokens,
            timeout_s=settings.timeout_s,
        )
        self._chat = LlamaChat(asked)
        self._max_tokens = settings.max_tokens
        self._loop = LoopThread()
        version = content_key("llama_cpp", gguf_content(settings.model))
        self.about = About(name, "chat", version, estimated=False)

    def split(self, item: ChatItem) -> list[ChatItem]:
        return [item]

    def run(self, units: list[ChatItem]) -> list[Work]:
        return [self._loop.run(self._work(unit)) for unit in units]

    async def _work(self, unit: ChatItem) -> Work:
        try:
            body = await self._chat.body(sent(unit, self._max_tokens))
        except TimeoutError:
            return _failed(504, "the reply took longer than this model may take; ask for fewer tokens")
        except ValueError:  # from the library, of a schema it cannot read
            return _failed(400, _CANNOT_TAKE)
        if "error" in body:
            return _refused(body["error"])
        usage = body["usage"]
        content = {"choices": [_choice(one, unit) for one in body["choices"]], "usage": usage}
        # one that is drawn by chance would be drawn otherwise
        drawn = unit.get("temperature") != 0
        return Work(content, usage["prompt_tokens"], lasting=not drawn, output_tokens=usage["completion_tokens"])


def sent(unit: ChatItem, max_tokens: int) -> dict[str, Any]:
    """Return the body that llama.cpp's server is asked with."""
    body = {"max_tokens": max_tokens, **unit}
    del body["shared"]
    if not body.pop("logprobs", False):
        return body
    return {**body, "logprobs": True, "top_logprobs": max(1, unit.get("top_logprobs", 0))}  # it reads 0 as none at all


def _choice(choice: Mapping[str, Any], unit: ChatItem) -> dict[str, Any]:
    """Return a choice of llama.cpp's server as OpenAI's."""
    logprobs = choice.get("logprobs") if unit.get("logprobs") else None
    most = unit.get("top_logprobs", 0)
    content = [
        {**_likely(one), "top_logprobs": [_likely(other) for other in one["top_logprobs"][:most]]}
        for one in (logprobs or {"content": ()})["content"]
    ]
    return {
        "index": 0,
        "message": {"role": "assistant", "content": choice["message"].get("content") or "", "refusal": None},
        "finish_reason": choice["finish_reason"],
        "logprobs": {"content": content, "refusal": None} if logprobs else None,
    }


def _likely(token: Mapping[str, Any]) -> dict[str, Any]:
    return {name: token[name] for name in ("token", "logprob", "bytes")}


def _refused(error: Mapping[str, JsonValue]) -> Work:
    code = error.get("code")
    status = code if isinstance(code, int) and 400 <= code < 500 else 500
    if http_failure(status, error) == "context_exceeds_window":
        return _failed(400, "the messages and the reply are longer than the model's context window; shorten them")
    if status == 500:
        return _failed(500, "the model failed on this request")
    return _failed(400, _CANNOT_TAKE)


def _failed(status: int, message: str) -> Work:
    return Work({"error": {"status": status, "message": message}}, 0, lasting=False)


def local_pool(settings: ChatSettings, step: str, name: str, ledger: str | None) -> ChatPool:
    """The model that an entry asks behind the pool, with a keeper of its own: each replica writes to the *ledger*."""
    assert ledger is not None, "the settings saw to it"
    job = f"serve-{name}-{uuid.uuid4().hex[:8]}"
    context, keeper = CallContext(job=job, stage=f"{step} {name}", ledger=ledger), Local(LedgerKeeper(ledger, job))
    leases = leases_of(settings, context) if settings.base_url else Unlimited()
    return ChatPool(open_chat(settings), settings, context, leases=leases, keeper=keeper, price=FREE)


class LoopThread:
    """An event loop in a thread of its own: pools and models live on one loop, batches come from threads."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="chat", daemon=True).start()

    def run(self, work: Coroutine[None, None, _T]) -> _T:
        """Return the result of *work*, or raise its error; blocks."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()
