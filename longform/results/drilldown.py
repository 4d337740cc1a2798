"""Summaries, their bullets and their judgements as the compact JSON that a report's page unfolds."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import TypedDict

from longform.errors import LongformError


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


Packed = Sequence["Packed"] | str | float | None
"""Arrays of arrays, texts and numbers."""

PLACES = 4
"""Decimals kept of scores and probabilities."""


class _Strings:
    """Texts that occur often, each kept once and named by its place."""

    def __init__(self) -> None:
        self.texts: dict[str, int] = {}

    def place(self, text: str | None) -> int | None:
        return None if text is None else self.texts.setdefault(text, len(self.texts))


def compact(drilldown: Drilldown, points: Collection[str]) -> dict[str, Packed]:
    """
    The drill-down as arrays: queries, targets and repeated texts are named by their places.

    Returns:
        strings: Texts, to which the places below marked * point (null stays null).
        queries: [query_id, haystack, topic, subtopic, text, [[target_id, name, text, gold], ...]].
        summaries: [summary_id, query, setting*, summarizer*, order*, failure*, [[text, citations], ...],
            [[judge*, target of the query, answer*, linked_unit, probability, reply*, failure*], ...],
            [[judge*, measure*, value], ...], repeat]; values of measures in *points* are points, as in the report's
            tables.

    Raises:
        LongformError: A summary names a query, or a verdict a target of that query, that is not there.
    """
    queries = drilldown["queries"]
    query_places = {query_id: place for place, query_id in enumerate(queries)}
    strings = _Strings()
    summaries = [_summary(summary, queries, query_places, strings, points) for summary in drilldown["summaries"]]
    rows = [_query(query_id, query) for query_id, query in queries.items()]
    return {"strings": list(strings.texts), "queries": rows, "summaries": summaries}


def _query(query_id: str, query: QueryFacts) -> list[Packed]:
    targets = [[target["target_id"], target["name"], target["text"], target["gold"]] for target in query["targets"]]
    named = [query.get("haystack"), query.get("topic"), query.get("subtopic"), query.get("text")]
    return [query_id, *named, targets]


def _summary(
    summary: SummaryFacts,
    queries: Mapping[str, QueryFacts],
    query_places: Mapping[str, int],
    strings: _Strings,
    points: Collection[str],
) -> list[Packed]:
    summary_id, query_id = summary["summary_id"], summary["query_id"]
    query_place = _place(query_places, query_id, f"summary {summary_id}: query")
    targets = {target["target_id"]: place for place, target in enumerate(queries[query_id]["targets"])}
    verdicts = [
        [
            strings.place(verdict["judge"]),
            _place(targets, verdict["target_id"], f"summary {summary_id}: verdict on target"),
            strings.place(verdict["answer"]),
            verdict["linked_unit"],
            _rounded(verdict["probability"]),
            strings.place(verdict["reply"]),
            strings.place(verdict["failure"]),
        ]
        for verdict in summary["verdicts"]
    ]
    return [
        summary_id,
        query_place,
        strings.place(summary["setting"]),
        strings.place(summary["summarizer"]),
        strings.place(summary["order"]),
        strings.place(summary["failure"]),
        [[bullet["text"], bullet["citations"]] for bullet in summary["bullets"]],
        verdicts,
        [
            [strings.place(judge), strings.place(measure), _rounded(_as_in_tables(measure, value, points))]
            for judge, scores in summary["scores"].items()
            for measure, value in scores.items()
        ],
        summary.get("repeat"),
    ]


def _place(places: Mapping[str, int], key: str, where: str) -> int:
    if key not in places:
        msg = f"drilldown: {where}: expected one of {len(places)} known ids, found {key!r}; list it under its query"
        raise LongformError(msg)
    return places[key]


def _as_in_tables(measure: str, value: float | None, points: Collection[str]) -> float | None:
    return None if value is None else 100 * value if measure in points else value


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, PLACES)


def script_json(data: Mapping[str, Packed]) -> str:
    """Return JSON that no text in it can end: it holds no `<`, so neither `</script>` nor `<!--`."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
