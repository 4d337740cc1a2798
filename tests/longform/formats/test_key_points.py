"""Questions with key points and labelled answers, as JSON Lines."""

from __future__ import annotations

import json
from typing import Any

import pytest

from longform.errors import InputError
from longform.formats.key_points import LABELS, key_point_files
from longform.formats.rows import HaystackRows
from longform.judges.kinds.key_point import KEY_POINT


class Lines:
    """A file in memory."""

    name = path = "points.jsonl"

    def __init__(self, *lines: dict[str, Any]) -> None:
        self._lines = [json.dumps(line).encode() + b"\n" for line in lines]

    def read(self) -> bytes:
        return b"".join(self._lines)

    def identity(self) -> dict[str, str]:
        return {}

    def lines(self) -> Any:
        return iter(self._lines)


LINE: dict[str, Any] = {
    "question_id": "q",
    "question": "Why was the dam closed?",
    "facets": {"category": "causal"},
    "documents": [{"doc_id": "a", "text": "It leaked."}],
    "points": ["It leaked.", {"text": "It was old.", "point_id": "old", "importance": "vital", "doc_ids": ["a"]}],
    "answers": [
        {"system": "s", "text": "It leaked.", "labels": ["Supported", "Omitted"]},
        {"system": "s", "text": "It leaked.", "labels": ["support", None], "annotator": "bo"},
        {"system": "t", "text": "It was new.", "labels": ["omitted", "CONTRADICTED"]},
        {"system": "u", "text": "No idea."},
    ],
}


def read(*lines: dict[str, Any]) -> list[HaystackRows]:
    return list(key_point_files({"points.jsonl": {"points.jsonl": Lines(*lines)}}).haystacks)


def test_points_answers_and_labels_are_rows() -> None:
    (found,) = read(LINE)

    assert [(one.target_id, one.kind, one.name) for one in found.targets] == [
        ("q#1", "key_point", None), ("old", "key_point", "vital"),
    ]  # fmt: skip
    assert [one.target_id for one in found.qrels] == ["old"]
    assert [(one["summary_id"], one["text"]) for one in found.summaries] == [
        ("s:q", "It leaked."), ("t:q", "It was new."), ("u:q", "No idea."),
    ]  # fmt: skip
    assert [(one["annotator"], one["summary_id"], one["target_id"], one["answer"]) for one in found.labels] == [
        ("people", "s:q", "q#1", "entailed"),
        ("people", "s:q", "old", "neutral"),
        ("bo", "s:q", "q#1", "entailed"),
        ("people", "t:q", "q#1", "neutral"),
        ("people", "t:q", "old", "contradicted"),
    ]
    (query,) = found.queries
    assert query.facets == [{"name": "category", "value": "causal"}]


def test_a_question_needs_neither_an_id_nor_documents_nor_points() -> None:
    found = read({"question": "Why?", "points": []}, {"question": "Who?", "points": ["x"]})

    assert [one.haystack_id for one in found] == ["points:1", "points:2"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"points": None}, "'points': expected a list, found null"),
        (
            {"answers": [{"system": "s", "text": "x", "labels": ["Supported"]}]},
            "one label for each of 2 points, found 1",
        ),
        (
            {"answers": [{"system": "s", "text": "x", "labels": ["Yes", None]}]},
            "answers\\[0\\].labels.*found string 'Yes'",
        ),
        (
            {"answers": [{"system": "s", "text": "x"}, {"system": "s", "text": "y"}]},
            "answers\\[1\\].text.*one answer a system, found another text of 's'",
        ),
        ({"points": [{"text": "x", "doc_ids": ["b"]}]}, "points\\[0\\].doc_ids.*found string 'b'"),
        ({"points": [{"text": "x", "point_id": "p"}, {"text": "y", "point_id": "p"}]}, "each point_id once"),
        ({"question": " "}, "'question': expected a string that is not empty"),
        ({"categry": "x"}, "expected only the fields question, question_id"),
    ],
)
def test_what_is_wrong_is_named(change: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=told):
        read(LINE | change)


def test_an_id_stands_once() -> None:
    with pytest.raises(InputError, match=r"line 2.*question_id.*an id that no line above has"):
        read(LINE, LINE)


def test_every_label_is_an_answer_of_a_judge_of_key_points() -> None:
    assert set(LABELS.values()) <= KEY_POINT.counts.keys()
