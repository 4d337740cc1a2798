"""
SummHay's human labels (`eval_benchmark_data.json`): summaries that people and six judges labelled.

They carry no documents. Human bullet ids count from 0, the judges' from 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from pydantic import Field, RootModel

from longform.formats.fields import Entry, Expected, Filled, Record, Text
from longform.formats.rows import HaystackRows, ShippedLabel, ShippedSummary, insight_label
from longform.formats.summhay_rows import (
    Insights,
    LabelEntry,
    MachineLabel,
    check_insights,
    checked_key,
    insight_targets,
    machine_labels,
    summary_row,
)
from longform.keys import content_key, in_groups
from longform.records import Query

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


def _study_summary(record: Record, sample: _Sample, haystack_id: str) -> ShippedSummary:
    return summary_row(
        summary_id=_study_id(sample, haystack_id),
        query_id=sample.subtopic_id,
        haystack_id=haystack_id,
        key=checked_key(record, sample.summkey),
        lines=sample.summary,
        known={"keywords", "vector", "oracle", "random", "rerank3", "dwzhu/e5-base-4k"},
        n_requested=len(sample.reference_insights),
    )


def _study_labels(record: Record, sample: _Sample, haystack_id: str) -> Iterator[ShippedLabel]:
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
