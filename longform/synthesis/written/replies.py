"""The forms of replies, the checks by name, and questions to the verifier with the meaning of its answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from longform.synthesis.asking import Ask, Form, Words, numbered


class NamedSubtopic(Form):
    name: Words
    description: Words


class SubtopicList(Form):
    subtopics: tuple[NamedSubtopic, ...]


class InsightList(Form):
    insights: tuple[Words, ...]


class Pair(Form):
    """Two numbers of a list whose second thing repeats the first."""

    number: int
    repeats: int


class Pairs(Form):
    pairs: tuple[Pair, ...]


class Category(Form):
    subtopic: int  # 0: none of them


class QueryText(Form):
    query: Words


class Article(Form):
    title: Words
    text: Words


class Chapter(Form):
    text: Words


class Present(Form):
    present: tuple[int, ...]


class FactList(Form):
    facts: tuple[Words, ...]


class Classified(Form):
    subtopic: int  # 0: none of them
    insights: tuple[int, ...]


FORMS: dict[str, type[Form]] = {
    "synthesize_subtopics": SubtopicList,
    "synthesize_overlaps": Pairs,
    "synthesize_insights": InsightList,
    "synthesize_duplicates": Pairs,
    "synthesize_categorize": Category,
    "synthesize_query": QueryText,
    "synthesize_article": Article,
    "synthesize_remove": Article,
    "synthesize_add": Article,
    "synthesize_chapter": Chapter,
    "synthesize_classify": Classified,
    "synthesize_find": Present,
    "synthesize_answer": FactList,
}
"""Prompt -> the form of its reply."""


# ---------------------------------------------------------------- checks


CHECKS: Mapping[str, str] = {
    "subtopics complete": "a list of subtopics can be read and leaves none missing",
    "subtopic distinct": "the verifier finds no overlap with an earlier subtopic",
    "insights complete": "a list of insights can be read and leaves none of its subtopic missing",
    "insight specific": "a number, date or entity is in it; a rule decides",
    "insight distinct": "the verifier finds no earlier insight that says the same",
    "insight categorised": "the verifier sorts it into its own subtopic",
    "subtopic expandable": "enough insights of it were accepted; a rule decides",
    "query on subtopic": "the verifier sorts the question into its own subtopic",
    "insight not known": "an outsider, asked the query without documents, does not tell it; nothing follows from it",
    "article written": "an article, or an edit of one, can be read",
    "article leaks": "the verifier finds no insight that was not assigned",
    "article omissions": "the verifier finds every insight that was assigned",
    "article leaks after additions": "as before, once more where insights were added",
    "chapter classified": "the verifier finds the chapter's own subtopic and insight, and no other insight",
    "document read again": "the verifier finds the same insights once more; nothing follows from it",
}
"""In the order of the work."""


class Rules(NamedTuple):
    """Rules that differ between domains (SummHay, appendix A.1)."""

    # a list of subtopics with an overlap is asked for anew, at temperature 1; else overlaps are removed
    regenerate: bool
    sequential: bool  # subtopics get their insights one after the other, each shown those of all others as exclusions
    chapters: bool  # a document is written chapter by chapter, one insight each; else as a whole, and edited


RULES: Mapping[str, Rules] = {
    "news": Rules(regenerate=False, sequential=False, chapters=False),
    "conversation": Rules(regenerate=True, sequential=True, chapters=True),
}
"""
The paper checks insights of conversations by nothing but their exclusions, and subtopics by hand; here both domains
pass the same checks.
"""


# ---------------------------------------------------------------- questions to the verifier


def described(subtopic: NamedSubtopic) -> str:
    return f"{subtopic.name}: {subtopic.description}"


def listed(subtopics: Sequence[NamedSubtopic]) -> str:
    """Subtopics as prompts show them."""
    return numbered({"name": subtopic.name, "description": subtopic.description} for subtopic in subtopics)


def numbers_fit(numbers: Iterable[int], n: int, *, least: int = 1) -> str | None:
    """Return why *numbers* are none of a list of *n* things, from *least* on; None if they are."""
    return None if all(least <= number <= n for number in numbers) else "no_such_number"


def pairs_fit(pairs: Pairs, n: int) -> str | None:
    """Return why *pairs* are none of a list of *n* things; None if they are."""
    if any(pair.number == pair.repeats for pair in pairs.pairs):
        return "no_such_number"
    return numbers_fit((number for pair in pairs.pairs for number in (pair.number, pair.repeats)), n)


def repetitions(pairs: Pairs) -> dict[int, int]:
    """The later number of each pair -> the earlier."""
    return {max(pair.number, pair.repeats): min(pair.number, pair.repeats) for pair in pairs.pairs}


def categorize(setting: str, subtopics: Sequence[NamedSubtopic], text: str) -> Ask:
    """Ask which subtopic *text* belongs to."""
    fields = {"setting": setting, "subtopics": listed(subtopics), "text": text}
    return Ask("verifier", "synthesize_categorize", fields)


def misplaced(category: Category, subtopics: Sequence[NamedSubtopic], place: int) -> str | None:
    """Return why a sorted item does not belong to the subtopic at *place*; None if it does."""
    if category.subtopic == place + 1:
        return None
    other = repr(subtopics[category.subtopic - 1].name) if category.subtopic else "no subtopic"
    return f"belongs to {other}"
