"""
Questions with key points (nuggets), answers to them, and whether each answer says each point: one question a line.

    {"question": "...", "points": ["...", ...], "answers": [{"system": "...", "text": "...", "labels": [...]}]}

`labels` has one label a point, in the points' order: `Supported`, `Omitted` or `Contradicted`, or null for none. The
words of the nuggetizer (`support`, `partial_support`, `not_support`) are read, too; a part of a point is not the
point. docs/formats.md has every field.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated

from pydantic import BeforeValidator, ConfigDict, Field

from longform.errors import UsageError
from longform.formats.fields import Entry, Expected, Filled, Id, Record, Text, describe
from longform.formats.files import Found, Named, SourceFile, last_part
from longform.formats.json_files import json_lines
from longform.formats.rows import HaystackRows, ShippedRow, facet_rows, insight_label
from longform.records import Document, Qrel, Query, Target

LABELS: Mapping[str, str] = {
    "supported": "entailed",
    "omitted": "neutral",
    "contradicted": "contradicted",
    "support": "entailed",
    "partial_support": "neutral",
    "not_support": "neutral",
}
"""A label in lower case -> the answer of a judge of key points."""

PEOPLE = "people"
"""The annotator of answers that name none."""

_KIND = "key_point"
_LABEL = Annotated[str, Expected("Supported, Omitted or Contradicted (or the nuggetizer's words)")]


class _Strict(Entry):
    model_config = ConfigDict(extra="forbid")


class _Point(_Strict):
    text: Filled
    point_id: Id | None = None
    importance: Filled | None = None  # vital, okay
    doc_ids: list[Id] = Field(default_factory=list)


class _KeyPointDocument(_Strict):
    doc_id: Id
    text: Text
    title: Text | None = None


class _Answer(_Strict):
    system: Filled
    text: Text
    labels: list[_LABEL | None] | None = None
    annotator: Filled | None = None


def _plain_point(value: object) -> object:
    return {"text": value} if isinstance(value, str) else value


class _KeyPointLine(_Strict):
    question: Filled
    question_id: Id | None = None
    points: list[Annotated[_Point, BeforeValidator(_plain_point)]]
    answers: list[_Answer] = Field(default_factory=list)
    documents: list[_KeyPointDocument] = Field(default_factory=list)
    facets: dict[Filled, Filled] | None = None
    dataset: Filled | None = None


def key_point_files(named: Named) -> Found:
    """
    Return the questions of the files that are named, each with a haystack of its own: its documents, if it has any.

    Raises:
        UsageError: No file is named.
        InputError: A line is not as above.
    """
    files = [
        file
        for listed in named.values()
        for path, file in listed.items()
        if path.removesuffix(".gz").endswith(".jsonl")
    ]
    if not files:
        raise UsageError(f"ingest key_points: expected files of JSON Lines, found none in {list(named)}")
    return Found(files, _haystacks(files), dataset=last_part(files[0].name).removesuffix(".gz").removesuffix(".jsonl"))


def _haystacks(files: list[SourceFile]) -> Iterator[HaystackRows]:
    seen: set[str] = set()
    for file in files:
        for record in json_lines(file.lines(), file.name):
            line = record.read(_KeyPointLine)
            place = record.label.removeprefix("line ")
            query_id = line.question_id or f"{last_part(file.name).partition('.')[0]}:{place}"
            if query_id in seen:
                raise record.error("question_id", expected="an id that no line above has", found=describe(query_id))
            seen.add(query_id)
            yield _haystack(record, line, query_id)


def _haystack(record: Record, line: _KeyPointLine, query_id: str) -> HaystackRows:
    known = [document.doc_id for document in line.documents]
    if twice := next((doc_id for place, doc_id in enumerate(known) if doc_id in known[:place]), None):
        raise record.error("documents", expected="each doc_id once", found=f"{describe(twice)} again")
    targets = [_target(query_id, place, point) for place, point in enumerate(line.points)]
    ids = [target.target_id for target in targets]
    if twice := next((one for place, one in enumerate(ids) if one in ids[:place]), None):
        raise record.error("points", expected="each point_id once", found=f"{describe(twice)} again")
    facets = None if line.facets is None else facet_rows(line.facets)
    return HaystackRows(
        query_id,
        documents=[Document(one.doc_id, query_id, n, one.title, one.text) for n, one in enumerate(line.documents)],
        queries=[Query(query_id, query_id, line.question, dataset=line.dataset, facets=facets)],
        targets=targets,
        qrels=list(_qrels(record, line, query_id, targets)),
        summaries=[_summary(query_id, answer) for answer in _distinct(record, line)],
        labels=[label for answer in _labelled(record, line) for label in _labels(query_id, answer, ids)],
    )


def _target(query_id: str, place: int, point: _Point) -> Target:
    target_id = point.point_id or f"{query_id}#{place + 1}"
    return Target(target_id, _KIND, query_id, query_id, place, point.importance, point.text)


def _qrels(record: Record, line: _KeyPointLine, query_id: str, targets: list[Target]) -> Iterator[Qrel]:
    known = {document.doc_id for document in line.documents}
    for place, (point, target) in enumerate(zip(line.points, targets, strict=True)):
        for doc_id in dict.fromkeys(point.doc_ids):
            if doc_id not in known:
                where = f"points[{place}].doc_ids"
                raise record.error(where, expected="doc_ids of the line's documents", found=describe(doc_id))
            yield Qrel(query_id, target.target_id, doc_id, 1)


def _summary(query_id: str, answer: _Answer) -> ShippedRow:
    return {
        "summary_id": f"{answer.system}:{query_id}",
        "query_id": query_id,
        "haystack_id": query_id,
        "summarizer": answer.system,
        "setting": "unknown",
        "text": answer.text,
    }


def _distinct(record: Record, line: _KeyPointLine) -> list[_Answer]:
    """Return one answer a system: several labels of one answer name several annotators."""
    found: dict[str, _Answer] = {}
    for place, answer in enumerate(line.answers):
        if found.setdefault(answer.system, answer).text != answer.text:
            raise record.error(
                f"answers[{place}].text", expected="one answer a system", found=f"another text of {answer.system!r}"
            )
    return list(found.values())


def _labelled(record: Record, line: _KeyPointLine) -> Iterator[_Answer]:
    seen: set[tuple[str, str]] = set()
    for place, answer in enumerate(line.answers):
        if answer.labels is None:
            continue
        where, by = f"answers[{place}].labels", (answer.system, answer.annotator or PEOPLE)
        if len(answer.labels) != len(line.points):
            found = f"{len(answer.labels)} labels"
            raise record.error(where, expected=f"one label for each of {len(line.points)} points", found=found)
        if by in seen:
            raise record.error(where, expected="one list a system and annotator", found=f"another of {by[1]!r}")
        if unknown := next((one for one in answer.labels if one is not None and one.lower() not in LABELS), None):
            raise record.error(where, expected=f"some of {', '.join(LABELS)}, or null", found=describe(unknown))
        seen.add(by)
        yield answer


def _labels(query_id: str, answer: _Answer, target_ids: list[str]) -> Iterator[ShippedRow]:
    annotator, summary_id = answer.annotator or PEOPLE, f"{answer.system}:{query_id}"
    for target_id, label in zip(target_ids, answer.labels or (), strict=True):
        if label is not None:
            yield insight_label(annotator, summary_id, target_id, LABELS[label.lower()], None, kind=_KIND)
