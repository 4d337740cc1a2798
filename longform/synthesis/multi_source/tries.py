"""One loop for every text that a writer is asked for: read, checked by rules, then by the verifier, or tried again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from longform.synthesis.multi_source.settings import MultiSourceCaps
from longform.synthesis.written.asking import Ask, Log, Plan, Question, ask_once, ask_until_read, unverified
from longform.synthesis.written.replies import Form


class Verified(NamedTuple):
    """
    A verifier's part.

    Attributes:
        check: Its name.
        ask: (text) -> the question.
        form: Of the answer.
        fault: (answer) -> what it finds wrong; None: nothing.
        fits: (answer) -> why it makes no sense; None if it does.
    """

    check: str
    ask: Callable[[str], Ask]
    form: type[Form]
    fault: Callable[[Form], str | None]
    fits: Callable[[Form], str | None] = lambda _: None


class WantedText(NamedTuple):
    """
    A text that is asked for.

    Attributes:
        subject: In the log.
        prompt: Asks the writer.
        fields: Of the prompt, without `notes`.
        form: Of the reply, with one field.
        read: The check that a reply can be read.
        rules: Check -> (text) -> what is wrong with it; None: nothing.
        verified: The verifier's part; None: there is none.
    """

    subject: str
    prompt: str
    fields: Mapping[str, str]
    form: type[Form]
    read: str
    rules: Mapping[str, Callable[[str], str | None]]
    verified: Verified | None = None


def write_checked(wanted: WantedText, caps: MultiSourceCaps, log: Log) -> Plan[str | None]:
    """
    Return a text that passed every check; None if no try did.

    A try ends at its first check that rejects, whose reason the next prompt names.
    """
    rejections: list[str] = []
    for attempt in range(1, caps.tries + 1):
        last = attempt == caps.tries
        read = yield from ask_once(Ask("writer", wanted.prompt, wanted.fields), rejections, wanted.form)
        if read.reason is not None:
            log.reject(wanted.read, wanted.subject, read.reason, read.call_id, last=last)
            rejections.append(read.reason)
            continue
        log.accept(wanted.read, wanted.subject, read.call_id)
        (text,) = read.answer.model_dump().values()
        reason = _by_rules(wanted, text, log, last=last)
        if reason is None and wanted.verified is not None:
            reason = yield from _by_verifier(wanted.verified, wanted.subject, text, caps, log, last=last)
        if reason is None:
            return str(text)
        rejections.append(reason)
    return None


def _by_rules(wanted: WantedText, text: str, log: Log, *, last: bool) -> str | None:
    for check, rule in wanted.rules.items():
        if (reason := rule(text)) is not None:
            log.reject(check, wanted.subject, reason, last=last)
            return reason
        log.accept(check, wanted.subject)
    return None


def _by_verifier(
    verified: Verified, subject: str, text: str, caps: MultiSourceCaps, log: Log, *, last: bool
) -> Plan[str | None]:
    (read,) = yield from ask_until_read(
        [Question(subject, verified.ask(text))],
        verified.form,
        check=verified.check,
        most=caps.replies,
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


def listed(texts: Sequence[str]) -> str:
    """Return texts as prompts show them, numbered from 1."""
    return "\n\n".join(f"[{number}] {text}" for number, text in enumerate(texts, start=1))
