"""
The documents of a question: sub-questions, a search for each, and the best of all that was found (section 3.2).

Search endpoints answer over HTTP:

    POST URL  {"query": "...", "n": 5}  ->  [{"id", "title", "text", "url"}, ...]

A document needs `text`, and `id` or `url`, which is its id then; `text` is the whole document and no snippet. Files
hold, gzipped or not:

    documents.jsonl   {"id", "text"}, and "title" if there is one
    questions.jsonl   {"query" or "question"}, and "query_id" or "question_id", "category", "domain", "answer"
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from pydantic import AliasChoices, Field, ValidationError

from longform.errors import UsageError
from longform.formats.fields import Entry, Filled, Record
from longform.formats.json_files import json_lines
from longform.keys import content_key, stable_seed
from longform.retrieval.bm25 import Bm25, stem_documents
from longform.settings.strict import Strict
from longform.synthesis.asking import Ask, Log, Plan, Reply, ask_for
from longform.synthesis.key_points.settings import EndpointSettings, SearchSettings
from longform.synthesis.key_points.steps import DECOMPOSED, FOUND, SEARCHED, Decomposed
from longform.synthesis.recipe import Embed, Read, unpacked
from longform.text.words import stems


class SourceDocument(NamedTuple):
    doc_id: str
    title: str | None
    text: str


class SourceQuestion(NamedTuple):
    """A question of a file, or one that was made."""

    question_id: str
    text: str
    facets: dict[str, str]  # category and domain, as far as they are known
    answer_words: int = 0  # of its longest answer; 0: it has none

    def with_facets(self, **facets: str) -> Self:
        """Return the question with the facets that it does not state itself."""
        return self._replace(facets=facets | self.facets)


class _CorpusLine(Entry):
    id: Filled = Field(validation_alias=AliasChoices("id", "doc_id", "_id"))
    text: Filled
    title: Filled | None = None


class _QuestionLine(Entry):
    query: Filled = Field(validation_alias=AliasChoices("query", "question"))
    query_id: Filled | None = Field(None, validation_alias=AliasChoices("query_id", "question_id", "id"))
    category: Filled | None = None
    domain: Filled | None = None
    answer: str | list[str] | None = None


def read_documents(names: Sequence[str], read: Read) -> dict[str, SourceDocument]:
    """
    Return the documents of files by their ids, in order.

    Raises:
        UsageError: A file cannot be read, or is empty.
        InputError: A line is something else, or an id stands twice.
    """
    found: dict[str, SourceDocument] = {}
    for record in _records(names, read):
        line = record.read(_CorpusLine)
        if line.id in found:
            raise record.error("id", expected="an id that no document before it has", found=repr(line.id))
        found[line.id] = SourceDocument(line.id, line.title, line.text)
    return found


def read_questions(names: Sequence[str], read: Read) -> list[list[SourceQuestion]]:
    """
    Return the questions of each file, in order.

    Raises:
        UsageError: A file cannot be read, or is empty.
        InputError: A line is something else, or an id stands twice.
    """
    seen: set[str] = set()
    files: list[list[SourceQuestion]] = []
    for name in names:
        files.append([])
        for record in _records([name], read):
            question = _question(record.read(_QuestionLine))
            if question.question_id in seen:
                raise record.error("query_id", expected="a question that does not stand before it")
            seen.add(question.question_id)
            files[-1].append(question)
    return files


def drawn(files: Sequence[Sequence[SourceQuestion]], most: int | None, seed: int) -> list[SourceQuestion]:
    """Return *most* questions drawn at random, in turn from each file; None: all, in their order."""
    if most is None:
        return [question for file in files for question in file]
    rng = np.random.default_rng(stable_seed("questions", seed))
    mixed = [[file[place] for place in rng.permutation(len(file))] for file in files]
    in_turn = [file[turn] for turn in range(max(map(len, mixed))) for file in mixed if turn < len(file)]
    return in_turn[:most]


def longest_answered(files: Sequence[Sequence[SourceQuestion]], most: int) -> list[SourceQuestion]:
    """Return the *most* questions with the longest answers; of equal ones the first."""
    questions = [question for file in files for question in file]
    return sorted(questions, key=lambda question: -question.answer_words)[:most]


def _question(line: _QuestionLine) -> SourceQuestion:
    stated = {"category": line.category, "domain": line.domain}
    answers = [line.answer] if isinstance(line.answer, str) else line.answer or []
    return SourceQuestion(
        question_id=line.query_id or content_key("question", line.query),
        text=line.query,
        facets={name: value for name, value in stated.items() if value is not None},
        answer_words=max((len(answer.split()) for answer in answers), default=0),
    )


def _records(names: Sequence[str], read: Read) -> Iterator[Record]:
    for name in names:
        some = False
        for record in json_lines(unpacked(name, read).split(b"\n"), name):
            some = True
            yield record
        if not some:
            raise UsageError(f"{name}: expected lines of JSON, found none")


K1, B = 1.2, 0.75  # Lucene's
_DIGITS = 6


class RankedDocument(NamedTuple):
    """A document and its score; documents without a score above 0 are not found."""

    doc_id: str
    score: float


class Searched(Strict):
    """The documents of a question."""

    kind: str | None  # simple, complex or vague; None: the question was not decomposed
    searches: list[str]  # texts that were searched for
    documents: tuple[RankedDocument, ...] = ()  # those that fit best, the best first
    fits: list[float] | None = None  # cosine of the question and each segment of its documents; None: nobody looked
    fetched: tuple[dict[str, str | None], ...] = ()  # those of the documents that endpoints gave, as `SourceDocument`


class Corpus:
    """Documents under BM25. The index is made when it is first asked, and does not travel."""

    def __init__(self, documents: Sequence[SourceDocument]) -> None:
        self.documents = list(documents)

    @cached_property
    def texts(self) -> dict[str, str]:
        """Document id -> text."""
        return {document.doc_id: document.text for document in self.documents}

    def __getstate__(self) -> dict[str, list[SourceDocument]]:
        return {"documents": self.documents}

    @cached_property
    def _index(self) -> Bm25:
        return Bm25(stem_documents(document.text for document in self.documents), k1=K1, b=B)

    def scores(self, text: str) -> dict[str, float]:
        """Return the scores of all documents by their ids, rounded, so that no last bit decides a rank."""
        scores = np.round(self._index.scores(stems(text)), _DIGITS)
        return {document.doc_id: float(score) for document, score in zip(self.documents, scores, strict=True)}

    def search(self, text: str, n: int) -> list[str]:
        """Return the ids of the *n* best documents that share a stem with *text*; of equal ones the first."""
        scores = self.scores(text) if self.documents else {}
        return [doc_id for doc_id in sorted(scores, key=lambda doc_id: -scores[doc_id])[:n] if scores[doc_id] > 0]


def find_documents(
    question: str, corpus: Corpus, settings: SearchSettings, log: Log, *, replies: int, embed: Embed
) -> Plan[Searched]:
    """Return the documents of a question; none if no search finds any."""
    kind, searches = None, [question]
    if settings.decomposed:
        kind, searches = yield from _decomposed(question, log, replies)
    found = dict.fromkeys(doc_id for text in searches for doc_id in corpus.search(text, settings.per_search))
    fetched: dict[str, SourceDocument] = {}
    if settings.endpoints:
        answered = yield from asked_endpoints(searches, settings.endpoints, settings.per_search, log)
        hits = [hit for text in searches for hit in answered[text]]
        fetched = {hit.doc_id: hit for hit in reversed(hits) if hit.doc_id not in corpus.texts}
        found |= dict.fromkeys(hit.doc_id for hit in hits)
        corpus = Corpus([*(one for one in corpus.documents if one.doc_id in found), *fetched.values()])
    if not found:
        log.decide(FOUND, question, "no search found a document", last=True)
        return Searched(kind=kind, searches=searches)
    log.accept(FOUND, question)
    ranked = _ranked(question, [*found], corpus, settings, embed)[: settings.documents]
    fits = None
    if settings.segments is not None:
        texts = [one for doc_id, _ in ranked for one in segments(corpus.texts[doc_id], settings.segment_words)]
        fits = _cosines(question, texts, settings.segments, embed)
    given = tuple(fetched[doc_id]._asdict() for doc_id, _ in ranked if doc_id in fetched)
    return Searched(kind=kind, searches=searches, documents=tuple(ranked), fits=fits, fetched=given)


def segments(text: str, n_words: int) -> list[str]:
    """Return a text in pieces of *n_words* words, the last one with what is left."""
    words = text.split()
    return [" ".join(words[start : start + n_words]) for start in range(0, len(words), n_words)]


def _cosines(question: str, texts: Sequence[str], encoder: str, embed: Embed) -> list[float]:
    vectors = embed(encoder, [question, *texts])
    found: list[float] = np.round(vectors[1:] @ vectors[0], _DIGITS).tolist()
    return found


def _decomposed(question: str, log: Log, replies: int) -> Plan[tuple[str | None, list[str]]]:
    ask = Ask("planner", "synthesize_searches", {"question": question})
    read = yield from ask_for(question, ask, Decomposed, check=DECOMPOSED, most=replies, log=log, fits=_searches_fit)
    if read.reason is not None:
        return None, [question]
    log.accept(DECOMPOSED, question, read.call_id)
    decomposed: Decomposed = read.answer
    return decomposed.kind, [question] if decomposed.kind == "simple" else [*dict.fromkeys(decomposed.sub_questions)]


def _searches_fit(decomposed: Decomposed) -> str | None:
    return "no_sub_questions" if decomposed.kind != "simple" and not decomposed.sub_questions else None


def _ranked(
    question: str, doc_ids: Sequence[str], corpus: Corpus, settings: SearchSettings, embed: Embed
) -> list[RankedDocument]:
    if settings.encoder is None:
        of_all = corpus.scores(question)
        scores = [of_all[doc_id] for doc_id in doc_ids]
    else:
        scores = _cosines(question, [corpus.texts[doc_id] for doc_id in doc_ids], settings.encoder, embed)
    best = sorted(zip(doc_ids, scores, strict=True), key=lambda pair: -pair[1])
    return [RankedDocument(doc_id, float(score)) for doc_id, score in best]


# ---------------------------------------------------------------- endpoints


class _Hit(Entry):
    text: Filled
    id: Filled | None = None
    url: Filled | None = None
    title: str | None = None


def asked_endpoints(
    searches: Sequence[str], endpoints: Sequence[EndpointSettings], n: int, log: Log
) -> Plan[dict[str, list[SourceDocument]]]:
    """Return the documents that endpoints find for each search, *n* of each endpoint; all are asked at once."""
    asked = [(text, endpoint) for text in searches for endpoint in endpoints]
    found: dict[str, list[SourceDocument]] = {text: [] for text in searches}
    replies = yield [_endpoint_ask(text, endpoint, n) for text, endpoint in asked]
    for (text, endpoint), reply in zip(asked, replies, strict=True):
        found[text] += _hits(text, endpoint, reply, log)[:n]
    return found


def _endpoint_ask(text: str, endpoint: EndpointSettings, n: int) -> Ask:
    return Ask("search", endpoint.url, {"query": text, "n": str(n), "api_key_env": endpoint.api_key_env or ""})


def _hits(text: str, endpoint: EndpointSettings, reply: Reply, log: Log) -> list[SourceDocument]:
    """Return the documents of a reply; one without an id or a text is left out."""
    answer = json.loads(reply.text) if reply.text is not None else None
    if not isinstance(answer, list):
        log.decide(SEARCHED, text, f"{endpoint.url}: no list of documents", last=True)
        return []
    found = []
    for one in answer:
        try:
            hit = _Hit.model_validate(one)
        except ValidationError:
            hit = None
        doc_id = hit and (hit.id or hit.url)
        if hit is None or not doc_id:
            log.decide(SEARCHED, text, f"{endpoint.url}: a document without text, or without id and url")
            continue
        found.append(SourceDocument(doc_id, hit.title or None, hit.text))
    log.accept(SEARCHED, text)
    return found
