"""
Topics: what a haystack can be about, as files in `topics/`, and the values that make one haystack of it.

A topic's text holds slots in place of names and numbers. Slots of insights get one value for a whole haystack; slots
of everything else (`passing_...`) get a new one at each use, never a value that an insight of the haystack has.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from importlib import resources
from typing import Annotated, Literal

import numpy as np
import yaml
from pydantic import BeforeValidator, Field, TypeAdapter, model_validator

from longform.errors import UsageError
from longform.haystack_writer.grammar import Value, slots
from longform.strict import Strict


def _lines(value: object) -> object:
    return tuple(value.splitlines()) if isinstance(value, str) else value


Lines = Annotated[tuple[str, ...], BeforeValidator(_lines)]
Range = tuple[int, int, int]
"""Lowest, highest, step."""


class InsightPlan(Strict):
    """A fact: the reference's words for it, and the words that documents use instead."""

    name: str
    reference: str
    wordings: Annotated[Lines, Field(min_length=4)]

    @model_validator(mode="after")
    def _every_wording_states_the_whole_fact(self) -> InsightPlan:
        for wording in self.wordings:
            if slots(wording) != slots(self.reference):
                msg = f"insight {self.name!r}: {wording!r} names other slots than the reference {self.reference!r}"
                raise ValueError(msg)
        return self


class SubtopicPlan(Strict):
    name: str
    statement: str
    query: str
    insights: Annotated[tuple[InsightPlan, ...], Field(min_length=5)]
    introductions: Lines  # sentences or questions that come to the subtopic
    asides: Lines  # statements of the same field that are no insight


class Casting(Strict):
    """What the names and numbers of a haystack are drawn from."""

    title: str
    pools: dict[str, tuple[str, ...]]
    entities: dict[str, str]  # slot -> pool
    numbers: dict[str, Range]
    passing_entities: dict[str, str]
    passing_numbers: dict[str, Range]


class _Topic(Casting):
    subtopics: Annotated[tuple[SubtopicPlan, ...], Field(min_length=6)]
    filler: Lines  # statements of no subtopic
    closings: Lines


class ConversationTopic(_Topic):
    domain: Literal["conversation"]
    participants: int = Field(ge=2)
    greetings: Lines
    replies: Lines
    farewells: Lines
    openers: Lines  # answers to the turn before


class NewsTopic(_Topic):
    domain: Literal["news"]
    dateline: str
    headlines: Lines
    leads: Lines


Topic = Annotated[ConversationTopic | NewsTopic, Field(discriminator="domain")]
"""One file of `topics/`."""

_TOPIC: TypeAdapter[ConversationTopic | NewsTopic] = TypeAdapter(Topic)


class Cast:
    """The names and numbers of one haystack, and those left over for its passing remarks."""

    def __init__(self, topic: Casting, rng: np.random.Generator, *, participants: int = 0) -> None:
        left = {name: [pool[i] for i in rng.permutation(len(pool))] for name, pool in topic.pools.items()}
        self.values: dict[str, Value] = {slot: left[pool].pop() for slot, pool in topic.entities.items()}
        taken: set[int] = set()
        for slot, limits in topic.numbers.items():
            options = _without(limits, taken)
            self.values[slot] = options[int(rng.integers(len(options)))]
            taken.add(int(self.values[slot]))
        self.participants: list[str] | None = None  # an article has none
        if participants:
            self.participants = [left["first_name"].pop() for _ in range(participants)]
        self.passing: dict[str, list[str] | list[int]] = {
            **{slot: left[pool] for slot, pool in topic.passing_entities.items()},
            **{slot: _without(limits, taken) for slot, limits in topic.passing_numbers.items()},
        }

    def values_for(self, template: str, rng: np.random.Generator) -> dict[str, Value]:
        """The haystack's values, and new ones for the passing slots that *template* names."""
        named = {slot: self.passing[slot] for slot in sorted(slots(template)) if slot in self.passing}
        return self.values | {slot: options[int(rng.integers(len(options)))] for slot, options in named.items()}


def topic_names() -> tuple[str, ...]:
    """The topics that ship with the project, sorted."""
    return tuple(sorted(path.name.removesuffix(".yaml") for path in _topic_files()))


@lru_cache(maxsize=8)
def load_topic(name: str) -> Topic:
    """
    The topic of that name.

    Raises:
        UsageError: There is no such topic.
    """
    for path in _topic_files():
        if path.name == f"{name}.yaml":
            return _TOPIC.validate_python(yaml.safe_load(path.read_text(encoding="utf-8")))
    msg = f"no topic {name!r}; there are {', '.join(topic_names())}"
    raise UsageError(msg)


def _topic_files() -> Iterator[resources.abc.Traversable]:
    folder = resources.files("longform.haystack_writer") / "topics"
    return (path for path in folder.iterdir() if path.name.endswith(".yaml"))


def _without(limits: Range, taken: set[int]) -> list[int]:
    lowest, highest, step = limits
    return [number for number in range(lowest, highest + 1, step) if number not in taken]
