"""The outline of a haystack: subtopics, each with insights and a query (SummHay, section 3.2, A.1.1 and A.1.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from longform.settings.strict import Strict
from longform.synthesis.asking import (
    Ask,
    Log,
    Plan,
    Read,
    ask_for,
    ask_once,
    ask_until_read,
    notes,
    numbered,
    read_reply,
    unverified,
)
from longform.synthesis.written.insights import OutlineJob, write_insights
from longform.synthesis.written.replies import (
    RULES,
    Category,
    FactList,
    NamedSubtopic,
    Pairs,
    Present,
    QueryText,
    SubtopicList,
    categorize,
    described,
    listed,
    misplaced,
    numbers_fit,
    pairs_fit,
    repetitions,
)
from longform.synthesis.written.settings import Caps, Topic

REGENERATED_AT = 1.0
"""The temperature of a list of subtopics that is asked for anew (SummHay, appendix A.1.1)."""


class OutlinedSubtopic(NamedSubtopic):
    """A subtopic as documents are written from it."""

    query: str
    insights: tuple[str, ...]


class OutlineFact(NamedTuple):
    """An insight of an outline."""

    subtopic: int  # its place, from 0
    text: str


class Outline(Strict):
    """The statements that a haystack's documents make."""

    subtopics: tuple[OutlinedSubtopic, ...]
    known: tuple[int, ...] | None = None  # facts that an outsider told; null: nobody was asked

    @property
    def facts(self) -> list[OutlineFact]:
        """All insights, subtopic by subtopic; prompts number them in this order, from 1."""
        return [OutlineFact(place, text) for place, subtopic in enumerate(self.subtopics) for text in subtopic.insights]


def write_outline(job: OutlineJob, log: Log) -> Plan[Outline]:
    """Write distinct, expandable subtopics with insights and queries; fewer than asked for if a cap was reached."""
    subtopics = yield from write_subtopics(job, log)
    insights = yield from write_insights(subtopics, job, log)
    kept = list(_expandable(subtopics, insights, job.sizes.least_insights, log))
    queries = yield from write_queries([subtopic for subtopic, _ in kept], job, log)
    return Outline(
        subtopics=tuple(
            OutlinedSubtopic(name=subtopic.name, description=subtopic.description, query=query, insights=tuple(found))
            for (subtopic, found), query in zip(kept, queries, strict=True)
        )
    )


def write_subtopics(job: OutlineJob, log: Log) -> Plan[list[NamedSubtopic]]:
    """Distinct subtopics, as many as asked for unless the cap ends it."""
    regenerate = RULES[job.topic.domain].regenerate
    kept: list[NamedSubtopic] = []
    rejections: list[str] = []
    for attempt in range(1, job.caps.subtopics + 1):
        last = attempt == job.caps.subtopics
        wanted = job.sizes.subtopics - len(kept)
        fields = {"setting": job.topic.seeded_setting, "n_subtopics": str(wanted), "kept": listed(kept)}
        temperature = REGENERATED_AT if regenerate and attempt > 1 else None
        ask = Ask("planner", "synthesize_subtopics", fields, temperature)
        read = yield from ask_once(ask, rejections, SubtopicList)
        if read.reason is None:
            candidates = list(read.answer.subtopics[:wanted])
            kept += yield from _distinct(kept, candidates, job, log, last=last)
        missing = job.sizes.subtopics - len(kept)
        reason = (read.reason or f"{missing} of {job.sizes.subtopics} are missing or overlap") if missing else None
        if log.decide("subtopics complete", job.topic.name, reason, read.call_id, last=last):
            return kept
        rejections += filter(None, [reason])
        if regenerate and not last:
            kept = []
    return kept


def _distinct(
    kept: Sequence[NamedSubtopic], candidates: Sequence[NamedSubtopic], job: OutlineJob, log: Log, *, last: bool
) -> Plan[list[NamedSubtopic]]:
    """Return the *candidates* that overlap nothing before them; kept ones are not judged again."""
    shown = [*kept, *candidates]
    read = yield from ask_for(
        job.topic.name,
        Ask("verifier", "synthesize_overlaps", {"setting": job.topic.setting, "subtopics": listed(shown)}),
        Pairs,
        check="subtopic distinct",
        most=job.caps.replies,
        log=log,
        fits=lambda pairs: pairs_fit(pairs, len(shown)),
    )
    if read.reason is not None:
        return []
    faults = {later: f"overlaps {shown[earlier - 1].name!r}" for later, earlier in repetitions(read.answer).items()}
    return [
        subtopic
        for number, subtopic in enumerate(candidates, start=len(kept) + 1)
        if log.decide("subtopic distinct", subtopic.name, faults.get(number), read.call_id, last=last)
    ]


def _expandable(
    subtopics: Sequence[NamedSubtopic], insights: Sequence[Sequence[str]], least: int, log: Log
) -> Iterator[tuple[NamedSubtopic, Sequence[str]]]:
    for subtopic, found in zip(subtopics, insights, strict=True):
        few = f"{len(found)} insights were accepted, expected at least {least}" if len(found) < least else None
        if log.decide("subtopic expandable", subtopic.name, few, last=True):
            yield subtopic, found


# ---------------------------------------------------------------- queries


def write_queries(subtopics: Sequence[NamedSubtopic], job: OutlineJob, log: Log) -> Plan[list[str]]:
    """Write a question for each subtopic; by rule, and logged as exhausted, if none was accepted."""
    accepted: dict[int, str] = {}
    rejections: dict[int, list[str]] = {place: [] for place in range(len(subtopics))}
    for attempt in range(1, job.caps.queries + 1):
        tried = {place: before for place, before in rejections.items() if place not in accepted}
        if not tried:
            break
        found = yield from _queries(subtopics, tried, job, log)
        for place, (query, reason, called, _) in found.items():
            last = attempt == job.caps.queries
            if log.decide("query on subtopic", subtopics[place].name, reason, called, last=last):
                accepted[place] = query
            rejections[place] += filter(None, [reason])
    return [accepted.get(place) or plain_query(subtopic) for place, subtopic in enumerate(subtopics)]


def plain_query(subtopic: NamedSubtopic) -> str:
    """Return a subtopic's question by rule, for use if none was accepted."""
    return f"What do the documents say about {subtopic.name}?"


def _queries(
    subtopics: Sequence[NamedSubtopic], rejections: Mapping[int, Sequence[str]], job: OutlineJob, log: Log
) -> Plan[dict[int, Read]]:
    """One try at each of the places in *rejections*: written, then sorted into a subtopic."""
    setting = job.topic.setting
    replies = yield [
        Ask(
            "planner",
            "synthesize_query",
            {"setting": setting, "subtopic": described(subtopics[place]), "notes": notes(before)},
        )
        for place, before in rejections.items()
    ]
    tried: dict[int, Read] = {}
    for place, reply in zip(rejections, replies, strict=True):
        read = read_reply(reply, QueryText)
        query = "" if read.reason else read.answer.query
        tried[place] = Read(query, read.reason or (None if query.endswith("?") else "no_question"), read.call_id)
    asked = [place for place, one in tried.items() if one.reason is None]
    sorted_into = yield from ask_until_read(
        [(subtopics[place].name, categorize(setting, subtopics, tried[place].answer)) for place in asked],
        Category,
        check="query on subtopic",
        most=job.caps.replies,
        log=log,
        fits=lambda category: numbers_fit([category.subtopic], len(subtopics), least=0),
        last_is_logged=False,
    )
    for place, read in zip(asked, sorted_into, strict=True):
        reason = unverified(read) if read.reason else misplaced(read.answer, subtopics, place)
        tried[place] = tried[place]._replace(reason=reason, call_id=read.call_id)
    return tried


# ---------------------------------------------------------------- what is known without documents


KNOWN = "insight not known"


def known_insights(outline: Outline, topic: Topic, caps: Caps, log: Log) -> Plan[tuple[int, ...]]:
    """
    Return the insights that an outsider told, as places in `outline.facts`.

    The outsider, who sees the setting and a query but no document, answers from knowledge or by a guess; the verifier
    looks for the insights in its answer.

    Each insight that was looked for is an attempt. Where the outsider or the verifier gave no answer that can be read,
    the log has one for the subtopic, exhausted, and nothing is known of its insights.
    """
    replies = yield [_answer(subtopic, topic) for subtopic in outline.subtopics]
    starts = accumulate((len(subtopic.insights) for subtopic in outline.subtopics), initial=0)
    known: list[int] = []
    for start, subtopic, reply in zip(starts, outline.subtopics, replies, strict=False):  # one start more
        read = read_reply(reply, FactList)
        if read.reason is None:
            told = yield from _told(subtopic, "\n".join(read.answer.facts), caps, log)
            known += [start + index for index in told]
        else:
            log.decide(KNOWN, subtopic.name, f"unanswered: {read.reason}", read.call_id, last=True)
    return tuple(known)


def _told(subtopic: OutlinedSubtopic, answer: str, caps: Caps, log: Log) -> Plan[list[int]]:
    """The insights of *subtopic* that the verifier finds in an *answer*, by their places in it."""
    facts = numbered({"fact": fact} for fact in subtopic.insights)
    read = yield from ask_for(
        subtopic.name,
        Ask("verifier", "synthesize_find", {"text": answer, "insights": facts}),
        Present,
        check=KNOWN,
        most=caps.replies,
        log=log,
        fits=lambda present: numbers_fit(present.present, len(subtopic.insights)),
    )
    if read.reason is not None:
        return []
    faults = dict.fromkeys(read.answer.present, "told without documents")
    return [
        index
        for index, text in enumerate(subtopic.insights)
        if not log.decide(KNOWN, text, faults.get(index + 1), read.call_id)
    ]


def _answer(subtopic: OutlinedSubtopic, topic: Topic) -> Ask:
    n = str(len(subtopic.insights))
    fields = {"setting": topic.setting, "query": subtopic.query, "n_insights": n, "notes": ""}
    return Ask("outsider", "synthesize_answer", fields)
