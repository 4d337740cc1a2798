"""Summaries, their bullets and their judgements as pages of a report unfold them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from longform.errors import LongformError

QueryFacts = Mapping[str, Any]
"""
A query: `haystack`, `topic`, `subtopic`, `text`, `dataset`, and its `targets`, each with `target_id`, `name`, `text`,
`kind` (insight if left out), `gold` (numbers of the documents that state it) and `passages` of these. Older runs store
neither data sets nor passages.
"""

SummaryFacts = dict[str, Any]
"""
A summary: its ids and axes, its `failure`, its `scores` by judge ("": none) and measure, and two lists.

- `bullets`: `text`, `citations` (numbers of documents), `passages` of these, and `support`, the answers of each support
  judge: on each document that is `cited` (null: not asked, or unjudged), the best `answer` over the `n` documents that
  were checked, and the number of the `best` of them (null: none supports it). For documents judged as one text both are
  null.
- `verdicts`: `judge`, `target_id`, `answer`, `linked_unit`, `probability`, `reply`, `failure`.
"""


class Unfolded(NamedTuple):
    """A summary with its query."""

    summary: SummaryFacts
    query: QueryFacts


def unfolded_of(drilldown: Mapping[str, Any]) -> Iterator[Unfolded]:
    """
    Yield the summaries of a drill-down that is in memory, as older runs have it.

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
