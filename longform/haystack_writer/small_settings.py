"""What a configuration of small haystacks may say; an unknown key is an error."""

from __future__ import annotations

from pydantic import Field, field_validator

from longform.haystack_writer.topic import topic_names
from longform.strict import Strict


class SmallSettings(Strict):
    """A file of jobs/configs/benchmarks without a `writer`."""

    topics: tuple[str, ...] = Field(min_length=1)  # in turn
    haystacks: int = Field(gt=0)
    documents: int = Field(gt=0)  # a haystack
    words: int = Field(gt=0)  # a document, about
    subtopics_per_document: int = Field(gt=0)
    insights_per_document: int = Field(gt=0)
    seed: int

    @field_validator("topics")
    @classmethod
    def _topics_exist(cls, topics: tuple[str, ...]) -> tuple[str, ...]:
        if unknown := [topic for topic in topics if topic not in topic_names()]:
            raise ValueError(f"expected topics of {list(topic_names())}, found {unknown}")
        if len(set(topics)) < len(topics):
            raise ValueError(f"expected each topic once, found {list(topics)}")
        return topics

    @property
    def sizes(self) -> dict[str, int]:
        """Of each haystack."""
        return self.model_dump(include={"documents", "words", "subtopics_per_document", "insights_per_document"})

    def planned(self) -> list[tuple[str, int]]:
        """Every haystack: its topic and variant."""
        found = (divmod(number, len(self.topics)) for number in range(self.haystacks))
        return [(self.topics[place], variant) for variant, place in found]
