"""Questions with key points as a recipe: questions, the documents of each, the points of each document, a selection."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import JsonValue

from longform.chat.call import capabilities
from longform.errors import LongformError, UsageError
from longform.formats.rows import HaystackRows
from longform.keys import content_key
from longform.settings.chat import ChatSettings
from longform.synthesis.key_points import account
from longform.synthesis.key_points.account import ALL, Asked
from longform.synthesis.key_points.call_bounds import EVOLVE, EXTRACT, READ, SEARCH, SELECT, Left, planned_calls
from longform.synthesis.key_points.checks import CHECKS, KEPT
from longform.synthesis.key_points.extraction import extract
from longform.synthesis.key_points.merging import merge
from longform.synthesis.key_points.points import FoundPoint, Selected, joined
from longform.synthesis.key_points.questions import Cell, evolve, question_id, read_question
from longform.synthesis.key_points.replies import FORMS
from longform.synthesis.key_points.rules import extract_by_rules, select_by_rules
from longform.synthesis.key_points.search import Corpus, Ranked, find_documents
from longform.synthesis.key_points.settings import EvolvedQuestions, KeyPointSynthesis
from longform.synthesis.key_points.significance import scores
from longform.synthesis.key_points.sources import (
    SourceDocument,
    SourceQuestion,
    drawn,
    longest_answered,
    read_documents,
    read_questions,
)
from longform.synthesis.recipe import Job, Pieces, PlannedCalls, Read, Step, SynthesisKind, Told, Work
from longform.synthesis.written.asking import Log, Plan

_PLANS_VERSION = 1  # raised by a change of the plans that changes a benchmark
_STEPS = (
    Step(READ, "questions"),
    Step(EVOLVE, "cells"),
    Step(SEARCH, "questions"),
    Step(EXTRACT, "documents"),
    Step(SELECT, "questions"),
)
_REHEARSED_WORDS = 20  # of a question
_HOW = {"name", "replies"}  # decide no piece but by its calls


class Sources(NamedTuple):
    """
    What the files of a configuration hold.

    Attributes:
        documents: All documents that are searched.
        questions: Seeds, or the questions themselves.
        digests: {"name", "sha256"} of each file.
    """

    documents: Sequence[SourceDocument]
    questions: Sequence[SourceQuestion]
    digests: Sequence[Mapping[str, str]]


class KeyPointRecipe:
    """
    One configuration.

    Args:
        settings: What is made.
        sources: From what.
        prompts: Versions of all prompts.
    """

    def __init__(self, settings: KeyPointSynthesis, sources: Sources, prompts: Sequence[str]) -> None:
        self.settings = settings
        self._sources, self._prompts = sources, tuple(prompts)
        self._corpus = Corpus(sources.documents)
        self._documents = {document.doc_id: document for document in sources.documents}
        said = settings.model_dump(mode="json", exclude={*_HOW, "planner", "writer", "verifier", "documents"})
        said |= {role: chat.identity for role, chat in settings.chats.items()}
        asked = list(prompts) if settings.chats else []
        self._key = content_key("key points", _PLANS_VERSION, said, asked, [one["sha256"] for one in sources.digests])

    @property
    def steps(self) -> list[Step]:
        """Return the steps that this configuration has."""
        left_out = {*(() if self._reads else (READ,)), *(() if self._evolved else (EVOLVE,))}
        return [step for step in _STEPS if step.name not in left_out]

    @property
    def checked_chats(self) -> list[ChatSettings]:
        return list(self.settings.chats.values())

    @property
    def encoders(self) -> list[str]:
        search = self.settings.search
        return [*dict.fromkeys(name for name in (search.encoder, search.segments) if name is not None)]

    @property
    def sources(self) -> list[dict[str, str]]:
        return [{"name": f"key points {self.settings.name}", "sha256": self._key}, *map(dict, self._sources.digests)]

    @property
    def _evolved(self) -> EvolvedQuestions | None:
        questions = self.settings.questions
        return questions if isinstance(questions, EvolvedQuestions) else None

    @property
    def _reads(self) -> bool:
        questions = self.settings.questions
        return isinstance(questions, EvolvedQuestions) or questions.sorted or questions.least_criteria is not None

    def check(self) -> None:
        """
        Raises:
            UsageError: The verifier gives no log probabilities, and its bare answers are not wanted.
        """
        settings, verifier = self.settings, self.settings.verifier
        if settings.extraction == "rules" or settings.models.without_logprobs == "answers" or verifier is None:
            return
        if capabilities(verifier).logprobs is False:
            raise UsageError(
                f"verifier {verifier.model!r} gives no log probabilities, and a key point is scored by them: name "
                "another model, or set models.without_logprobs: answers, by which YES is 1 and NO is 0"
            )

    # ------------------------------------------------------------ works

    def works(self, step: str, pieces: Pieces) -> list[Work]:
        """
        Return the works of a step as far as the pieces of earlier steps decide them.

        Raises:
            LongformError: No question is left.
        """
        if step == READ:
            return [
                Work(self._read_key(question), ALL, {"question": {**question._asdict()}})
                for question in self._sources.questions
            ]
        if step == EVOLVE:
            return [self._cell_work(cell, pieces) for cell in self._cells()]
        questions = self._questions(pieces)
        if not questions:
            return self._none_left(pieces)
        if step == SEARCH:
            return [self._search_work(question) for question in questions]
        of_step = self._extract_works if step == EXTRACT else self._select_works
        return [work for question in questions for work in of_step(question, pieces)]

    def _none_left(self, pieces: Pieces) -> list[Work]:
        """Return nothing while questions may still come; raise if none will."""
        waits = [self._read_key(question) for question in self._sources.questions] if self._reads else []
        if all(key in pieces for key in waits) and all(w.key in pieces for w in self._cell_works(pieces)):
            raise LongformError(f"{self.settings.name}: no question is left; the checks of questions accepted none")
        return []

    def _read_key(self, question: SourceQuestion) -> str:
        return content_key("read question", self._key, question._asdict())

    def _cells(self) -> list[Cell]:
        return [Cell(category, domain) for category in self.settings.categories for domain in self.settings.domains]

    def _cell_works(self, pieces: Pieces) -> list[Work]:
        return [self._cell_work(cell, pieces) for cell in self._cells()] if self._evolved else []

    def _cell_work(self, cell: Cell, pieces: Pieces) -> Work:
        seeds = self._seeds(cell.category, pieces)
        payload: JsonValue = {"category": cell.category, "domain": cell.domain, "seeds": [*seeds]}
        return Work(content_key("evolve", self._key, payload), ALL, payload)

    def _seeds(self, category: str, pieces: Pieces) -> list[str]:
        """Return the seeds of a category, those that meet most criteria first, from another one on in each domain."""
        assert self._evolved is not None
        read = [(question, pieces.get(self._read_key(question))) for question in self._sources.questions]
        of_category = [
            (question.text, piece.content["met"])
            for question, piece in read
            if piece is not None and piece.content["suits"] and piece.content["facets"].get("category") == category
        ]
        best = sorted(of_category, key=lambda pair: -pair[1])
        return [text for text, _ in best][: self._evolved.seeds]

    def _questions(self, pieces: Pieces) -> list[SourceQuestion]:
        """Return the questions that are known, each once."""
        if self._evolved:
            made = [
                SourceQuestion(question_id(text), text, {"category": cell.category, "domain": cell.domain})
                for cell, texts in self._made(pieces).items()
                for text in texts
            ]
            return list({question.question_id: question for question in reversed(made)}.values())[::-1]
        if not self._reads:
            return list(self._sources.questions)
        read = [(question, pieces.get(self._read_key(question))) for question in self._sources.questions]
        return [
            question.with_facets(**piece.content["facets"])
            for question, piece in read
            if piece is not None and piece.content["suits"]
        ]

    def _made(self, pieces: Pieces) -> dict[Cell, list[str]]:
        if not self._evolved:
            return {}
        works = zip(self._cells(), self._cell_works(pieces), strict=True)
        return {cell: pieces[work.key].content["questions"] for cell, work in works if work.key in pieces}

    def _search_work(self, question: SourceQuestion) -> Work:
        key = content_key("search", self._key, question.question_id, question.text)
        return Work(key, question.question_id, {"question": question.text})

    def _extract_works(self, question: SourceQuestion, pieces: Pieces) -> list[Work]:
        searched = self._search_work(question).key
        if searched not in pieces:
            return []
        return [
            Work(
                content_key("extract", self._key, question.text, doc_id),
                question.question_id,
                {"question": question.text, "doc_id": doc_id},
                doc_index=n,
            )
            for n, (doc_id, _) in enumerate(pieces[searched].content["documents"])
        ]

    def _select_works(self, question: SourceQuestion, pieces: Pieces) -> list[Work]:
        if self._search_work(question).key not in pieces:
            return []
        needs = tuple(work.key for work in self._extract_works(question, pieces))
        key = content_key("select", self._key, question.text, list(needs))
        return [Work(key, question.question_id, {"question": question.text}, needs=needs)]

    # ------------------------------------------------------------ plans

    def plan(self, job: Job, log: Log) -> Plan[JsonValue]:
        """Return the plan of a question that is read, of a cell, a search, a document, or a selection."""
        plans = {
            READ: self._read,
            EVOLVE: self._evolve,
            SEARCH: self._search,
            EXTRACT: self._extract,
            SELECT: self._select,
        }
        return plans[job.step](job, log)

    def _read(self, job: Job, log: Log) -> Plan[JsonValue]:
        question = SourceQuestion(**job.payload["question"])
        settings, asked = self.settings, self.settings.questions
        lacks = not {"category", "domain"} <= question.facets.keys()
        is_sorted = isinstance(asked, EvolvedQuestions) or (asked.sorted and lacks)
        read = yield from read_question(question.text, settings, asked.least_criteria, log, is_sorted=is_sorted)
        facets = {} if read.cell is None else {**read.cell._asdict()}
        return {"met": read.met, "suits": read.suits, "facets": facets}

    def _evolve(self, job: Job, log: Log) -> Plan[JsonValue]:
        payload = job.payload
        cell = Cell(payload["category"], payload["domain"])
        turned = _turned(payload["seeds"], [*self.settings.domains].index(cell.domain))
        questions = yield from evolve(cell, turned, self.settings, log)
        return {"questions": [*questions]}

    def _search(self, job: Job, log: Log) -> Plan[JsonValue]:
        settings = self.settings
        found = yield from find_documents(
            job.payload["question"], self._corpus, settings.search, log, replies=settings.replies, embed=job.embed
        )
        return {
            "kind": found.kind,
            "searches": [*found.searches],
            "documents": [[*one] for one in found.documents],
            "fits": None if found.fits is None else [*found.fits],
        }

    def _extract(self, job: Job, log: Log) -> Plan[JsonValue]:
        question, document = job.payload["question"], self._documents[job.payload["doc_id"]]
        settings = self.settings
        if settings.extraction == "rules":
            points = extract_by_rules(question, document, settings.rules, log)
        else:
            rounds, replies = settings.models.rounds, settings.replies
            points = yield from extract(question, document, rounds=rounds, replies=replies, log=log)
        return {"points": [point.as_json() for point in points]}

    def _select(self, job: Job, log: Log) -> Plan[JsonValue]:
        question, settings = job.payload["question"], self.settings
        points = [FoundPoint.from_json(one) for piece in job.needed for one in piece["points"]]
        if settings.extraction == "rules":
            selected = select_by_rules(question, points, settings.rules, log)
        else:
            selected = yield from self._scored(question, points, log)
        if any(one.kept for one in selected):
            log.accept(KEPT, question)
        else:
            log.reject(KEPT, question, f"no key point among {len(selected)} points", last=True)
        return {"n_extracted": len(points), "points": [one.as_json() for one in selected]}

    def _scored(self, question: str, points: Sequence[FoundPoint], log: Log) -> Plan[list[Selected]]:
        settings, models = self.settings, self.settings.models
        groups = yield from merge(question, points, tries=models.merges, log=log)
        merged = joined(groups, points)
        found = yield from scores(question, [one.text for one, _ in merged], models, replies=settings.replies, log=log)
        return [
            Selected(point, numbers, score, kept=score is not None and score >= models.threshold)
            for (point, numbers), score in zip(merged, found, strict=True)
        ]

    # ------------------------------------------------------------ what comes of it

    def rows(self, pieces: Pieces) -> Iterator[HaystackRows]:
        """Return the tables of each question that has a key point."""
        return (account.haystack_rows(asked) for asked in self._asked(pieces) if asked.kept)

    def accounts(self, pieces: Pieces) -> list[dict[str, Any]]:
        """Count what came of all questions, and of each."""
        asked = list(self._asked(pieces))
        made = {cell: len(texts) for cell, texts in self._made(pieces).items()}
        per_cell = self._evolved.per_cell if self._evolved else 0
        repeated = sum(made.values()) - len(asked) if self._evolved else 0
        with_scores = self.settings.extraction == "models"
        together = account.all_account(asked, made, per_cell, repeated, with_scores=with_scores)
        return [{**together}, *({**account.question_account(one)} for one in asked)]

    def told(self, haystacks: Sequence[Mapping[str, Any]]) -> Told:
        """Tell the accounts in words."""
        return account.told(haystacks)

    def _asked(self, pieces: Pieces) -> Iterator[Asked]:
        for question in self._questions(pieces):
            found = pieces[self._search_work(question).key].content
            ranked = [Ranked(*one) for one in found["documents"]]
            (select,) = self._select_works(question, pieces)
            content = pieces[select.key].content
            yield Asked(
                question=question,
                kind=found["kind"],
                searches=found["searches"],
                ranked=ranked,
                documents=[self._documents[one.doc_id] for one in ranked],
                fits=found["fits"],
                n_extracted=content["n_extracted"],
                points=[Selected.from_json(one) for one in content["points"]],
            )

    # ------------------------------------------------------------ before it is made

    def planned(self, left: Mapping[str, Sequence[Work]]) -> list[PlannedCalls]:
        """Bound the calls that are left; of questions that are not there yet, as many as can come."""
        n_readings, n_cells = len(left.get(READ, ())), len(left.get(EVOLVE, ()))
        coming = n_readings if self._reads else 0
        if self._evolved:
            coming = self._evolved.per_cell * n_cells
        n_searches = len(left[SEARCH]) + coming
        works = Left(
            readings=n_readings,
            cells=n_cells,
            searches=n_searches,
            least_documents=len(left[EXTRACT]) + n_searches,
            documents=len(left[EXTRACT]) + n_searches * min(self.settings.search.documents, len(self._documents)),
            questions=len(left[SELECT]) + n_searches,
        )
        return list(planned_calls(self.settings, works))

    def rehearsed(self) -> KeyPointRecipe:
        """Return a question that the document of middle length answers, with this document alone."""
        documents = sorted(self._sources.documents, key=lambda document: len(document.text))
        middle = documents[len(documents) // 2]
        question = SourceQuestion("rehearsed", " ".join(middle.text.split()[:_REHEARSED_WORDS]), {})
        search = self.settings.search.model_copy(update={"documents": 1, "encoder": None, "segments": None})
        sources = self._sources._replace(documents=[middle], questions=[question])
        return KeyPointRecipe(self.settings.model_copy(update={"search": search}), sources, self._prompts)


def _turned(seeds: Sequence[str], n: int) -> list[str]:
    """Return *seeds* from another one on, so that the domains of a category do not all grow from the same."""
    start = n % len(seeds) if seeds else 0
    return [*seeds[start:], *seeds[:start]]


def key_point_recipe(settings: KeyPointSynthesis, read: Read, prompts: Sequence[str]) -> KeyPointRecipe:
    """
    Return the recipe of a configuration, its files read.

    Raises:
        UsageError: A file cannot be read, or is empty.
        InputError: A line of one is something else.
    """
    questions, digests = settings.questions, {}

    def read_once(name: str) -> bytes:
        content = read(name)
        digests[name] = {"name": name.rsplit("/", 1)[-1], "sha256": hashlib.sha256(content).hexdigest()}
        return content

    documents = list(read_documents(settings.documents, read_once).values())
    files = read_questions(questions.files, read_once)
    if isinstance(questions, EvolvedQuestions):
        chosen = longest_answered(files, questions.longest)
    else:
        chosen = drawn(files, questions.most, settings.seed)
    return KeyPointRecipe(settings, Sources(documents, chosen, list(digests.values())), prompts)


KEY_POINTS = SynthesisKind(
    settings=KeyPointSynthesis,
    forms=FORMS,
    checks=CHECKS,
    make=key_point_recipe,
    is_audited=False,
    scripted=("scripted-extractor", "scripted-extractor:strays=1,doubles=1,gaps=1"),
)
