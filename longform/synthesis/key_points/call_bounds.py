"""Bounds on the calls of a synthesis of key points, from what is left to do."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from longform.synthesis.key_points.replies import SIGNIFICANCE
from longform.synthesis.key_points.settings import EvolvedQuestions, GivenQuestions, KeyPointSynthesis
from longform.synthesis.recipe import PlannedCalls, bounded

READ, EVOLVE, SEARCH, EXTRACT, SELECT = "read questions", "evolve", "search", "extract", "select"

POINTS_A_DOCUMENT = 10
"""LONG2RAG: 28,611 points of 560 questions with 5 documents each; the number of a plan, no limit."""


class WorksLeft(NamedTuple):
    """
    Works that are left, of each step; those of later steps as many as there can be.

    Attributes:
        least_documents: If each search that is left finds one.
    """

    readings: int
    cells: int
    searches: int
    least_documents: int
    documents: int
    questions: int


def planned_calls(settings: KeyPointSynthesis, left: WorksLeft) -> list[PlannedCalls]:
    """
    Bound the calls of every step that asks.

    Lowest: a cell is full after a round if that can be, and one round of extraction finds nothing.
    """
    steps = (_readings(settings, left.readings), _evolving(settings, left.cells), _points(settings, left))
    found = [*steps[0], *steps[1]]
    replies = (settings.replies, "replies")
    if settings.search.decomposed:
        does = "decompose questions"
        found.append(bounded(SEARCH, "synthesize_searches", does, "planner", left.searches, replies))
    return [*found, *steps[2]]


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


def _points(settings: KeyPointSynthesis, left: WorksLeft) -> Iterator[PlannedCalls]:
    """Bound the calls of extraction from documents, and of selection among the points of a question."""
    if settings.extraction == "rules":
        return
    models, replies = settings.models, (settings.replies, "replies")
    loops = [(models.rounds, "rounds"), replies] if models.rounds > 1 else [replies]
    extracted = partial(bounded, EXTRACT, "synthesize_points", "extract points", "writer", left.documents, *loops)
    yield extracted(least=left.least_documents)
    calls, lists = partial(bounded, SELECT, least=0), (models.merges, "lists")
    yield calls("synthesize_merge_points", "merge points", "writer", left.questions, lists, each="a question")
    points, n = (POINTS_A_DOCUMENT, "points a document (a guess)"), left.questions * settings.search.documents
    yield calls(SIGNIFICANCE, "score points", "verifier", n, points, replies)
