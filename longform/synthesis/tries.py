"""
Loops of tries: a reply is asked for until it can be read, and a text until it passes its checks.

A reply that is no answer says nothing about its subject, but costs an attempt.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, NamedTuple

from longform.synthesis.asking import Answer, Ask, Form, Log, Plan, Read, notes, read_reply


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

    Each reply that is no answer, or of which *fits* says why it makes no sense, is an attempt of *check* that was
    rejected, the last one exhausted. If not *last_is_logged*, the caller logs the last: it tries something else then.
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


def _fitting(read: Read, fits: Callable[[Answer], str | None]) -> Read:
    if read.reason is None and (reason := fits(read.answer)):
        return Read(None, reason, read.call_id)
    return read


class Verified(NamedTuple):
    """The verifier's part in a try."""

    check: str
    ask: Callable[[Any], Ask]  # answer of the writer -> question about it
    form: type[Form]
    fault: Callable[[Any], str | None]  # verdict -> the fault that it finds; None: none
    fits: Callable[[Any], str | None] = lambda _: None  # verdict -> why it makes no sense; None if it does


class WantedText(NamedTuple, Generic[Answer]):
    """A text that the writer is asked for."""

    subject: str
    prompt: str
    fields: Mapping[str, str]  # those of the prompt, without `notes`
    form: type[Answer]
    read: str  # the check that a reply can be read; the verifier's own if no attempt is accepted before its verdict
    rules: Mapping[str, Callable[[Any], str | None]] = {}  # check -> answer -> its fault; None: it has none
    verified: Verified | None = None


def write_checked(wanted: WantedText[Answer], *, tries: int, replies: int, log: Log) -> Plan[Answer | None]:
    """
    Return an answer that passed every check; None if no try did.

    A try ends at its first check that rejects, whose reason the next prompt names; a verdict that cannot be read is
    asked for again, *replies* times in all.
    """
    rejections: list[str] = []
    for attempt in range(1, tries + 1):
        last = attempt == tries
        read = yield from ask_once(Ask("writer", wanted.prompt, wanted.fields), rejections, wanted.form)
        reason = read.reason
        if reason is not None:
            log.reject(wanted.read, wanted.subject, reason, read.call_id, last=last)
        else:
            reason = yield from _fault(wanted, read, replies, log, last=last)
        if reason is None:
            answer: Answer = read.answer
            return answer
        rejections.append(reason)
    return None


def _fault(wanted: WantedText[Answer], read: Read, replies: int, log: Log, *, last: bool) -> Plan[str | None]:
    """Return what is wrong with a reply that can be read: by the rules, and if they find nothing by the verifier."""
    if wanted.verified is None or wanted.verified.check != wanted.read:
        log.accept(wanted.read, wanted.subject, read.call_id)
    for check, rule in wanted.rules.items():
        if (reason := rule(read.answer)) is not None:
            log.reject(check, wanted.subject, reason, last=last)
            return reason
        log.accept(check, wanted.subject)
    if wanted.verified is None:
        return None
    return (yield from _by_verifier(wanted.verified, wanted.subject, read.answer, replies, log, last=last))


def _by_verifier(
    verified: Verified, subject: str, answer: Form, replies: int, log: Log, *, last: bool
) -> Plan[str | None]:
    (read,) = yield from ask_until_read(
        [Question(subject, verified.ask(answer))],
        verified.form,
        check=verified.check,
        most=replies,
        log=log,
        fits=verified.fits,
        last_is_logged=False,
    )
    reason = unverified(read) if read.reason is not None else verified.fault(read.answer)
    if reason is None:
        log.accept(verified.check, subject, read.call_id)
    else:
        log.reject(verified.check, subject, reason, read.call_id, last=last)
    return reason
