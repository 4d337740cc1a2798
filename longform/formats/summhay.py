"""
SummHay's published files: haystacks (`topic_*.json`) and human labels (`eval_benchmark_data.json`).

Laban et al., Summary of a Haystack. Ids are the files' own. What the release calls `dwzhu/e5-base-4k` is called
`longembed` here, and a summary key without a retriever is the setting `full`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from longform.errors import UsageError
from longform.formats.fields import Record, json_object, json_objects
from longform.formats.files import Found, Named, SourceFile, last_part
from longform.formats.rows import HaystackRows
from longform.keys import content_key
from longform.records import Document, Qrel, Query, Target
from longform.text.citations import bullets

RELEASED_JUDGE = "released:gpt-4o"
"""Whose labels `eval_summaries` are (SummHay, section 4.2)."""

_SUMMARY_KEY = "summary_subtopic_"
_FILE_OF_TOPIC = "topic_fn"
_TOPIC_FILE = re.compile(r"topic_(?P<name>.+)\.json")
_SETTINGS = {"dwzhu/e5-base-4k": "longembed"}
_ORDERS = {"fl-ctxt-sort": "top", "fl-ctxt-rev-sort": "bottom", "fl-ctxt-middle": "middle"}
_COVERAGE = {"FULL_COVERAGE": "full", "PARTIAL_COVERAGE": "partial", "NO_COVERAGE": "none"}
_HUMAN_COVERAGE = {"fully_covered": "full", "partially_covered": "partial", "not_covered": "none"}
_PREDICTIONS = {
    "predictions_prompted_gpt-4o": "released:gpt-4o",
    "predictions_9fs_gpt-4o": "released:gpt-4o-9fs",
    "predictions_prompted_gemini-1.5-pro": "released:gemini-1.5-pro",
    "predictions_prompted_claude3-opus": "released:claude3-opus",
    "predictions_prompted_claude3-haiku": "released:claude3-haiku",
    "predictions_prompted_gpt3.5": "released:gpt3.5",
}

# ---------------------------------------------------------------- files


def summhay_files(named: Named) -> Found:
    """
    Return the haystacks of the files that are named, and of the topic files of folders.

    Raises:
        UsageError: A folder has no topic files.
    """
    files: list[SourceFile] = []
    for url, found in named.items():
        chosen = [file for file in found.values() if last_part(url) in found or _is_topic(file.name)]
        if not chosen:
            raise UsageError(f"{url}: expected topic_*.json or topic_*.json.gz files, found {list(found)[:5]}")
        files += chosen
    return Found(files, _read_all(files), dataset="summhay")


def _is_topic(name: str) -> bool:
    return name.startswith("topic_") and name.endswith((".json", ".json.gz"))


def _read_all(files: Sequence[SourceFile]) -> Iterator[HaystackRows]:
    """Yield the haystacks of topic files, and those of files of human labels, which are JSON lists."""
    for file in files:
        content = file.read()
        if content.lstrip()[:1] == b"[":
            yield from read_human_study(json_objects(content, file.name))
        else:
            yield read_topic(json_object(content, file.name))


# ---------------------------------------------------------------- haystacks


def read_topic(topic: Record) -> HaystackRows:
    """One haystack file: documents, queries, insights, gold map, retriever scores, summaries and their labels."""
    haystack_id = topic.filled("topic_id")
    documents = [
        _document(record, haystack_id, index) for index, record in enumerate(_filled_objects(topic, "documents"))
    ]
    _refuse_repeats(topic, "documents", "document_id", [document.doc_id for document in documents])
    subtopics = _filled_objects(topic, "subtopics")
    _refuse_repeats(topic, "subtopics", "subtopic_id", [s.filled("subtopic_id") for s in subtopics])
    targets = [target for subtopic in subtopics for target in _targets(subtopic, haystack_id)]
    _refuse_repeats(topic, "subtopics", "insight_id", [target.target_id for target in targets])
    return HaystackRows(
        haystack_id=haystack_id,
        documents=documents,
        queries=[_query(subtopic, topic, haystack_id) for subtopic in subtopics],
        targets=targets,
        qrels=list(_qrels(topic.objects("documents"), targets)),
        rankings=[row for s in subtopics for row in _rankings(s, haystack_id, [d.doc_id for d in documents])],
        summaries=[row for s in subtopics for row in _released_summaries(s, haystack_id)],
        labels=[row for s in subtopics for row in _released_labels(s, haystack_id)],
    )


def _document(record: Record, haystack_id: str, index: int) -> Document:
    return Document(
        doc_id=record.filled("document_id"),
        haystack_id=haystack_id,
        doc_index=index,
        title=None,
        text=record.string("document_text"),
    )


def _query(subtopic: Record, topic: Record, haystack_id: str) -> Query:
    metadata = topic.object("topic_metadata") if topic.has("topic_metadata") else None
    participants = metadata.strings("participants") if metadata and metadata.has("participants") else None
    return Query(
        query_id=subtopic.filled("subtopic_id"),
        haystack_id=haystack_id,
        domain="conversation" if participants else "news",
        topic=topic.string("topic"),
        subtopic_name=subtopic.string("subtopic_name"),
        subtopic=subtopic.string("subtopic"),
        participants=participants,
        text=subtopic.filled("query"),
    )


def _targets(subtopic: Record, haystack_id: str, *, field: str = "insights") -> list[Target]:
    return [
        Target(
            target_id=insight.filled("insight_id"),
            kind="insight",
            query_id=subtopic.filled("subtopic_id"),
            haystack_id=haystack_id,
            target_index=index,
            name=insight.optional_string("insight_name"),
            text=insight.filled("insight"),
        )
        for index, insight in enumerate(_filled_objects(subtopic, field))
    ]


def _qrels(documents: Iterable[Record], targets: Sequence[Target]) -> Iterator[Qrel]:
    query_of = {target.target_id: target.query_id for target in targets}
    for document in documents:
        for target_id in dict.fromkeys(document.strings("insights_included")):
            if target_id not in query_of:
                raise document.error(
                    "insights_included", expected="ids of insights in the file's subtopics", found=repr(target_id)
                )
            yield Qrel(query_of[target_id], target_id, document.filled("document_id"), 1)


def _rankings(subtopic: Record, haystack_id: str, doc_ids: Sequence[str]) -> Iterator[dict[str, Any]]:
    for name in subtopic.mapping("retriever") if subtopic.has("retriever") else {}:
        scores = subtopic.object("retriever").object(name)
        # The published maps also score documents of earlier generations, which the files do not hold: left out.
        score = {doc_id: round(scores.number(doc_id), 6) for doc_id in doc_ids}
        for rank, doc_id in enumerate(sorted(doc_ids, key=lambda doc_id: -score[doc_id])):
            yield {
                "query_id": subtopic.filled("subtopic_id"),
                "haystack_id": haystack_id,
                "system": f"released:{_SETTINGS.get(name, name)}",
                "doc_id": doc_id,
                "rank": rank,
                "score": score[doc_id],
            }


def _released_summaries(subtopic: Record, haystack_id: str) -> Iterator[dict[str, Any]]:
    keys = subtopic.object("summaries") if subtopic.has("summaries") else Record({}, file=subtopic.file, label="")
    known = set(subtopic.mapping("retriever")) if subtopic.has("retriever") else set()
    for key in keys.content:
        yield _summary_row(
            summary_id=_released_id(subtopic, haystack_id, key),
            query_id=subtopic.filled("subtopic_id"),
            haystack_id=haystack_id,
            key=_checked_key(keys, key),
            lines=keys.strings(key),
            known=known,
            n_requested=len(subtopic.list("insights")),
        )


def _released_labels(subtopic: Record, haystack_id: str) -> Iterator[dict[str, Any]]:
    if not subtopic.has("eval_summaries"):
        return
    insights = {insight.filled("insight_id") for insight in subtopic.objects("insights")}
    summaries = subtopic.mapping("summaries") if subtopic.has("summaries") else {}
    labels = subtopic.object("eval_summaries")
    for key in labels.content:
        if key not in summaries:
            raise labels.error(key, expected="the key of a summary of this subtopic", found=repr(key))
        summary_id = _released_id(subtopic, haystack_id, key)
        yield from _machine_labels(labels.objects(key), RELEASED_JUDGE, summary_id, insights)


def _released_id(subtopic: Record, haystack_id: str, key: str) -> str:
    return content_key("summhay", haystack_id, subtopic.filled("subtopic_id"), key)


# ---------------------------------------------------------------- human labels


def read_human_study(samples: Sequence[Record]) -> Iterator[HaystackRows]:
    """
    The human study's samples, a haystack at a time; they carry no documents.

    Labels are of annotator `human` and of the six released judges. Human bullet ids count from 0, the judges' from 1.

    Raises:
        InputError: A sample lacks a field or names no haystack.
    """
    haystacks: dict[str, list[Record]] = {}
    for sample in samples:
        haystacks.setdefault(_study_haystack(sample), []).append(sample)
    for haystack_id, members in haystacks.items():
        queries = {sample.filled("subtopic_id"): sample for sample in members}
        targets = [
            target
            for sample in queries.values()
            for target in _targets(sample, haystack_id, field="reference_insights")
        ]
        yield HaystackRows(
            haystack_id=haystack_id,
            documents=[],
            queries=[_study_query(sample, haystack_id) for sample in queries.values()],
            targets=targets,
            qrels=[],
            rankings=[],
            summaries=[_study_summary(sample, haystack_id) for sample in members],
            labels=[row for sample in members for row in _study_labels(sample, haystack_id)],
        )


def _study_haystack(sample: Record) -> str:
    """The sample's `topic_id`, else the NAME of its `topic_fn`, `data/topic_NAME.json`: that file's `topic_id`."""
    if sample.has(_FILE_OF_TOPIC) and not sample.has("topic_id"):
        named = _TOPIC_FILE.fullmatch(sample.string(_FILE_OF_TOPIC).rpartition("/")[2])
        if named is None:
            raise sample.error(_FILE_OF_TOPIC, expected="a path that ends in topic_NAME.json")
        return named["name"]
    if not sample.has("topic_id"):
        raise sample.error("topic_id", expected=f"a string, or a file topic_NAME.json in {_FILE_OF_TOPIC!r}")
    return sample.filled("topic_id")


def _study_query(sample: Record, haystack_id: str) -> Query:
    return Query(
        query_id=sample.filled("subtopic_id"),
        haystack_id=haystack_id,
        # only the study's conversations name their haystack by its file
        domain="news" if sample.has("topic_id") else "conversation",
        topic=sample.string("topic"),
        subtopic_name=None,
        subtopic=sample.string("subtopic"),
        participants=None,
        text=sample.string("subtopic"),
    )


def _study_id(sample: Record, haystack_id: str) -> str:
    parts = (haystack_id, sample.filled("subtopic_id"), sample.filled("summkey"))
    return content_key("summhay-human-study", *parts, sample.strings("summary"))


def _study_summary(sample: Record, haystack_id: str) -> dict[str, Any]:
    return _summary_row(
        summary_id=_study_id(sample, haystack_id),
        query_id=sample.filled("subtopic_id"),
        haystack_id=haystack_id,
        key=_checked_key(sample, sample.filled("summkey")),
        lines=sample.strings("summary"),
        known={"keywords", "vector", "oracle", "random", "rerank3", "dwzhu/e5-base-4k"},
        n_requested=len(sample.list("reference_insights")),
    )


def _study_labels(sample: Record, haystack_id: str) -> Iterator[dict[str, Any]]:
    summary_id = _study_id(sample, haystack_id)
    insights = {insight.filled("insight_id") for insight in sample.objects("reference_insights")}
    for label in sample.objects("annotation"):
        bullet = label.string("candidate_id")
        if bullet != "no_selection" and not bullet.isdecimal():
            raise label.error("candidate_id", expected="a bullet's index from 0 or 'no_selection'")
        yield _label_row(
            annotator="human",
            summary_id=summary_id,
            target_id=_known_insight(label, insights),
            answer=_HUMAN_COVERAGE[label.choice("coverage", tuple(_HUMAN_COVERAGE))],
            linked_unit=None if bullet == "no_selection" else int(bullet),
        )
    for field, annotator in _PREDICTIONS.items():
        if sample.has(field):
            yield from _machine_labels(sample.objects(field), annotator, summary_id, insights)


# ---------------------------------------------------------------- shared


def _summary_row(
    *,
    summary_id: str,
    query_id: str,
    haystack_id: str,
    key: str,
    lines: list[str],
    known: set[str],
    n_requested: int,
) -> dict[str, Any]:
    retriever, summarizer = _split_key(key, known)
    return {
        "summary_id": summary_id,
        "query_id": query_id,
        "haystack_id": haystack_id,
        "summarizer": summarizer,
        "setting": _SETTINGS.get(retriever, retriever),
        "retriever": "full" if retriever in _ORDERS else _SETTINGS.get(retriever, retriever),
        "order": _ORDERS.get(retriever, "given"),
        "method": "plain",
        "parents": [],
        "n_requested": n_requested,
        "text": "\n".join(bullet.text for bullet in bullets(lines)),
    }


def _checked_key(record: Record, key: str) -> str:
    if not key.startswith(_SUMMARY_KEY):
        raise record.error(key, expected=f"a key that starts with {_SUMMARY_KEY!r}", found=repr(key))
    return key.removeprefix(_SUMMARY_KEY)


def _split_key(key: str, known: set[str]) -> tuple[str, str]:
    for retriever in known | set(_ORDERS):
        if key.startswith(f"{retriever}_"):
            return retriever, key.removeprefix(f"{retriever}_")
    return "full", key


def _machine_labels(
    labels: Iterable[Record], annotator: str, summary_id: str, insights: set[str]
) -> Iterator[dict[str, Any]]:
    for label in labels:
        bullet = label.content.get("bullet_id")
        # A list of ids, "NA" or nothing is no link; an out-of-range number is kept as released.
        linked = bullet - 1 if isinstance(bullet, int) and not isinstance(bullet, bool) else None
        yield _label_row(
            annotator=annotator,
            summary_id=summary_id,
            target_id=_known_insight(label, insights),
            answer=_COVERAGE[label.choice("coverage", tuple(_COVERAGE))],
            linked_unit=linked,
        )


def _label_row(
    *, annotator: str, summary_id: str, target_id: str, answer: str, linked_unit: int | None
) -> dict[str, Any]:
    return {
        "annotator": annotator,
        "summary_id": summary_id,
        "target_kind": "insight",
        "target_id": target_id,
        "mode": "full",
        "repeat": 0,
        "answer": answer,
        "linked_unit": linked_unit,
    }


def _known_insight(label: Record, insights: set[str]) -> str:
    insight_id = label.filled("insight_id")
    if insight_id not in insights:
        raise label.error("insight_id", expected="the id of an insight of this subtopic", found=repr(insight_id))
    return insight_id


def _filled_objects(record: Record, field: str) -> list[Record]:
    found = record.objects(field)
    if not found:
        raise record.error(field, expected="a list with at least one object", found="an empty list")
    return found


def _refuse_repeats(record: Record, field: str, key: str, values: Sequence[str]) -> None:
    if len(set(values)) != len(values):
        repeated = next(value for index, value in enumerate(values) if value in values[:index])
        raise record.error(field, expected=f"each {key} once", found=f"{key} {repeated!r} twice")
