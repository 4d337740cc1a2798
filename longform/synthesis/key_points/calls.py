"""Bounds on the calls of a synthesis of key points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from longform.synthesis.key_points.replies import SIGNIFICANCE
from longform.synthesis.key_points.settings import EvolvedQuestions, GivenQuestions, KeyPointSynthesis
from longform.synthesis.recipe import PlannedCalls, Step, bounded

READ, EVOLVE, SEARCH, EXTRACT, SELECT = "read questions", "evolve", "search", "extract", "select"

STEPS = (
    Step(READ, "questions"),
    Step(EVOLVE, "cells"),
    Step(SEARCH, "questions"),
    Step(EXTRACT, "documents"),
    Step(SELECT, "questions"),
)

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
