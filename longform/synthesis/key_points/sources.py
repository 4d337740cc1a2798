"""
Documents and questions as files hold them, gzipped or not.

    documents.jsonl   {"id", "text"}, and "title" if there is one
    questions.jsonl   {"query" or "question"}, and "query_id" or "question_id", "category", "domain", "answer"
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Self

import numpy as np
from pydantic import AliasChoices, Field

from longform.errors import UsageError
from longform.formats.fields import Entry, Filled, Record
from longform.formats.json_files import json_lines
from longform.keys import content_key, stable_seed

Read = Callable[[str], bytes]
_GZIP = b"\x1f\x8b"


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
        content = read(name)
        if content.startswith(_GZIP):
            content = _unpacked(name, content)
        some = False
        for record in json_lines(content.split(b"\n"), name):
            some = True
            yield record
        if not some:
            raise UsageError(f"{name}: expected lines of JSON, found none")


def _unpacked(name: str, content: bytes) -> bytes:
    try:
        return gzip.decompress(content)
    except (OSError, EOFError) as error:
        raise UsageError(f"{name}: expected a gzipped file: {error}") from error
