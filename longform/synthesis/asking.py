"""
Questions of a plan, the forms of their replies, loops of tries, and the log of accepted and rejected items.

A plan is a generator that yields questions and is sent their replies. It does no I/O, so that the same plan runs over
the chat pool, over a scripted model, and in a test without either. A reply that is no answer says nothing about its
subject, but costs an attempt.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import Annotated, Any, Generic, Literal, NamedTuple, TypeVar

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


def carried_out(plan: Plan[Value], answer: Callable[[Sequence[Ask]], Sequence[Reply]]) -> Value:
    """Return the result of *plan*, whose questions *answer* answers."""
    try:
        asks = next(plan)
        while True:
            asks = plan.send(answer(asks))
    except StopIteration as ended:
        value: Value = ended.value
        return value


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
        self.decide(check, subject, None, call_id)

    def decide(
        self, check: str, subject: str, fault: str | None, call_id: str | None = None, *, last: bool = False
    ) -> bool:
        """Note a verdict, and return whether it accepts; with a *fault* it rejects. *last*: nothing more is tried."""
        verdict: Outcome = "accepted" if fault is None else "exhausted" if last else "rejected"
        self._numbers[check, subject] += 1
        self.attempts.append(Attempt(check, subject, self._numbers[check, subject], verdict, fault, call_id))
        return fault is None


class Read(NamedTuple):
    """An answer, or the reason why the reply is none; and the call."""

    answer: Any
    reason: str | None
    call_id: str | None
    earlier: tuple[str, ...] = ()  # reasons of tries before this one


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
    schema: dict[str, JsonValue] = _without_lengths(form.model_json_schema())
    return schema


def _without_lengths(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_lengths(part) for name, part in value.items() if name != "minLength"}
    return [_without_lengths(one) for one in value] if isinstance(value, list) else value


def read_reply(reply: Reply, form: type[Form]) -> Read:
    """
    Return the *form* that a reply holds, bare or in a ```json fence, or why it holds none.

    The reason is the reply's failure, `invalid_json`, or `wrong_form` for JSON with other fields or types.
    """
    if reply.text is None:
        return Read(None, reply.failure or "no_reply", reply.call_id)
    text = reply.text.strip()
    if fenced := _FENCE.fullmatch(text):
        text = fenced[1]
    try:
        return Read(form.model_validate(json.loads(text)), None, reply.call_id)
    except ValidationError:
        return Read(None, "wrong_form", reply.call_id)
    except (ValueError, RecursionError):
        return Read(None, "invalid_json", reply.call_id)


# ---------------------------------------------------------------- loops of tries


def ask_once(ask: Ask, rejections: Sequence[str], form: type[Form]) -> Plan[Read]:
    """Ask with the faults of earlier attempts, and return the answer or why there is none."""
    (reply,) = yield [_with_notes(ask, rejections)]
    return read_reply(reply, form)


def _with_notes(ask: Ask, rejections: Sequence[str]) -> Ask:
    """Return *ask*, its own notes followed by the faults of earlier attempts."""
    said = [text for text in (ask.fields.get("notes"), notes(rejections)) if text]
    return ask._replace(fields={**ask.fields, "notes": "\n".join(said)})


def ask_in_rounds(
    n: int, ask: Callable[[int, Sequence[str]], Ask], read: Callable[[int, Reply, int], Read], *, most: int
) -> Plan[list[Read]]:
    """
    Return the readings of *n* things, asked about at once; those with a fault are asked again, *most* times in all.

    *ask* is given the faults so far of a thing, *read* the number of the try, from 1.
    """
    found: dict[int, Read] = {}
    faults: list[list[str]] = [[] for _ in range(n)]
    for attempt in range(1, most + 1):
        waiting = [place for place in range(n) if place not in found or found[place].reason is not None]
        if not waiting:
            break
        replies = yield [ask(place, faults[place]) for place in waiting]
        for place, reply in zip(waiting, replies, strict=True):
            found[place] = read(place, reply, attempt)._replace(earlier=tuple(faults[place]))
            faults[place] += filter(None, [found[place].reason])
    return [found[place] for place in range(n)]


def ask_until_read(
    questions: Sequence[tuple[str, Ask]],  # each after its subject
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

    def read(place: int, reply: Reply, attempt: int) -> Read:
        found, last = read_reply(reply, form), attempt == most
        if found.reason is None and (reason := fits(found.answer)):
            found = Read(None, reason, reply.call_id)
        if found.reason is not None and (last_is_logged or not last):
            log.decide(check, questions[place][0], unverified(found), reply.call_id, last=last)
        return found

    return (yield from ask_in_rounds(len(questions), lambda n, why: _with_notes(questions[n][1], why), read, most=most))


def ask_for(
    subject: str,
    ask: Ask,
    form: type[Answer],
    *,
    check: str,
    most: int,
    log: Log,
    fits: Callable[[Answer], str | None] = lambda _: None,
) -> Plan[Read]:
    """Return the answer to one question, as `ask_until_read` does."""
    (read,) = yield from ask_until_read([(subject, ask)], form, check=check, most=most, log=log, fits=fits)
    return read


def unverified(read: Read) -> str:
    """The reason of an attempt whose verdict could not be read."""
    return f"unverified: {read.reason}"


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
            log.decide(wanted.read, wanted.subject, reason, read.call_id, last=last)
        else:
            reason = yield from _fault(wanted, read, replies, log, last=last)
        if reason is None:
            answer: Answer = read.answer
            return answer
        rejections.append(reason)
    return None


def _fault(wanted: WantedText[Answer], read: Read, replies: int, log: Log, *, last: bool) -> Plan[str | None]:
    """Return what is wrong with a reply that can be read: by the rules, and if they find nothing by the verifier."""
    verified = wanted.verified
    if verified is None or verified.check != wanted.read:
        log.accept(wanted.read, wanted.subject, read.call_id)
    for check, rule in wanted.rules.items():
        if not log.decide(check, wanted.subject, fault := rule(read.answer), last=last):
            return fault
    if verified is None:
        return None
    (verdict,) = yield from ask_until_read(
        [(wanted.subject, verified.ask(read.answer))],
        verified.form,
        check=verified.check,
        most=replies,
        log=log,
        fits=verified.fits,
        last_is_logged=False,
    )
    reason = unverified(verdict) if verdict.reason is not None else verified.fault(verdict.answer)
    log.decide(verified.check, wanted.subject, reason, verdict.call_id, last=last)
    return reason
