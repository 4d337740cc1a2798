"""Questions with key points as a recipe: questions, the documents of each, the points of each document, a selection."""

from __future__ import annotations

import hashlib
from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import JsonValue

from longform.chat.call import capabilities
from longform.errors import UsageError
from longform.formats.rows import HaystackRows
from longform.keys import content_key
from longform.synthesis.asking import Log, Plan
from longform.synthesis.key_points import account
from longform.synthesis.key_points.account import AskedQuestion
from longform.synthesis.key_points.points import FoundPoint, Selected, extract, joined
from longform.synthesis.key_points.questions import TopicCell, evolve, read_question
from longform.synthesis.key_points.replies import CHECKS, FORMS, KEPT
from longform.synthesis.key_points.rules import extract_by_rules, select_by_rules
from longform.synthesis.key_points.search import Corpus, RankedDocument, find_documents
from longform.synthesis.key_points.selection import merge, scores
from longform.synthesis.key_points.settings import ROLES, EvolvedQuestions, KeyPointSynthesis
from longform.synthesis.key_points.sources import (
    SourceDocument,
    SourceQuestion,
    drawn,
    longest_answered,
    read_documents,
    read_questions,
)
from longform.synthesis.key_points.works import (
    EVOLVE,
    EXTRACT,
    READ,
    SEARCH,
    SELECT,
    KeyPointWorks,
    Sources,
    WorksLeft,
    planned_calls,
)
from longform.synthesis.recipe import Job, Pieces, PlannedCalls, Read, Recipe, Step, SynthesisKind, Work

_PLANS_VERSION = 1  # raised by a change of the plans that changes a benchmark
_UNKNOWN = SourceDocument("unknown", None, "There is no telling before a search is answered. " * 300)
"""A document as long as LONG2RAG's are on average, 2,444 words; for plans without a file of documents."""

_REHEARSED_WORDS = 20  # of a question
_LEFT_OUT = {"name", "documents", "prompts", *ROLES}
"""Settings that decide nothing by themselves; the content of files does, the versions of prompts, and models."""


class KeyPointRecipe(Recipe[KeyPointSynthesis]):
    """One configuration, and the content of the files that it names."""

    def __init__(self, settings: KeyPointSynthesis, sources: Sources, prompts: Sequence[str]) -> None:
        super().__init__(settings)
        self._sources, self._prompts = sources, tuple(prompts)
        self._corpus = Corpus(sources.documents)
        self._documents = {document.doc_id: document for document in sources.documents}
        said = settings.model_dump(mode="json", exclude=_LEFT_OUT)
        del said["questions"]["files"]
        said["search"]["endpoints"] = [endpoint.identity for endpoint in settings.search.endpoints]
        said |= {role: chat.identity for role, chat in settings.chats.items()}
        asked = list(prompts) if settings.chats else []
        self._key = content_key("key points", _PLANS_VERSION, said, asked, [one["sha256"] for one in sources.digests])
        self._works = KeyPointWorks(settings, sources.questions, self._key)

    @property
    def steps(self) -> list[Step]:
        """Return the steps that this configuration has."""
        return self._works.steps

    @property
    def encoders(self) -> list[str]:
        search = self.settings.search
        return [*dict.fromkeys(name for name in (search.encoder, search.segments) if name is not None)]

    @property
    def sources(self) -> list[dict[str, str]]:
        return [{"name": f"key points {self.settings.name}", "sha256": self._key}, *map(dict, self._sources.digests)]

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

    def works(self, step: str, pieces: Pieces) -> list[Work]:
        """
        Return the works of a step as far as the pieces of earlier steps decide them.

        Raises:
            LongformError: No question is left.
        """
        return self._works.of_step(step, pieces)

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
        cell = TopicCell(payload["category"], payload["domain"])
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
            "fetched": [{**document._asdict()} for document in found.fetched],
        }

    def _extract(self, job: Job, log: Log) -> Plan[JsonValue]:
        question, doc_id = job.payload["question"], job.payload["doc_id"]
        document = _with_fetched(self._documents, job.needed)[doc_id]
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
        made = {cell: len(texts) for cell, texts in self._works.made(pieces).items()}
        per_cell = self._works.evolved.per_cell if self._works.evolved else 0
        repeated = sum(made.values()) - len(asked) if self._works.evolved else 0
        with_scores = self.settings.extraction == "models"
        together = account.all_account(asked, made, per_cell, repeated, with_scores=with_scores)
        return [{**together}, *({**account.question_account(one)} for one in asked)]

    def _asked(self, pieces: Pieces) -> Iterator[AskedQuestion]:
        for question in self._works.questions(pieces):
            found = pieces[self._works.search(question).key].content
            ranked = [RankedDocument(*one) for one in found["documents"]]
            (select,) = self._works.selections(question, pieces)
            content = pieces[select.key].content
            yield AskedQuestion(
                question=question,
                kind=found["kind"],
                searches=found["searches"],
                ranked=ranked,
                documents=[_with_fetched(self._documents, [found])[one.doc_id] for one in ranked],
                fits=found["fits"],
                n_extracted=content["n_extracted"],
                points=[Selected.from_json(one) for one in content["points"]],
            )

    # ------------------------------------------------------------ before it is made

    def planned(self, left: Mapping[str, Sequence[Work]]) -> list[PlannedCalls]:
        """Bound the calls that are left; of questions that are not there yet, as many as can come."""
        n_readings, n_cells = len(left.get(READ, ())), len(left.get(EVOLVE, ()))
        coming = n_readings if self._works.reads else 0
        if self._works.evolved:
            coming = self._works.evolved.per_cell * n_cells
        n_searches = len(left[SEARCH]) + coming
        works = WorksLeft(
            readings=n_readings,
            cells=n_cells,
            searches=n_searches,
            least_documents=len(left[EXTRACT]) + n_searches,
            documents=len(left[EXTRACT]) + n_searches * self._most_documents,
            questions=len(left[SELECT]) + n_searches,
        )
        return planned_calls(self.settings, works)

    @property
    def _most_documents(self) -> int:
        """Return the documents of a question at most."""
        search = self.settings.search
        return search.documents if search.endpoints else min(search.documents, len(self._documents))

    def rehearsed(self) -> KeyPointRecipe:
        """Return a question that the document of middle length answers, with this document alone."""
        documents = sorted(self._sources.documents or [_UNKNOWN], key=lambda document: len(document.text))
        middle = documents[len(documents) // 2]
        question = SourceQuestion("rehearsed", " ".join(middle.text.split()[:_REHEARSED_WORDS]), {})
        search = self.settings.search.model_copy(
            update={"documents": 1, "encoder": None, "segments": None, "endpoints": ()}
        )
        sources = self._sources._replace(documents=[middle], questions=[question])
        return KeyPointRecipe(self.settings.model_copy(update={"search": search}), sources, self._prompts)


def _with_fetched(documents: Mapping[str, SourceDocument], found: Sequence[Any]) -> Mapping[str, SourceDocument]:
    """Return documents by their ids, with those that endpoints gave to searches."""
    fetched = [SourceDocument(**document) for content in found for document in content["fetched"]]
    return ChainMap({document.doc_id: document for document in fetched}, dict(documents)) if fetched else documents


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
    told=account.told,
    is_audited=False,
    scripted=("scripted-extractor", "scripted-extractor:strays=1,doubles=1,gaps=1"),
)
