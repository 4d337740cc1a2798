"""Questions with key points as a recipe: questions, the documents of each, the points of each document, a selection."""

from __future__ import annotations

import hashlib
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import JsonValue

from longform.chat.call import capabilities
from longform.errors import LongformError, UsageError
from longform.formats.rows import HaystackRows
from longform.keys import content_key, in_groups
from longform.synthesis.asking import Log, Plan
from longform.synthesis.key_points import account
from longform.synthesis.key_points.account import ALL, AskedQuestion
from longform.synthesis.key_points.points import FoundPoint, Selected, extract, merge, passages, scores
from longform.synthesis.key_points.questions import TopicCell, evolve, question_id, read_question
from longform.synthesis.key_points.rules import extract_by_rules, select_by_rules
from longform.synthesis.key_points.search import (
    Corpus,
    Searched,
    SourceDocument,
    SourceQuestion,
    drawn,
    find_documents,
    longest_answered,
    read_documents,
    read_questions,
)
from longform.synthesis.key_points.settings import ROLES, EvolvedQuestions, KeyPointSynthesis
from longform.synthesis.key_points.steps import (
    CHECKS,
    EVOLVE,
    EXTRACT,
    FORMS,
    KEPT,
    READ,
    SEARCH,
    SELECT,
    STEPS,
    planned_calls,
)
from longform.synthesis.recipe import Job, Piece, Pieces, PlannedCalls, Read, Recipe, Step, SynthesisKind, Work

_PLANS_VERSION = 1  # raised by a change of the plans that changes a benchmark
_UNKNOWN = SourceDocument("unknown", None, "There is no telling before a search is answered. " * 300)
"""A document as long as LONG2RAG's are on average, 2,444 words; for plans without a file of documents."""

_REHEARSED_WORDS = 20  # of a question
_LEFT_OUT = {"name", "documents", "prompts", *ROLES}
"""Settings that decide nothing by themselves; the content of files does, the versions of prompts, and models."""


class Sources(NamedTuple):
    """The content of the files that a configuration names."""

    documents: Sequence[SourceDocument]
    questions: Sequence[SourceQuestion]  # or seeds of them
    digests: Sequence[Mapping[str, str]]  # {"name", "sha256"} of each file


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
        self._read_keys = [content_key("read question", self._key, one._asdict()) for one in sources.questions]

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

    # ------------------------------------------------------------ works

    @property
    def _evolved(self) -> EvolvedQuestions | None:
        """Return the settings of new questions; None if questions are given."""
        questions = self.settings.questions
        return questions if isinstance(questions, EvolvedQuestions) else None

    @property
    def steps(self) -> list[Step]:
        questions = self.settings.questions
        left_out = {*(() if questions.is_read else (READ,)), *(() if questions.kind == "evolved" else (EVOLVE,))}
        return [step for step in STEPS if step.name not in left_out]

    def works(self, step: str, pieces: Pieces) -> list[Work]:
        if step == READ:
            pairs = zip(self._read_keys, self._sources.questions, strict=True)
            return [Work(key, ALL, {"question": {**question._asdict()}}) for key, question in pairs]
        if step == EVOLVE:
            return list(self._cells(pieces).values())
        questions = self._questions(pieces)
        if not questions:
            return self._none_left(pieces)
        works: Mapping[str, Callable[[SourceQuestion, Pieces], list[Work]]] = {
            SEARCH: lambda question, _: [self._search_of(question)],
            EXTRACT: self._extractions,
            SELECT: self._selections,
        }
        return [work for question in questions for work in works[step](question, pieces)]

    def _none_left(self, pieces: Pieces) -> list[Work]:
        """Return nothing while questions may still come; raise if none will."""
        waits = [
            *(self._read_keys if self.settings.questions.is_read else ()),
            *(work.key for work in self._cells(pieces).values()),
        ]
        if all(key in pieces for key in waits):
            raise LongformError(f"{self.settings.name}: no question is left; the checks of questions accepted none")
        return []

    def _questions(self, pieces: Pieces) -> list[SourceQuestion]:
        """Return the questions that are known, each once."""
        if self._evolved:
            made = [
                SourceQuestion(question_id(text), text, {**cell._asdict()})
                for cell, texts in self._made(pieces).items()
                for text in texts
            ]
            return list({question.question_id: question for question in reversed(made)}.values())[::-1]
        if not self.settings.questions.is_read:
            return list(self._sources.questions)
        return [question.with_facets(**piece.content["facets"]) for question, piece in self._suited(pieces)]

    def _made(self, pieces: Pieces) -> dict[TopicCell, list[str]]:
        """Cell -> its new questions; nothing if questions are given."""
        works = self._cells(pieces).items()
        return {cell: pieces[work.key].content["questions"] for cell, work in works if work.key in pieces}

    def _suited(self, pieces: Pieces) -> list[tuple[SourceQuestion, Piece]]:
        """Return the questions of the files that stay, as they were read."""
        read = zip(self._sources.questions, map(pieces.get, self._read_keys), strict=True)
        return [(question, piece) for question, piece in read if piece is not None and piece.content["suits"]]

    def _cells(self, pieces: Pieces) -> dict[TopicCell, Work]:
        """Return the work of each cell; a seed of a category is one that meets most criteria."""
        if self._evolved is None:
            return {}
        suited = sorted(self._suited(pieces), key=lambda pair: -(pair[1].content["met"] or 0))
        seeds = in_groups((piece.content["facets"].get("category", ""), question.text) for question, piece in suited)
        settings, found = self.settings, {}
        for category in settings.categories:
            for domain in settings.domains:
                chosen: JsonValue = [*seeds.get(category, [])[: self._evolved.seeds]]
                payload: JsonValue = {"category": category, "domain": domain, "seeds": chosen}
                found[TopicCell(category, domain)] = Work(content_key("evolve", self._key, payload), ALL, payload)
        return found

    def _search_of(self, question: SourceQuestion) -> Work:
        """Return the search for the documents of a question."""
        return Work(self._key_of("search", question), question.question_id, {"question": question.text})

    def _extractions(self, question: SourceQuestion, pieces: Pieces) -> list[Work]:
        searched = self._search_of(question).key
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

    def _selections(self, question: SourceQuestion, pieces: Pieces) -> list[Work]:
        """Return the selection of a question's points if its documents are known."""
        if self._search_of(question).key not in pieces:
            return []
        needs = tuple(work.key for work in self._extractions(question, pieces))
        key = self._key_of("select", question, list(needs))
        return [Work(key, question.question_id, {"question": question.text}, needs=needs)]

    def _key_of(self, name: str, question: SourceQuestion, *more: object) -> str:
        return content_key(name, self._key, question.question_id, question.text, *more)

    # ------------------------------------------------------------ plans

    def plan(self, job: Job, log: Log) -> Plan[JsonValue]:
        plans = (self._read, self._evolve, self._search, self._extract, self._select)
        return dict(zip((step.name for step in STEPS), plans, strict=True))[job.step](job, log)

    def _read(self, job: Job, log: Log) -> Plan[JsonValue]:
        question = SourceQuestion(**job.payload["question"])
        settings, asked = self.settings, self.settings.questions
        lacks = not {"category", "domain"} <= question.facets.keys()
        is_sorted = isinstance(asked, EvolvedQuestions) or (asked.sorted and lacks)
        return (yield from read_question(question.text, settings, asked.least_criteria, log, is_sorted=is_sorted))

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
        return found.model_dump(mode="json")

    def _extract(self, job: Job, log: Log) -> Plan[JsonValue]:
        question, doc_id = job.payload["question"], job.payload["doc_id"]
        document = _with_fetched(self._documents, job.needed)[doc_id]
        settings = self.settings
        if settings.extraction == "rules":
            points = extract_by_rules(question, document, settings.rules, log)
        else:
            rounds, replies = settings.models.rounds, settings.replies
            points = yield from extract(question, document, rounds=rounds, replies=replies, log=log)
        return {"points": [point.model_dump(mode="json") for point in points]}

    def _select(self, job: Job, log: Log) -> Plan[JsonValue]:
        question, settings = job.payload["question"], self.settings
        points = [FoundPoint.model_validate(one) for piece in job.needed for one in piece["points"]]
        if settings.extraction == "rules":
            selected = select_by_rules(question, points, settings.rules, log)
        else:
            selected = yield from self._scored(question, points, log)
        fault = None if any(one.kept for one in selected) else f"no key point among {len(selected)} points"
        log.decide(KEPT, question, fault, last=True)
        return {"n_extracted": len(points), "points": [one.model_dump(mode="json") for one in selected]}

    def _scored(self, question: str, points: Sequence[FoundPoint], log: Log) -> Plan[list[Selected]]:
        settings, models = self.settings, self.settings.models
        groups = yield from merge(question, points, tries=models.merges, log=log)
        texts = [group.point for group in groups]
        found = yield from scores(question, texts, models, replies=settings.replies, log=log)
        return [
            Selected(
                text=group.point,
                grounds=passages(group, points),
                numbers=group.numbers,
                score=score,
                kept=score is not None and score >= models.threshold,
            )
            for group, score in zip(groups, found, strict=True)
        ]

    # ------------------------------------------------------------ what comes of it

    def rows(self, pieces: Pieces) -> Iterator[HaystackRows]:
        """Return the tables of each question that has a key point."""
        return (account.haystack_rows(asked) for asked in self._asked(pieces) if asked.kept)

    def accounts(self, pieces: Pieces) -> list[dict[str, Any]]:
        asked = list(self._asked(pieces))
        made = {cell: len(texts) for cell, texts in self._made(pieces).items()}
        per_cell = self._evolved.per_cell if self._evolved else 0
        repeated = sum(made.values()) - len(asked) if self._evolved else 0
        with_scores = self.settings.extraction == "models"
        together = account.all_account(asked, made, per_cell, repeated, with_scores=with_scores)
        return [together, *map(account.question_account, asked)]

    def _asked(self, pieces: Pieces) -> Iterator[AskedQuestion]:
        for question in self._questions(pieces):
            content = pieces[self._search_of(question).key].content
            found = Searched.model_validate(content)
            documents = _with_fetched(self._documents, [content])
            (select,) = self._selections(question, pieces)
            selected = pieces[select.key].content
            yield AskedQuestion(
                question=question,
                searched=found,
                documents=[documents[one.doc_id] for one in found.documents],
                n_extracted=selected["n_extracted"],
                points=[Selected.model_validate(one) for one in selected["points"]],
            )

    # ------------------------------------------------------------ before it is made

    def planned(self, left: Mapping[str, Sequence[Work]]) -> list[PlannedCalls]:
        """Bound the calls that are left; of questions that are not there yet, as many as can come."""
        return planned_calls(self.settings, {step: len(works) for step, works in left.items()}, self._most_documents)

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
