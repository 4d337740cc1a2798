"""MSRS folders: both layouts give the same rows, and each thing that can be wrong has an error of its own."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from jobs.files.located_file import files_under
from longform.errors import InputError, UsageError
from longform.formats.msrs import MissingGold, msrs_files
from longform.formats.rows import HaystackRows
from longform.records import Qrel, Target

TEXTS = {"Moon": "Noork sits in a tree.", "Moon_1": "Later.", "Moon-2": "The end."}
QUERIES: dict[str, dict[str, Any]] = {
    "7": {"query": "Who sits in a tree?", "gold_documents": ["Moon", "Moon_1"], "answer": ["Noork.", "A man, Noork."]},
    "8": {"query": "How does it end?", "gold_documents": ["Moon-2", "Lost", "Moon-2"], "answer": "It ends."},
}
OUTPUTS = [
    {"setting": "bm25", "model": "m", "query_id": "7", "summary": "Noork does."},
    {"setting": "bm25", "model": "m", "query_id": "8", "summary": " "},
]


def as_published(folder: Path) -> Path:
    (folder / "documents").mkdir(parents=True)
    for name, text in TEXTS.items():
        (folder / "documents" / f"{name}.txt").write_text(text)
    for split, query_id in (("dev", "7"), ("test", "8")):
        (folder / f"queries_{split}.json").write_text(json.dumps({query_id: QUERIES[query_id]}))
    (folder / "queries_all.json").write_text(json.dumps(QUERIES))
    return folder


def as_lines(folder: Path, *, queries: dict[str, dict[str, Any]] = QUERIES, outputs: Any = OUTPUTS) -> Path:
    def write(name: str, rows: list[dict[str, Any]]) -> None:
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))

    folder.mkdir(parents=True)
    write("documents", [{"id": name, "text": text} for name, text in TEXTS.items()])
    write("queries", [{"query_id": name} | query for name, query in queries.items()])
    write("outputs", outputs)
    return folder


def read(folder: Path, missing_gold: MissingGold = "drop") -> HaystackRows:
    (haystack,) = msrs_files({str(folder): files_under(str(folder))}, missing_gold=missing_gold).haystacks
    return haystack


def test_both_layouts_hold_the_same_benchmark(tmp_path: Path) -> None:
    published, lines = read(as_published(tmp_path / "a" / "story")), read(as_lines(tmp_path / "b" / "story"))
    assert published == lines._replace(summaries=[])
    assert [document.doc_id for document in lines.documents] == ["Moon-2", "Moon", "Moon_1"]  # as files are sorted
    assert [document.number for document in lines.documents] == [1, 2, 3]
    assert list(lines.targets)[:2] == [
        Target("7:0", "reference", "7", "msrs:story", 0, None, "Noork."),
        Target("7:1", "reference", "7", "msrs:story", 1, None, "A man, Noork."),
    ]


def test_gold_that_the_corpus_lacks_is_left_out_and_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        haystack = read(as_lines(tmp_path / "story"))
    assert [qrel for qrel in haystack.qrels if qrel.query_id == "8"] == [Qrel("8", None, "Moon-2", 1)]
    assert "gold document Lost of 1 queries (8) is not in the corpus" in caplog.text


def test_gold_that_the_corpus_lacks_counts_as_missed_if_that_is_asked_for(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        haystack = read(as_lines(tmp_path / "story"), "keep")
    gold = {qrel.doc_id for qrel in haystack.qrels if qrel.query_id == "8"}
    assert gold == {"Moon-2", "Lost"}
    assert "Lost" not in {document.doc_id for document in haystack.documents}
    assert "gold document Lost of 1 queries (8) is not in the corpus, and counts as missed" in caplog.text


def test_gold_that_the_corpus_lacks_is_refused_if_that_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'gold_documents': expected documents of the corpus, .*Lost of queries 8"):
        read(as_lines(tmp_path / "story"), "refuse")


def test_an_output_without_text_is_no_summary_and_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (summary,) = read(as_lines(tmp_path / "story")).summaries
    assert (summary["summarizer"], summary["setting"], summary["text"]) == ("m", "bm25", "Noork does.")
    assert "1 summaries without text are left out" in caplog.text


def test_scores_beside_outputs_are_a_label_of_the_first_reference_and_a_row(tmp_path: Path) -> None:
    scored = [OUTPUTS[0] | {"geval": 3.6, "bert_f1": 0.85}, OUTPUTS[0] | {"model": "other"}]
    haystack = read(as_lines(tmp_path / "story", outputs=scored))
    (label,) = haystack.labels
    assert (label["annotator"], label["target_id"], label["answer"]) == ("released:geval", "7:0", "4")
    assert label["probability"] == pytest.approx(0.65)
    assert haystack.released_scores == [{"summary_id": "bm25:m:7", "measure": "bertscore", "value": 0.85}]


@pytest.mark.parametrize("value", [0.9, 5.1, "3", True])
def test_a_rating_that_is_none_is_refused(tmp_path: Path, value: object) -> None:
    with pytest.raises(InputError, match=r"outputs\.jsonl: line 1: field 'geval': expected a number from 1 to 5"):
        read(as_lines(tmp_path / "story", outputs=[OUTPUTS[0] | {"geval": value}]))


def test_a_split_that_stands_alone_is_read_also_if_it_has_all(tmp_path: Path) -> None:
    folder = as_published(tmp_path / "story")
    for split in ("dev", "test"):
        (folder / f"queries_{split}.json").unlink()
    assert [query.query_id for query in read(folder).queries] == ["7", "8"]


@pytest.mark.parametrize(
    ("queries", "outputs", "told"),
    [
        (
            {"7": {"query": "", "answer": "a"}},
            [],
            "queries.jsonl: line 1: field 'query': expected a string that is not empty",
        ),
        ({"7": {"query": "Who?"}}, [], "answer"),
        (
            QUERIES,
            [{**OUTPUTS[0], "query_id": "9"}],
            "outputs.jsonl: line 1: field 'query_id': expected the id of a query of",
        ),
        (
            QUERIES,
            [OUTPUTS[0], OUTPUTS[0]],
            "outputs.jsonl: line 2: field 'query_id': expected one line for each setting",
        ),
    ],
)
def test_wrong_content_is_told_with_its_place(
    queries: dict[str, dict[str, Any]], outputs: Any, told: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as error:
        read(as_lines(tmp_path / "story", queries=queries, outputs=outputs))
    assert told in str(error.value)


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text("{}")
    with pytest.raises(UsageError, match=r"expected documents/\*\.txt and queries_\*\.json"):
        read(tmp_path)
