"""The forms of replies, one JSON object each (the significance of a point is one word), the checks, and the steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Literal

from longform.synthesis.asking import Form, Words
from longform.synthesis.key_points.settings import EvolvedQuestions, GivenQuestions, KeyPointSynthesis
from longform.synthesis.recipe import PlannedCalls, Step, bounded


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


# ---------------------------------------------------------------- steps


READ, EVOLVE, SEARCH, EXTRACT, SELECT = "read questions", "evolve", "search", "extract", "select"

STEPS = (
    Step(READ, "questions"),
    Step(EVOLVE, "cells"),
    Step(SEARCH, "questions"),
    Step(EXTRACT, "documents"),
    Step(SELECT, "questions"),
)


# ---------------------------------------------------------------- bounds on calls


POINTS_A_DOCUMENT = 10
"""LONG2RAG: 28,611 points of 560 questions with 5 documents each; the number of a plan, no limit."""


def planned_calls(settings: KeyPointSynthesis, left: Mapping[str, int], most_documents: int) -> list[PlannedCalls]:
    """
    Bound the calls of every step that asks; *left* has the known works of each step, and others can come of them.

    Lowest: a cell is full after a round if that can be, and one round of extraction finds nothing.
    """
    questions, n_readings, n_cells = settings.questions, left.get(READ, 0), left.get(EVOLVE, 0)
    coming = questions.per_cell * n_cells if isinstance(questions, EvolvedQuestions) else n_readings
    n_searches = left[SEARCH] + coming
    least, most = (left[EXTRACT] + n_searches * n for n in (1, most_documents))
    found = [*_readings(settings, n_readings), *_evolving(settings, n_cells)]
    if settings.search.decomposed:
        replies, does = (settings.replies, "replies"), "decompose questions"
        found.append(bounded(SEARCH, "synthesize_searches", does, "planner", n_searches, replies))
    return [*found, *_points(settings, least, most, left[SELECT] + n_searches)]


def _readings(settings: KeyPointSynthesis, n: int) -> Iterator[PlannedCalls]:
    questions, replies = settings.questions, (settings.replies, "replies")
    is_filtered = questions.least_criteria is not None
    if is_filtered:
        yield bounded(READ, "synthesize_criteria", "read criteria", "planner", n, replies)
    if isinstance(questions, EvolvedQuestions) or questions.sorted:
        least = 0 if is_filtered else n
        yield bounded(READ, "synthesize_sort_question", "sort questions", "planner", n, replies, least=least)


def _evolving(settings: KeyPointSynthesis, n: int) -> Iterator[PlannedCalls]:
    questions = settings.questions
    if isinstance(questions, GivenQuestions):
        return
    wanted, n_questions = n * questions.per_cell, 2 * questions.candidates
    least = n * min(questions.rounds, -(-questions.per_cell // n_questions))
    rounds, calls = (questions.rounds, "rounds"), partial(bounded, EVOLVE, each="a cell")
    for way in ("deeper", "wider"):
        prompt, does = f"synthesize_{way}_questions", f"write {way} questions"
        yield calls(prompt, does, "planner", n, rounds, least=least)
    loops = (rounds, (n_questions, "questions"), (settings.replies, "replies"))
    screened = calls("synthesize_sort_question", "sort new questions", "verifier", n, *loops, least=wanted)
    yield screened._replace(highest=max(wanted * settings.replies, screened.highest))


def _points(settings: KeyPointSynthesis, least: int, most: int, n_questions: int) -> Iterator[PlannedCalls]:
    """Bound the calls of extraction from *least* to *most* documents, and of selection among a question's points."""
    if settings.extraction == "rules":
        return
    models, replies = settings.models, (settings.replies, "replies")
    loops = [(models.rounds, "rounds"), replies] if models.rounds > 1 else [replies]
    yield bounded(EXTRACT, "synthesize_points", "extract points", "writer", most, *loops, least=least)
    calls, lists = partial(bounded, SELECT, least=0), (models.merges, "lists")
    yield calls("synthesize_merge_points", "merge points", "writer", n_questions, lists, each="a question")
    points, n = (POINTS_A_DOCUMENT, "points a document (a guess)"), n_questions * settings.search.documents
    yield calls(SIGNIFICANCE, "score points", "verifier", n, points, replies)
