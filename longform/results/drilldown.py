"""Summaries, their bullets and their judgements as the compact JSON that pages of a report unfold."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, NotRequired, TypedDict, TypeVar

from longform.errors import LongformError
from longform.results.passages import Passage

Found = TypeVar("Found")


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
        _place(queries, summary["query_id"], f"summary {summary['summary_id']}: query")
        yield Unfolded(summary, queries[summary["query_id"]])


Packed = Sequence["Packed"] | str | float | None
"""Arrays of arrays, texts and numbers."""

PLACES = 4
"""Decimals kept of scores and probabilities."""

PAGE_BYTES = 2_800_000
"""Most data of one page, unless a single summary has more; with its markup a page stays below 3 MB."""

SMALL_PAGE_BYTES = 300_000
"""A page with less data goes on with the next haystack, so that hundreds of small ones do not have a page each."""


class PackedPage(NamedTuple):
    """
    The data of a page.

    Attributes:
        data: JSON, as `Packing` describes it, that no text in it can end.
        summary_ids: In their order.
        first: Words of its first query.
        last: Words of its last query.
        haystacks: Ids of the haystacks of its queries.
    """

    data: str
    summary_ids: Sequence[str]
    first: str
    last: str
    haystacks: Sequence[str]


def packed_pages(
    unfolded: Iterable[Unfolded],
    points: Collection[str],
    *,
    most_bytes: int = PAGE_BYTES,
    small_bytes: int = SMALL_PAGE_BYTES,
) -> Iterator[PackedPage]:
    """
    Yield pages of at most *most_bytes* of data, in the order of the summaries; one page is in memory at a time.

    A haystack begins a page unless the page before it has less than *small_bytes*. The summaries of a query share a
    page if they fit into one. Scores by measures in *points* are points, as in the report's tables.

    Raises:
        LongformError: A verdict names a target that its query does not list.
    """
    packing = Packing(points)
    own: list[Unfolded] = []  # those of the last query that stand on the page
    haystack: str | None = None
    for one in unfolded:
        summary, query = one
        if query["haystack"] != haystack and len(packing) and packing.n_bytes >= small_bytes:
            yield packing.page()
            packing, own = Packing(points), []
        if own and own[-1].summary["query_id"] != summary["query_id"]:
            own = []
        own.append(one)
        haystack = query["haystack"]
        packing.add(one)
        while packing.n_bytes > most_bytes and len(packing) > 1:
            moved = own if len(own) < len(packing) else own[-1:]
            packing.drop_last(len(moved))
            yield packing.page()
            packing, own = Packing(points), list(moved)
            for again in own:
                packing.add(again)
    if len(packing):
        yield packing.page()


class Packing:
    """
    Summaries as arrays, whose queries, targets and repeated texts are named by their places.

    strings: Texts, to which the places below marked * point (null stays null).
    queries: [query_id, haystack, topic, subtopic, text, [[target_id, name, text, gold], ...]].
    queries' targets and summaries' bullets end with the passages of their documents, if they are known:
        [first sentence, number of sentences] or null for each. Behind these a target that is no insight has its kind,
        and a bullet that was held against documents [[judge*, [answer* on each cited document], best answer*,
        its document, documents asked], ...].
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
        self._before: list[tuple[int, int]] = []  # strings and queries before each summary
        self.n_bytes = 0
        """The bytes of all that was added."""

    def __len__(self) -> int:
        return len(self._summaries)

    def add(self, unfolded: Unfolded) -> None:
        self._before.append((len(self._strings), len(self._queries)))
        summary, query = unfolded
        query_id, summary_id = summary["query_id"], summary["summary_id"]
        if query_id not in self._queries:
            self._queries[query_id] = (len(self._queries), query, self._counted(_query(query_id, query)))
        self._summaries[summary_id] = self._counted(self._row(summary, self._queries[query_id][0], query))

    def drop_last(self, n: int = 1) -> None:
        """Take back the last *n* summaries, with what they alone need; `n_bytes` still counts them."""
        n_strings, n_queries = self._before[-n]
        del self._before[-n:], self._texts[n_strings:]
        for _ in range(n):
            self._summaries.popitem()
        while len(self._strings) > n_strings:
            self._strings.popitem()
        while len(self._queries) > n_queries:
            self._queries.popitem()

    def page(self) -> PackedPage:
        queries = [query for _, query, _ in self._queries.values()]
        names = [query["text"] or query_id for query_id, query in zip(self._queries, queries, strict=True)]
        haystacks = list(dict.fromkeys(query["haystack"] for query in queries))
        return PackedPage(self.json(), list(self._summaries), names[0], names[-1], haystacks)

    def json(self) -> str:
        queries = (text for _, _, text in self._queries.values())
        parts = {"strings": self._texts, "queries": queries, "summaries": self._summaries.values()}
        return "{" + ",".join(f'"{name}":[{",".join(rows)}]' for name, rows in parts.items()) + "}"

    def _counted(self, row: Packed) -> str:
        text = script_json(row)
        self.n_bytes += len(text.encode()) + 1
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
            [[bullet["text"], bullet["citations"], *self._behind(bullet)] for bullet in summary["bullets"]],
            verdicts,
            [
                [self._string(judge), self._string(measure), _rounded(self._as_in_tables(measure, value))]
                for judge, scores in summary["scores"].items()
                for measure, value in scores.items()
            ],
            summary.get("repeat"),
        ]

    def _behind(self, bullet: BulletFacts) -> list[Packed]:
        if not (found := bullet.get("support")):
            return _passages(bullet)
        support: list[Packed] = [
            [
                self._string(one["judge"]),
                [*map(self._string, one["cited"])],
                self._string(one["answer"]),
                one["best"],
                one["n"],
            ]
            for one in found
        ]
        return [bullet.get("passages"), support]

    def _as_in_tables(self, measure: str, value: float | None) -> float | None:
        return None if value is None else 100 * value if measure in self._points else value


def _query(query_id: str, query: QueryFacts) -> list[Packed]:
    targets = [
        [target["target_id"], target["name"], target["text"], target["gold"], *_behind_target(target)]
        for target in query["targets"]
    ]
    named = [query.get("haystack"), query.get("topic"), query.get("subtopic"), query.get("text")]
    return [query_id, *named, targets]


def _behind_target(target: TargetFacts) -> list[Packed]:
    kind = target.get("kind", "insight")
    return _passages(target) if kind == "insight" else [target.get("passages"), kind]


def _passages(stated: BulletFacts | TargetFacts) -> list[Packed]:
    """Return nothing, or one array."""
    return [stated["passages"]] if "passages" in stated else []


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
