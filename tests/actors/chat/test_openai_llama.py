"""A real model behind a real server is asked as any other."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from actors.chat.openai_client import OpenAIChat
from longform import prompts
from longform.chat.call import ChatRequest, Message
from longform.judges.kinds.coverage import COVERAGE, numbered_bullets, parse_coverage
from longform.settings.chat import ChatSettings


@pytest.mark.slow
async def test_a_real_model_answers_a_coverage_prompt_by_its_schema(llama_server: str) -> None:
    """It proves the wiring, json_schema included; what a model of this size says is worth nothing."""
    prompt = prompts.load_prompt("judge_coverage_3")
    text = prompt.render(bullets=numbered_bullets(["Cats sleep a lot. [1]", "Dogs bark. [2]"]), insight="Cats sleep.")
    chat = OpenAIChat(ChatSettings(model="smollm2", base_url=llama_server, json_schema=True, timeout_s=300))
    asked = {"temperature": 0.0, "json_schema": COVERAGE.schema, "top_logprobs": 3}
    request = ChatRequest(messages=(Message("user", text),), max_tokens=100, **asked)
    reply = await chat.complete(request)
    too_long = await chat.complete(replace(request, messages=(Message("user", "word " * 10_000),)))
    await chat.close()
    assert reply.failure is None, reply
    assert json.loads(reply.text or "").keys() == {"coverage", "bullet_id"}
    assert parse_coverage(reply.text or "", n_bullets=2).answer in {"full", "partial", "none"}
    assert reply.usage.output_tokens
    assert reply.logprobs
    assert too_long.failure == "context_exceeds_window"
