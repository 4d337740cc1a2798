"""A server that answers as vLLM does, with the scripted model's words."""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from actors.rehearsal.scripted_chat import ScriptedChat
from longform.chat.call import ChatRequest, Message
from longform.settings.chat import ChatSettings

MODEL = "open-model"


class Vllm:
    """Serves one model, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self._model = ScriptedChat(ChatSettings(provider="scripted", model=MODEL, script="obedient"))

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        """The address of the server."""
        app = web.Application()
        app.router.add_post("/v1/chat/completions", self._complete)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        try:
            yield f"http://127.0.0.1:{runner.addresses[0][1]}"
        finally:
            await runner.cleanup()

    async def _complete(self, request: web.Request) -> web.Response:
        body = await request.json()
        if body["model"] != MODEL:
            message = f"The model `{body['model']}` does not exist."
            error = {"message": message, "type": "NotFoundError", "param": "model", "code": 404}
            return web.json_response({"error": error}, status=404)
        self.asked.append(body)
        messages = tuple(Message(one["role"], one["content"]) for one in body["messages"])
        reply = await self._model.complete(ChatRequest(messages=messages, max_tokens=body["max_tokens"]))
        said = {
            "role": "assistant",
            "content": reply.text,
            "refusal": None,
            "annotations": None,
            "audio": None,
            "function_call": None,
            "tool_calls": [],
            "reasoning_content": None,
        }
        choice = {"index": 0, "message": said, "logprobs": None, "finish_reason": "stop", "stop_reason": None}
        read, written = reply.usage.input_tokens or 0, reply.usage.output_tokens or 0
        usage = {"prompt_tokens": read, "total_tokens": read + written, "completion_tokens": written}
        return web.json_response(
            {
                "id": f"chatcmpl-{uuid.uuid4().hex}",
                "object": "chat.completion",
                "created": int(time.time()),
                "model": MODEL,
                "choices": [choice],
                "service_tier": None,
                "system_fingerprint": None,
                "usage": {**usage, "prompt_tokens_details": None},
                "prompt_logprobs": None,
                "prompt_token_ids": None,
                "kv_transfer_params": None,
            }
        )
