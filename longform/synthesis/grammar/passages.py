"""
Passages that a chat model writes around planted sentences, and the faults that make one unfit.

The grammar has written the document already. For each planted sentence a model is asked for the sentences around it;
its reply is checked, and asked for again with its faults named; in the end the grammar's own words stay. So each
planted sentence stands in its document once, word for word.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from longform.synthesis.asking import Ask, Plan, Read, Reply, ask_in_rounds, notes
from longform.synthesis.grammar.haystack import ComposedHaystack, Parts
from longform.synthesis.grammar.topic import number_in_words

VERSION = 2
"""Raised by a change of the code that changes documents."""

PROMPT = "synthesize_passage"

Stating = Callable[[str, Sequence[str]], Sequence[bool]]
"""A text and facts -> for each fact whether the text states it, by a judge that did not write the text."""

WISHES: Mapping[str, str] = {
    "statement_lost": "the sentence was not in it word for word",
    "statement_repeated": "the sentence was in it more than once",
    "too_short": "it was too short: write sentences of your own beside the sentence",
    "too_long": "it was too long",
    "not_prose": "it held more than plain sentences: no list, heading or remark to the reader",
    "of_the_task": "it spoke of the sentence or of writing, which readers of the whole must not see",
    "number": "your own sentences told a number or a date",
    "other_insight": "your own sentences told a fact that is told elsewhere",
}
"""Words of the next prompt by the reason why a reply is unfit. A reply that did not come has its failure as reason."""

_SHORTEST = 6  # words beside the planted sentence
_LONGEST = 2  # times what was asked for
_BESIDE = 25  # words beside the planted sentence that are asked for at least
_MARKUP = re.compile(r"[*#_|<>{}\[\]`]|^\W*(?:here(?:'s| is| are)|sure|certainly|of course|okay)\b", re.IGNORECASE)
_OF_THE_TASK = re.compile(
    r"\b(?:(?:the|this|a|full|plain) sentences?|paragraphs?|word[- ]for[- ]word|verbatim|extra words?|rewrit\w+|"
    r"language model|let's chat|your (?:text|article|topic|question))\b",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
_WORD = re.compile(r"[^\W\d_]+")
_NUMBER_WORDS = {number_in_words(number): str(number) for number in [*range(2, 21), *range(30, 100, 10)]}
_LARGE = frozenset("dozen dozens hundred hundreds thousand thousands million millions billion billions".split())
_DAYS = frozenset(
    "January February March April May June July August September October November December "
    "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
)


class PassageJob(NamedTuple):
    """One passage to be written around a planted sentence."""

    statement: str
    others: Sequence[str]  # insights that it must not state
    n_words: int  # about
    spoken: bool  # part of a conversation
    fields: Mapping[str, str]  # of the prompt, but for `notes`


class Tried(NamedTuple):
    """The outcome of one passage: its text, or None if every reply was rejected; and the reasons of rejections."""

    text: str | None
    rejections: Sequence[str]


def passage_jobs(composed: ComposedHaystack, index: int) -> list[PassageJob | None]:
    """Return a job for each passage of a document; None for one that holds no planted sentence."""
    document = composed.documents[index]
    return [
        None if passage.place is None else _job(composed, index, passage.place, passage.parts)
        for passage in document.composed.passages
    ]


def _job(composed: ComposedHaystack, index: int, place: int, parts: Parts) -> PassageJob:
    said = composed.documents[index].said[place]
    spoken = composed.topic.domain == "conversation"
    text = said.stated.text
    n_words = max(sum(len(part.split()) for part in parts), len(text.split()) + _BESIDE)
    own = said.target.target_id if said.target and said.kind == "insight" else None
    return PassageJob(
        statement=text,
        others=[target.text for target in composed.targets if target.target_id != own],
        n_words=n_words,
        spoken=spoken,
        fields={
            "setting": composed.queries[0].topic or "",
            "subtopic": said.stated.subtopic.statement,
            "kind": "what people say in a conversation" if spoken else "a paragraph of a news article",
            "n_words": str(n_words),
            "statement": text,
        },
    )


def write_passages(jobs: Sequence[PassageJob], *, tries: int, stating: Stating) -> Plan[list[Tried]]:
    """
    Return the outcome of each job; jobs with an unfit reply are asked again, *tries* times in all.

    *stating* finds other insights in the model's text beside the planted sentence.
    """

    def ask(place: int, rejections: Sequence[str]) -> Ask:
        return passage_ask(jobs[place], rejections)

    def read(place: int, reply: Reply, _: int) -> Read:
        if reply.text is None:
            return Read(None, reply.failure or "no_reply", reply.call_id)
        text = " ".join(reply.text.split())
        return Read(text, unfit(text, jobs[place], stating), reply.call_id)

    found = yield from ask_in_rounds(len(jobs), ask, read, most=tries)
    return [Tried(None if one.reason else one.answer, (*one.earlier, *filter(None, [one.reason]))) for one in found]


def passage_ask(job: PassageJob, rejections: Sequence[str]) -> Ask:
    """The next question for a passage, whose earlier replies were rejected for *rejections*."""
    wrong = notes([WISHES.get(reason, reason) for reason in rejections])
    return Ask("writer", PROMPT, {**job.fields, "notes": wrong})


def unfit(text: str, job: PassageJob, stating: Stating) -> str | None:
    """Return why *text* is no passage, a key of `WISHES`; None if it is one."""
    return next(_faults(text, job, stating), None)


def _faults(text: str, job: PassageJob, stating: Stating) -> Iterator[str]:
    """Yield each fault; the dearest check comes last, and only if the others found nothing."""
    times = text.count(job.statement)
    if times != 1:
        yield "statement_repeated" if times else "statement_lost"
    beside = " ".join(part.strip() for part in text.split(job.statement)).strip()
    if len(beside.split()) < _SHORTEST:
        yield "too_short"
    if len(text.split()) > _LONGEST * job.n_words:
        yield "too_long"
    if _MARKUP.search(beside):
        yield "not_prose"
    if _OF_THE_TASK.search(beside):
        yield "of_the_task"
    if figures(beside) - figures(job.statement):
        yield "number"
    if any(stating(beside, job.others)):
        yield "other_insight"


def figures(text: str) -> frozenset[str]:
    """The numbers, in digits or words, and the months and weekdays in *text*; `one` is no number, too often a word."""
    found = {match.replace(",", "") for match in _DIGITS.findall(text)}
    for word in _WORD.findall(text):
        if word in _DAYS or word.lower() in _LARGE:
            found.add(word.lower())
        elif word.lower() in _NUMBER_WORDS:
            found.add(_NUMBER_WORDS[word.lower()])
    return frozenset(found)


def passage_parts(text: str, job: PassageJob) -> Parts:
    """A passage as its document holds it: the paragraph, or a turn before the planted sentence and one from it on."""
    if not job.spoken:
        return [text]
    before, _, after = text.partition(job.statement)
    return [turn for turn in (before.strip(), f"{job.statement}{after}".strip()) if turn]


# ---------------------------------------------------------------- counts


def prose_counts(documents: Iterable[Sequence[Tried]]) -> dict[str, JsonValue]:
    """
    Count the outcomes of a haystack's passages, document by document.

    Returns:
        `documents`, those in which every passage is the model's (`by_model`), some are (`in_part`) and none is
        (`by_template`); `passages`, those that are the model's (`kept`) and the grammar's (`fallen_back`); `replies`,
        and those `rejected`, by reason. replies = kept + the sum of rejected; a document without a passage counts as
        `by_template`.
    """
    found = list(documents)
    kept = [sum(one.text is not None for one in tried) for tried in found]
    every = sum(0 < n == len(tried) for n, tried in zip(kept, found, strict=True))
    passages = sum(map(len, found))
    rejected = Counter(reason for tried in found for one in tried for reason in one.rejections)
    return {
        "documents": len(found),
        "by_model": every,
        "in_part": sum(n > 0 for n in kept) - every,
        "by_template": kept.count(0),
        "passages": passages,
        "kept": sum(kept),
        "fallen_back": passages - sum(kept),
        "replies": sum(kept) + rejected.total(),
        "rejected": {**dict(sorted(rejected.items()))},
    }
