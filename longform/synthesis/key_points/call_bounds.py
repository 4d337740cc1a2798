"""Bounds on the calls of a synthesis of key points, from what is left to do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from longform.synthesis.key_points.replies import SIGNIFICANCE
from longform.synthesis.key_points.settings import EvolvedQuestions, GivenQuestions, KeyPointSynthesis
from longform.synthesis.recipe import PlannedCalls
from longform.synthesis.written.call_bounds import StepCalls
from longform.synthesis.written.settings import Role

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


def planned_calls(settings: KeyPointSynthesis, left: WorksLeft) -> Iterator[PlannedCalls]:
    """
    Bound the calls of every step that asks.

    Lowest: every first reply is accepted, a cell is full after a round if that can be, one round of extraction finds
    nothing. Highest: every loop goes round to its cap, and every reply has to be asked for up to its cap.
    """
    steps = (
        *_readings(settings, left.readings),
        *_evolving(settings, left.cells),
        *_searches(settings, left.searches),
        *_extraction(settings, left),
        *_selection(settings, left),
    )
    return (PlannedCalls(step, "", calls) for step, calls in steps if calls.highest)


_Steps = Iterator[tuple[str, StepCalls]]


def _once(prompt: str, step: str, role: Role, n: int, *, replies: int, rounds: int = 1) -> StepCalls:
    """Return the calls for *n* things, each asked about at least once."""
    cap = f"{replies} replies" if rounds == 1 else f"{rounds} rounds x {replies} replies"
    return StepCalls(prompt, step, role, n, n * rounds * replies, cap)


def _readings(settings: KeyPointSynthesis, n: int) -> _Steps:
    questions, replies = settings.questions, settings.replies
    if questions.least_criteria is not None:
        yield READ, _once("synthesize_criteria", "read criteria", "planner", n, replies=replies)
    if isinstance(questions, EvolvedQuestions) or questions.sorted:
        sort = _once("synthesize_sort_question", "sort questions", "planner", n, replies=replies)
        filtered = questions.least_criteria is not None
        yield READ, sort._replace(lowest=0) if filtered else sort


def _evolving(settings: KeyPointSynthesis, n: int) -> _Steps:
    questions, replies = settings.questions, settings.replies
    if isinstance(questions, GivenQuestions):
        return
    rounds, wanted = questions.rounds, n * questions.per_cell
    least = min(rounds, -(-questions.per_cell // (2 * questions.candidates)))
    cap = f"{rounds} rounds a cell"
    for way in ("deeper", "wider"):
        prompt, step = f"synthesize_{way}_questions", f"write {way} questions"
        yield EVOLVE, StepCalls(prompt, step, "planner", n * least, n * rounds, cap)
    screened = n * rounds * 2 * questions.candidates
    cap = f"{rounds} rounds x {2 * questions.candidates} questions x {replies} replies a cell"
    yield (
        EVOLVE,
        StepCalls(
            "synthesize_sort_question", "sort new questions", "verifier", wanted, max(wanted, screened) * replies, cap
        ),
    )


def _searches(settings: KeyPointSynthesis, n: int) -> _Steps:
    if settings.search.decomposed:
        yield SEARCH, _once("synthesize_searches", "decompose questions", "planner", n, replies=settings.replies)


def _extraction(settings: KeyPointSynthesis, left: WorksLeft) -> _Steps:
    if settings.extraction == "models":
        rounds = settings.models.rounds
        n, replies = left.documents, settings.replies
        calls = _once("synthesize_points", "extract points", "writer", n, replies=replies, rounds=rounds)
        yield EXTRACT, calls._replace(lowest=left.least_documents)


def _selection(settings: KeyPointSynthesis, left: WorksLeft) -> _Steps:
    if settings.extraction == "rules":
        return
    merges, points = settings.models.merges, left.questions * settings.search.documents * POINTS_A_DOCUMENT
    merge = StepCalls(
        "synthesize_merge_points", "merge points", "writer", 0, left.questions * merges, f"{merges} lists a question"
    )
    yield SELECT, merge
    cap = f"{POINTS_A_DOCUMENT} points a document (a guess) x {settings.replies} replies"
    yield SELECT, StepCalls(SIGNIFICANCE, "score points", "verifier", 0, points * settings.replies, cap)
