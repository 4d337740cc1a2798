"""
A chat call as values: the request, the reply, its usage, and the capabilities of a model.

A reply has a text or the reason why it has none, never both and never an exception. Reasons are short codes:
`http_429`, `timeout`, `connection`, `bad_body`, `bad_content`, `bad_encoding`, `reply_too_large`, `empty_reply`,
`only_reasoning`, `refusal`, `length`, `not_finished`, `content_filter`, `provider_error`, `unsupported_logprobs`, or
`context_exceeds_window` with its numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, Literal, NamedTuple, ParamSpec

from pydantic import JsonValue

from longform.given import storable
from longform.keys import content_key
from longform.settings.chat import ChatSettings


class Message(NamedTuple):
    role: Literal["system", "user", "assistant"]
    text: str


class Shared(NamedTuple):
    """The beginning of a prompt that others have too, so that a server need not read it again."""

    text: str  # its key
    grows: bool = False  # prompts begin like the longest of them, and not all with one text


@dataclass(frozen=True, kw_only=True)
class ChatRequest:
    """One question to a model. What is None is not sent."""

    messages: tuple[Message, ...]
    max_tokens: int
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None  # of the first repeat; `sampling_seed` is sent
    json_schema: Mapping[str, Any] | None = None
    top_logprobs: int | None = None  # alternatives a token, from 0; None: no logprobs
    reasoning_effort: str | None = None
    extra_body: Mapping[str, JsonValue] | None = None  # further fields of the body
    repeat: int = 0  # tells apart calls that ask the same again on purpose
    input_tokens: int | None = None  # cl100k tokens of the messages; None: not counted. No part of the content
    replica: int = 0  # which of several servers of one model is asked. No part of the content
    again: str | None = None  # why the reply to the same question could not be read. No part of the content
    shared: Shared | None = None  # what goes out together; None: it goes by itself. No part of the content

    @property
    def sampling_seed(self) -> int | None:
        """Return the seed that is sent: one seed for all repeats would bring the same text each time."""
        return None if self.seed is None else self.seed + self.repeat

    @property
    def content(self) -> dict[str, Any]:
        """All that can change the reply, as JSON values; of what came later only what is asked for."""
        later = {"top_p": self.top_p, "seed": self.seed, "extra_body": self.extra_body}
        return {
            "messages": [list(message) for message in self.messages],
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
            "json_schema": self.json_schema,
            "top_logprobs": self.top_logprobs,
            "reasoning_effort": self.reasoning_effort,
            "repeat": self.repeat,
            **{name: value for name, value in later.items() if value is not None},
        }


class Usage(NamedTuple):
    """
    Tokens in four classes that do not overlap; None if the provider does not say.

    If it gives a total but no cached (reasoning) share, `input_tokens` (`output_tokens`) is that total.
    """

    input_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None


NOTHING_SAID = Usage()


class Signals(NamedTuple):
    """Limits stated by a reply's headers; None if it states none. Waits are in seconds from the reply on."""

    retry_after_s: float | None = None
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    remaining_requests: float | None = None
    remaining_tokens: float | None = None
    reset_requests_s: float | None = None
    reset_tokens_s: float | None = None


NOTHING_HEARD = Signals()


LARGEST_LOGPROB = 1e-3
"""A log probability is at most 0; rounding may lift one so far above it."""


class TokenLogprobs(NamedTuple):
    """A token of the reply, its natural log probability, and the most likely tokens in its place with theirs."""

    token: str
    logprob: float
    top: tuple[tuple[str, float], ...]


@dataclass(frozen=True, kw_only=True)
class ChatReply:
    """
    The outcome of one attempt: a text, or the reason why there is none, in characters that can be stored.

    A text with half a character in it is none, for the reason `bad_encoding`.

    Raises:
        ValueError: Both or neither of `text` and `failure` are given.
    """

    text: str | None
    failure: str | None
    finish_reason: str | None = None
    model: str | None = None  # as the provider answered
    usage: Usage = NOTHING_SAID
    cost_usd: float | None = None  # of the attempt, whichever command made it; None: unknown
    seconds: float | None = None  # of the attempt itself, without waiting for its turn; None: nothing was sent
    logprobs: tuple[TokenLogprobs, ...] | None = None
    signals: Signals = NOTHING_HEARD
    detail: str | None = None  # of a failure, in words for people; not stored
    is_whole: bool | None = True  # None: the server does not say how its text ended. Not stored
    from_ledger: bool = False  # whether the ledger had it, so that nothing was sent for it now; not stored
    cause: str | None = None  # of a failure that another step's caused: why that one failed

    def __post_init__(self) -> None:
        if (self.text is None) == (self.failure is None):
            msg = f"a reply has a text or a failure: text {self.text!r}, failure {self.failure!r}"
            raise ValueError(msg)
        if self.text is not None and storable(self.text) != self.text:
            self.__dict__.update(text=None, failure="bad_encoding")
        words = {name: getattr(self, name) for name in ("failure", "finish_reason", "model", "detail", "cause")}
        self.__dict__.update({name: storable(word) for name, word in words.items() if word is not None})


def failed(reason: str, detail: str | None = None) -> ChatReply:
    return ChatReply(text=None, failure=reason, detail=detail)


P = ParamSpec("P")


def guarded(read: Callable[P, ChatReply]) -> Callable[P, ChatReply]:
    """Return *read*, of which any error is the failure of the reply that it read: one reply ends no command."""

    @wraps(read)
    def reading(*given: P.args, **named: P.kwargs) -> ChatReply:
        try:
            return read(*given, **named)
        except Exception as error:  # noqa: BLE001  # foreign bytes: what they can break is not known
            return failed(f"unread_{type(error).__name__}")

    return reading


def call_id(settings: ChatSettings, request: ChatRequest) -> str:
    """
    Return the content hash of a call: the model's address (provider, base URL, model, script) and the request. No key,
    no limits.
    """
    asked = [settings.provider, settings.base_url, settings.model, settings.script]
    return content_key("chat", asked, request.content)


# ---------------------------------------------------------------- what a model accepts


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """Parameters that a model is known to accept; None if unknown, so that it may be asked."""

    context_window: int | None = None  # tokens of input and output together
    temperature: bool | None = None
    top_p: bool | None = None
    seed: bool | None = None
    json_schema: bool | None = None
    logprobs: bool | None = None
    reasoning_effort: bool | None = None
    max_completion_tokens: bool | None = None  # takes its output limit under this name only


_DRAWN = {"temperature": True, "top_p": True}
_SAMPLING = {**_DRAWN, "seed": True, "logprobs": True, "reasoning_effort": False, "max_completion_tokens": False}
_REASONING = {"temperature": False, "top_p": False, "logprobs": False, "max_completion_tokens": True}
_CLAUDE_3 = {**_DRAWN, "seed": False, "json_schema": False, "logprobs": False, "reasoning_effort": False}
_DATED = r"(-\d{4}-\d{2}-\d{2})?"

# From the providers' model pages. A pattern matches a whole name: a variant that nobody wrote down here is unknown.
_KNOWN: tuple[tuple[str, Capabilities], ...] = (
    (r"gpt-3\.5-turbo(-16k|-1106|-0125)?", Capabilities(context_window=16_385, json_schema=False, **_SAMPLING)),
    (r"gpt-4(-0613)?", Capabilities(context_window=8_192, json_schema=False, **_SAMPLING)),
    (
        r"gpt-4-(turbo(-2024-04-09|-preview)?|1106-preview|0125-preview)",
        Capabilities(context_window=128_000, json_schema=False, **_SAMPLING),
    ),
    (r"gpt-4o-2024-05-13", Capabilities(context_window=128_000, json_schema=False, **_SAMPLING)),
    (rf"gpt-4o(-mini)?{_DATED}", Capabilities(context_window=128_000, json_schema=True, **_SAMPLING)),
    (rf"gpt-4\.1(-mini|-nano)?{_DATED}", Capabilities(context_window=1_047_576, json_schema=True, **_SAMPLING)),
    (
        rf"o1-(mini|preview){_DATED}",
        Capabilities(context_window=128_000, json_schema=False, reasoning_effort=False, **_REASONING),
    ),
    (
        rf"(o1|o3|o3-mini|o4-mini){_DATED}",
        Capabilities(context_window=200_000, json_schema=True, reasoning_effort=True, **_REASONING),
    ),
    (
        rf"gpt-5(-mini|-nano)?{_DATED}",
        Capabilities(context_window=400_000, json_schema=True, reasoning_effort=True, **_REASONING),
    ),
    (r"claude-3(-5)?-(haiku|sonnet|opus)(-\d{8}|-latest)?", Capabilities(context_window=200_000, **_CLAUDE_3)),
    (r"gemini-1\.5-pro(-00[12])?", Capabilities(context_window=2_097_152, json_schema=True, **_DRAWN)),
    (r"gemini-1\.5-flash(-00[12])?", Capabilities(context_window=1_048_576, json_schema=True, **_DRAWN)),
    (
        r"gemini-2\.0-(flash|flash-lite|pro)(-00\d)?",
        Capabilities(context_window=1_048_576, json_schema=True, **_DRAWN),
    ),
    (
        r"gemini-2\.5-(flash|flash-lite|pro)(-00\d)?",
        Capabilities(context_window=1_048_576, json_schema=True, reasoning_effort=True, **_DRAWN),
    ),
    (r"gpt-oss-(20|120)b", Capabilities(context_window=131_072, reasoning_effort=True, **_DRAWN)),
    # takes temperature and top_p in silence, without effect
    (r"deepseek-reasoner", Capabilities(temperature=False, top_p=False, logprobs=False, json_schema=False)),
    (r"deepseek-chat", Capabilities(logprobs=True, json_schema=False, **_DRAWN)),
)


def known_capabilities(model: str) -> Capabilities:
    """
    Return the known capabilities of *model* (a `provider/` prefix is passed over); all unknown for
    an unknown name.
    """
    name = model.rsplit("/", 1)[-1].lower()
    matching = (capabilities for pattern, capabilities in _KNOWN if re.fullmatch(pattern, name))
    return next(matching, Capabilities())


def capabilities(settings: ChatSettings) -> Capabilities:
    """Return the configured model's capabilities: those that the configuration states, else the known ones."""
    found = Capabilities() if settings.provider in ("http", "python") else known_capabilities(settings.model)
    if settings.provider == "scripted":
        found = replace(found, logprobs=True)
    if settings.provider == "llama_cpp" or (settings.base_url or "").startswith("serve://"):
        found = replace(found, reasoning_effort=False, seed=True, **_DRAWN)
    if settings.context_window is not None:
        found = replace(found, context_window=settings.context_window)
    if settings.json_schema is not None:
        found = replace(found, json_schema=settings.json_schema)
    return found


def refusal_reason(request: ChatRequest, accepted: Capabilities) -> str | None:
    """Return why *request* must not be sent to a model that accepts *accepted*; None if nothing speaks against it."""
    asked = {
        "temperature": request.temperature,
        "top_p": request.top_p,
        "seed": request.seed,
        "json_schema": request.json_schema,
        "logprobs": request.top_logprobs,
        "reasoning_effort": request.reasoning_effort,
    }
    for name, value in asked.items():
        if value is not None and getattr(accepted, name) is False:
            return f"unsupported_{name}"
    window, counted = accepted.context_window, request.input_tokens
    if window is not None and counted is not None and counted + request.max_tokens > window:
        return f"context_exceeds_window: {counted} input + {request.max_tokens} output tokens > {window}"
    return None
