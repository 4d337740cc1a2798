"""Questions to the verifier about subtopics, insights and queries, and the meaning of its answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from longform.synthesis.asking import Ask, numbered
from longform.synthesis.written.replies import Category, Pairs


class Named(Protocol):
    """A subtopic of any kind."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str: ...


def described(subtopic: Named) -> str:
    return f"{subtopic.name}: {subtopic.description}"


def listed(subtopics: Sequence[Named]) -> str:
    """Subtopics as prompts show them."""
    return numbered({"name": subtopic.name, "description": subtopic.description} for subtopic in subtopics)


def numbers_fit(numbers: Sequence[int], n: int) -> str | None:
    """Return why *numbers* are none of a list of *n* things; None if they are."""
    return None if all(1 <= number <= n for number in numbers) else "no_such_number"


def pairs_fit(pairs: Pairs, n: int) -> str | None:
    """Return why *pairs* are none of a list of *n* things; None if they are."""
    fit = all(1 <= pair.number <= n and 1 <= pair.repeats <= n and pair.number != pair.repeats for pair in pairs.pairs)
    return None if fit else "no_such_number"


def repetitions(pairs: Pairs) -> dict[int, int]:
    """The later number of each pair -> the earlier."""
    return {max(pair.number, pair.repeats): min(pair.number, pair.repeats) for pair in pairs.pairs}


def categorize(setting: str, subtopics: Sequence[Named], text: str) -> Ask:
    """Ask which subtopic *text* belongs to."""
    fields = {"setting": setting, "subtopics": listed(subtopics), "text": text}
    return Ask("verifier", "synthesize_categorize", fields)


def category_fits(category: Category, n: int) -> str | None:
    """Return why *category* is none of *n* subtopics, or 0; None if it is."""
    return None if 0 <= category.subtopic <= n else "no_such_number"


def misplaced(category: Category, subtopics: Sequence[Named], place: int) -> str | None:
    """Return why a sorted item does not belong to the subtopic at *place*; None if it does."""
    if category.subtopic == place + 1:
        return None
    other = repr(subtopics[category.subtopic - 1].name) if category.subtopic else "no subtopic"
    return f"belongs to {other}"
