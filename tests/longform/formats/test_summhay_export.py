"""An export in SummHay's layout comes back the same through the reader of that layout."""

from __future__ import annotations

import json
from typing import Any

import pytest

from longform.errors import LongformError
from longform.formats.fields import Record
from longform.formats.rows import HaystackRows
from longform.formats.summhay import read_topic
from longform.formats.summhay_export import topic_file
from longform.synthesis.grammar.assignment import Bounds
from longform.synthesis.grammar.haystack import HaystackSize, Woven, write_haystack
from longform.synthesis.grammar.topic import topic_names

SIZE = HaystackSize(100, 200, Bounds(3, 3), Bounds(5, 25), distractors=1, contradictions=1)


@pytest.fixture(params=topic_names())
def haystack(request: pytest.FixtureRequest) -> Woven:
    return write_haystack(request.param, variant=0, size=SIZE, seed=4)


def exported(haystack: Any, **settings: Any) -> dict[str, Any]:
    tables = (haystack.documents, haystack.queries, haystack.targets, haystack.qrels)
    return json.loads(json.dumps(topic_file(*tables, metadata={"settings": settings} if settings else {})))


def read(content: dict[str, Any]) -> HaystackRows:
    return read_topic(Record(content, file="topic.json", label="topic"))


def test_the_round_trip_gives_the_same_haystack(haystack: Woven) -> None:
    again = read(exported(haystack, words=200))

    assert again.haystack_id == haystack.haystack_id
    assert again.documents == haystack.documents
    assert again.queries == haystack.queries
    assert again.targets == haystack.targets
    assert sorted(again.qrels) == sorted(haystack.qrels)
    assert (again.rankings, again.summaries, again.labels) == ([], [], [])


def test_contradictions_and_distractors_are_not_in_the_file(haystack: Woven) -> None:
    included = [len(document["insights_included"]) for document in exported(haystack)["documents"]]

    assert sum(included) == len(haystack.qrels) == 300


def test_a_title_is_the_first_line_of_the_text(haystack: Woven) -> None:
    titled = haystack._replace(documents=[d._replace(title=f"Title {d.doc_index}") for d in haystack.documents])
    again = read(exported(titled))

    assert [d.text for d in again.documents] == [f"{d.title}\n\n{d.text}" for d in titled.documents]


def test_a_query_without_a_topic_is_refused(haystack: Woven) -> None:
    spoilt = haystack._replace(queries=[haystack.queries[0]._replace(topic=None)])

    with pytest.raises(LongformError, match="field 'topic': expected text"):
        exported(spoilt)
