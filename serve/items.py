"""Items of requests to models, the units they split into, and the completions that answer them, as they cross wires."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

from pydantic import JsonValue


class TextsItem(TypedDict):
    """Texts of which each gets a vector."""

    texts: list[str]


class PairsItem(TypedDict):
    """A query and texts, of which each gets a score."""

    query: str
    texts: list[str]


Pair = tuple[str, str]
"""A query and a text."""

JudgeItem = Mapping[str, str | Sequence[str]]
"""An item of a judge's type, by the names of its fields."""

JudgeUnit = JudgeItem | tuple[str | Sequence[str], str] | tuple[str | Sequence[str], str, str]
"""An item of a judge that reads it whole; of another one the shared text, one thing that is looked for, and the query
if the judge is shown it."""

Verdicts = Sequence[Mapping[str, JsonValue]]
"""A judge's answers, by the names of their fields."""


class Message(TypedDict):
    role: str
    content: str


class ChatItem(TypedDict):
    """The part of a request for a completion that the model reads."""

    shared: str
    messages: list[Message]
    max_tokens: int | None
    temperature: float | None
    top_p: float | None
    seed: int | None
    stop: list[str] | None
    logprobs: bool
    top_logprobs: int | None
    response_format: dict[str, JsonValue] | None


class Likely(TypedDict):
    """A token that the model could have written."""

    token: str
    logprob: float
    bytes: list[int] | None


class Token(Likely):
    """A token that it wrote."""

    top_logprobs: list[Likely]


class Logprobs(TypedDict):
    content: list[Token]
    refusal: None


class ReplyFields(TypedDict):
    role: str
    content: str
    refusal: None


class Choice(TypedDict):
    index: int
    message: ReplyFields
    finish_reason: str
    logprobs: Logprobs | None
