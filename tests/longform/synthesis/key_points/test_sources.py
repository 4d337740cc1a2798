"""Files of documents and questions, and configurations that cannot be met."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from pydantic import ValidationError

from longform.errors import LongformError, UsageError
from longform.synthesis.key_points.account import score_steps
from longform.synthesis.key_points.recipe import key_point_recipe
from longform.synthesis.key_points.search import drawn, longest_answered, read_documents, read_questions
from longform.synthesis.key_points.settings import KeyPointSynthesis

MODEL = {"provider": "scripted", "script": "synthesis", "model": "scripted-extractor"}
BASE: dict[str, Any] = {
    "kind": "key_points",
    "name": "n",
    "seed": 1,
    "documents": ["documents.jsonl"],
    "questions": {"kind": "given", "files": ["questions.jsonl"]},
    "extraction": "rules",
}


def lines(*records: dict[str, Any]) -> bytes:
    return "\n".join(json.dumps(record) for record in records).encode()


FILES = {
    "documents.jsonl": lines({"id": "a", "text": "One."}, {"doc_id": "b", "title": "B", "text": "Two."}),
    "questions.jsonl": lines({"query_id": "1", "query": "Why?"}, {"question": "How?", "category": "causal"}),
    "more.jsonl.gz": gzip.compress(lines({"query_id": "3", "query": "Who?", "answer": ["So and so", "So"]})),
}


def read(name: str) -> bytes:
    return FILES[name]


def test_names_of_fields_that_others_use_are_read_and_gzipped_files_unpacked() -> None:
    assert [(one.doc_id, one.title) for one in read_documents(["documents.jsonl"], read).values()] == [
        ("a", None),
        ("b", "B"),
    ]
    (first, second), (third,) = read_questions(["questions.jsonl", "more.jsonl.gz"], read)
    assert (first.question_id, second.facets, third.answer_words) == ("1", {"category": "causal"}, 3)
    assert len(second.question_id) == 20


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (lines({"id": "a", "text": "x"}, {"id": "a", "text": "y"}), "line 2.*no document before it has"),
        (lines({"id": "a"}), "text"),
        (b"no json", "line 1"),
        (b"", "expected lines of JSON, found none"),
        (b"\x1f\x8b broken", "expected a gzipped file"),
    ],
)
def test_a_wrong_file_is_refused_with_its_line(content: bytes, message: str) -> None:
    with pytest.raises(LongformError, match=message):
        read_documents(["d"], lambda _: content)


def test_questions_are_drawn_in_turn_from_each_file_and_always_the_same() -> None:
    files = read_questions(["questions.jsonl", "more.jsonl.gz"], read)
    chosen = drawn(files, 2, seed=1)
    assert chosen == drawn(files, 2, seed=1)
    assert "3" in [one.question_id for one in chosen]
    assert len(drawn(files, None, seed=1)) == 3
    assert longest_answered(files, 1)[0].question_id == "3"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"extraction": "models"}, "expected a verifier, found none; it is asked for `extraction`: models"),
        ({"search": {"decomposed": True}}, "expected a planner, found none; it is asked for `search`: decomposed"),
        ({"questions": {"kind": "evolved", "files": ["f"]}}, "expected a planner"),
        ({"questions": {"kind": "given", "files": ["f"], "least_criteria": 6}}, "less than or equal to 5"),
        ({"documents": []}, "expected `documents` or `search.endpoints`, found neither"),
    ],
)
def test_a_configuration_that_cannot_be_met_says_what_it_lacks(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        KeyPointSynthesis.model_validate(BASE | changes)


def test_a_verifier_without_log_probabilities_is_refused_unless_answers_will_do() -> None:
    models = {"extraction": "models", "writer": MODEL, "verifier": {"model": "o3", "max_tokens": 100}}
    refused = KeyPointSynthesis.model_validate(BASE | models)
    with pytest.raises(UsageError, match="'o3' gives no log probabilities"):
        key_point_recipe(refused, read, []).check()
    answers = KeyPointSynthesis.model_validate(BASE | models | {"models": {"without_logprobs": "answers"}})
    key_point_recipe(answers, read, []).check()


def test_the_same_files_under_other_names_make_the_same_and_other_contents_another() -> None:
    def key(files: dict[str, bytes], **changes: Any) -> str:
        settings = KeyPointSynthesis.model_validate(BASE | {"documents": [*files]} | changes)
        return key_point_recipe(settings, (FILES | files).__getitem__, []).sources[0]["sha256"]

    first = key({"d": b'{"id": "a", "text": "x"}'})
    assert key({"elsewhere/d": b'{"id": "a", "text": "x"}'}, prompts="mine") == first
    assert key({"d": b'{"id": "a", "text": "y"}'}) != first
    assert key({"d": b'{"id": "a", "text": "x"}'}, replies=4) != first


def test_scores_that_are_spread_evenly_lie_on_the_diagonal() -> None:
    steps, farthest = score_steps([n / 100 for n in range(1, 101)])
    assert steps is not None
    assert (steps[0], steps[-1]) == ({"score": 0.0, "share": 0.0}, {"score": 1.0, "share": 1.0})
    assert farthest == pytest.approx(0, abs=1e-9)
    assert score_steps([0.9, 0.9])[1] == pytest.approx(0.85)
    assert score_steps([]) == (None, None)
