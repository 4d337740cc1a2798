"""The insights of each subtopic, and their checks (SummHay, section 3.2 and A.1.2)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pydantic import JsonValue

from longform.keys import content_key
from longform.synthesis.asking import Ask, Log, Plan, ask_for, ask_until_read, notes, numbered, read_reply
from longform.synthesis.written.replies import (
    RULES,
    Category,
    InsightList,
    NamedSubtopic,
    Pairs,
    categorize,
    described,
    misplaced,
    numbers_fit,
    pairs_fit,
    repetitions,
)
from longform.synthesis.written.settings import Caps, Sizes, Topic

_MONTH = r"January|February|March|April|May|June|July|August|September|October|November|December"
_NUMBER_OR_DATE = re.compile(rf"\d|\b(?:{_MONTH})\b")
_NAME = re.compile(r"(?<=[\w,;:)'’] )[\"'“‘]?[A-Z][\w'’-]*")  # a capital within a sentence


def is_specific(insight: str) -> bool:
    """Return whether a number, a date or a name is in it; its first word does not count, and "I" is no name."""
    return bool(_NUMBER_OR_DATE.search(insight) or names(insight))


def names(text: str) -> list[str]:
    """Return the words that begin with a capital within a sentence; "I" is none."""
    return [name for name in _NAME.findall(text) if name not in {"I", "I'm", "I’m", "I'll", "I’ll", "I've", "I’ve"}]


@dataclass(frozen=True, kw_only=True)
class OutlineJob:
    """The inputs of an outline."""

    topic: Topic
    sizes: Sizes
    caps: Caps
    withheld: int = 0  # of the other subtopics' insights, how many are not shown as exclusions


class Candidate(NamedTuple):
    """An insight that is not accepted yet."""

    subtopic: int
    text: str


@dataclass
class _Insights:
    """The insights of all subtopics as they are found, by the subtopics' places."""

    subtopics: Sequence[NamedSubtopic]
    job: OutlineJob
    log: Log
    accepted: dict[int, list[str]]
    rejections: dict[int, list[str]]  # reasons, which the planner is told

    def accepts(self, check: str, candidate: Candidate, fault: str | None, call_id: str | None = None) -> bool:
        """Note the verdict of a check on a candidate."""
        if fault is not None:
            self.rejections[candidate.subtopic].append(f"{candidate.text!r}: {fault}")
        return self.log.decide(check, candidate.text, fault, call_id)


def write_insights(subtopics: Sequence[NamedSubtopic], job: OutlineJob, log: Log) -> Plan[list[list[str]]]:
    """Return the accepted insights of each subtopic, as many as asked for unless the cap ends it."""
    places = list(range(len(subtopics)))
    work = _Insights(subtopics, job, log, {place: [] for place in places}, {place: [] for place in places})
    groups = [[place] for place in places] if RULES[job.topic.domain].sequential else [places]
    for group in groups:
        for attempt in range(1, job.caps.insights + 1):
            if short := [place for place in group if len(work.accepted[place]) < job.sizes.insights]:
                yield from _round(work, short, last=attempt == job.caps.insights)
    return [work.accepted[place] for place in places]


def _round(work: _Insights, short: Sequence[int], *, last: bool) -> Plan[None]:
    """One list of each subtopic that is *short* of insights, checked."""
    replies = yield [_ask(work, place) for place in short]
    reads = {place: read_reply(reply, InsightList) for place, reply in zip(short, replies, strict=True)}
    candidates = [
        Candidate(place, text)
        for place, read in reads.items()
        if read.reason is None
        for text in read.answer.insights[: work.job.sizes.insights - len(work.accepted[place])]
    ]
    checked = [one for one in candidates if work.accepts("insight specific", one, _vagueness(one.text))]
    for check in (_distinct, _categorised):
        if checked:
            checked = yield from check(work, checked)
    for candidate in checked:
        work.accepted[candidate.subtopic].append(candidate.text)
    for place, read in reads.items():
        missing = work.job.sizes.insights - len(work.accepted[place])
        reason = (read.reason or f"{missing} of {work.job.sizes.insights} are missing") if missing else None
        work.log.decide("insights complete", work.subtopics[place].name, reason, read.call_id, last=last)
        work.rejections[place] += filter(None, [reason])


def _ask(work: _Insights, place: int) -> Ask:
    fields = {
        "setting": work.job.topic.seeded_setting,
        "subtopic": described(work.subtopics[place]),
        "own": numbered({"fact": text} for text in work.accepted[place]),
        "others": numbered(_others(work, place)),
        "n_insights": str(work.job.sizes.insights - len(work.accepted[place])),
        "notes": notes(work.rejections[place]),
    }
    return Ask("planner", "synthesize_insights", fields)


def _others(work: _Insights, place: int) -> list[Mapping[str, JsonValue]]:
    """Return the other subtopics and their facts so far, without those that are withheld: the same ones each time."""
    facts = [(other, text) for other, texts in work.accepted.items() if other != place for text in texts]
    hidden = set(sorted(facts, key=content_key)[: work.job.withheld])
    return [
        subtopic.model_dump() | {"facts": [text for text in work.accepted[other] if (other, text) not in hidden]}
        for other, subtopic in enumerate(work.subtopics)
        if other != place
    ]


# ---------------------------------------------------------------- checks


def _vagueness(insight: str) -> str | None:
    return None if is_specific(insight) else "names no number, date or entity"


def _distinct(work: _Insights, candidates: Sequence[Candidate]) -> Plan[list[Candidate]]:
    """Return the candidates that repeat nothing before them, of any subtopic; accepted ones are not judged again."""
    accepted = [text for texts in work.accepted.values() for text in texts]
    shown = [*accepted, *(candidate.text for candidate in candidates)]
    fields = {"setting": work.job.topic.setting, "insights": numbered({"fact": text} for text in shown)}
    read = yield from ask_for(
        work.job.topic.name,
        Ask("verifier", "synthesize_duplicates", fields),
        Pairs,
        check="insight distinct",
        most=work.job.caps.replies,
        log=work.log,
        fits=lambda pairs: pairs_fit(pairs, len(shown)),
    )
    if read.reason is not None:
        return []
    said = {later: f"says again {shown[earlier - 1]!r}" for later, earlier in repetitions(read.answer).items()}
    return [
        candidate
        for number, candidate in enumerate(candidates, start=len(accepted) + 1)
        if work.accepts("insight distinct", candidate, said.get(number), read.call_id)
    ]


def _categorised(work: _Insights, candidates: Sequence[Candidate]) -> Plan[list[Candidate]]:
    """Return the candidates that the verifier, shown all subtopics, puts into their own subtopic."""
    asks = [(one.text, categorize(work.job.topic.setting, work.subtopics, one.text)) for one in candidates]
    reads = yield from ask_until_read(
        asks,
        Category,
        check="insight categorised",
        most=work.job.caps.replies,
        log=work.log,
        fits=lambda category: numbers_fit([category.subtopic], len(work.subtopics), least=0),
    )
    return [
        one
        for one, read in zip(candidates, reads, strict=True)
        if read.reason is None  # else it is logged as unverified
        and work.accepts("insight categorised", one, misplaced(read.answer, work.subtopics, one.subtopic), read.call_id)
    ]
