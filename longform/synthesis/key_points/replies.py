"""The forms of replies, one JSON object each (the significance of a point is one word), and the checks by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from longform.synthesis.asking import Form, Words


class Criteria(Form):
    """The five criteria of a question that is worth asking (LONG2RAG, appendix B)."""

    not_common_sense: bool
    clear: bool
    unambiguous: bool
    complex: bool
    asks_for_opinion: bool


class Sorted(Form):
    category: int  # from 1
    domain: int


class QuestionList(Form):
    questions: tuple[Words, ...]


class Decomposed(Form):
    kind: Literal["simple", "complex", "vague"]
    sub_questions: tuple[Words, ...]


class Point(Form):
    point: Words
    spans: tuple[str, ...]


class PointList(Form):
    points: tuple[Point, ...]


class Group(Form):
    point: Words
    numbers: tuple[int, ...]


class GroupList(Form):
    groups: tuple[Group, ...]


SIGNIFICANCE = "synthesize_key_point"

FORMS: Mapping[str, type[Form] | None] = {
    "synthesize_criteria": Criteria,
    "synthesize_sort_question": Sorted,
    "synthesize_deeper_questions": QuestionList,
    "synthesize_wider_questions": QuestionList,
    "synthesize_searches": Decomposed,
    "synthesize_points": PointList,
    "synthesize_merge_points": GroupList,
    SIGNIFICANCE: None,
}
"""Prompt -> the form of its reply; None: plain text."""


# ---------------------------------------------------------------- checks


SUITABLE, SORTED = "question suitable", "question sorted"
LISTED, FORMED, NEW, IN_CELL = "questions listed", "question formed", "question new", "question in its cell"
DECOMPOSED, SEARCHED, FOUND = "question decomposed", "search answered", "documents found"
POINTS, SPAN, GROUNDED, POINT_NEW = "points listed", "span found", "point grounded", "point new"
SPECIFIC, ON_QUESTION, ALONE, LENGTH = (
    "statement specific",
    "statement on the question",
    "statement stands alone",
    "statement of a fit length",
)
MERGED, PLACED, SCORED, SIGNIFICANT, IN_RANK = (
    "points merged",
    "point in one group",
    "significance read",
    "point significant",
    "point in rank",
)
KEPT = "question kept"

CHECKS: Mapping[str, str] = {
    SUITABLE: "as many of the five criteria are met as `least_criteria` says, as the planner reads them",
    SORTED: "the planner names a category and a domain of the lists",
    LISTED: "a list of new questions can be read, and has one",
    FORMED: "it is one question that ends with a question mark; a rule decides",
    NEW: "it is not its seed, and no question of its cell before it; a rule decides",
    IN_CELL: "the verifier, who is told neither, names the category and the domain that were asked for",
    DECOMPOSED: "the kind of the question and its sub-questions can be read; else the question itself is searched",
    SEARCHED: "an endpoint's list of documents can be read, each with a text and an id or URL; a rule decides",
    FOUND: "a search finds a document; a rule decides",
    POINTS: "a list of points can be read",
    SPAN: "it stands in its document, up to white space; a rule decides",
    GROUNDED: "one of its spans was found; a rule decides",
    POINT_NEW: "no point of its document before it has its words; a rule decides",
    LENGTH: "it has as many words as `rules` allows; a rule decides",
    ALONE: "it makes sense without the sentences before it; a rule decides",
    SPECIFIC: "a number, a date or a name is in it; a rule decides",
    ON_QUESTION: "it shares stems with the question; a rule decides",
    MERGED: "a list of groups can be read, and each point stands in one; a rule decides",
    PLACED: "it stands in one group; else a rule places it",
    SCORED: "P(YES) can be read",
    SIGNIFICANT: "P(YES) is at least `threshold`",
    IN_RANK: "it is among the first by BM25 of the question; a rule decides",
    KEPT: "it has a key point; else it is left out of the benchmark; a rule decides",
}
"""In the order of the work."""
