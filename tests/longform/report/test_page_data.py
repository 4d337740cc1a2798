"""Pages of summaries break between haystacks and queries, and hold each summary once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import chain
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from longform.report.page_data import Block, blocks_data
from longform.report.text_pages import packed_summaries
from longform.results.evidence import Unfolded
from longform.tables.packed import values_of

HEADS = 1_000  # most bytes of the names of columns


def unfolded(*queries: tuple[str, str, int], words: int = 100) -> list[Unfolded]:
    """Return the summaries of queries, each (haystack, query id, number of summaries)."""
    made = []
    for haystack, query_id, n in queries:
        query: Any = {"haystack": haystack, "topic": None, "subtopic": None, "text": f"{query_id}?", "targets": []}
        for number in range(n):
            bullets = [{"text": "x" * words, "citations": [1], "passages": [(0, 2)]}]
            summary: Any = {
                "summary_id": f"{query_id}-{number}", "query_id": query_id, "setting": "s", "summarizer": "m",
                "order": None, "repeat": None, "failure": None, "bullets": bullets, "verdicts": [], "scores": {},
            }  # fmt: skip
            made.append(Unfolded(summary, query))
    return made


def ids(pages: Sequence[Sequence[Block]]) -> list[list[str]]:
    return [[summary_id for block in page for summary_id, _ in block.ids] for page in pages]


def queries(page: Sequence[Block]) -> list[Any]:
    return [query for block in page for query in values_of(json.loads(block.data)["queries"])]


def test_a_haystack_begins_a_page_unless_the_one_before_is_small() -> None:
    two = unfolded(("h1", "a", 2), ("h2", "b", 1))
    assert ids(list(packed_summaries(two, [], small_bytes=1))) == [["a-0", "a-1"], ["b-0"]]
    (page,) = packed_summaries(two, [])
    assert [one["haystack"] for one in queries(page)] == ["h1", "h2"]


def test_the_summaries_of_a_query_stay_together_if_they_fit() -> None:
    pages = list(packed_summaries(unfolded(("h", "a", 3), ("h", "b", 3)), [], most_bytes=1_800))
    assert ids(pages) == [["a-0", "a-1", "a-2"], ["b-0", "b-1", "b-2"]]
    assert [[one["query_id"] for one in queries(page)] for page in pages] == [["a"], ["b"]]


def test_passages_stand_behind_their_citations() -> None:
    (page,) = packed_summaries(unfolded(("h", "a", 1), words=3), [])
    (bullet,) = queries(page)[0]["summaries"][0]["bullets"]
    assert bullet == {"text": "xxx", "citations": [1], "passages": [[0, 2]], "support": None}


@given(st.lists(st.tuples(st.sampled_from("gh"), st.integers(1, 9)), min_size=1, max_size=6), st.integers(1, 5_000))
def test_pages_hold_each_summary_once_and_keep_to_their_size(drawn: list[tuple[str, int]], most: int) -> None:
    given_ = unfolded(*((haystack, f"q{place}", n) for place, (haystack, n) in enumerate(drawn)))
    pages = list(packed_summaries(given_, [], most_bytes=most, small_bytes=200))
    assert list(chain(*ids(pages))) == [one.summary["summary_id"] for one in given_]
    for page, shown in zip(pages, ids(pages), strict=True):
        assert sum(len(block.data.encode()) for block in page) <= most or len(shown) == 1
        assert [one["summary_id"] for query in queries(page) for one in query["summaries"]] == shown
        assert len(json.loads(blocks_data(page, files=[]))) == len(page) + 1
