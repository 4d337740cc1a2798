"""Summaries, their bullets and their judgements as the compact JSON that pages of a report unfold."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, NotRequired, TypedDict, TypeVar

from longform.errors import LongformError

Found = TypeVar("Found")


class TargetFacts(TypedDict):
    target_id: str
    name: str | None
    text: str
    gold: list[int]  # numbers of the documents that state it


class QueryFacts(TypedDict):
    haystack: str
    topic: str | None
    subtopic: str | None
    text: str
    targets: list[TargetFacts]
    dataset: NotRequired[str | None]  # older runs do not store it


class BulletFacts(TypedDict):
    text: str
    citations: list[int]


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
        _place(queries, summary["query_id"], f"summary {summary['summary_id']}: query")
        yield Unfolded(summary, queries[summary["query_id"]])


Packed = Sequence["Packed"] | str | float | None
"""Arrays of arrays, texts and numbers."""

PLACES = 4
"""Decimals kept of scores and probabilities."""

PAGE_BYTES = 2_800_000
"""Most data of one page, unless a single summary has more; with its markup a page stays below 3 MB."""


class PackedPage(NamedTuple):
    """
    The data of a page.

    Attributes:
        data: JSON, as `Packing` describes it, that no text in it can end.
        summary_ids: In their order.
        first: Words of its first query.
        last: Words of its last query.
    """

    data: str
    summary_ids: Sequence[str]
    first: str
    last: str


def packed_pages(
    unfolded: Iterable[Unfolded], points: Collection[str], *, most_bytes: int = PAGE_BYTES
) -> Iterator[PackedPage]:
    """
    Yield pages of at most *most_bytes* of data, in the order of the summaries; one page is in memory at a time.

    Scores by measures in *points* are points, as in the report's tables.

    Raises:
        LongformError: A verdict names a target that its query does not list.
    """
    packing = Packing(points)
    for one in unfolded:
        if packing.add(one) > most_bytes and len(packing) > 1:
            packing.drop_last()
            yield packing.page()
            packing = Packing(points)
            packing.add(one)
    if len(packing):
        yield packing.page()


class Packing:
    """
    Summaries as arrays, whose queries, targets and repeated texts are named by their places.

    strings: Texts, to which the places below marked * point (null stays null).
    queries: [query_id, haystack, topic, subtopic, text, [[target_id, name, text, gold], ...]].
    summaries: [summary_id, query, setting*, summarizer*, order*, failure*, [[text, citations], ...],
        [[judge*, target of the query, answer*, linked_unit, probability, reply*, failure*], ...],
        [[judge*, measure*, value], ...], repeat].

    Args:
        points: Measures whose values are shown as points.
    """

    def __init__(self, points: Collection[str]) -> None:
        self._points = points
        self._strings: dict[str, int] = {}
        self._texts: list[str] = []  # of the strings, as JSON
        self._queries: dict[str, tuple[int, QueryFacts, str]] = {}  # by id; its place, and as JSON
        self._summaries: dict[str, str] = {}  # as JSON, by id
        self._before = (0, 0)  # strings and queries before the last summary
        self._size = 0  # bytes

    def __len__(self) -> int:
        return len(self._summaries)

    def add(self, unfolded: Unfolded) -> int:
        """Add a summary; return the bytes of all."""
        self._before = (len(self._strings), len(self._queries))
        summary, query = unfolded
        query_id, summary_id = summary["query_id"], summary["summary_id"]
        if query_id not in self._queries:
            self._queries[query_id] = (len(self._queries), query, self._counted(_query(query_id, query)))
        self._summaries[summary_id] = self._counted(self._row(summary, self._queries[query_id][0], query))
        return self._size

    def drop_last(self) -> None:
        """Take back the last summary, with what it alone needs."""
        n_strings, n_queries = self._before
        self._summaries.popitem()
        del self._texts[n_strings:]
        while len(self._strings) > n_strings:
            self._strings.popitem()
        while len(self._queries) > n_queries:
            self._queries.popitem()

    def page(self) -> PackedPage:
        queries = [query for _, query, _ in self._queries.values()]
        names = [query["text"] or query_id for query_id, query in zip(self._queries, queries, strict=True)]
        return PackedPage(self.json(), list(self._summaries), names[0], names[-1])

    def json(self) -> str:
        queries = (text for _, _, text in self._queries.values())
        parts = {"strings": self._texts, "queries": queries, "summaries": self._summaries.values()}
        return "{" + ",".join(f'"{name}":[{",".join(rows)}]' for name, rows in parts.items()) + "}"

    def _counted(self, row: Packed) -> str:
        text = script_json(row)
        self._size += len(text.encode()) + 1
        return text

    def _string(self, text: str | None) -> int | None:
        if text is None:
            return None
        if text not in self._strings:
            self._strings[text] = len(self._strings)
            self._texts.append(self._counted(text))
        return self._strings[text]

    def _row(self, summary: SummaryFacts, query_place: int, query: QueryFacts) -> list[Packed]:
        targets = {target["target_id"]: place for place, target in enumerate(query["targets"])}
        where = f"summary {summary['summary_id']}: verdict on target"
        verdicts = [
            [
                self._string(verdict["judge"]),
                _place(targets, verdict["target_id"], where),
                self._string(verdict["answer"]),
                verdict["linked_unit"],
                _rounded(verdict["probability"]),
                self._string(verdict["reply"]),
                self._string(verdict["failure"]),
            ]
            for verdict in summary["verdicts"]
        ]
        return [
            summary["summary_id"],
            query_place,
            self._string(summary["setting"]),
            self._string(summary["summarizer"]),
            self._string(summary["order"]),
            self._string(summary["failure"]),
            [[bullet["text"], bullet["citations"]] for bullet in summary["bullets"]],
            verdicts,
            [
                [self._string(judge), self._string(measure), _rounded(self._as_in_tables(measure, value))]
                for judge, scores in summary["scores"].items()
                for measure, value in scores.items()
            ],
            summary.get("repeat"),
        ]

    def _as_in_tables(self, measure: str, value: float | None) -> float | None:
        return None if value is None else 100 * value if measure in self._points else value


def _query(query_id: str, query: QueryFacts) -> list[Packed]:
    targets = [[target["target_id"], target["name"], target["text"], target["gold"]] for target in query["targets"]]
    named = [query.get("haystack"), query.get("topic"), query.get("subtopic"), query.get("text")]
    return [query_id, *named, targets]


def _place(places: Mapping[str, Found], key: str, where: str) -> Found:
    if key not in places:
        msg = f"drilldown: {where}: expected one of {len(places)} known ids, found {key!r}; list it under its query"
        raise LongformError(msg)
    return places[key]


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, PLACES)


def script_json(data: Packed) -> str:
    """Return JSON that no text in it can end: it holds no `<`, so neither `</script>` nor `<!--`."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
