"""The forms of replies: one JSON object each, with exactly the fields that were asked for."""

from __future__ import annotations

from longform.synthesis.asking import Form, Words


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
