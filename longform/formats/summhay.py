"""
SummHay's published files: haystacks (`topic_*.json`) and human labels (`eval_benchmark_data.json`).

Laban et al., Summary of a Haystack. Ids are the files' own. What the release calls `dwzhu/e5-base-4k` is called
`longembed` here, and a summary key without a retriever is the setting `full`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, NamedTuple

from pydantic import Field

from longform.errors import UsageError
from longform.formats.fields import Entry, Filled, Finite, Record, Text, Way, nothing
from longform.formats.files import Found, Named, SourceFile, last_part
from longform.formats.json_files import json_object, json_objects
from longform.formats.rows import HaystackRows, ShippedRow, ranking_rows
from longform.formats.summhay_labels import (
    SETTINGS,
    Insights,
    MachineLabel,
    check_insights,
    checked_key,
    insight_targets,
    machine_labels,
    read_human_study,
    summary_row,
)
from longform.keys import content_key
from longform.records import Document, Qrel, Query, Target

RELEASED_JUDGE = "released:gpt-4o"
"""Whose labels `eval_summaries` are if a file does not say it (SummHay, section 4.2)."""

# ---------------------------------------------------------------- files


def summhay_files(named: Named) -> Found:
    """
    Return the haystacks of the files that are named, and of the topic files of folders.

    Raises:
        UsageError: A folder has no topic files.
    """
    files: list[SourceFile] = []
    for url, found in named.items():
        chosen = [
            file
            for file in found.values()
            if last_part(url) in found or re.fullmatch(r"topic_.*\.json(\.gz)?", file.name)
        ]
        if not chosen:
            raise UsageError(f"{url}: expected topic_*.json or topic_*.json.gz files, found {list(found)[:5]}")
        files += chosen
    return Found(files, _read_all(files), dataset="summhay")


def _read_all(files: Sequence[SourceFile]) -> Iterator[HaystackRows]:
    """Yield the haystacks of topic files, and those of files of human labels, which are JSON lists."""
    for file in files:
        content = file.read()
        if content.lstrip()[:1] == b"[":
            yield from read_human_study(json_objects(content, file.name))
        else:
            yield read_topic(json_object(content, file.name))


# ---------------------------------------------------------------- what the files hold


class _Subtopic(Entry):
    subtopic_id: Filled
    subtopic_name: Text
    subtopic: Text
    query: Filled
    insights: Insights
    retriever: dict[str, dict[str, Finite]] | None = None
    summaries: dict[str, list[Text]] | None = None
    eval_summaries: dict[str, list[MachineLabel]] | None = None


class _Document(Entry):
    document_id: Filled
    document_text: Text
    insights_included: list[Text]


class _Metadata(Entry):
    participants: list[Text] | None = None  # conversations have them
    judge: Filled | None = None  # the judge of `eval_summaries`, in files that `longform export` writes
    # further beginnings of summary keys, of systems whose rankings the file does not hold
    summary_settings: list[Text] | None = None


class _Topic(Entry):
    topic_id: Filled
    topic: Text
    topic_metadata: _Metadata | None = None
    subtopics: Annotated[list[_Subtopic], Field(min_length=1)]
    documents: Annotated[list[_Document], Field(min_length=1)]


def read_topic(record: Record) -> HaystackRows:
    """Read one haystack file: documents, queries, insights, gold map, retriever scores, summaries and their labels."""
    topic = record.read(_Topic)
    haystack_id, subtopics = topic.topic_id, topic.subtopics
    documents = [
        Document(document.document_id, haystack_id, index, None, document.document_text)
        for index, document in enumerate(topic.documents)
    ]
    targets = [target for one in subtopics for target in insight_targets(one.insights, one.subtopic_id, haystack_id)]
    doc_ids = [document.doc_id for document in documents]
    _refuse_repeats(record, "documents", "document_id", doc_ids)
    _refuse_repeats(record, "subtopics", "subtopic_id", [subtopic.subtopic_id for subtopic in subtopics])
    _refuse_repeats(record, "subtopics", "insight_id", [target.target_id for target in targets])
    metadata = topic.topic_metadata or _Metadata()
    annotator = RELEASED_JUDGE if metadata.judge is None else metadata.judge
    settings = metadata.summary_settings or []
    placed = [
        _PlacedSubtopic(record, index, haystack_id, subtopic, annotator, settings)
        for index, subtopic in enumerate(subtopics)
    ]
    return HaystackRows(
        haystack_id=haystack_id,
        documents=documents,
        queries=[_query(subtopic, topic) for subtopic in subtopics],
        targets=targets,
        qrels=list(_qrels(record, topic.documents, targets)),
        rankings=[row for subtopic in placed for row in subtopic.rankings(doc_ids)],
        summaries=[row for subtopic in placed for row in subtopic.released_summaries()],
        labels=[row for subtopic in placed for row in subtopic.released_labels()],
    )


def _query(subtopic: _Subtopic, topic: _Topic) -> Query:
    participants = topic.topic_metadata.participants if topic.topic_metadata else None
    return Query(
        query_id=subtopic.subtopic_id,
        haystack_id=topic.topic_id,
        domain="conversation" if participants else "news",
        topic=topic.topic,
        subtopic_name=subtopic.subtopic_name,
        subtopic=subtopic.subtopic,
        participants=participants,
        text=subtopic.query,
    )


def _qrels(topic: Record, documents: Sequence[_Document], targets: Sequence[Target]) -> Iterator[Qrel]:
    query_of = {target.target_id: target.query_id for target in targets}
    for index, document in enumerate(documents):
        for target_id in dict.fromkeys(document.insights_included):
            if target_id not in query_of:
                expected, way = "ids of insights in the file's subtopics", ("documents", index)
                raise topic.error("insights_included", expected=expected, found=repr(target_id), way=way)
            yield Qrel(query_of[target_id], target_id, document.document_id, 1)


class _PlacedSubtopic(NamedTuple):
    topic: Record
    place: int
    haystack_id: str
    subtopic: _Subtopic
    annotator: str
    settings: Sequence[str]

    def rankings(self, doc_ids: Sequence[str]) -> Iterator[ShippedRow]:
        for name, scores in (self.subtopic.retriever or {}).items():
            for doc_id in doc_ids:
                if doc_id not in scores:
                    found, way = nothing(scores), self._way("retriever", name)
                    raise self.topic.error(doc_id, expected="a finite number", found=found, way=way)
            # The published maps also score documents of earlier generations, which the files do not hold: left out.
            score = {doc_id: round(scores[doc_id], 6) for doc_id in doc_ids}
            ranked = ((doc_id, score[doc_id]) for doc_id in sorted(doc_ids, key=lambda doc_id: -score[doc_id]))
            system = f"released:{SETTINGS.get(name, name)}"
            yield from ranking_rows(self.subtopic.subtopic_id, self.haystack_id, system, ranked)

    def released_summaries(self) -> Iterator[ShippedRow]:
        for key, lines in (self.subtopic.summaries or {}).items():
            yield summary_row(
                summary_id=self._summary_id(key),
                query_id=self.subtopic.subtopic_id,
                haystack_id=self.haystack_id,
                key=checked_key(self.topic, key, self._way("summaries")),
                lines=lines,
                known={*(self.subtopic.retriever or ()), *self.settings},
                n_requested=len(self.subtopic.insights),
            )

    def released_labels(self) -> Iterator[ShippedRow]:
        insights = {insight.insight_id for insight in self.subtopic.insights}
        for key, labels in (self.subtopic.eval_summaries or {}).items():
            way = self._way("eval_summaries")
            if key not in (self.subtopic.summaries or {}):
                expected = "the key of a summary of this subtopic"
                raise self.topic.error(key, expected=expected, found=repr(key), way=way)
            check_insights(self.topic, (*way, key), labels, insights)
            yield from machine_labels(labels, self.annotator, self._summary_id(key))

    def _way(self, *names: str) -> Way:
        return ("subtopics", self.place, *names)

    def _summary_id(self, key: str) -> str:
        return content_key("summhay", self.haystack_id, self.subtopic.subtopic_id, key)


def _refuse_repeats(record: Record, field: str, key: str, values: Sequence[str]) -> None:
    if len(set(values)) != len(values):
        repeated = next(value for index, value in enumerate(values) if value in values[:index])
        raise record.error(field, expected=f"each {key} once", found=f"{key} {repeated!r} twice")
