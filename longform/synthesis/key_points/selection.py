"""
The key points among all points of a question (LONG2RAG, section 3.3 and appendix A.2).

Points that say the same become one, so that every point stands in exactly one group; then each has its significance,
P(YES) against P(NO) of the verifier's first word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from longform.chat.first_word import stated_word, yes_probability
from longform.synthesis.asking import Ask, Log, Plan, Reply, notes, numbered
from longform.synthesis.key_points.points import FoundPoint, PointGroup
from longform.synthesis.key_points.replies import MERGED, PLACED, SCORED, SIGNIFICANCE, SIGNIFICANT, GroupList
from longform.synthesis.key_points.settings import ModelsSettings
from longform.synthesis.tries import ask_once, unverified

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


def faults_of(groups: Sequence[PointGroup], n_points: int) -> GroupFaults:
    """Return what keeps *groups* from being a partition of 1 to *n_points*."""
    counts = Counter(number for group in groups for number in group.numbers)
    known = range(1, n_points + 1)
    return GroupFaults(
        missing=[number for number in known if not counts[number]],
        doubled=[number for number in known if counts[number] > 1],
        unknown=sorted(number for number in counts if number not in known),
        empty=sum(not group.numbers for group in groups),
    )


def mended(groups: Sequence[PointGroup], points: Sequence[FoundPoint]) -> list[PointGroup]:
    """Return a partition: a number stays in its first group, and one in no group is a group of its own, at the end."""
    taken: set[int] = set()
    found: list[PointGroup] = []
    for group in groups:
        numbers = [number for number in dict.fromkeys(group.numbers) if number not in taken]
        numbers = [number for number in numbers if 1 <= number <= len(points)]
        taken.update(numbers)
        if numbers:
            found.append(PointGroup(group.text, tuple(numbers)))
    alone = (number for number in range(1, len(points) + 1) if number not in taken)
    return [*found, *(PointGroup(points[number - 1].text, (number,)) for number in alone)]


def merge(question: str, points: Sequence[FoundPoint], *, tries: int, log: Log) -> Plan[list[PointGroup]]:
    """
    Return *points* in groups that say the same.

    A list that is no partition is asked for again with its faults; the last one is mended by rule. If no list could be
    read, every point stays one of its own.
    """
    if len(points) < 2:
        return mended([], points)
    groups: list[PointGroup] = []
    rejections: list[str] = []
    fields = {"question": question, "points": numbered({"point": point.text} for point in points)}
    for number in range(tries):
        read = yield from ask_once(Ask("writer", "synthesize_merge_points", fields), rejections, GroupList)
        last = number + 1 == tries
        if read.reason is not None:
            rejections.append(read.reason)
            log.reject(MERGED, question, unverified(read), read.call_id, last=last)
            continue
        groups = [PointGroup(group.point, group.numbers) for group in read.answer.groups]
        if not (told := faults_of(groups, len(points)).told()):
            log.accept(MERGED, question, read.call_id)
            break
        rejections += told
        log.reject(MERGED, question, "; ".join(told), read.call_id, last=last)
    for text, why in _misplaced(groups, points):
        log.reject(PLACED, text, why)
    return mended(groups, points)


def _misplaced(groups: Sequence[PointGroup], points: Sequence[FoundPoint]) -> Iterator[tuple[str, str]]:
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
    found: dict[int, float] = {}
    failures: dict[int, list[str]] = {place: [] for place in range(len(points))}
    while waiting := [n for n, said in failures.items() if n not in found and len(said) < replies]:
        asks = [_score_ask(question, points[place], failures[place], settings) for place in waiting]
        for place, reply in zip(waiting, (yield asks), strict=True):
            score, reason = _score(reply, settings)
            if score is not None:
                found[place] = score
                _note(points[place], score, settings, log, reply.call_id)
                continue
            failures[place].append(reason)
            log.reject(SCORED, points[place], reason, reply.call_id, last=len(failures[place]) >= replies)
    return [found.get(place) for place in range(len(points))]


def _note(point: str, score: float, settings: ModelsSettings, log: Log, call_id: str | None) -> None:
    log.accept(SCORED, point, call_id)
    if score >= settings.threshold:
        log.accept(SIGNIFICANT, point, call_id)
    else:
        log.reject(SIGNIFICANT, point, f"P(YES) {score:.3f} below {settings.threshold:g}", call_id)


def _score_ask(question: str, point: str, failures: Sequence[str], settings: ModelsSettings) -> Ask:
    fields = {"question": question, "point": point, "notes": notes(failures)}
    wants = settings.without_logprobs == "refuse"
    return Ask("verifier", SIGNIFICANCE, fields, top_logprobs=ALTERNATIVES if wants else None)


def _score(reply: Reply, settings: ModelsSettings) -> tuple[float | None, str]:
    """Return P(YES), or None and why."""
    if reply.text is None:
        return None, reply.failure or "no_reply"
    word = stated_word(reply.text)
    if word is None:
        return None, NO_WORD
    if settings.without_logprobs == "answers":
        return float(word == "yes"), ""
    return yes_probability(reply.logprobs), NO_PROBABILITY
