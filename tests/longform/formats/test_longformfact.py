"""Files of the release on positional bias: exact rows, label counts, and one error for each wrong line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from longform.errors import InputError, UsageError
from longform.formats.longformfact import IMPORTANCE, longformfact_files, read_longformfact
from longform.formats.rows import HaystackRows
from longform.text.sentences import release_sentences

INPUT = {"id": "x", "document": ["One.", " ", "Three."], "summary": "A reference.", "ranking": [2, 1, 0]}
LABELLED = {"documents": ["One.", ""], "summary": "A first. A second.", "faithfulness": [1, None]}


def read(record: dict[str, Any], **options: Any) -> HaystackRows:
    (found,) = read_longformfact("set", [json.dumps(record)], **options)
    return found


def test_an_input_is_a_haystack_with_reference_and_importance() -> None:
    found = read(INPUT)
    assert [(d.doc_id, d.doc_index, d.text) for d in found.documents] == [
        ("longformfact:set:0000:0", 0, "One."),
        ("longformfact:set:0000:2", 1, "Three."),
    ]
    assert [(t.kind, t.text) for t in found.targets] == [("reference", "A reference.")]
    assert [(r["doc_id"][-1], r["rank"], r["system"]) for r in found.rankings] == [
        ("2", 0, IMPORTANCE),
        ("0", 1, IMPORTANCE),
    ]


def test_an_input_without_a_reference_or_importance_has_neither() -> None:
    """DiverseSumm has none."""
    found = read({"document": ["One.", "Two."]})
    assert [d.text for d in found.documents] == ["One.", "Two."]
    assert [*found.targets, *found.rankings] == []
    assert [query.dataset for query in found.queries] == ["set"]


def test_labels_need_the_summary_that_they_are_of() -> None:
    with pytest.raises(InputError, match="expected the summary that the labels are of"):
        read({"documents": ["One."], "faithfulness": 1})


def test_empty_documents_stay_where_asked_for() -> None:
    assert [d.text for d in read(INPUT, keep_empty=True).documents] == ["One.", " ", "Three."]


def test_labels_of_sentences_stand_at_their_units_and_null_stays_null() -> None:
    found = read(LABELLED)
    assert [(row["unit_index"], row["answer"], row["failure"]) for row in found.labels] == [
        (0, "supported", None),
        (1, None, "not labelled"),
    ]


def test_a_label_of_a_summary_is_of_no_unit() -> None:
    (label,) = read(LABELLED | {"faithfulness": 0}).labels
    assert (label["unit_index"], label["answer"]) == (None, "unsupported")


def test_only_the_top_of_a_likert_scale_is_faithful() -> None:
    of_sentences = read(LABELLED | {"faithfulness": [5, 4]}, top=5)
    (of_summary,) = read(LABELLED | {"faithfulness": 1}, top=5).labels

    assert [label["answer"] for label in of_sentences.labels] == ["supported", "unsupported"]
    assert of_summary["answer"] == "unsupported"


def test_a_missing_likert_score_is_no_label() -> None:
    _, missing = read(LABELLED | {"faithfulness": [3, None]}, top=3).labels

    assert (missing["answer"], missing["failure"]) == (None, "not labelled")


@pytest.mark.parametrize("score", [6, -1, 4.5, True, "5"])
def test_a_score_outside_the_likert_scale_is_named(score: object) -> None:
    with pytest.raises(InputError, match=r"line 1.*faithfulness.*a whole number from 0 to 5"):
        read(LABELLED | {"faithfulness": score}, top=5)


@pytest.mark.parametrize("top", ["1", "five", "-3", "5.0"])
def test_a_top_of_a_scale_that_is_none_is_refused(top: str) -> None:
    with pytest.raises(UsageError, match="--likert-top: expected the highest score"):
        longformfact_files({}, likert_top=top)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"faithfulness": [1]}, "a label for each of the 2 sentences"),
        ({"faithfulness": [1, 2]}, "0, 1 or null"),
        ({"faithfulness": True}, "0, 1 or null"),
        ({"documents": ["", " "]}, "at least one document with text"),
        ({"ranking": [0, 0]}, "each once"),
        ({"summary": " "}, "not empty"),
    ],
)
def test_what_is_wrong_is_named(change: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=told):
        read(LABELLED | change)


@pytest.mark.parametrize(
    ("name", "n", "labels"),
    [("longeval_pubmed", 40, (144, 81, 190)), ("qmsum", 50, (9, 41, 0))],
)
def test_released_labels_import_exactly(released: Path, name: str, n: int, labels: tuple[int, int, int]) -> None:
    """Every example's labels fit its summary's sentences."""
    with gzip.open(released / "longformfact" / "metric_benchmark" / f"{name}.jsonl.gz", "rt") as lines:
        haystacks = list(read_longformfact(name, lines))
    answers = [row["answer"] for haystack in haystacks for row in haystack.labels]
    assert len(haystacks) == n
    assert tuple(answers.count(answer) for answer in ("supported", "unsupported", None)) == labels


@pytest.mark.parametrize(("name", "n", "n_documents"), [("multixscience", 100, 455), ("pubmed", 40, 197)])
def test_released_inputs_import_without_their_empty_documents(
    released: Path, name: str, n: int, n_documents: int
) -> None:
    with gzip.open(released / "longformfact" / "generation" / f"{name}.jsonl.gz", "rt") as lines:
        haystacks = list(read_longformfact(name, lines))
    assert (len(haystacks), sum(len(list(h.documents)) for h in haystacks)) == (n, n_documents)


def test_punkt_keeps_abbreviations_together() -> None:
    assert release_sentences(" Dr. Smith left. He was tired. ") == ["Dr. Smith left.", "He was tired."]
