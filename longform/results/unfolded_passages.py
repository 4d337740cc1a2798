"""Join the passages of documents to the citations of summaries and to the documents that state an insight."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from longform.results.drilldown import QueryFacts, SummaryFacts, Unfolded
from longform.results.passages import PassageFinder


def wanted_documents(unfolded: Iterable[Unfolded]) -> Mapping[str, Collection[int]]:
    """Return the numbers of the documents that are cited or state an insight, by haystack."""
    found: dict[str, set[int]] = {}
    for summary, query in unfolded:
        numbers = found.setdefault(query["haystack"], set())
        numbers.update(number for bullet in summary["bullets"] for number in bullet["citations"])
        numbers.update(number for target in query["targets"] for number in target["gold"])
    return found


def with_passages(unfolded: Iterable[Unfolded], finder: Callable[[str], PassageFinder | None]) -> Iterator[Unfolded]:
    """
    Yield the summaries and queries with the passages of the documents that they name.

    Args:
        unfolded: Those of a query together.
        finder: Of a haystack; None: it has no documents.
    """
    told: tuple[str, QueryFacts] | None = None
    for summary, query in unfolded:
        if (found := finder(query["haystack"])) is None:
            yield Unfolded(summary, query)
            continue
        if told is None or told[0] != summary["query_id"]:
            told = summary["query_id"], _query_with(query, found)
        yield Unfolded(_summary_with(summary, found), told[1])


def _query_with(query: QueryFacts, finder: PassageFinder) -> QueryFacts:
    targets = query["targets"]
    found = finder.passages([one["text"] for one in targets], [one["gold"] for one in targets])
    return {**query, "targets": [{**one, "passages": own} for one, own in zip(targets, found, strict=True)]}


def _summary_with(summary: SummaryFacts, finder: PassageFinder) -> SummaryFacts:
    bullets = summary["bullets"]
    found = finder.passages([one["text"] for one in bullets], [one["citations"] for one in bullets])
    return {**summary, "bullets": [{**one, "passages": own} for one, own in zip(bullets, found, strict=True)]}
