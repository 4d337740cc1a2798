"""
Find insights that a model can tell without any document, from knowledge or by a guess.

An outsider, who sees the setting and the query but no document, answers; the verifier looks for the insights in its
answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from longform.synthesis.asking import Ask, Log, Plan, numbered, read_reply
from longform.synthesis.tries import Question, ask_until_read
from longform.synthesis.written.outline import Outline, OutlinedSubtopic
from longform.synthesis.written.replies import FactList, Present
from longform.synthesis.written.settings import Caps, Topic
from longform.synthesis.written.verdicts import numbers_fit

CHECK = "insight not known"


def known_insights(outline: Outline, topic: Topic, caps: Caps, log: Log) -> Plan[tuple[int, ...]]:
    """
    The insights that an outsider told, as places in `outline.facts`.

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
            log.reject(CHECK, subtopic.name, f"unanswered: {read.reason}", read.call_id, last=True)
    return tuple(known)


def _told(subtopic: OutlinedSubtopic, answer: str, caps: Caps, log: Log) -> Plan[list[int]]:
    """The insights of *subtopic* that the verifier finds in an *answer*, by their places in it."""
    n = len(subtopic.insights)
    (read,) = yield from ask_until_read(
        [Question(subtopic.name, _find(answer, subtopic.insights))],
        Present,
        check=CHECK,
        most=caps.replies,
        log=log,
        fits=lambda present: numbers_fit(present.present, n),
    )
    if read.reason is not None:
        return []
    found = []
    for index, text in enumerate(subtopic.insights):
        if index + 1 in read.answer.present:
            log.reject(CHECK, text, "told without documents", read.call_id)
            found.append(index)
        else:
            log.accept(CHECK, text, read.call_id)
    return found


def _answer(subtopic: OutlinedSubtopic, topic: Topic) -> Ask:
    fields = {
        "setting": topic.setting,
        "query": subtopic.query,
        "n_insights": str(len(subtopic.insights)),
        "notes": "",
    }
    return Ask("outsider", "synthesize_answer", fields)


def _find(text: str, insights: Sequence[str]) -> Ask:
    return Ask("verifier", "synthesize_find", {"text": text, "insights": numbered({"fact": fact} for fact in insights)})
