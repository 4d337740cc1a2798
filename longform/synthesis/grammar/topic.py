"""
Topics: subjects of haystacks, as files in `topics/`, and the names and numbers that make one haystack of a topic.

A topic has ten subtopics, and a stock of clauses to make prose of. Its text holds slots in place of names and numbers.
Slots of insights get one value for a whole haystack; slots of everything else (`passing_...`) never have a value that
an insight of the haystack has.

Lines hold `[a|b]` choices, `{slot}` values and `<symbol>` places: a line of that symbol, of the subtopic if it has such
lines, else of the topic's stock. `{slot:again}` is the name that the slot had last in the line, as people say it the
second time. In lines of `ask`, ` / ` begins the turn of another speaker. A statement's wording may end with ` // in
{month}`, words that may stand at its beginning too. Wordings and clauses begin in lower case; sentences are capitalised
when they are done.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib import resources
from itertools import product
from typing import Annotated, Literal

import numpy as np
import yaml
from pydantic import BeforeValidator, Field, model_validator

from longform.errors import UsageError
from longform.settings.strict import Strict

# ---------------------------------------------------------------- templates


Value = str | int

SLOT = re.compile(r"\{(\w+)(?::(words|again))?\}")
_COMMA_BEFORE_MARK = re.compile(r",\s*([,.?])")
_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_LARGEST_IN_WORDS = 99


def slots(template: str) -> frozenset[str]:
    """The slots that a template names, in any of its choices."""
    return frozenset(match[1] for match in SLOT.finditer(template))


def filled(template: str, values: Mapping[str, Value]) -> str:
    """Fill a template without choices, and begin it with a capital, even in a slot."""
    text = SLOT.sub(lambda match: form(values[match[1]], in_words=match[2] == "words"), template)
    return text[0].upper() + text[1:]


def number_in_words(number: int) -> str:
    """
    `42` -> `forty-two`.

    Raises:
        ValueError: The number is not within 0 to 99.
    """
    if not 0 <= number <= _LARGEST_IN_WORDS:
        msg = f"expected a number from 0 to {_LARGEST_IN_WORDS} to write in words, got {number}"
        raise ValueError(msg)
    if number < len(_ONES):
        return _ONES[number]
    tens, ones = divmod(number, 10)
    return _TENS[tens - 2] if ones == 0 else f"{_TENS[tens - 2]}-{_ONES[ones]}"


def tidied(text: str) -> str:
    """Drop the comma that ends an apposition if another mark follows it."""
    return _COMMA_BEFORE_MARK.sub(r"\1", text)


def form(value: Value, *, in_words: bool) -> str:
    """A value as text: a number with separators, or in words."""
    if isinstance(value, str):
        return value
    return number_in_words(value) if in_words else f"{value:,}"


# ---------------------------------------------------------------- topics


SYMBOL = re.compile(r"<(\w+)>")
MOVABLE = " // "

_NEEDED = {
    "conversation": frozenset(
        {"greeting", "reply", "opening", "ask", "noted", "remark", "opener", "closing", "farewell"}
    ),
    "news": frozenset({"headline", "lead", "opening", "remark", "closing"}),
}
_ALWAYS = frozenset({"according", "claim", "says"})
_LEAST_INSIGHTS, _MOST_INSIGHTS = 5, 8


def _lines(value: object) -> object:
    return tuple(value.splitlines()) if isinstance(value, str) else value


Lines = Annotated[tuple[str, ...], BeforeValidator(_lines)]
Range = tuple[int, int, int]
"""Lowest, highest, step."""


def _pool(value: object) -> object:
    """A list, or `{first: [...], last: [...]}`: every pair."""
    if isinstance(value, dict):
        return tuple(f"{first} {last}" for first, last in product(value["first"], value["last"]))
    return value


class Fact(Strict):
    """A fact behind an insight: the reference's words, and the words that documents use instead."""

    name: str
    reference: str
    wordings: Annotated[Lines, Field(min_length=3)]

    @model_validator(mode="after")
    def _every_wording_states_the_whole_fact(self) -> Fact:
        for wording in self.wordings:
            if slots(wording) != slots(self.reference):
                msg = f"insight {self.name!r}: {wording!r} names other slots than the reference {self.reference!r}"
                raise ValueError(msg)
        return self


class Subtopic(Strict):
    name: str
    statement: str
    query: str
    insights: Annotated[tuple[Fact, ...], Field(min_length=_LEAST_INSIGHTS, max_length=_MOST_INSIGHTS)]
    distractors: Annotated[Lines, Field(min_length=4)]  # facts of passing names and numbers that are no insight
    clauses: dict[str, Lines]  # symbol -> lines of this subtopic's field


class Topic(Strict):
    """One file of `topics/`."""

    title: str
    domain: Literal["conversation", "news"]
    participants: int = Field(0, ge=0)  # speakers of a conversation
    pools: dict[str, Annotated[tuple[str, ...], BeforeValidator(_pool)]]
    entities: dict[str, str]  # slot -> pool
    numbers: dict[str, Range]
    passing_entities: dict[str, str]
    passing_numbers: dict[str, Range]
    synonyms: Lines  # `one | another`: words that wordings may exchange
    stock: dict[str, Lines]  # symbol -> lines
    subtopics: Annotated[tuple[Subtopic, ...], Field(min_length=10)]

    @model_validator(mode="after")
    def _every_symbol_has_lines(self) -> Topic:
        for subtopic in self.subtopics:
            known = {"distractor", *self.stock, *subtopic.clauses}
            used = {
                name for lines in (self.stock | subtopic.clauses).values() for name in SYMBOL.findall(" ".join(lines))
            }
            if missing := sorted((used | _NEEDED[self.domain] | _ALWAYS) - known):
                msg = f"subtopic {subtopic.name!r}: expected lines for each symbol, found none for {missing}"
                raise ValueError(msg)
        self._check_numbers()
        if (self.domain == "conversation") != (self.participants >= 2):
            msg = f"participants: expected two or more in a conversation and 0 in news, found {self.participants}"
            raise ValueError(msg)
        return self

    def part(self, subtopics: int | None, insights: int | None) -> Topic:
        """Return the topic with its first *subtopics*, and of each its first *insights*; None: all."""
        kept = [one.model_copy(update={"insights": one.insights[:insights]}) for one in self.subtopics[:subtopics]]
        return self.model_copy(update={"subtopics": tuple(kept)})

    def _check_numbers(self) -> None:
        """Drawn in their order, and none twice in a haystack, all numbers find a value."""
        spans = {slot: set(range(low, high + 1, step)) for slot, (low, high, step) in self.numbers.items()}
        for place, (slot, span) in enumerate(spans.items()):
            rivals = [name for name in list(spans)[:place] if spans[name] & span]
            if len(span) <= len(rivals):
                msg = f"numbers: {slot!r} has {len(span)} values and {rivals} may take them; widen it or move it up"
                raise ValueError(msg)


class Cast:
    """The names and numbers of one haystack, and those left over for its passing remarks."""

    def __init__(self, topic: Topic, rng: np.random.Generator) -> None:
        left = {name: [pool[i] for i in rng.permutation(len(pool))] for name, pool in topic.pools.items()}
        self.values: dict[str, Value] = {slot: left[pool].pop() for slot, pool in topic.entities.items()}
        taken: set[int] = set()
        for slot, limits in topic.numbers.items():
            options = untaken(limits, taken)
            number = options[int(rng.integers(len(options)))]
            self.values[slot] = number
            taken.add(number)
        self.participants: list[str] | None = None  # an article has none
        if topic.participants:
            self.participants = [left["first_name"].pop() for _ in range(topic.participants)]
        self.passing: dict[str, list[str] | list[int]] = {
            **{slot: left[pool] for slot, pool in topic.passing_entities.items()},
            **{slot: untaken(limits, taken) for slot, limits in topic.passing_numbers.items()},
        }


def untaken(limits: Range, taken: set[int]) -> list[int]:
    """Return the numbers within *limits* that are not *taken*."""
    lowest, highest, step = limits
    return [number for number in range(lowest, highest + 1, step) if number not in taken]


def topic_names() -> tuple[str, ...]:
    """The topics that ship with the project, sorted."""
    return tuple(sorted(path.name.removesuffix(".yaml") for path in _files()))


@lru_cache(maxsize=4)
def load_topic(name: str) -> Topic:
    """
    The topic of that name.

    Raises:
        UsageError: There is no such topic.
    """
    for path in _files():
        if path.name == f"{name}.yaml":
            return Topic.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    raise UsageError(f"no topic {name!r}; there are {', '.join(topic_names())}")


def _files() -> Iterator[resources.abc.Traversable]:
    folder = resources.files("longform.synthesis.grammar") / "topics"
    return (path for path in folder.iterdir() if path.name.endswith(".yaml"))
