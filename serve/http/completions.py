"""The path of chat completions, in OpenAI's form."""

from __future__ import annotations

import time
import uuid
from collections.abc import Awaitable, Callable

from fastapi import FastAPI
from pydantic import JsonValue
from starlette.responses import JSONResponse, Response

from actors.serving.messages import Answered, Replies
from serve.engine import Backend
from serve.http.errors import ApiError
from serve.http.schemas import CompletionRequest
from serve.items import ChatItem

Chat = Backend[ChatItem]
"""A backend of a chat model."""

AskChat = Callable[[str, Chat, list[ChatItem]], Awaitable[Replies]]
"""A model's name, its backend and items -> what it found."""


def add_completions(app: FastAPI, chosen: Callable[[str | None, str], tuple[str, Chat]], ask: AskChat) -> None:
    """Add the path; *chosen* finds the backend of a model's name and kind."""

    @app.post("/v1/chat/completions")
    async def completions(request: CompletionRequest) -> Response:
        name, backend = chosen(request.model, "chat")
        found = await ask(name, backend, [item_of(request)])
        return JSONResponse(completion(found.answers[0][0], name))


def item_of(request: CompletionRequest) -> ChatItem:
    """Return the part of a request that the model reads."""
    form = request.response_format
    return {
        "shared": request.prompt_cache_key or "",
        "messages": [{"role": message.role, "content": message.text} for message in request.messages],
        "max_tokens": request.max_completion_tokens or request.max_tokens,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "seed": request.seed,
        "stop": None if request.stop is None else list(request.stop),
        "logprobs": request.logprobs,
        "top_logprobs": request.top_logprobs,
        "response_format": None if form is None else form.model_dump(mode="json", by_alias=True, exclude_none=True),
    }


def completion(answer: Answered, model: str) -> dict[str, JsonValue]:
    """
    The answer's body.

    Raises:
        ApiError: The model gave no reply.
    """
    if error := answer.content.get("error"):
        raise ApiError(error["status"], error["message"])
    return {
        "id": f"chatcmpl-{uuid.uuid4().hex}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": answer.content["choices"],
        "usage": answer.content["usage"],
        "from_cache": answer.from_cache,
    }
