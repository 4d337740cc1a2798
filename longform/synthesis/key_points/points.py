"""
Points and the passages that say them (LONG2RAG, section 3.3 and appendix A.2).

They are extracted from one document in rounds, each span looked up. Points of a question that say the same become one,
so that every point stands in exactly one group; then each has its significance, P(YES) against P(NO) of the verifier's
first word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from longform.chat.first_word import stated_word, yes_probability
from longform.settings.strict import Strict
from longform.synthesis.asking import (
    Ask,
    Log,
    Plan,
    Read,
    Reply,
    ask_for,
    ask_in_rounds,
    ask_once,
    notes,
    numbered,
    unverified,
)
from longform.synthesis.key_points.search import SourceDocument
from longform.synthesis.key_points.settings import ModelsSettings
from longform.synthesis.key_points.steps import (
    GROUNDED,
    MERGED,
    PLACED,
    POINT_NEW,
    POINTS,
    SCORED,
    SIGNIFICANCE,
    SIGNIFICANT,
    SPAN,
    Group,
    GroupList,
    Point,
    PointList,
)
from longform.text.spans import locate
from longform.text.words import words


class Grounds(Strict):
    """A passage of a document that says a point, as the document has it."""

    doc_id: str
    start: int  # characters, from 0
    end: int
    exact: bool  # false if the white space of what was quoted differs
    text: str


class FoundPoint(Strict):
    """A point and the passages that say it."""

    text: str
    grounds: tuple[Grounds, ...]


class Selected(FoundPoint):
    """A point of a question after repetitions were merged, with the passages of all points that it came from."""

    numbers: tuple[int, ...]  # those of these points, from 1 in the order of the documents
    score: float | None  # P(YES), or its score by rank in [0, 1]; None: it could not be read
    kept: bool  # it is a key point of the benchmark


def passages(group: Group, points: Sequence[FoundPoint]) -> tuple[Grounds, ...]:
    """Return the passages of all *points* of a group, each once."""
    return tuple(dict.fromkeys(one for number in group.numbers for one in points[number - 1].grounds))


# ---------------------------------------------------------------- of one document


_NOTHING = "(none yet)"


def extract(question: str, document: SourceDocument, *, rounds: int, replies: int, log: Log) -> Plan[list[FoundPoint]]:
    """Return the points of *document*; a round that adds none is the last, and so is one that cannot be read."""
    found: list[FoundPoint] = []
    for number in range(rounds):
        subject = f"{document.doc_id}, round {number + 1}"
        ask = _ask(question, document, found)
        read = yield from ask_for(subject, ask, PointList, check=POINTS, most=replies, log=log)
        if read.reason is not None:
            break
        log.accept(POINTS, subject, read.call_id)
        added = [
            grounded
            for point in read.answer.points
            if _is_new(point, found, log, read.call_id)
            and (grounded := _grounded(point, document, log, read.call_id)) is not None
        ]
        if not added:
            break
        found += _without_repetitions(added, log, read.call_id)
    return found


def _ask(question: str, document: SourceDocument, found: Sequence[FoundPoint]) -> Ask:
    listed = "\n".join(f"- {point.text}" for point in found) or _NOTHING
    return Ask("writer", "synthesize_points", {"document": document.text, "question": question, "found": listed})


def _is_new(point: Point, found: Sequence[FoundPoint], log: Log, call_id: str | None) -> bool:
    is_known = words(point.point) in [words(one.text) for one in found]
    return not is_known or log.decide(POINT_NEW, point.point, "found in an earlier round", call_id)


def _without_repetitions(added: Sequence[FoundPoint], log: Log, call_id: str | None) -> list[FoundPoint]:
    kept: dict[tuple[str, ...], FoundPoint] = {}
    for point in added:
        is_new = kept.setdefault(tuple(words(point.text)), point) is point
        log.decide(POINT_NEW, point.text, None if is_new else "twice in one list", call_id)
    return [*kept.values()]


def _grounded(point: Point, document: SourceDocument, log: Log, call_id: str | None) -> FoundPoint | None:
    """Return *point* with those of its spans that stand in the document; None if none does."""
    grounds = [one for span in point.spans if (one := _looked_up(span, document, log, call_id)) is not None]
    why = f"none of {len(point.spans)} spans stands in the document" if point.spans else "no span"
    if not log.decide(GROUNDED, point.point, None if grounds else why, call_id):
        return None
    return FoundPoint(text=point.point, grounds=tuple(dict.fromkeys(grounds)))


def _looked_up(span: str, document: SourceDocument, log: Log, call_id: str | None) -> Grounds | None:
    place = locate(span, document.text)
    why = f"does not stand in {document.doc_id}" if span.strip() else "says nothing"
    log.decide(SPAN, span, why if place is None else None, call_id)
    if place is None:
        return None
    start, end, text = place.start, place.end, document.text[place.start : place.end]
    return Grounds(doc_id=document.doc_id, start=start, end=end, exact=place.exact, text=text)


# ---------------------------------------------------------------- merging


class GroupFaults(NamedTuple):
    """The faults that keep groups from being a partition of the points."""

    missing: list[int]  # numbers in no group
    doubled: list[int]  # in several groups, or several times in one
    unknown: list[int]  # of no point
    empty: int  # groups without a number

    def told(self) -> list[str]:
        """Return each fault in words."""
        named = {"in no group": self.missing, "in more than one group": self.doubled, "no point's": self.unknown}
        said = [f"numbers {', '.join(map(str, numbers))}: {why}" for why, numbers in named.items() if numbers]
        return said + ([f"{self.empty} groups without a number"] if self.empty else [])


def faults_of(groups: Sequence[Group], n_points: int) -> GroupFaults:
    """Return what keeps *groups* from being a partition of 1 to *n_points*."""
    counts = Counter(number for group in groups for number in group.numbers)
    known = range(1, n_points + 1)
    return GroupFaults(
        missing=[number for number in known if not counts[number]],
        doubled=[number for number in known if counts[number] > 1],
        unknown=sorted(number for number in counts if number not in known),
        empty=sum(not group.numbers for group in groups),
    )


def mended(groups: Sequence[Group], points: Sequence[FoundPoint]) -> list[Group]:
    """Return a partition: a number stays in its first group, and one in no group is a group of its own, at the end."""
    taken: set[int] = set()
    found: list[Group] = []
    for group in groups:
        numbers = [number for number in dict.fromkeys(group.numbers) if number not in taken]
        numbers = [number for number in numbers if 1 <= number <= len(points)]
        taken.update(numbers)
        if numbers:
            found.append(Group(point=group.point, numbers=tuple(numbers)))
    alone = (number for number in range(1, len(points) + 1) if number not in taken)
    return [*found, *(Group(point=points[number - 1].text, numbers=(number,)) for number in alone)]


def merge(question: str, points: Sequence[FoundPoint], *, tries: int, log: Log) -> Plan[list[Group]]:
    """
    Return *points* in groups that say the same.

    A list that is no partition is asked for again with its faults; the last one is mended by rule. If no list could be
    read, every point stays one of its own.
    """
    if len(points) < 2:
        return mended([], points)
    groups: list[Group] = []
    rejections: list[str] = []
    fields = {"question": question, "points": numbered({"point": point.text} for point in points)}
    for number in range(tries):
        read = yield from ask_once(Ask("writer", "synthesize_merge_points", fields), rejections, GroupList)
        last = number + 1 == tries
        if read.reason is not None:
            rejections.append(read.reason)
            log.decide(MERGED, question, unverified(read), read.call_id, last=last)
            continue
        groups = list(read.answer.groups)
        told = faults_of(groups, len(points)).told()
        if log.decide(MERGED, question, "; ".join(told) or None, read.call_id, last=last):
            break
        rejections += told
    for text, why in _misplaced(groups, points):
        log.decide(PLACED, text, why)
    return mended(groups, points)


def _misplaced(groups: Sequence[Group], points: Sequence[FoundPoint]) -> Iterator[tuple[str, str]]:
    """Give each point that a rule has to place, with how."""
    faults = faults_of(groups, len(points))
    for number in faults.missing:
        yield points[number - 1].text, f"point {number} in no group: it stays a point of its own"
    for number in faults.doubled:
        yield points[number - 1].text, f"point {number} more than once: it stays in its first group"


# ---------------------------------------------------------------- significance


ALTERNATIVES = 20
"""Tokens whose log probabilities are asked for, as many as providers give."""

NO_PROBABILITY = "no_probability"
NO_WORD = "no_yes_or_no"


def scores(
    question: str, points: Sequence[str], settings: ModelsSettings, *, replies: int, log: Log
) -> Plan[list[float | None]]:
    """Return P(YES) of each point, asked at once; None if no reply of *replies* could be read."""
    wanted = ALTERNATIVES if settings.without_logprobs == "refuse" else None

    def ask(place: int, failures: Sequence[str]) -> Ask:
        fields = {"question": question, "point": points[place], "notes": notes(failures)}
        return Ask("verifier", SIGNIFICANCE, fields, top_logprobs=wanted)

    def read(place: int, reply: Reply, attempt: int) -> Read:
        score, reason = _score(reply, settings)
        if log.decide(SCORED, points[place], reason, reply.call_id, last=attempt == replies):
            low = None if score >= settings.threshold else f"P(YES) {score:.3f} below {settings.threshold:g}"
            log.decide(SIGNIFICANT, points[place], low, reply.call_id)
        return Read(None if reason else score, reason, reply.call_id)

    found = yield from ask_in_rounds(len(points), ask, read, most=replies)
    return [one.answer for one in found]


def _score(reply: Reply, settings: ModelsSettings) -> tuple[float, str | None]:
    """Return P(YES) and None, or why it cannot be told."""
    if reply.text is None:
        return 0.0, reply.failure or "no_reply"
    word = stated_word(reply.text)
    if word is None:
        return 0.0, NO_WORD
    if settings.without_logprobs == "answers":
        return float(word == "yes"), None
    score = yes_probability(reply.logprobs)
    return (0.0, NO_PROBABILITY) if score is None else (score, None)
