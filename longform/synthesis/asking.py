"""
Questions of a plan, the forms of their replies, and the log of accepted and rejected items.

A plan is a generator that yields questions and is sent their replies. It does no I/O, so that the same plan runs over
the chat pool, over a scripted model, and in a test without either.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

from pydantic import JsonValue, StringConstraints, ValidationError

from longform.chat.call import TokenLogprobs
from longform.settings.strict import Strict

Role = Literal["planner", "writer", "verifier", "outsider", "search"]
"""Names who is asked: a chat model, or for `search` an endpoint over HTTP."""

Outcome = Literal["accepted", "rejected", "exhausted"]

Value = TypeVar("Value")


class Ask(NamedTuple):
    """One question: a prompt and its fields."""

    role: Role
    prompt: str  # name of a prompt; in the role `search` the URL of an endpoint
    # the prompt's; `notes` names the faults of earlier attempts, so that a second attempt is another call
    fields: Mapping[str, str]
    temperature: float | None = None  # replaces the model's; None: as configured
    top_logprobs: int | None = None  # alternatives a token whose log probabilities are wanted; None: none are


class Reply(NamedTuple):
    """A text, or the reason why there is none; and the call that gave it."""

    text: str | None
    failure: str | None
    call_id: str | None = None
    logprobs: tuple[TokenLogprobs, ...] | None = None  # None: not asked for, or not given


Plan = Generator[Sequence[Ask], Sequence[Reply], Value]
"""Yields questions that may be asked at once, is sent their replies in the same order, returns what it made."""


class Attempt(NamedTuple):
    """One verdict of one check."""

    check: str
    subject: str
    number: int  # counts the attempts of this check at this subject, from 1
    verdict: str  # an `Outcome`; exhausted: rejected, and nothing more is tried
    reason: str | None
    call_id: str | None  # the call that decided; None if a rule did


class Log:
    """The attempts of one plan, in their order."""

    def __init__(self) -> None:
        self.attempts: list[Attempt] = []
        self._numbers: Counter[tuple[str, str]] = Counter()

    def accept(self, check: str, subject: str, call_id: str | None = None) -> None:
        self._add(check, subject, "accepted", None, call_id)

    def reject(self, check: str, subject: str, reason: str, call_id: str | None = None, *, last: bool = False) -> None:
        """Note a rejection; *last*: nothing more is tried."""
        self._add(check, subject, "exhausted" if last else "rejected", reason, call_id)

    def _add(self, check: str, subject: str, verdict: Outcome, reason: str | None, call_id: str | None) -> None:
        self._numbers[check, subject] += 1
        self.attempts.append(Attempt(check, subject, self._numbers[check, subject], verdict, reason, call_id))


class Read(NamedTuple):
    """An answer, or the reason why the reply is none; and the call."""

    answer: Any
    reason: str | None
    call_id: str | None


def notes(rejections: Sequence[str]) -> str:
    """Return a prompt's words on earlier attempts; nothing at the first."""
    if not rejections:
        return ""
    lines = "".join(f"\n- {reason}" for reason in rejections)
    return f"Earlier attempts at this were rejected. What was wrong with them:{lines}"


def numbered(texts: Iterable[Mapping[str, JsonValue]]) -> str:
    """Return things as a prompt shows them: a JSON list, numbered from 1."""
    lines = [json.dumps({"number": n, **text}, ensure_ascii=False) for n, text in enumerate(texts, start=1)]
    return "[\n" + ",\n".join(lines) + "\n]"


def listed(texts: Sequence[str]) -> str:
    """Return texts as prompts show them, numbered from 1."""
    return "\n\n".join(f"[{number}] {text}" for number, text in enumerate(texts, start=1))


# ---------------------------------------------------------------- forms of replies

_FENCE = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL)

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class Form(Strict):
    """The form of a reply."""


Answer = TypeVar("Answer", bound=Form)


def schema_of(form: type[Form]) -> dict[str, JsonValue]:
    """Return the JSON schema of a form, in the subset that strict providers take: they refuse least lengths."""
    return _without_lengths(form.model_json_schema())


def _without_lengths(schema: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {name: _inner(value) for name, value in schema.items() if name != "minLength"}


def _inner(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return _without_lengths(value)
    return [_inner(one) for one in value] if isinstance(value, list) else value


class UnreadableReplyError(Exception):
    """A reply that is not the form that was asked for."""

    def __init__(self, *, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def read_form(reply: str, form: type[Answer]) -> Answer:
    """
    The *form* in a reply, bare or in a ```json fence.

    Raises:
        UnreadableError: `invalid_json`, or `wrong_form` for JSON with other fields or types.
    """
    text = reply.strip()
    if fenced := _FENCE.fullmatch(text):
        text = fenced[1]
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnreadableReplyError(reason="invalid_json") from error
    try:
        return form.model_validate(value)
    except ValidationError as error:
        raise UnreadableReplyError(reason="wrong_form") from error


def read_reply(reply: Reply, form: type[Answer]) -> Read:
    """The *form* that a reply holds, or why it holds none."""
    if reply.text is None:
        return Read(None, reply.failure or "no_reply", reply.call_id)
    try:
        return Read(read_form(reply.text, form), None, reply.call_id)
    except UnreadableReplyError as unreadable:
        return Read(None, unreadable.reason, reply.call_id)
