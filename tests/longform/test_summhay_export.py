"""What is exported in SummHay's layout comes back the same through the reader of that layout."""

from __future__ import annotations

import json
from typing import Any

import pytest

from longform.errors import LongformError
from longform.formats.fields import Record
from longform.formats.rows import HaystackRows
from longform.formats.summhay import read_topic
from longform.formats.summhay_export import topic_file
from longform.haystack_writer import write_haystack
from longform.haystack_writer.assignment import Bounds
from longform.haystack_writer.full_haystack import FullHaystack, HaystackSize, write_full_haystack
from longform.haystack_writer.full_topic import full_topic_names

SIZE = HaystackSize(100, 200, Bounds(3, 3), Bounds(5, 25), distractors=1, contradictions=1)


@pytest.fixture(params=full_topic_names())
def haystack(request: pytest.FixtureRequest) -> FullHaystack:
    return write_full_haystack(request.param, variant=0, size=SIZE, seed=4)


def exported(haystack: Any, **settings: Any) -> dict[str, Any]:
    tables = (haystack.documents, haystack.queries, haystack.targets, haystack.qrels)
    return json.loads(json.dumps(topic_file(*tables, settings=settings or None)))


def read(content: dict[str, Any]) -> HaystackRows:
    return read_topic(Record(content, file="topic.json", label="topic"))


def test_the_round_trip_gives_the_same_haystack(haystack: FullHaystack) -> None:
    again = read(exported(haystack, words=200))

    assert again.haystack_id == haystack.haystack_id
    assert again.documents == haystack.documents
    assert again.queries == haystack.queries
    assert again.targets == haystack.targets
    assert sorted(again.qrels) == sorted(haystack.qrels)
    assert (again.rankings, again.summaries, again.labels) == ([], [], [])


def test_contradictions_and_distractors_are_not_in_the_file(haystack: FullHaystack) -> None:
    included = [len(document["insights_included"]) for document in exported(haystack)["documents"]]

    assert sum(included) == len(haystack.qrels) == 300


def test_a_title_is_the_first_line_of_the_text() -> None:
    small = write_haystack(
        "ferry", variant=0, documents=40, words=160, subtopics_per_document=2, insights_per_document=4, seed=1
    )
    again = read(exported(small))

    assert [d.text for d in again.documents] == [f"{d.title}\n\n{d.text}" for d in small.documents]


def test_a_query_without_a_topic_is_refused(haystack: FullHaystack) -> None:
    spoilt = haystack._replace(queries=[haystack.queries[0]._replace(topic=None)])

    with pytest.raises(LongformError, match="field 'topic': expected text"):
        exported(spoilt)
