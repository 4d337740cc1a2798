"""Judgements and queries by which rankings differ from published numbers are said."""

from __future__ import annotations

import pyarrow as pa
import pytest

from longform.records import Qrel, Query
from longform.retrieval.ranking import grades_told, own_documents_told


@pytest.mark.parametrize(
    ("grades", "told"),
    [([1, 3], "grades 1, 3"), ([0, 2, 4, -1], "grades 2, 4"), ([1, 1], None), ([2, 0], None), ([], None)],
)
def test_grades_are_said_if_there_are_several_above_0(grades: list[int], told: str | None) -> None:
    qrels = [Qrel("q", None, f"d{n}", grade) for n, grade in enumerate(grades)]
    qrels += [Qrel("q", "insight", "d", 9), Qrel("elsewhere", None, "d", 8)]

    found = list(grades_told(qrels, {"q"}))
    assert len(found) == (told is not None)
    assert all(str(told) in one and "yes or no" in one for one in found)


@pytest.mark.parametrize(
    ("query_id", "doc_id", "text", "is_own"),
    [
        ("a1", "a1", "Zoos should be closed, they say.", True),
        ("a1", "b7", "Zoos should be closed.", True),
        ("a1", "b7", " Zoos should be closed.\n", True),
        ("a1", "b7", "Zoos should stay.", False),
        ("1", "1", "Zoos should stay.", False),
        ("1", "1", "Zoos should be closed.", True),
    ],
)
def test_a_query_that_stands_in_its_own_corpus_is_said(query_id: str, doc_id: str, text: str, is_own: bool) -> None:
    query = Query(query_id, "h", "Zoos should be closed.")
    elsewhere = {"doc_id": "a1", "haystack_id": "other", "text": "Zoos should be closed."}
    table = pa.Table.from_pylist([elsewhere, {"doc_id": doc_id, "haystack_id": "h", "text": text}])

    found = list(own_documents_told([query], [], [table]))
    assert len(found) == is_own
    assert all(
        f"1 of 1 queries stands among the documents, by the same id or in the same words ({query_id})" in one
        for one in found
    )
    assert list(own_documents_told([query], [Qrel(query_id, None, doc_id, 1)], [table])) == []
