"""The configuration of a synthesis with chat models: topics, sizes, caps of every loop, and models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from longform.settings.chat import ChatSettings
from longform.settings.strict import Strict
from longform.synthesis.asking import Role
from longform.synthesis.grammar.assignment import assign_insights


class NewsTopic(Strict):
    """Articles on one event or theme; seed articles give the planner ideas (SummHay takes 10 from DiverseSumm)."""

    domain: Literal["news"]
    title: str = Field(min_length=1)
    seed_articles: tuple[str, ...] = ()
    seed_files: tuple[str, ...] = ()  # paths of more of them; read before the first call

    @property
    def name(self) -> str:
        return self.title

    @property
    def setting(self) -> str:
        """Return the haystack's subject in the words of prompts."""
        return f"News articles on: {self.title}"

    @property
    def seeded_setting(self) -> str:
        """The same, with the seed articles."""
        seeds = "".join(f"\n\nSeed article {n}:\n{text}" for n, text in enumerate(self.seed_articles, start=1))
        return self.setting + seeds


class ConversationTopic(Strict):
    """Conversations of the same people in one scenario."""

    domain: Literal["conversation"]
    scenario: str = Field(min_length=1)
    participants: tuple[str, ...] = Field(min_length=2)

    @property
    def name(self) -> str:
        return self.scenario

    @property
    def setting(self) -> str:
        """Return the haystack's subject in the words of prompts."""
        return f"Conversations in this scenario: {self.scenario}\nParticipants: {', '.join(self.participants)}"

    @property
    def seeded_setting(self) -> str:
        """The same: a scenario has no seed articles."""
        return self.setting


Topic = Annotated[NewsTopic | ConversationTopic, Field(discriminator="domain")]


class Sizes(Strict):
    """Sizes of one haystack."""

    subtopics: int = Field(gt=0)  # asked for (SummHay: 10, of which 9.2 came to be)
    insights: int = Field(gt=0)  # asked for, in each subtopic (SummHay: 5 to 10, mean 6.75)
    least_insights: int = Field(gt=0)  # a subtopic with fewer is dropped as not expandable (SummHay: 3)
    documents: int = Field(gt=0)  # SummHay: 100
    words: int = Field(gt=0)  # rough length of a document (SummHay: 750)
    subtopics_per_document: int = Field(gt=0)  # subtopics whose insights one document states
    insights_per_document: int = Field(gt=0)  # as many from each of its subtopics
    least_documents: int = Field(gt=0)  # documents that state each insight, at least (SummHay: 5)

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        if self.least_insights > self.insights:
            raise ValueError(f"expected least_insights at most insights {self.insights}, found {self.least_insights}")
        share = -(-self.insights_per_document // self.subtopics_per_document)
        if share > self.least_insights:
            raise ValueError(
                f"insights_per_document {self.insights_per_document} / subtopics_per_document "
                f"{self.subtopics_per_document} = {share} insights of each subtopic, but a subtopic may have no more "
                f"than least_insights {self.least_insights}"
            )
        return self


class Caps(Strict):
    """Caps on the rounds of each loop."""

    subtopics: int = Field(gt=0)  # lists of subtopics
    insights: int = Field(gt=0)  # lists of insights of one subtopic
    edits: int = Field(ge=0)  # edits of one article in each of its two loops (SummHay: 5)
    chapters: int = Field(gt=0)  # tries at one chapter (SummHay: 10)
    queries: int = Field(gt=0)  # tries at one query
    replies: int = Field(gt=0)  # tries at a readable reply, if nothing else is wrong


class ModelSynthesis(Strict):
    """A file that says what to write, and with which models."""

    kind: Literal["written"] = "written"
    name: str = Field(min_length=1)
    seed: int = Field(ge=0, lt=2**31)  # of the assignment; calls of another seed are other calls
    topics: tuple[Topic, ...] = Field(min_length=1)
    sizes: Sizes
    caps: Caps
    withheld: int = Field(0, ge=0)  # of the other subtopics' insights, how many the planner is not shown as exclusions
    reread: bool = True  # ask the verifier once more for every insight in each finished document
    writer: ChatSettings  # of documents
    verifier: ChatSettings
    planner: ChatSettings | None = None  # of subtopics, insights and queries; null: the writer
    outsider: ChatSettings | None = None  # answers the queries without documents; null: nobody is asked
    prompts: str | None = None  # a folder whose files replace our prompts of the same name

    @model_validator(mode="after")
    def _topics_differ(self) -> Self:
        names = [topic.name for topic in self.topics]
        if len(set(names)) < len(names):
            raise ValueError(f"expected topics that differ, found {names}")
        return self

    @property
    def chats(self) -> dict[Role, ChatSettings]:
        """Return the model of each role; there is no outsider if none is named."""
        found: dict[Role, ChatSettings] = {
            "planner": self.planner or self.writer,
            "writer": self.writer,
            "verifier": self.verifier,
        }
        return found if self.outsider is None else found | {"outsider": self.outsider}


def assignment(sizes: Sizes, n_insights: Sequence[int], rng: np.random.Generator) -> list[list[tuple[int, int]]]:
    """
    For each document its insights, as (subtopic, insight within it).

    Raises:
        UsageError: The numbers do not fit together; the arithmetic is in the message.
    """
    return assign_insights(
        n_insights,
        documents=sizes.documents,
        subtopics_per_document=sizes.subtopics_per_document,
        insights_per_document=sizes.insights_per_document,
        least_documents=sizes.least_documents,
        rng=rng,
    )
