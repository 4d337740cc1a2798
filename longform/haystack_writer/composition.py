"""Documents around the statements they must make: a conversation, turn by turn, or a news article."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from longform.errors import UsageError
from longform.haystack_writer.grammar import write
from longform.haystack_writer.topic import Cast, ConversationTopic, NewsTopic, SubtopicPlan

_ASIDE_SHARE = 0.3  # of the prose between insights; the rest speaks of no subtopic
_MOST_USES = 3  # of one template in one document; more would read as a list
_INTRODUCED_SHARE = 0.5  # of the statements of a subtopic not yet introduced that an introduction precedes
_OPENER_SHARE = 0.5  # of the other turns that begin with an answer to the turn before
_LONGEST_PARAGRAPH = 4  # sentences


class Statement(NamedTuple):
    """A sentence, and the subtopic it speaks of; None where it speaks of none."""

    text: str
    subtopic: SubtopicPlan | None


Passage = list[str]
"""Sentences or turns that stay together."""


def write_conversation(
    topic: ConversationTopic, cast: Cast, rng: np.random.Generator, planted: Sequence[Statement], *, words: int
) -> str:
    """
    Lines of `Name: ...`, about *words* words without the names, that make each planted statement once.

    Raises:
        UsageError: *words* has no room for the planted statements, or is more than the topic has prose for.
    """
    prose = _Prose(topic, cast, rng)
    openers = _in_turn(topic.openers, rng)

    def spoken(statement: Statement) -> Passage:
        introduction = prose.introduction(statement)
        if not introduction and rng.random() < _OPENER_SHARE and (opener := next(openers, None)):
            return [f"{prose.sentence(opener)} {statement.text}"]
        return [*introduction, statement.text]

    beginning = [prose.one_of(topic.greetings), prose.one_of(topic.replies)]
    end = [prose.one_of(topic.closings), prose.one_of(topic.farewells)]
    passages = prose.around(planted, beginning, end, words=words, passage=spoken)
    turns = [turn for passage in passages for turn in passage]
    assert cast.participants, "a conversation has participants"
    return "\n".join(f"{name}: {turn}" for name, turn in zip(_speakers(cast.participants, rng), turns, strict=False))


def write_article(
    topic: NewsTopic, cast: Cast, rng: np.random.Generator, planted: Sequence[Statement], *, words: int
) -> tuple[str, str]:
    """
    Headline and text: paragraphs between blank lines, about *words* words, with each planted statement once.

    Raises:
        UsageError: As `write_conversation`.
    """
    prose = _Prose(topic, cast, rng)
    beginning = f"{prose.sentence(topic.dateline)} {prose.one_of(topic.leads)}"
    end = prose.one_of(topic.closings)

    def printed(statement: Statement) -> Passage:
        return [*prose.introduction(statement), statement.text]

    passages = prose.around(planted, [beginning], [end], words=words, passage=printed)
    return prose.one_of(topic.headlines), "\n\n".join(_paragraphs(passages, rng))


class _Prose:
    """For one document, what stands between planted statements: asides of any subtopic's field, filler of none."""

    def __init__(self, topic: ConversationTopic | NewsTopic, cast: Cast, rng: np.random.Generator) -> None:
        self._topic = topic
        self._cast = cast
        self._rng = rng
        self._introduced: set[str] = set()

    def introduction(self, statement: Statement) -> Passage:
        """At most one sentence that comes to the statement's subtopic, and in one document at most once."""
        subtopic = statement.subtopic
        if subtopic is None or subtopic.name in self._introduced or self._rng.random() >= _INTRODUCED_SHARE:
            return []
        self._introduced.add(subtopic.name)
        return [self.one_of(subtopic.introductions)]

    def sentence(self, template: str) -> str:
        return write(template, self._cast.values_for(template, self._rng), self._rng)

    def one_of(self, templates: Sequence[str]) -> str:
        return self.sentence(templates[int(self._rng.integers(len(templates)))])

    def around(
        self,
        planted: Sequence[Statement],
        beginning: Passage,
        end: Passage,
        *,
        words: int,
        passage: Callable[[Statement], Passage],
    ) -> list[Passage]:
        """The planted statements in their order, at random places of prose that fills up to *words* words."""
        wanted = [passage(statement) for statement in planted]
        missing = words - sum(_n_words(part) for part in [beginning, *wanted, end])
        if missing < 0:
            msg = f"words: expected at least {words - missing} for a document of this topic with {len(planted)} "
            msg += f"insights, its beginning and its end, got {words}; ask for more words or fewer insights a document"
            raise UsageError(msg)
        mixed = list(self._until(missing, passage))
        places = sorted(int(place) for place in self._rng.integers(len(mixed) + 1, size=len(wanted)))
        for place, part in reversed(list(zip(places, wanted, strict=True))):
            mixed.insert(place, part)
        return [beginning, *mixed, end]

    def _until(self, missing: int, passage: Callable[[Statement], Passage]) -> Iterator[Passage]:
        said: set[str] = set()
        for statement in self._statements():
            if missing <= 0:
                return
            if statement.text not in said:
                said.add(statement.text)
                part = passage(statement)
                missing -= _n_words(part)
                yield part
        msg = f"words: a document of this topic is {missing} words short when each of its sentences is used "
        raise UsageError(msg + f"{_MOST_USES} times; ask for fewer words")

    def _statements(self) -> Iterator[Statement]:
        """Asides and filler, each template as seldom as the length allows, until one of the two is used up."""
        by_aside = {line: subtopic for subtopic in self._topic.subtopics for line in subtopic.asides}
        asides, filler = _in_turn(list(by_aside), self._rng), _in_turn(self._topic.filler, self._rng)
        while template := next(asides if self._rng.random() < _ASIDE_SHARE else filler, None):
            yield Statement(self.sentence(template), by_aside.get(template))


def _in_turn(templates: Sequence[str], rng: np.random.Generator) -> Iterator[str]:
    """All templates in a random order, then all again, `_MOST_USES` times."""
    for _ in range(_MOST_USES):
        for place in rng.permutation(len(templates)):
            yield templates[place]


def _speakers(names: Sequence[str], rng: np.random.Generator) -> Iterator[str]:
    """Names without end, none twice in a row."""
    current = int(rng.integers(len(names)))
    while True:
        yield names[current]
        current = (current + int(rng.integers(1, len(names)))) % len(names)


def _paragraphs(passages: Sequence[Passage], rng: np.random.Generator) -> Iterator[str]:
    """Some sentences each; an introduction begins a new one."""
    paragraph: list[str] = []
    limit = 0
    for passage in passages:
        if paragraph and (len(passage) > 1 or len(paragraph) >= limit):
            yield " ".join(paragraph)
            paragraph = []
        if not paragraph:
            limit = int(rng.integers(2, _LONGEST_PARAGRAPH + 1))
        paragraph += passage
    yield " ".join(paragraph)


def _n_words(passage: Passage) -> int:
    return sum(len(text.split()) for text in passage)
