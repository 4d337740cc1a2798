"""Questions of a plan, the answers sent to it, and the log of accepted and rejected items."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeVar

from pydantic import JsonValue

from longform.chat.call import TokenLogprobs
from longform.synthesis.written.replies import Form, UnreadableReplyError, read_form
from longform.synthesis.written.settings import Role

Outcome = Literal["accepted", "rejected", "exhausted"]

Value = TypeVar("Value")
Answer = TypeVar("Answer", bound=Form)


class Ask(NamedTuple):
    """
    One question: a prompt and its fields.

    Attributes:
        role: Who is asked.
        prompt: The name of a prompt; in the role `search` the URL of an endpoint.
        fields: Its fields. `notes` names the faults of earlier attempts, so that a second attempt is another call.
        temperature: In place of the model's; None: as configured.
        top_logprobs: Alternatives a token whose log probabilities are wanted; None: none are.
    """

    role: Role
    prompt: str
    fields: Mapping[str, str]
    temperature: float | None = None
    top_logprobs: int | None = None


class Reply(NamedTuple):
    """A text, or the reason why there is none; and the call that gave it."""

    text: str | None
    failure: str | None
    call_id: str | None = None
    logprobs: tuple[TokenLogprobs, ...] | None = None  # None: not asked for, or not given


Plan = Generator[Sequence[Ask], Sequence[Reply], Value]
"""Yields questions that may be asked at once, is sent their replies in the same order, returns what it made."""


class Attempt(NamedTuple):
    """
    One verdict of one check.

    Attributes:
        check: One of `checks.CHECKS`.
        subject: What was checked.
        number: Of the attempts of this check at this subject, from 1.
        verdict: Exhausted: rejected, and nothing more is tried.
        reason: Why it was not accepted.
        call_id: The call that decided; None if a rule did.
    """

    check: str
    subject: str
    number: int
    verdict: Outcome
    reason: str | None
    call_id: str | None


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


def ask_once(ask: Ask, rejections: Sequence[str], form: type[Answer]) -> Plan[Read]:
    """Ask with the faults of earlier attempts, and return the answer or why there is none."""
    (reply,) = yield [_with_notes(ask, rejections)]
    return read_reply(reply, form)


def _with_notes(ask: Ask, rejections: Sequence[str]) -> Ask:
    """Return *ask*, its own notes followed by the faults of earlier attempts."""
    said = [text for text in (ask.fields.get("notes"), notes(rejections)) if text]
    return ask._replace(fields={**ask.fields, "notes": "\n".join(said)})


class Question(NamedTuple):
    """A question to a verifier about *subject*."""

    subject: str
    ask: Ask


def ask_until_read(
    questions: Sequence[Question],
    form: type[Answer],
    *,
    check: str,
    most: int,
    log: Log,
    fits: Callable[[Answer], str | None] = lambda _: None,
    last_is_logged: bool = True,
) -> Plan[list[Read]]:
    """
    Return the answers to *questions*, asked at once; unreadable ones are asked again, *most* times in all.

    A reply that is no answer says nothing about its subject, but costs an attempt.

    Args:
        questions: About what.
        form: Of the answers.
        check: Whose attempts they are: each reply that is no answer is one that was rejected, the last one exhausted.
        most: Replies to one question.
        log: Of attempts.
        fits: Says why an answer makes no sense; None if it does.
        last_is_logged: Else the caller logs the last unreadable reply, because it tries something else then.
    """
    found: dict[int, Read] = {}
    failures: dict[int, list[str]] = {place: [] for place in range(len(questions))}
    while waiting := [place for place in failures if place not in found]:
        replies = yield [_with_notes(questions[place].ask, failures[place]) for place in waiting]
        for place, reply in zip(waiting, replies, strict=True):
            read = _fitting(read_reply(reply, form), fits)
            if read.reason is None:
                found[place] = read
                continue
            failures[place].append(read.reason)
            last = len(failures[place]) >= most
            if last:
                found[place] = read
            if last_is_logged or not last:
                log.reject(check, questions[place].subject, unverified(read), read.call_id, last=last)
    return [found[place] for place in range(len(questions))]


def unverified(read: Read) -> str:
    """The reason of an attempt whose verdict could not be read."""
    return f"unverified: {read.reason}"


def read_reply(reply: Reply, form: type[Answer]) -> Read:
    """The *form* that a reply holds, or why it holds none."""
    if reply.text is None:
        return Read(None, reply.failure or "no_reply", reply.call_id)
    try:
        return Read(read_form(reply.text, form), None, reply.call_id)
    except UnreadableReplyError as unreadable:
        return Read(None, unreadable.reason, reply.call_id)


def _fitting(read: Read, fits: Callable[[Answer], str | None]) -> Read:
    if read.reason is None and (reason := fits(read.answer)):
        return Read(None, reason, read.call_id)
    return read
