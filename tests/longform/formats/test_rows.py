"""Rows that a reader hands over: what a benchmark can hold passes as it is, and the first wrong field is named."""

from __future__ import annotations

from typing import Any

import pytest

from longform.errors import InputError
from longform.formats.rows import Checks, HaystackRows
from longform.records import Document, Qrel, Query, Target

DOCUMENTS = [Document("d0", "town", 0, None, "The dam."), Document("d1", "town", 1, "News", "The mill.")]
QUERIES = [Query("q", "town", "What was built?", participants=["Ada"])]
TARGETS = [Target("t", "insight", "q", "town", 0, None, "A dam was built.")]
QRELS = [Qrel("q", "t", "d0", 1), Qrel("q", None, "d1", 0)]
LABELS = [{"summary_id": "s", "annotator": "me"}]
SCORES = [{"summary_id": "s", "measure": "bertscore", "value": 0.8}]


def haystack(**tables: Any) -> HaystackRows:
    given = {"documents": DOCUMENTS, "queries": QUERIES, "targets": TARGETS, "qrels": QRELS, "labels": LABELS}
    return HaystackRows("town", **given | {"released_scores": SCORES} | tables)


def read(*haystacks: Any) -> list[list[list[Any]]]:
    checks = Checks("m:Mine")
    return [[list(table) for table in checks.checked(one)[1:]] for one in haystacks]


def test_rows_that_fit_pass_as_they_are() -> None:
    assert read(haystack()) == [[DOCUMENTS, QUERIES, TARGETS, QRELS, [], [], LABELS, SCORES]]


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        (
            {"documents": [("d0", "The dam.")]},
            "Document 0: field '(row)': expected longform.records.Document, found tuple",
        ),
        (
            {"documents": [DOCUMENTS[0]._replace(text=None)]},
            "Document 0: field 'text': expected a string, found null",
        ),
        (
            {"documents": [DOCUMENTS[0]._replace(text=b"The dam.")]},
            "Document 0: field 'text': expected a string, found bytes b'The dam.'",
        ),
        (
            {"released_scores": [{**SCORES[0], "value": float("nan")}]},
            "released_scores 0: field 'value': expected a finite number, found nan",
        ),
        ({"documents": [DOCUMENTS[1]]}, "Document 0: field 'doc_index': expected its place, 0, found int 1"),
        (
            {"documents": [*DOCUMENTS, DOCUMENTS[0]._replace(doc_index=2)]},
            "Document 2: field 'doc_id': expected an id that",
        ),
        (
            {"documents": [DOCUMENTS[0]._replace(haystack_id="city")]},
            "expected that of haystack 'town', found str 'city'",
        ),
        (
            {"queries": [QUERIES[0]._replace(participants=["Ada", 3])]},
            "field 'participants[1]': expected a string, found integer 3",
        ),
        (
            {"targets": [TARGETS[0]._replace(kind="fact")]},
            "expected one of insight, key_point, reference, found str 'fact'",
        ),
        (
            {"targets": [TARGETS[0]._replace(query_id="p")]},
            "'query_id': expected the id of a row that the reader has made",
        ),
        (
            {"qrels": [Qrel("q", "t", "d9", 1)]},
            "Qrel 0: field 'doc_id': expected the id of a row that the reader has made",
        ),
        (
            {"qrels": [Qrel("q", None, "d0", True)]},
            "Qrel 0: field 'relevance': expected an integer of 32 bits, found boolean True",
        ),
        ({"labels": [{"summary_id": "s", "who": "me"}]}, "labels 0: field '(row)': expected a row of the table labels"),
    ],
)
def test_the_first_wrong_field_is_named(tables: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as refused:
        read(haystack(**tables))

    assert str(refused.value).startswith("m:Mine: haystack 'town', ")
    assert said in str(refused.value)


@pytest.mark.parametrize("table", ["documents", "queries", "targets"])
def test_a_text_that_is_blank_is_refused(table: str) -> None:
    (first, *rest) = getattr(haystack(), table)

    with pytest.raises(InputError, match="0: field 'text': expected a text that is not blank, found str"):
        read(haystack(**{table: [first._replace(text=" \u200b"), *rest]}))


def test_a_haystack_has_documents_or_summaries_to_judge() -> None:
    bare: dict[str, Any] = {"documents": [], "qrels": [], "labels": [], "released_scores": []}
    summary = {"summary_id": "s", "query_id": "q", "haystack_id": "town", "text": "A dam."}

    assert read(haystack(**bare, summaries=[summary]))[0][5] == [summary]
    with pytest.raises(InputError, match="m:Mine: haystack 'town': field 'documents': expected documents, or summ"):
        read(haystack(**bare))


def test_files_hold_a_haystack_or_the_reader_is_told() -> None:
    assert [one.haystack_id for one in Checks("m:Mine").all([haystack()], "dam.txt")] == ["town"]
    with pytest.raises(InputError, match=r"^m:Mine: .* expected one haystack or more of dam.txt, found none"):
        list(Checks("m:Mine").all([], "dam.txt"))


def test_ids_stand_once_in_all_haystacks() -> None:
    second = HaystackRows("city", [Document("d0", "city", 0, None, "x")], [])

    with pytest.raises(
        InputError, match="haystack 'city', Document 0: field 'doc_id': expected an id that no row before"
    ):
        read(haystack(), second)


def test_what_is_no_haystack_is_refused() -> None:
    with pytest.raises(
        InputError, match=r"m:Mine: what it yields: .*expected longform.formats.rows.HaystackRows, found dict"
    ):
        read({"documents": []})
