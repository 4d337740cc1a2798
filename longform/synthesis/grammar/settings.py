"""
Settings of made haystacks; an unknown key is an error.

Each size may be a list: the lists multiply, and every combination is a haystack (or as many as `haystacks` says), so
that one configuration is a sweep over difficulty.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, product
from typing import Annotated, NamedTuple, TypeVar

from pydantic import BeforeValidator, Field, JsonValue, field_validator, model_validator

from longform.errors import UsageError
from longform.settings.chat import ChatSettings
from longform.settings.strict import Strict
from longform.synthesis.asking import Role
from longform.synthesis.grammar.assignment import Bounds, n_statements
from longform.synthesis.grammar.haystack import HaystackSize, TopicPart
from longform.synthesis.grammar.topic import load_topic, topic_names


def _several(value: JsonValue) -> JsonValue | tuple[JsonValue]:
    return value if isinstance(value, list | tuple) else (value,)


_Size = TypeVar("_Size")
Several = Annotated[tuple[_Size, ...], BeforeValidator(_several), Field(min_length=1)]
"""One value or a list of them."""


class CountBounds(Strict):
    """`{least: 5, most: 7}`; a single number is both."""

    least: int = Field(ge=0)
    most: int = Field(ge=0)

    @model_validator(mode="before")
    @classmethod
    def _one_number(cls, value: JsonValue) -> JsonValue:
        return {"least": value, "most": value} if isinstance(value, int) else value


class PlannedHaystack(NamedTuple):
    topic: str
    variant: int
    size: HaystackSize


class ProseSettings(Strict):
    """A chat model that writes the sentences around planted ones; the grammar's own stay if it fails."""

    chat: ChatSettings
    tries: int = Field(gt=0)  # at one passage
    prompts: str | None = None  # a folder whose files replace our prompts of the same name


class HaystackSettings(Strict):
    """A file of jobs/configs/benchmarks."""

    topics: tuple[str, ...] = Field(min_length=1)  # in turn
    haystacks: int = Field(gt=0)  # of each combination of sizes
    documents: Several[Annotated[int, Field(gt=0)]]  # a haystack
    words: Several[Annotated[int, Field(gt=0)]]  # a document, about
    insights_per_document: Several[CountBounds]
    distractors: Several[Annotated[int, Field(ge=0)]]  # a document
    contradictions: Several[Annotated[int, Field(ge=0)]]  # insights that two further documents contradict
    least_documents: int = Field(gt=0)  # that state each insight
    most_share: float = Field(gt=0, le=1)  # of the documents that state one insight
    subtopics: int | None = Field(None, gt=0)  # of a topic, the first so many; null: all
    insights: int | None = Field(None, gt=0)  # of each subtopic, the first so many; null: all
    prose: ProseSettings | None = None  # null: the grammar writes all
    seed: int

    @field_validator("topics")
    @classmethod
    def _topics_exist(cls, topics: tuple[str, ...]) -> tuple[str, ...]:
        if unknown := [topic for topic in topics if topic not in topic_names()]:
            raise ValueError(f"expected topics of {list(topic_names())}, found {unknown}")
        if len(set(topics)) < len(topics):
            raise ValueError(f"expected each topic once, found {list(topics)}")
        return topics

    def check_sizes(self) -> None:
        """
        Check, before anything is written, whether statements can be dealt to documents as configured.

        Raises:
            UsageError: They cannot; the message has the arithmetic. (Composing shows whether documents have room for
                their statements.)
        """
        for topic in self.topics:
            sizes = [len(subtopic.insights) for subtopic in load_topic(topic).subtopics]
            for key, asked, there in (
                ("subtopics", self.subtopics, len(sizes)),
                ("insights", self.insights, max(sizes)),
            ):
                if asked is not None and asked > there:
                    told = f"{key}: topic {topic!r} has {there}{' a subtopic at most' if key == 'insights' else ''}"
                    raise UsageError(f"{told}, got {asked}; ask for fewer, or leave the key out for all")
        for documents in self.documents:
            self._check_share(documents)
        for planned in self.planned():
            self._check_planned(planned)

    def _check_share(self, documents: int) -> None:
        most = int(self.most_share * documents)
        if most < self.least_documents:
            enough = next(n for n in count(documents) if int(self.most_share * n) >= self.least_documents)
            raise UsageError(
                f"{documents} documents x most_share {self.most_share:g} = {most} documents that may state an insight, "
                f"but least_documents is {self.least_documents}; ask for {enough} documents or a larger most_share"
            )

    def _check_planned(self, planned: PlannedHaystack) -> None:
        size = planned.size
        n_insights = sum(len(one.insights) for one in load_topic(planned.topic).part(*self.part).subtopics)
        try:
            n_statements(
                n_insights, documents=size.documents, per_document=size.per_document, per_insight=size.per_insight
            )
        except UsageError as error:
            raise UsageError(f"topic {planned.topic!r}: {error}") from error

    @property
    def part(self) -> TopicPart:
        """Return the part of each topic that haystacks cover."""
        return TopicPart(self.subtopics, self.insights)

    @property
    def chats(self) -> dict[Role, ChatSettings]:
        """Return the model of each role; none if the grammar writes all."""
        return {} if self.prose is None else {"writer": self.prose.chat}

    @property
    def prompts(self) -> str | None:
        """The folder of prompts that replace ours."""
        return None if self.prose is None else self.prose.prompts

    def planned(self) -> Iterator[PlannedHaystack]:
        """Every haystack: for each combination of sizes the topics in turn."""
        lists = (self.documents, self.words, self.insights_per_document, self.distractors, self.contradictions)
        for documents, words, insights, distractors, contradictions in product(*lists):
            size = HaystackSize(
                documents=documents,
                words=words,
                per_document=Bounds(insights.least, insights.most),
                per_insight=Bounds(self.least_documents, int(self.most_share * documents)),
                distractors=distractors,
                contradictions=contradictions,
            )
            for number in range(self.haystacks):
                variant, place = divmod(number, len(self.topics))
                yield PlannedHaystack(self.topics[place], variant, size)
