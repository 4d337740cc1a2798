"""
Insights, summaries and labels in SummHay's files, and its human labels (`eval_benchmark_data.json`).

Those are of summaries that people and six judges labelled, and carry no documents. Human bullet ids count from 0, the
judges' from 1.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Annotated, Literal

from pydantic import Field, JsonValue, RootModel

from longform.formats.fields import Entry, Expected, Filled, Record, Text, Way
from longform.formats.names import FULL_CONTEXT
from longform.formats.rows import HaystackRows, ShippedRow, insight_label
from longform.keys import content_key, in_groups
from longform.records import Query, Target
from longform.text.citations import bullets

SUMMARY_KEY = "summary_subtopic_"
SETTINGS = {"dwzhu/e5-base-4k": "longembed"}
ORDERS = {"fl-ctxt-sort": "top", "fl-ctxt-rev-sort": "bottom", "fl-ctxt-middle": "middle"}
COVERAGE = {"FULL_COVERAGE": "full", "PARTIAL_COVERAGE": "partial", "NO_COVERAGE": "none"}


class InsightEntry(Entry):
    insight_id: Filled
    insight: Filled
    insight_name: Text | None = None


Insights = Annotated[list[InsightEntry], Field(min_length=1)]


class LabelEntry(Entry):
    insight_id: Filled


class MachineLabel(LabelEntry):
    coverage: Literal["FULL_COVERAGE", "PARTIAL_COVERAGE", "NO_COVERAGE"]
    bullet_id: JsonValue = None

    @property
    def linked_unit(self) -> int | None:
        """Return None for a list of ids, "NA" or nothing; a number that is out of range is kept as released."""
        number = self.bullet_id
        return number - 1 if isinstance(number, int) and not isinstance(number, bool) else None


def insight_targets(insights: Sequence[InsightEntry], query_id: str, haystack_id: str) -> list[Target]:
    return [
        Target(insight.insight_id, "insight", query_id, haystack_id, index, insight.insight_name, insight.insight)
        for index, insight in enumerate(insights)
    ]


def summary_row(
    *,
    summary_id: str,
    query_id: str,
    haystack_id: str,
    key: str,
    lines: list[str],
    known: set[str],
    n_requested: int,
) -> ShippedRow:
    retriever, summarizer = split_key(key, known)
    return {
        "summary_id": summary_id,
        "query_id": query_id,
        "haystack_id": haystack_id,
        "summarizer": summarizer,
        "setting": SETTINGS.get(retriever, retriever),
        "retriever": FULL_CONTEXT if retriever in ORDERS else SETTINGS.get(retriever, retriever),
        "order": ORDERS.get(retriever, "given"),
        "method": "plain",
        "parents": [],
        "n_requested": n_requested,
        "text": "\n".join(bullet.text for bullet in bullets(lines)),
    }


def checked_key(record: Record, key: str, way: Way = ()) -> str:
    if not key.startswith(SUMMARY_KEY):
        raise record.error(key, expected=f"a key that starts with {SUMMARY_KEY!r}", found=repr(key), way=way)
    return key.removeprefix(SUMMARY_KEY)


def split_key(key: str, known: Collection[str]) -> tuple[str, str]:
    """Return the retriever, the longest that fits, and the summarizer of a key without its beginning."""
    for retriever in sorted({*known, *ORDERS}, key=lambda name: (-len(name), name)):
        if key.startswith(f"{retriever}_"):
            return retriever, key.removeprefix(f"{retriever}_")
    return FULL_CONTEXT, key


def machine_labels(labels: Sequence[MachineLabel], annotator: str, summary_id: str) -> Iterator[ShippedRow]:
    for label in labels:
        yield insight_label(annotator, summary_id, label.insight_id, COVERAGE[label.coverage], label.linked_unit)


def check_insights(record: Record, way: Way, labels: Sequence[LabelEntry], insights: set[str]) -> None:
    for index, label in enumerate(labels):
        if label.insight_id not in insights:
            expected, found = "the id of an insight of this subtopic", repr(label.insight_id)
            raise record.error("insight_id", expected=expected, found=found, way=(*way, index))


_TOPIC_FILE = re.compile(r"topic_(?P<name>.+)\.json")
_HUMAN_COVERAGE = {"fully_covered": "full", "partially_covered": "partial", "not_covered": "none"}
_ANNOTATORS = {
    "predictions_prompted_gpt-4o": "released:gpt-4o",
    "predictions_9fs_gpt-4o": "released:gpt-4o-9fs",
    "predictions_prompted_gemini-1.5-pro": "released:gemini-1.5-pro",
    "predictions_prompted_claude3-opus": "released:claude3-opus",
    "predictions_prompted_claude3-haiku": "released:claude3-haiku",
    "predictions_prompted_gpt3.5": "released:gpt3.5",
}


_Predictions = RootModel[dict[str, list[MachineLabel]]]


class _HumanLabel(LabelEntry):
    coverage: Literal["fully_covered", "partially_covered", "not_covered"]
    candidate_id: Annotated[
        str,
        Field(strict=True, pattern=r"^(no_selection|[0-9]+)$"),
        Expected("a bullet's index from 0 or 'no_selection'"),
    ]


class _Sample(Entry):
    subtopic_id: Filled
    topic_id: Filled | None = None
    topic_fn: Text | None = None
    topic: Text
    subtopic: Text
    summkey: Filled
    summary: list[Text]
    reference_insights: Insights
    annotation: list[_HumanLabel]


def read_human_study(samples: Sequence[Record]) -> Iterator[HaystackRows]:
    """
    Read the human study's samples, a haystack at a time; they carry no documents.

    Labels are of annotator `human` and of the six released judges. Human bullet ids count from 0, the judges' from 1.

    Raises:
        InputError: A sample lacks a field or names no haystack.
    """
    read = ((record, record.read(_Sample)) for record in samples)
    haystacks = in_groups((_study_haystack(*one), one) for one in read)
    for haystack_id, members in haystacks.items():
        queries = {sample.subtopic_id: sample for _, sample in members}
        yield HaystackRows(
            haystack_id=haystack_id,
            documents=[],
            queries=[_study_query(sample, haystack_id) for sample in queries.values()],
            targets=[
                target
                for query_id, sample in queries.items()
                for target in insight_targets(sample.reference_insights, query_id, haystack_id)
            ],
            qrels=[],
            rankings=[],
            summaries=[_study_summary(record, sample, haystack_id) for record, sample in members],
            labels=[row for record, sample in members for row in _study_labels(record, sample, haystack_id)],
        )


def _study_haystack(record: Record, sample: _Sample) -> str:
    """Return the `topic_id`, else the NAME of `topic_fn`, `data/topic_NAME.json`: the `topic_id` of that file."""
    if sample.topic_id is not None:
        return sample.topic_id
    if sample.topic_fn is None:
        raise record.error("topic_id", expected="a string, or a file topic_NAME.json in 'topic_fn'")
    named = _TOPIC_FILE.fullmatch(sample.topic_fn.rpartition("/")[2])
    if named is None:
        raise record.error("topic_fn", expected="a path that ends in topic_NAME.json")
    return named["name"]


def _study_query(sample: _Sample, haystack_id: str) -> Query:
    return Query(
        query_id=sample.subtopic_id,
        haystack_id=haystack_id,
        # only the study's conversations name their haystack by its file
        domain="news" if sample.topic_id is not None else "conversation",
        topic=sample.topic,
        subtopic=sample.subtopic,
        text=sample.subtopic,
    )


def _study_id(sample: _Sample, haystack_id: str) -> str:
    return content_key("summhay-human-study", haystack_id, sample.subtopic_id, sample.summkey, sample.summary)


def _study_summary(record: Record, sample: _Sample, haystack_id: str) -> ShippedRow:
    return summary_row(
        summary_id=_study_id(sample, haystack_id),
        query_id=sample.subtopic_id,
        haystack_id=haystack_id,
        key=checked_key(record, sample.summkey),
        lines=sample.summary,
        known={"keywords", "vector", "oracle", "random", "rerank3", "dwzhu/e5-base-4k"},
        n_requested=len(sample.reference_insights),
    )


def _study_labels(record: Record, sample: _Sample, haystack_id: str) -> Iterator[ShippedRow]:
    summary_id = _study_id(sample, haystack_id)
    insights = {insight.insight_id for insight in sample.reference_insights}
    check_insights(record, ("annotation",), sample.annotation, insights)
    for label in sample.annotation:
        linked = None if label.candidate_id == "no_selection" else int(label.candidate_id)
        yield insight_label("human", summary_id, label.insight_id, _HUMAN_COVERAGE[label.coverage], linked)
    stated = {field: record.content[field] for field in _ANNOTATORS if record.content.get(field) is not None}
    for field, labels in record._replace(content=stated).read(_Predictions).root.items():
        check_insights(record, (field,), labels, insights)
        yield from machine_labels(labels, _ANNOTATORS[field], summary_id)
