"""
The works of a synthesis of key points, and bounds on their calls.

Questions are read, or grow in cells; each has a search, the documents of which have points, and a selection of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from pydantic import JsonValue

from longform.errors import LongformError
from longform.keys import content_key, in_groups
from longform.synthesis.key_points.account import ALL
from longform.synthesis.key_points.questions import TopicCell, question_id
from longform.synthesis.key_points.replies import SIGNIFICANCE
from longform.synthesis.key_points.settings import EvolvedQuestions, GivenQuestions, KeyPointSynthesis
from longform.synthesis.key_points.sources import SourceDocument, SourceQuestion
from longform.synthesis.recipe import Piece, Pieces, PlannedCalls, Step, Work, bounded

READ, EVOLVE, SEARCH, EXTRACT, SELECT = "read questions", "evolve", "search", "extract", "select"

STEPS = (
    Step(READ, "questions"),
    Step(EVOLVE, "cells"),
    Step(SEARCH, "questions"),
    Step(EXTRACT, "documents"),
    Step(SELECT, "questions"),
)


class Sources(NamedTuple):
    """The content of the files that a configuration names."""

    documents: Sequence[SourceDocument]
    questions: Sequence[SourceQuestion]  # or seeds of them
    digests: Sequence[Mapping[str, str]]  # {"name", "sha256"} of each file


class KeyPointWorks:
    """The works of one configuration, and the questions that its pieces come to; *key* hashes all that decides them."""

    def __init__(self, settings: KeyPointSynthesis, questions: Sequence[SourceQuestion], key: str) -> None:
        self._settings, self._source_questions, self._key = settings, questions, key
        self._read_keys = [content_key("read question", key, question._asdict()) for question in questions]

    @property
    def evolved(self) -> EvolvedQuestions | None:
        """Return the settings of new questions; None if questions are given."""
        questions = self._settings.questions
        return questions if isinstance(questions, EvolvedQuestions) else None

    @property
    def reads(self) -> bool:
        """True if the planner reads the questions of the files."""
        questions = self._settings.questions
        return isinstance(questions, EvolvedQuestions) or questions.sorted or questions.least_criteria is not None

    @property
    def steps(self) -> list[Step]:
        """Return the steps that this configuration has."""
        left_out = {*(() if self.reads else (READ,)), *(() if self.evolved else (EVOLVE,))}
        return [step for step in STEPS if step.name not in left_out]

    def of_step(self, step: str, pieces: Pieces) -> list[Work]:
        """
        Return the works of a step as far as the pieces of earlier steps decide them.

        Raises:
            LongformError: No question is left.
        """
        if step == READ:
            pairs = zip(self._read_keys, self._source_questions, strict=True)
            return [Work(key, ALL, {"question": {**question._asdict()}}) for key, question in pairs]
        if step == EVOLVE:
            return list(self._cells(pieces).values())
        questions = self.questions(pieces)
        if not questions:
            return self._none_left(pieces)
        works: Mapping[str, Callable[[SourceQuestion, Pieces], list[Work]]] = {
            SEARCH: lambda question, _: [self.search(question)],
            EXTRACT: self._extractions,
            SELECT: self.selections,
        }
        return [work for question in questions for work in works[step](question, pieces)]

    def _none_left(self, pieces: Pieces) -> list[Work]:
        """Return nothing while questions may still come; raise if none will."""
        waits = [*(self._read_keys if self.reads else ()), *(work.key for work in self._cells(pieces).values())]
        if all(key in pieces for key in waits):
            raise LongformError(f"{self._settings.name}: no question is left; the checks of questions accepted none")
        return []

    # ------------------------------------------------------------ questions

    def questions(self, pieces: Pieces) -> list[SourceQuestion]:
        """Return the questions that are known, each once."""
        if self.evolved:
            made = [
                SourceQuestion(question_id(text), text, {**cell._asdict()})
                for cell, texts in self.made(pieces).items()
                for text in texts
            ]
            return list({question.question_id: question for question in reversed(made)}.values())[::-1]
        if not self.reads:
            return list(self._source_questions)
        return [question.with_facets(**piece.content["facets"]) for question, piece in self._suited(pieces)]

    def made(self, pieces: Pieces) -> dict[TopicCell, list[str]]:
        """Cell -> its new questions; nothing if questions are given."""
        works = self._cells(pieces).items()
        return {cell: pieces[work.key].content["questions"] for cell, work in works if work.key in pieces}

    def _suited(self, pieces: Pieces) -> list[tuple[SourceQuestion, Piece]]:
        """Return the questions of the files that stay, as they were read."""
        read = zip(self._source_questions, map(pieces.get, self._read_keys), strict=True)
        return [(question, piece) for question, piece in read if piece is not None and piece.content["suits"]]

    def _cells(self, pieces: Pieces) -> dict[TopicCell, Work]:
        """Return the work of each cell; a seed of a category is one that meets most criteria."""
        if self.evolved is None:
            return {}
        suited = sorted(self._suited(pieces), key=lambda pair: -(pair[1].content["met"] or 0))
        seeds = in_groups((piece.content["facets"].get("category", ""), question.text) for question, piece in suited)
        settings, found = self._settings, {}
        for category in settings.categories:
            for domain in settings.domains:
                chosen: JsonValue = [*seeds.get(category, [])[: self.evolved.seeds]]
                payload: JsonValue = {"category": category, "domain": domain, "seeds": chosen}
                found[TopicCell(category, domain)] = Work(content_key("evolve", self._key, payload), ALL, payload)
        return found

    # ------------------------------------------------------------ of one question

    def search(self, question: SourceQuestion) -> Work:
        """Return the search for the documents of a question."""
        return Work(self._key_of("search", question), question.question_id, {"question": question.text})

    def _extractions(self, question: SourceQuestion, pieces: Pieces) -> list[Work]:
        searched = self.search(question).key
        if searched not in pieces:
            return []
        content = pieces[searched].content
        fetched = {one["doc_id"]: one for one in content["fetched"]}
        return [
            Work(
                self._key_of("extract", question, doc_id, fetched.get(doc_id)),
                question.question_id,
                {"question": question.text, "doc_id": doc_id},
                needs=(searched,) if doc_id in fetched else (),
                doc_index=n,
            )
            for n, (doc_id, _) in enumerate(content["documents"])
        ]

    def selections(self, question: SourceQuestion, pieces: Pieces) -> list[Work]:
        """Return the selection of a question's points if its documents are known."""
        if self.search(question).key not in pieces:
            return []
        needs = tuple(work.key for work in self._extractions(question, pieces))
        key = self._key_of("select", question, list(needs))
        return [Work(key, question.question_id, {"question": question.text}, needs=needs)]

    def _key_of(self, name: str, question: SourceQuestion, *more: object) -> str:
        return content_key(name, self._key, question.question_id, question.text, *more)


# ---------------------------------------------------------------- bounds on calls


POINTS_A_DOCUMENT = 10
"""LONG2RAG: 28,611 points of 560 questions with 5 documents each; the number of a plan, no limit."""


class WorksLeft(NamedTuple):
    """Works that are left, of each step; those of later steps as many as there can be."""

    readings: int
    cells: int
    searches: int
    least_documents: int  # if each search that is left finds one
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
