"""Entries and rows that both kinds of SummHay's files have: insights, summaries, labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from longform.formats.fields import Entry, Filled, Record, Text, Way
from longform.formats.rows import ShippedLabel, ShippedSummary, insight_label
from longform.records import Target
from longform.text.citations import bullets

_SUMMARY_KEY = "summary_subtopic_"
SETTINGS = {"dwzhu/e5-base-4k": "longembed"}
_ORDERS = {"fl-ctxt-sort": "top", "fl-ctxt-rev-sort": "bottom", "fl-ctxt-middle": "middle"}
_COVERAGE = {"FULL_COVERAGE": "full", "PARTIAL_COVERAGE": "partial", "NO_COVERAGE": "none"}


class Insight(Entry):
    insight_id: Filled
    insight: Filled
    insight_name: Text | None = None


Insights = Annotated[list[Insight], Field(min_length=1)]


class Label(Entry):
    insight_id: Filled


class MachineLabel(Label):
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


def insight_targets(insights: Sequence[Insight], query_id: str, haystack_id: str) -> list[Target]:
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
    retriever, summarizer = _split_key(key, known)
    return {
        "summary_id": summary_id,
        "query_id": query_id,
        "haystack_id": haystack_id,
        "summarizer": summarizer,
        "setting": SETTINGS.get(retriever, retriever),
        "retriever": "full" if retriever in _ORDERS else SETTINGS.get(retriever, retriever),
        "order": _ORDERS.get(retriever, "given"),
        "method": "plain",
        "parents": [],
        "n_requested": n_requested,
        "text": "\n".join(bullet.text for bullet in bullets(lines)),
    }


def checked_key(record: Record, key: str, way: Way = ()) -> str:
    if not key.startswith(_SUMMARY_KEY):
        raise record.error(key, expected=f"a key that starts with {_SUMMARY_KEY!r}", found=repr(key), way=way)
    return key.removeprefix(_SUMMARY_KEY)


def _split_key(key: str, known: set[str]) -> tuple[str, str]:
    for retriever in known | set(_ORDERS):
        if key.startswith(f"{retriever}_"):
            return retriever, key.removeprefix(f"{retriever}_")
    return "full", key


def machine_labels(labels: Sequence[MachineLabel], annotator: str, summary_id: str) -> Iterator[ShippedLabel]:
    for label in labels:
        yield insight_label(annotator, summary_id, label.insight_id, _COVERAGE[label.coverage], label.linked_unit)


def check_insights(record: Record, way: Way, labels: Sequence[Label], insights: set[str]) -> None:
    for index, label in enumerate(labels):
        if label.insight_id not in insights:
            expected, found = "the id of an insight of this subtopic", repr(label.insight_id)
            raise record.error("insight_id", expected=expected, found=found, way=(*way, index))
