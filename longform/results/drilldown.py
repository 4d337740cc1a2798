"""Summaries, their bullets and their judgements as pages of a report unfold them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, NotRequired, TypedDict

from longform.errors import LongformError
from longform.results.passages import Passage


class TargetFacts(TypedDict):
    target_id: str
    name: str | None
    text: str
    gold: list[int]  # numbers of the documents that state it
    kind: NotRequired[str]  # insight, key_point or reference; insight if left out
    passages: NotRequired[list[Passage | None]]  # of each of these documents; older runs do not store them


class QueryFacts(TypedDict):
    haystack: str
    topic: str | None
    subtopic: str | None
    text: str
    targets: list[TargetFacts]
    dataset: NotRequired[str | None]  # older runs do not store it


class SupportFacts(TypedDict):
    """
    Answer of a support judge on a bullet.

    Attributes:
        judge: Its name.
        cited: The answer on each cited document; null: it was not asked, or unjudged.
        answer: The best one over the documents that were checked; null: all are unjudged.
        best: Number of the document with that answer; null: none supports it, or all were judged as one text.
        n: How many documents were checked; null: all were judged as one text.
    """

    judge: str
    cited: list[str | None]
    answer: str | None
    best: int | None
    n: int | None


class BulletFacts(TypedDict):
    text: str
    citations: list[int]
    passages: NotRequired[list[Passage | None]]  # of each cited document; older runs do not store them
    support: NotRequired[list[SupportFacts]]  # of each support judge; left out: none was asked


class VerdictFacts(TypedDict):
    judge: str
    target_id: str
    answer: str | None
    linked_unit: int | None
    probability: float | None
    reply: str | None
    failure: str | None


class SummaryFacts(TypedDict):
    summary_id: str
    query_id: str
    setting: str
    summarizer: str
    order: str | None
    repeat: int | None
    failure: str | None
    bullets: list[BulletFacts]
    verdicts: list[VerdictFacts]
    scores: dict[str, dict[str, float | None]]  # by judge ("": none) and measure


class Drilldown(TypedDict):
    queries: dict[str, QueryFacts]  # by query id
    summaries: list[SummaryFacts]


class Unfolded(NamedTuple):
    """A summary with its query."""

    summary: SummaryFacts
    query: QueryFacts


def unfolded_of(drilldown: Drilldown) -> Iterator[Unfolded]:
    """
    Yield the summaries of a drill-down that is in memory.

    Raises:
        LongformError: A summary names a query that is not there.
    """
    queries = drilldown["queries"]
    for summary in drilldown["summaries"]:
        if (query_id := summary["query_id"]) not in queries:
            raise unlisted(summary, "query", query_id, len(queries))
        yield Unfolded(summary, queries[query_id])


def unlisted(summary: SummaryFacts, what: str, key: str, n: int) -> LongformError:
    """Return the error that a summary names a thing that stands nowhere, where *n* do."""
    where = f"drilldown: summary {summary['summary_id']}: {what}"
    return LongformError(f"{where}: expected one of {n} known ids, found {key!r}; list it under its query")
