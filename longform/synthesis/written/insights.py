"""The insights of each subtopic, and their checks (SummHay, section 3.2 and A.1.2)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pydantic import JsonValue

from longform.keys import content_key
from longform.synthesis.asking import Ask, Log, Plan, Read, notes, numbered, read_reply
from longform.synthesis.tries import Question, ask_until_read
from longform.synthesis.written.replies import (
    RULES,
    Category,
    InsightList,
    NamedSubtopic,
    Pairs,
    categorize,
    category_fits,
    described,
    misplaced,
    pairs_fit,
    repetitions,
)
from longform.synthesis.written.settings import Caps, Topic

_MONTH = r"January|February|March|April|May|June|July|August|September|October|November|December"
_NUMBER_OR_DATE = re.compile(rf"\d|\b(?:{_MONTH})\b")
_NAME = re.compile(r"(?<=[\w,;:)'’] )[\"'“‘]?[A-Z][\w'’-]*")  # a capital within a sentence


def is_specific(insight: str) -> bool:
    """Return whether a number, a date or a name is in it; its first word does not count, and "I" is no name."""
    return bool(_NUMBER_OR_DATE.search(insight) or names(insight))


def names(text: str) -> list[str]:
    """Return the words that begin with a capital within a sentence; "I" is none."""
    return [name for name in _NAME.findall(text) if name not in {"I", "I'm", "I’m", "I'll", "I’ll", "I've", "I’ve"}]


class Candidate(NamedTuple):
    """An insight that is not accepted yet."""

    subtopic: int
    text: str


@dataclass
class _Found:
    """Accepted insights, and reasons of rejected ones, by the subtopic's place."""

    accepted: dict[int, list[str]]
    rejections: dict[int, list[str]]


@dataclass(frozen=True, kw_only=True)
class _Work:
    subtopics: Sequence[NamedSubtopic]
    topic: Topic
    n: int
    caps: Caps
    withheld: int
    log: Log


def write_insights(
    subtopics: Sequence[NamedSubtopic], topic: Topic, *, n: int, caps: Caps, withheld: int, log: Log
) -> Plan[list[list[str]]]:
    """
    The accepted insights of each subtopic, *n* unless the cap ends it.

    Of the other subtopics' insights, so many as are *withheld* are not shown as exclusions.
    """
    work = _Work(subtopics=subtopics, topic=topic, n=n, caps=caps, withheld=withheld, log=log)
    places = list(range(len(subtopics)))
    found = _Found({place: [] for place in places}, {place: [] for place in places})
    groups = [[place] for place in places] if RULES[topic.domain].sequential else [places]
    for group in groups:
        for attempt in range(1, caps.insights + 1):
            short = [place for place in group if len(found.accepted[place]) < n]
            if short:
                yield from _round(work, found, short, last=attempt == caps.insights)
    return [found.accepted[place] for place in places]


def _round(work: _Work, found: _Found, short: Sequence[int], *, last: bool) -> Plan[None]:
    """One list of each subtopic that is *short* of insights, checked."""
    replies = yield [_ask(work, found, place) for place in short]
    reads = [read_reply(reply, InsightList) for reply in replies]
    candidates = [
        Candidate(place, text)
        for place, read in zip(short, reads, strict=True)
        if read.reason is None
        for text in read.answer.insights[: work.n - len(found.accepted[place])]
    ]
    checked = _specific(work, found, candidates)
    for check in (_distinct, _categorised):
        if checked:
            checked = yield from check(work, found, checked)
    for candidate in checked:
        found.accepted[candidate.subtopic].append(candidate.text)
    for place, read in zip(short, reads, strict=True):
        _note_round(work, found, place, read, last=last)


def _note_round(work: _Work, found: _Found, place: int, read: Read, *, last: bool) -> None:
    missing = work.n - len(found.accepted[place])
    name = work.subtopics[place].name
    if not missing:
        work.log.accept("insights complete", name, read.call_id)
        return
    reason = read.reason or f"{missing} of {work.n} are missing"
    work.log.reject("insights complete", name, reason, read.call_id, last=last)
    found.rejections[place].append(reason)


def _ask(work: _Work, found: _Found, place: int) -> Ask:
    own = numbered({"fact": text} for text in found.accepted[place])
    fields = {
        "setting": work.topic.seeded_setting,
        "subtopic": described(work.subtopics[place]),
        "own": own,
        "others": numbered(_others(work, found, place)),
        "n_insights": str(work.n - len(found.accepted[place])),
        "notes": notes(found.rejections[place]),
    }
    return Ask("planner", "synthesize_insights", fields)


def _others(work: _Work, found: _Found, place: int) -> list[Mapping[str, JsonValue]]:
    """Return the other subtopics and their facts so far, without those that are withheld: the same ones each time."""
    facts = [(other, text) for other, texts in found.accepted.items() if other != place for text in texts]
    hidden = set(sorted(facts, key=content_key)[: work.withheld])
    return [
        subtopic.model_dump() | {"facts": [text for text in found.accepted[other] if (other, text) not in hidden]}
        for other, subtopic in enumerate(work.subtopics)
        if other != place
    ]


# ---------------------------------------------------------------- checks


@dataclass(frozen=True)
class _Rejecting:
    """A check that rejects candidates: they are logged, and the planner is told."""

    work: _Work
    found: _Found
    check: str

    def __call__(self, candidate: Candidate, reason: str, call_id: str | None = None) -> None:
        self.work.log.reject(self.check, candidate.text, reason, call_id)
        self.found.rejections[candidate.subtopic].append(f"{candidate.text!r}: {reason}")


def _specific(work: _Work, found: _Found, candidates: Sequence[Candidate]) -> list[Candidate]:
    reject = _Rejecting(work, found, "insight specific")
    kept = []
    for candidate in candidates:
        if is_specific(candidate.text):
            work.log.accept("insight specific", candidate.text)
            kept.append(candidate)
        else:
            reject(candidate, "names no number, date or entity")
    return kept


def _distinct(work: _Work, found: _Found, candidates: Sequence[Candidate]) -> Plan[list[Candidate]]:
    """Return the candidates that repeat nothing before them, of any subtopic; accepted ones are not judged again."""
    accepted = [text for texts in found.accepted.values() for text in texts]
    shown = [*accepted, *(candidate.text for candidate in candidates)]
    fields = {"setting": work.topic.setting, "insights": numbered({"fact": text} for text in shown)}
    (read,) = yield from ask_until_read(
        [Question(work.topic.name, Ask("verifier", "synthesize_duplicates", fields))],
        Pairs,
        check="insight distinct",
        most=work.caps.replies,
        log=work.log,
        fits=lambda pairs: pairs_fit(pairs, len(shown)),
    )
    if read.reason is not None:
        return []
    repeated, reject = repetitions(read.answer), _Rejecting(work, found, "insight distinct")
    kept = []
    for number, candidate in enumerate(candidates, start=len(accepted) + 1):
        if number in repeated:
            reject(candidate, f"says again {shown[repeated[number] - 1]!r}", read.call_id)
        else:
            work.log.accept("insight distinct", candidate.text, read.call_id)
            kept.append(candidate)
    return kept


def _categorised(work: _Work, found: _Found, candidates: Sequence[Candidate]) -> Plan[list[Candidate]]:
    """Return the candidates that the verifier, shown all subtopics, puts into their own subtopic."""
    questions = [
        Question(candidate.text, categorize(work.topic.setting, work.subtopics, candidate.text))
        for candidate in candidates
    ]
    reads = yield from ask_until_read(
        questions,
        Category,
        check="insight categorised",
        most=work.caps.replies,
        log=work.log,
        fits=lambda category: category_fits(category, len(work.subtopics)),
    )
    reject = _Rejecting(work, found, "insight categorised")
    kept = []
    for candidate, read in zip(candidates, reads, strict=True):
        if read.reason is not None:
            continue  # logged as unverified
        reason = misplaced(read.answer, work.subtopics, candidate.subtopic)
        if reason is None:
            work.log.accept("insight categorised", candidate.text, read.call_id)
            kept.append(candidate)
        else:
            reject(candidate, reason, read.call_id)
    return kept
