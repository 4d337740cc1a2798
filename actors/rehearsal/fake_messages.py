"""Chat completions as the fake provider reads and writes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NotRequired, Required, TypedDict

from longform.given import Json


class PromptMessage(TypedDict):
    role: str
    content: str


class FakeSchema(TypedDict, total=False):
    schema: Mapping[str, Json]


class FakeFormat(TypedDict, total=False):
    type: str
    json_schema: FakeSchema


class FakeRequest(TypedDict, total=False):
    model: str
    messages: Required[list[PromptMessage]]
    max_tokens: int | None
    max_completion_tokens: int | None
    response_format: FakeFormat | None
    logprobs: bool
    top_logprobs: int | None


class TopLogprob(TypedDict):
    token: str
    logprob: float | None
    bytes: None


class TokenLogprob(TopLogprob):
    top_logprobs: list[TopLogprob]


class FakeLogprobs(TypedDict):
    content: list[TokenLogprob]


class ReplyMessage(TypedDict):
    role: str
    content: str | None
    refusal: NotRequired[str]


class FakeChoice(TypedDict):
    index: int
    message: ReplyMessage
    finish_reason: str
    logprobs: NotRequired[FakeLogprobs]


class PromptDetails(TypedDict):
    cached_tokens: int


class CompletionUsage(TypedDict):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: NotRequired[PromptDetails]


class Completion(TypedDict):
    id: str
    object: str
    created: int
    model: str | None
    choices: list[FakeChoice]
    usage: CompletionUsage
