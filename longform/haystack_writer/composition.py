"""Documents around the statements they must make: a conversation, turn by turn, or a news article."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np

from longform.errors import UsageError
from longform.haystack_writer.grammar import write
from longform.haystack_writer.topic import Cast, ConversationTopic, NewsTopic, SubtopicPlan

_ASIDE_SHARE = 0.7  # of the prose between insights; the rest speaks of no subtopic
_MOST_USES = 3  # of one template in one document; more would read as a list
_INTRODUCED_SHARE = 0.5  # of the statements of a subtopic not yet introduced that an introduction precedes
_OPENER_SHARE = 0.5  # of the other turns that begin with an answer to the turn before
_LONGEST_PARAGRAPH = 4  # sentences


class Statement(NamedTuple):
    """A sentence, and the subtopic it speaks of; None where it speaks of none."""

    text: str
    subtopic: SubtopicPlan | None


_Thing = TypeVar("_Thing")

Passage = list[str]
"""Sentences or turns that stay together."""

Section = list[str]
"""Sentences or turns that speak of one subtopic, or of none."""


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
    sections = prose.around(planted, beginning, end, words=words, passage=spoken)
    turns = [turn for section in sections for turn in section]
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

    sections = prose.around(planted, [beginning], [end], words=words, passage=printed)
    return prose.one_of(topic.headlines), "\n\n".join(_paragraphs(sections, rng))


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
        beginning: Section,
        end: Section,
        *,
        words: int,
        passage: Callable[[Statement], Passage],
    ) -> list[Section]:
        """A section for each subtopic in any order: the planted statements, and other prose up to *words* words."""
        wanted = [(statement, passage(statement)) for statement in planted]
        missing = words - sum(_n_words(part) for part in [beginning, *(part for _, part in wanted), end])
        if missing < 0:
            msg = f"words: expected at least {words - missing} for a document of this topic with {len(planted)} "
            msg += f"insights, its beginning and its end, got {words}; ask for more words or fewer insights a document"
            raise UsageError(msg)
        return [beginning, *self._sections([*wanted, *self._until(missing, passage)]), end]

    def _sections(self, parts: Sequence[tuple[Statement, Passage]]) -> Iterator[Section]:
        by_subject: dict[str, list[Passage]] = {}
        for statement, part in parts:
            subject = statement.subtopic.name if statement.subtopic else statement.text
            by_subject.setdefault(subject, []).append(part)
        for subject in _shuffled(list(by_subject), self._rng):
            # stable: the passage with the introduction, which has one sentence more, comes first
            ordered = sorted(_shuffled(by_subject[subject], self._rng), key=len, reverse=True)
            yield [text for part in ordered for text in part]

    def _until(self, missing: int, passage: Callable[[Statement], Passage]) -> Iterator[tuple[Statement, Passage]]:
        said: set[str] = set()
        for statement in self._statements():
            if missing <= 0:
                return
            if statement.text not in said:
                said.add(statement.text)
                part = passage(statement)
                missing -= _n_words(part)
                yield statement, part
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


def _shuffled(things: Sequence[_Thing], rng: np.random.Generator) -> list[_Thing]:
    return [things[place] for place in rng.permutation(len(things))]


def _paragraphs(sections: Sequence[Section], rng: np.random.Generator) -> Iterator[str]:
    """Some sentences each; a section of several sentences has paragraphs of its own, single ones are gathered."""
    paragraph: list[str] = []
    limit = 0
    for before, section in pairwise([[], *sections]):
        apart = len(section) > 1 or len(before) > 1
        for place, sentence in enumerate(section):
            if paragraph and (len(paragraph) >= limit or (apart and place == 0)):
                yield " ".join(paragraph)
                paragraph = []
            if not paragraph:
                limit = int(rng.integers(2, _LONGEST_PARAGRAPH + 1))
            paragraph.append(sentence)
    yield " ".join(paragraph)


def _n_words(passage: Passage) -> int:
    return sum(len(text.split()) for text in passage)
