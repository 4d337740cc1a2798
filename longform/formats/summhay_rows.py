"""Entries and rows that both kinds of SummHay's files have: insights, summaries, labels."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from longform.formats.fields import Entry, Filled, Record, Text, Way
from longform.formats.names import FULL_CONTEXT
from longform.formats.rows import ShippedLabel, ShippedSummary, insight_label
from longform.records import Target
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
        match self.bullet_id:
            case bool():
                return None
            case int(number):
                return number - 1
            case _:
                return None


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
) -> ShippedSummary:
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


def machine_labels(labels: Sequence[MachineLabel], annotator: str, summary_id: str) -> Iterator[ShippedLabel]:
    for label in labels:
        yield insight_label(annotator, summary_id, label.insight_id, COVERAGE[label.coverage], label.linked_unit)


def check_insights(record: Record, way: Way, labels: Sequence[LabelEntry], insights: set[str]) -> None:
    for index, label in enumerate(labels):
        if label.insight_id not in insights:
            expected, found = "the id of an insight of this subtopic", repr(label.insight_id)
            raise record.error("insight_id", expected=expected, found=found, way=(*way, index))
